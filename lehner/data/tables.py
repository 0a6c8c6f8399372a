"""Ratings from tables with a row per item, a row per rating, or counts of anonymous raters."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Integers, to_array
from lehner.core.errors import InputError, compose, find, list_few
from lehner.core.lazy import pd
from lehner.data import checks, columns, roles
from lehner.data import counts as counting
from lehner.data.columns import (
    Column,
    Label,
    Table,
    check_categories,
    find_declared,
    merge_labels,
    refuse_first,
    require_columns,
    to_label,
    to_numbers,
    unify,
)
from lehner.data.reading import Reading, to_names

# Options that give labels another meaning than themselves.
MEANING = ("missing", "labels", "sets", "cut", "decimal")
# Ratings are numbered in 32 bits.
MOST_RATINGS = 2**31 - 1
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")
RATED_AGAIN = compose(
    "name more columns of the item ({item}) or one that tells the ratings apart ({occasion}), say "
    "which counts ({repeated=vote}, 'first' or 'last'), or read only some rows ({where})"
)


# The item of each row, codes of gold labels in each row, labels, and arguments of `Ratings`.
type Rows = tuple[Integers, Integers | None, "Coded", dict[str, Any]]


def read_table(table: Table, reading: Reading) -> tuple[Mapping[str, Any], Sequence[str], bool]:
    """Read a table whose columns' roles are known.

    Parameters
    ----------
    table : Table
    reading : Reading
        A row is a rating if `rater` and `rating` are named, else an item.

    Returns
    -------
    arguments : mapping
        As `lehner.Ratings` takes them.
    odd : sequence of str
        What looks odd, a sentence for each point.
    fixed : bool
        Whether the categories were named by the user or by the type of a column.

    Raises
    ------
    InputError
        See `Ratings.from_wide` and `Ratings.from_long`.
    """
    if len(reading.item) > 1:
        raise InputError(f"items are named by {' and '.join(reading.item)}", "name one column")
    if reading.category_counts:
        return _read_category_counts(table, reading), (), True
    read = _read_wide if reading.rater is None else _read_long
    index, truth, coded, arguments = read(table, reading)

    def gather(what: str, name: str, codes: Integers, labels: Any) -> Integers:
        column = Column(name=name, codes=codes, labels=labels)
        return column.gather(index, len(arguments["items"]), what)

    if answers := arguments.pop("system"):
        arguments |= {"system": np.stack(answers, axis=1), "systems": reading.system}
    if truth is not None:
        gold = str(reading.truth)
        arguments["truth"] = gather("truth", gold, truth, coded.categories)
        labels = table[gold].labels if reading.cut and gold in table else ()
        if len(labels) > 1 and len(np.unique(truth[truth >= 0])) == 1:
            problem = f"the gold labels {list_few(labels, 4)} would all be one category"
            raise InputError(problem, "code them as the ratings", column=gold)
    if (name := reading.cluster) is not None:
        cluster = gather("cluster", name, *table[name].items)
        arguments["cluster"] = counting.require_several_clusters(cluster)
    if (name := reading.truth_probability) is not None:
        chances, number = np.unique(columns.read_probabilities(table[name]), return_inverse=True)
        arguments["truth_probability"] = chances[gather("probability", name, number, chances)]
    if reading.counts is not None:
        arguments["counts"] = columns.read_counts(table[reading.counts])
    raters = arguments["raters"]
    ignored = roles.list_free(table, reading, *raters)
    odd = [*coded.odd, *([] if reading.raters else roles.say_doubtful_names(raters))]
    if reading.rating is not None and reading.truth is None:
        odd += _say_gold_labels(table, reading.rating, ignored)
    notes = (checks.say_columns(raters, ignored, reading), *odd)
    arguments |= {"categories": coded.categories, "ordered": coded.ordered, "reading_notes": notes}
    return arguments, odd, coded.fixed


def _read_wide(table: Table, reading: Reading) -> Rows:
    """Read a table with a row per item, and check that its other columns are raters."""
    systems, item, n_rows = reading.system, reading.item, table.n_rows
    of_items = (reading.truth, reading.truth_probability, reading.counts, reading.cluster)
    special = [*item, *systems, *(name for name in of_items if name is not None)]
    require_columns(table, [*special, *reading.raters])
    items = name_each_once(table[item[0]]) if item else np.arange(n_rows)
    raters = reading.raters or roles.find_raters(table, reading)
    truth = to_names(reading.truth)
    coded = code_labels({name: table[name] for name in (*raters, *systems, *truth)}, reading)
    none = np.empty((n_rows, 0), np.int32)
    codes = np.column_stack([none, *(coded.codes[name] for name in raters)])
    ratings = counting.count_codes(codes, len(coded.categories))
    gold = coded.codes[truth[0]] if truth else None
    answers = [coded.codes[name] for name in systems]
    arguments = {"codes": ratings, "raters": raters, "items": items, "system": answers}
    return np.arange(n_rows), gold, coded, arguments


def name_each_once(column: Column) -> NDArray[Any]:
    """Give the names of items, or raise an InputError if one has a second row."""
    index, names = column.items
    if len(names) < len(index):
        problem = "item {value} occurs a second time in a table with a row per item"
        remedy = compose(
            "give each item one row, name all columns that tell items apart ({item=a,b}), or, "
            "if each row is a rating, name its columns ({rater}, {rating})"
        )
        refuse_first(_find_again("first", index), column, problem, remedy)
    return names


def _read_long(table: Table, reading: Reading) -> Rows:
    """Read a table with a row per rating."""
    item, rater, rating = reading.item[0], str(reading.rater), str(reading.rating)
    truth = reading.truth if reading.truth in table else None
    of_items = (truth, reading.occasion, reading.cluster, reading.truth_probability)
    require_columns(table, [item, rater, rating, *(name for name in of_items if name is not None)])
    index, items = table[item].items
    column = table[rater].refuse_blank()
    people = list(map(str, unify(column.labels).values()))
    coded = code_labels({name: table[name] for name in (rating, *to_names(truth))}, reading)
    codes, gold = coded.codes[rating], coded.codes.get(str(truth))
    if reading.truth is not None and truth is None:  # a rater whose ratings are the gold labels
        if reading.truth not in people:
            require_columns(table, [reading.truth])
        by_truth = column.codes == people.index(reading.truth)
        codes, gold = np.where(by_truth, -1, codes), np.where(by_truth, codes, -1)
    number = {name: code for code, name in enumerate(people)}
    for name in (*reading.raters, *reading.system):
        find("column or rater", name, number)
    kept = {*(reading.raters or people)} - {*reading.system, reading.truth if truth is None else ""}
    raters = [name for name in people if name in kept]
    shape = (len(items), len(people), len(coded.categories))
    ratings = _sort_long(table, reading, index, codes, shape)
    # A judge who saw both orders has one vote for an item, or none.
    votes = ratings.one_vote_each if reading.order or reading.pair else ratings
    answers = [votes.take_answers(number[name], name, items) for name in reading.system]
    if len(raters) < len(people):
        ratings = ratings.take_raters(np.array([number[name] for name in raters], np.int64))
    if not (reading.raters or reading.order):
        roles.refuse_other_names(raters)
    arguments = {"codes": ratings, "raters": raters, "items": items, "system": answers}
    return index, gold, coded, arguments


def _sort_long(
    table: Table, reading: Reading, index: Integers, codes: Integers, shape: tuple[int, int, int]
) -> counting.Counts:
    """Sort ratings by item and rater, and refuse those of a rater who rates an item again."""
    rater = table[str(reading.rater)]
    if reading.repeated in ("first", "last"):
        missing = np.where(codes < 0, np.arange(len(codes)), -1)  # no other row is like these
        codes = np.where(_find_again(reading.repeated, index, rater.codes, missing), -1, codes)
    rated = slice(None) if codes.min(initial=0) >= 0 else np.flatnonzero(codes >= 0)
    pairs = index[rated], rater.codes[rated]
    ratings = counting.sort_ratings(*pairs, codes[rated], shape)
    occasions = [] if reading.occasion is None else [table[reading.occasion].items[0][rated]]
    may_repeat = reading.repeated and (reading.order or not occasions)
    if not may_repeat and (occasions or ratings.is_repeated.any()):
        for row in np.arange(len(codes))[rated][_find_again("first", *pairs, *occasions)]:
            problem = f"rater {rater.texts[row]!r} rates the item a second time"
            raise InputError(problem, RATED_AGAIN, row=int(row), column=reading.rating)
    return ratings


def _say_gold_labels(table: Table, rating: str, ignored: Sequence[str]) -> list[str]:
    """Name columns that have the name of gold labels, and labels of ratings, but no role."""
    sentences: list[str] = []
    for name in (name for name in ignored if roles.role_of(name) == "truth"):
        with suppress(InputError):  # such a column may hold what is no label
            if table[name].labels and {*table[name].labels} <= {*table[rating].labels}:
                sentences.append(roles.say_truth(name, name))
    return sentences


def _find_again(keep: str, *columns: Integers) -> Booleans:
    """Find rows that are equal to the first of them (or to the last), in all columns."""
    return pd.DataFrame(dict(enumerate(columns))).duplicated(keep=keep).to_numpy()


def _read_category_counts(table: Table, reading: Reading) -> Mapping[str, Any]:
    """Read a table with a column per category, whose cells count anonymous raters."""
    special = [*reading.item, *to_names(reading.counts)]
    categories = reading.categories or tuple(name for name in table if name not in special)
    require_columns(table, [*special, *map(str, categories)])
    for name in ("system", "truth", "raters"):
        if getattr(reading, name):
            raise InputError(f"cells that count raters have no {name}", f"leave it out ({name}=…)")
    shown = ", ".join(map(str, categories))
    cells = [table[str(name)] for name in categories]
    sums = np.nan_to_num([column.numbers for column in cells]).sum(axis=0)
    # Where all rows then have the same sum, blanks are categories that nobody chose.
    blank = 0 if (sums == sums[:1]).all() else counting.MOST_ITEMS + 1
    counts = np.stack([columns.read_counts(column, blank) for column in cells], axis=1)
    items = name_each_once(table[reading.item[0]]).tolist() if reading.item else None
    item_counts = None if reading.counts is None else columns.read_counts(table[reading.counts])
    note = f"each column is a category, and each cell a number of raters: {shown}"
    named = {"counts": item_counts, "ordered": reading.ordered, "reading_notes": (note,)}
    return read_anonymous(counts, categories, items) | named


def read_anonymous(
    counts: ArrayLike, categories: Sequence[Label], items: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Read numbers of anonymous raters, (n_rows, n_categories), as arguments of `Ratings`."""
    table = to_array(counts, "counts")
    n_items, n_categories = (len(table), len(categories)) if table.ndim else (0, 0)
    table = counting.check_counts(table, (n_items, n_categories))
    lengths = table.sum(axis=1)
    if lengths.sum() > MOST_RATINGS:
        problem = f"the cells count {lengths.sum():,} ratings"
        raise InputError(problem, "let each cell count raters", row=int(lengths.argmax()))
    item = np.repeat(np.arange(n_items), lengths)
    names = np.tile(np.arange(n_categories, dtype=np.int32), n_items)
    category: Any = np.repeat(names, table.ravel())
    # Each rating of an item gets a slot, which replaces its unknown rater.
    starts = np.cumsum(lengths, dtype=np.int32) - lengths.astype(np.int32)
    slot: Any = np.arange(len(item), dtype=np.int32) - np.repeat(starts, lengths)
    n_slots = int(lengths.max(initial=0))
    return {
        "codes": counting.Counts(item, slot, category, (n_items, n_slots, n_categories), True),
        "categories": categories,
        "raters": [f"rating {j + 1}" for j in range(n_slots)],
        "items": np.arange(1, n_items + 1) if items is None else items,
        "anonymous": True,
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """Columns of labels as codes of the same categories.

    Parameters
    ----------
    codes : mapping of str to ndarray of int
        Codes by column, -1 if missing.
    categories : tuple of str or int
        All categories, in order.
    ordered : bool
        Whether their order is meaningful.
    odd : sequence of str
        What looks odd about the categories.
    fixed : bool
        Whether the categories were named by the user or by the type of a column.
    """

    codes: Mapping[str, Integers]
    categories: tuple[Label, ...]
    ordered: bool
    odd: Sequence[str]
    fixed: bool


def code_labels(columns: Mapping[str, Column], reading: Reading) -> Coded:
    """Find the categories of several columns of labels, and code these.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns of raters, systems and gold labels, by name.
    reading : Reading
        What labels mean.

    Returns
    -------
    Coded

    Raises
    ------
    InputError
        Naming row and column, if a label is none of the categories, or if the categories are
        probably an error.
    """
    fixed, odd = roles.are_fixed(columns, reading), []
    if any(getattr(reading, name) for name in MEANING):
        odd = list(_say_unused(columns, reading))
        columns = {name: _give_meaning(column, reading) for name, column in columns.items()}
    categories, names, ordered = _choose_categories(columns, reading)
    if not (reading.categories or reading.cut or reading.sets):
        odd += checks.check_labels(columns, names, refuse=not fixed)
    if reading.sets:
        odd += checks.check_sets(columns)
    position = {category: k for k, category in enumerate(categories)}
    problem = f"{{value}} is not one of the categories {', '.join(map(str, categories))}"
    remedy, codes = "correct it, leave it blank, or add it to the categories", {}
    for name, column in columns.items():
        category = [position.get(names[label], -2) for label in column.labels]
        codes[name] = column.look_up(category, np.int32(-1))
        refuse_first(codes[name] == -2, column, problem, remedy)
    return Coded(codes=codes, categories=categories, ordered=ordered, odd=odd, fixed=fixed)


def _choose_categories(
    columns: Mapping[str, Column], reading: Reading
) -> tuple[tuple[Label, ...], Mapping[Any, Label], bool]:
    """Choose the categories in order, that of each label, and whether the order is meaningful."""
    written = [label for column in columns.values() for label in column.labels]
    named = cut_names(reading.cut) if reading.cut else reading.categories
    if named:
        plain = list(map(to_label, named))
        names = unify(label for label in (*plain, *written) if label is not None)
        return check_categories([names.get(label) for label in plain]), names, reading.ordered
    names, declared = unify(written), find_declared(columns)
    if declared is not None:
        order = tuple(dict.fromkeys(names[label] for label in declared.labels))
        return order, names, reading.ordered or declared.ordered
    in_order = sorted(set(names.values()))
    if to_numbers(in_order) is not None:
        in_order.sort(key=float)
    return tuple(in_order), names, reading.ordered


def _say_unused(columns: Mapping[str, Column], reading: Reading) -> Iterator[str]:
    """Say which options about the meaning of labels have no effect."""
    cells = {label for column in columns.values() for label in column.labels}
    labels = cells.union(*map(checks.list_of, cells)) if reading.sets else cells
    parts = [(name, part) for name in ("missing", "labels") for part in getattr(reading, name)]
    unused: list[dict[str, Any]] = []
    for name, part in [*parts, ("decimal", reading.decimal)]:
        meaning = _make_meaning(Reading(**{name: part}))
        if to_label(part) is not None and all(meaning(label) == label for label in labels):
            unused.append({name: part})
    if reading.sets and all(len(checks.list_of(cell)) == 1 for cell in cells):
        unused.append({"sets": True})
    for option in unused:
        yield compose("an option has no effect on the labels of the ratings ({})", option)


def _give_meaning(column: Column, reading: Reading) -> Column:
    """Give labels their meaning; several may have the same."""
    meaning, cuts = _make_meaning(reading), reading.cut
    labels = list(map(meaning, column.labels))
    given = merge_labels(column.name, column.codes, labels)
    if cuts:
        problem = f"{{value}} is no number to cut at {', '.join(f'{cut:g}' for cut in cuts)}"
        refuse_first(np.isnan(given.numbers) & (given.codes >= 0), given, problem, "correct it")
        bins = np.searchsorted(cuts, [float(label) for label in given.labels], side="right")
        given = merge_labels(column.name, given.codes, [cut_names(cuts)[k] for k in bins])
    return replace(column, codes=given.codes, labels=given.labels)


def _make_meaning(reading: Reading) -> Callable[[Any], Any]:
    """Make the function from a label as it is written to what it means, None if missing."""
    missing = {_text(text) for text in reading.missing if to_label(text) is not None}
    written = (str(pair).rpartition("=") for pair in reading.labels)
    mapped = {text: category for text, _, category in written}

    def meaning(label: Any) -> Any:
        if missing and _text(label) in missing:
            return None
        if str(label) in mapped:
            return to_label(mapped[str(label)])
        if reading.decimal == "," and DECIMAL_COMMA.fullmatch(str(label)):
            return to_label(float(str(label).replace(",", ".")))
        return label

    def meaning_of_set(cell: Any) -> Any:
        is_named = str(cell) in mapped or _text(cell) in missing
        written = [cell] if is_named else checks.list_of(cell)
        labels = {meaning(label) for label in written}
        if written and labels == {None}:
            return None
        return json.dumps(sorted(map(str, labels - {None})), ensure_ascii=False)

    return meaning_of_set if reading.sets else meaning


def _text(label: Any) -> str:
    """Label as text, 99.0 as 99."""
    return str(unify([label])[label])


def cut_names(cuts: Sequence[float]) -> list[str]:
    """Name the categories that numbers are cut into.

    Examples
    --------
    >>> cut_names([0.5])
    ['below 0.5', '0.5 or more']
    """
    between = [f"{low:g} to below {high:g}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]:g}", *between, f"{cuts[-1]:g} or more"]
