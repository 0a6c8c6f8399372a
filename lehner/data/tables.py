"""Ratings from tables with a row per item, a row per rating, or counts of anonymous raters."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Integers, to_array
from lehner.core.errors import InputError, compose, find
from lehner.core.lazy import pd
from lehner.core.text import list_few
from lehner.data import checks, classify, columns, patterns, roles
from lehner.data.columns import (
    Column,
    Label,
    Table,
    check_categories,
    find_declared,
    fold,
    refuse_first,
    require_columns,
    to_label,
    to_numbers,
    unify,
)
from lehner.data.patterns import FlatRatings
from lehner.data.reading import Reading, to_names

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

# Options that give labels another meaning than themselves.
MEANING = ("missing", "labels", "only", "sets", "cut", "decimal", "fold_case")
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")


def from_wide(cls: "type[Ratings]", data: Any, **options: Any) -> "Ratings":
    """Read a table with a row per item and a column per rater.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table, mapping of columns or ndarray
        The labels of the ratings; an array has raters as columns.
    **options
        The roles of columns and the meaning of labels, as in `lehner.Reading`: `raters` (for an
        array, names; by default all columns without another role), `item`, `system`, `truth`,
        `truth_probability`, `counts`, `cluster`, `categories`, `ordered`, `missing`, `fold_case`
        and others.

    Returns
    -------
    Ratings
        A row for each row of the table.

    Raises
    ------
    InputError
        If the data are not a table with a row per item, or if they are probably an error: a
        system that is coded differently from the raters, a category with two spellings, or a
        column without ratings. Data that only look odd give a `DataWarning` and an entry in
        `notes`.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings.from_wide({"Ann": ["a", "b"], "Bo": ["a", None], "AI": ["b", "b"]}, system="AI")
    Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b), system
    >>> Ratings.from_wide({"Ann": [0, 0], "Bo": [0, 1], "n": [70, 30]}, counts="n")
    Ratings: 100 items in 2 rows, 2 raters, 200 ratings, 2 categories (0, 1)
    """
    reading = Reading(**options)
    return build(cls, columns.make_table(data, reading.raters), reading)


def from_long(
    cls: "type[Ratings]",
    data: Any,
    *,
    item: str = "item",
    rater: str = "rater",
    rating: str = "rating",
    **options: Any,
) -> "Ratings":
    """Read a table with a row per rating.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table or mapping of columns
        The table.
    item, rater, rating : str
        Names of the columns of the item, the rater and the rater's label.
    **options
        The roles of other columns and the meaning of labels, as in `lehner.Reading`: `system` and
        `truth` (which may name raters), `truth_probability`, `cluster`, `occasion`, `repeated`,
        `categories`, `ordered`, `missing`, `fold_case` and others. What is said of an item, as its
        gold label, is the same or blank in all its rows. A rater who rates an item again, which
        is an error without `occasion` or `repeated`, has one vote: the most frequent rating, and
        none if two are equally frequent. A note gives the numbers.

    Returns
    -------
    Ratings
        A row for each item.

    Raises
    ------
    InputError
        For the same reasons as in `from_wide`, and if a rater rated an item twice without an
        `occasion` and without `repeated`.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings.from_long({"item": [1, 1, 2], "rater": ["x", "y", "x"], "rating": "aba"})
    Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b)
    """
    reading = Reading(item=(item,), rater=rater, rating=rating, **options)
    return build(cls, columns.make_table(data), reading)


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the rows of a table say: the item of each, ratings and answers, and gold labels."""

    index: Integers
    items: NDArray[Any]
    raters: Sequence[str]
    ratings: FlatRatings
    answers: Sequence[Integers]
    truth: Integers | None
    coded: "Coded"


def build(cls: "type[Ratings]", table: Table, reading: Reading) -> "Ratings":
    """Make ratings of a table whose columns' roles are known.

    Parameters
    ----------
    cls : type
    table : Table
    reading : Reading
        A row is a rating if `rater` and `rating` are named, else an item.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        See `from_wide` and `from_long`.
    """
    if len(reading.item) > 1:
        raise InputError(f"items are named by {' and '.join(reading.item)}", "name one column")
    if reading.category_counts:
        return _build_counts(cls, table, reading)
    rows = (_read_wide if reading.rater is None else _read_long)(table, reading)
    coded, truth = rows.coded, rows.truth
    cluster = chance = None

    def gather(what: str, name: str, codes: Integers, labels: Any) -> Integers:
        column = Column(name=name, codes=codes, labels=labels)
        return column.gather(rows.index, len(rows.items), what)

    if truth is not None:
        truth = gather("truth", str(reading.truth), truth, coded.categories)
    if (name := reading.cluster) is not None:
        cluster = patterns.require_several_clusters(gather("cluster", name, *table[name].items))
    if (name := reading.truth_probability) is not None:
        chances, number = np.unique(columns.read_probabilities(table[name]), return_inverse=True)
        chance = chances[gather("probability", name, number, chances)]
    ignored = classify.list_free(table, reading, *rows.raters)
    odd = [*coded.odd, *([] if reading.raters else roles.say_doubtful_names(rows.raters))]
    if reading.rating is not None and reading.truth is None:
        odd += _say_gold_labels(table, reading.rating, ignored)
    ratings = cls(
        rows.ratings,
        coded.categories,
        rows.raters,
        rows.items,
        np.stack(rows.answers, axis=1) if rows.answers else None,
        truth,
        systems=reading.system,
        counts=None if reading.counts is None else columns.read_counts(table[reading.counts]),
        cluster=cluster,
        truth_probability=chance,
        ordered=coded.ordered,
        noticed=(checks.say_columns(rows.raters, ignored, reading), *odd),
    )
    ratings = checks.check_coding(ratings, fixed=coded.fixed)
    slips = [] if coded.fixed else checks.describe_categories(ratings, checks.count_uses(ratings))
    checks.warn_of_data((*odd, *slips))
    return ratings.note(*slips)


def _read_wide(table: Table, reading: Reading) -> _Rows:
    """Read a table with a row per item, and check that its other columns are raters."""
    systems, item, n_rows = reading.system, reading.item, table.n_rows
    of_items = (reading.truth, reading.truth_probability, reading.counts, reading.cluster)
    special = [*item, *systems, *(name for name in of_items if name is not None)]
    require_columns(table, [*special, *reading.raters])
    items = name_each_once(table[item[0]]) if item else np.arange(n_rows)
    raters = reading.raters or roles.find_raters(table, reading)
    truth = to_names(reading.truth)
    coded = code_labels({name: table[name] for name in (*raters, *systems, *truth)}, reading)
    codes = np.empty((n_rows, len(raters)), np.int64)
    for place, name in enumerate(raters):
        codes[:, place] = coded.codes[name]
    ratings = patterns.flatten(codes, len(coded.categories))[0]
    answers = [coded.codes[name] for name in systems]
    gold = coded.codes[truth[0]] if truth else None
    return _Rows(np.arange(n_rows), items, tuple(raters), ratings, answers, gold, coded)


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


def _read_long(table: Table, reading: Reading) -> _Rows:
    """Read a table with a row per rating."""
    item, rater, rating = reading.item[0], str(reading.rater), str(reading.rating)
    truth = reading.truth if reading.truth in table else None
    others = (truth, reading.occasion, reading.cluster, reading.truth_probability)
    require_columns(table, [item, rater, rating, *(name for name in others if name is not None)])
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
    place = {name: code for code, name in enumerate(people)}
    for name in (*reading.raters, *reading.system):
        find("column or rater", name, place)
    kept = {*(reading.raters or people)} - {*reading.system, reading.truth if truth is None else ""}
    raters = [name for name in people if name in kept]
    ratings = _sort_long(table, reading, index, codes)
    # A judge who saw both orders has one vote for an item, or none.
    votes = ratings.one_vote_each if reading.order or reading.pair else ratings
    answers = [votes.take_answers(place[name], name, items) for name in reading.system]
    if len(raters) < len(people):
        ratings = ratings.take_raters(np.array([place[name] for name in raters], np.int64))
    if not (reading.raters or reading.order):
        roles.refuse_other_names(raters)
    return _Rows(index, items, raters, ratings, answers, gold, coded)


def _sort_long(table: Table, reading: Reading, index: Integers, codes: Integers) -> FlatRatings:
    """Sort ratings by item and rater, and refuse those of a rater who rates an item again."""
    rater = table[str(reading.rater)]
    if reading.repeated in ("first", "last"):
        missing = np.where(codes < 0, np.arange(len(codes)), -1)  # no other row is like these
        codes = np.where(_find_again(reading.repeated, index, rater.codes, missing), -1, codes)
    rated = np.flatnonzero(codes >= 0)
    pairs = index[rated], rater.codes[rated]
    ratings = patterns.sort_ratings(*pairs, codes[rated])
    occasions = [] if reading.occasion is None else [table[reading.occasion].items[0][rated]]
    may_repeat = reading.repeated and (reading.order or not occasions)
    if not may_repeat and (occasions or ratings.is_repeated.any()):
        for row in rated[_find_again("first", *pairs, *occasions)]:
            problem = f"rater {rater.texts[row]!r} rates the item a second time"
            remedy = roles.remedy_for_repeats(table, reading)
            raise InputError(problem, remedy, row=int(row), column=reading.rating)
    return ratings


def _say_gold_labels(table: Table, rating: str, ignored: Sequence[str]) -> list[str]:
    """Name columns that have the name of gold labels, and labels of ratings, but no role."""
    sentences: list[str] = []
    for name in (name for name in ignored if classify.role_of(name) == "truth"):
        with suppress(InputError):  # such a column may hold what is no label
            if table[name].labels and {*table[name].labels} <= {*table[rating].labels}:
                sentences.append(roles.say_truth(name, name))
    return sentences


def _find_again(keep: str, *columns: Integers) -> Booleans:
    """Find rows that are equal to the first of them (or to the last), in all columns."""
    return pd.DataFrame(dict(enumerate(columns))).duplicated(keep=keep).to_numpy()


def add_gold_labels(
    ratings: "Ratings", table: Table, item: str, truth: str, reading: Reading
) -> "Ratings":
    """Add gold labels of a table of their own, with a row per item, to ratings.

    Parameters
    ----------
    ratings : Ratings
    table : Table
    item, truth : str
        Its columns.
    reading : Reading
        What its labels mean; they are categories of the ratings.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        If an item or a category is not one of the ratings, or a gold label is another already.
    """
    require_columns(table, [item, truth])
    names = name_each_once(table[item])
    coded = code_labels({truth: table[truth]}, replace(reading, categories=ratings.categories))
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    rows = np.array([row_of.get(str(name), -1) for name in names], dtype=np.int64)
    problem, remedy = "the ratings have no item {value}", "name items as they do"
    refuse_first(rows < 0, table[item], problem, remedy)
    labels = coded.codes[truth]
    before = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth.copy()
    other = (labels >= 0) & (before[rows] >= 0) & (before[rows] != labels)
    problem = "the item has the gold label {value} here and another in the ratings file"
    refuse_first(other, table[truth], problem, "give each item one gold label")
    before[rows] = np.where(labels >= 0, labels, before[rows])
    return ratings.with_truth(before, ratings.truth_probability)


def _build_counts(cls: "type[Ratings]", table: Table, reading: Reading) -> "Ratings":
    """Read a table with a column per category, whose cells count anonymous raters."""
    special = [*reading.item, *to_names(reading.counts)]
    categories = reading.categories or tuple(name for name in table if name not in special)
    require_columns(table, [*special, *map(str, categories)])
    for name in ("system", "truth", "raters"):
        if getattr(reading, name):
            raise InputError(f"cells that count raters have no {name}", f"leave it out ({name}=…)")
    shown = ", ".join(map(str, categories))
    return from_counts(
        cls,
        np.stack([columns.read_counts(table[str(name)]) for name in categories], axis=1),
        categories,
        items=name_each_once(table[reading.item[0]]).tolist() if reading.item else None,
        item_counts=None if reading.counts is None else columns.read_counts(table[reading.counts]),
        ordered=reading.ordered,
    ).note(f"each column is a category, and each cell a number of raters: {shown}")


def from_counts(
    cls: "type[Ratings]",
    counts: ArrayLike,
    categories: Sequence[Label],
    *,
    items: Sequence[Any] | None = None,
    item_counts: ArrayLike | None = None,
    ordered: bool = False,
) -> "Ratings":
    """Read the number of anonymous raters who put each item into each category.

    Parameters
    ----------
    counts : array_like of int, shape (n_rows, n_categories)
        Number of ratings of each item in each category, 0 or more.
    categories : sequence of str or int, length n_categories
        Names of the categories, in the order of the columns.
    items : sequence, length n_rows, optional
        Names of the items.
    item_counts : array_like of int, shape (n_rows,), optional
        Number of items of each row.
    ordered : bool
        Whether the order of the categories is meaningful.

    Returns
    -------
    Ratings
        With anonymous raters: it is unknown who gave which rating.

    Raises
    ------
    InputError
        If a count is not a whole number of 0 or more, or if lengths are inconsistent.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings.from_counts([[3, 0], [1, 2]], ["no", "yes"])
    Ratings: 2 items, 3 anonymous raters, 6 ratings, 2 categories (no, yes)
    """
    table = to_array(counts, "counts")
    n_items, n_categories = (len(table), len(categories)) if table.ndim else (0, 0)
    table = patterns.check_counts(table, (n_items, n_categories))
    lengths = table.sum(axis=1)
    item, category = np.repeat(np.indices(table.shape).reshape(2, -1), table.ravel(), axis=1)
    # Each rating of an item gets a slot, which replaces its unknown rater.
    slot = np.arange(len(item)) - (np.cumsum(lengths) - lengths)[item]
    return cls(
        FlatRatings(item, slot, category),
        categories,
        [f"rating {j + 1}" for j in range(int(lengths.max(initial=0)))],
        np.arange(1, n_items + 1) if items is None else items,
        counts=item_counts,
        ordered=ordered,
        anonymous=True,
    )


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
    fixed, odd = classify.are_fixed(columns, reading), []
    if any(getattr(reading, name) for name in MEANING):
        meaning, odd = _make_meaning(reading), list(_say_unused(columns, reading))
        columns = {name: _give_meaning(column, meaning) for name, column in columns.items()}
    categories, names, ordered = _choose_categories(columns, reading)
    if not (reading.categories or reading.cut or reading.sets):
        odd += checks.check_labels(columns, names, refuse=not fixed)
    position = {category: k for k, category in enumerate(categories)}
    problem = f"{{value}} is not one of the categories {', '.join(map(str, categories))}"
    remedy = "correct it, leave it blank, or add it to the categories"
    codes = {}
    for name, column in columns.items():
        places = np.array([*(position.get(names[label], -2) for label in column.labels), -1])
        codes[name] = places[column.codes]
        if (places == -2).any():
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
    same, texts = fold if reading.fold_case else str, set(map(str, labels))
    written, mapped = {_text(label, reading) for label in labels}, set(map(same, texts))
    for text in reading.missing:
        if to_label(text) is not None and _text(text, reading) not in written:
            what = "which was given as a label for missing ratings"
            yield f"no cell has the value {str(text)!r}, {what}"
    acts = {
        "labels": any(same(str(x).rpartition("=")[0]) in mapped for x in reading.labels),
        "fold_case": len(set(map(fold, texts))) < len(texts),
        "decimal": any(map(DECIMAL_COMMA.fullmatch, texts)),
        "sets": any(len(checks.list_of(cell)) != 1 for cell in cells),
    }
    for name, has_effect in acts.items():
        if getattr(reading, name) and not has_effect:
            yield compose("an option has no effect on the labels of the ratings ({})", {name: None})


def _give_meaning(column: Column, meaning: Callable[[Any], Any]) -> Column:
    """Give labels their meaning; several may have the same."""
    labels: dict[Any, int] = {}
    places = []
    for code, label in enumerate(column.labels):
        try:
            value = meaning(label)
        except InputError as error:
            error.row, error.column = int(np.argmax(column.codes == code)), column.name
            raise
        places.append(-1 if value is None else labels.setdefault(value, len(labels)))
    return replace(column, codes=np.array([*places, -1])[column.codes], labels=tuple(labels))


def _make_meaning(reading: Reading) -> Callable[[Any], Any]:
    """Make the function from a label as it is written to what it means, None if missing."""
    missing = {_text(text, reading) for text in reading.missing if to_label(text) is not None}
    same = fold if reading.fold_case else str
    written = (str(pair).rpartition("=") for pair in reading.labels)
    mapped = {same(text): category for text, _, category in written}
    spelled = {fold(label): label for label in reading.categories}

    def meaning(label: Any) -> Any:
        if missing and _text(label, reading) in missing:
            return None
        if same(label) in mapped:
            return to_label(mapped[same(label)])
        if reading.only:
            listed = list_few(mapped, 8)
            remedy = f"add it to the labels ({listed}), or leave it blank"
            raise InputError(f"{str(label)!r} is not among the labels that are listed", remedy)
        if reading.decimal == "," and DECIMAL_COMMA.fullmatch(str(label)):
            label = to_label(float(str(label).replace(",", ".")))
        if reading.cut:
            return _cut(label, reading.cut)
        return spelled.get(fold(label), fold(label)) if reading.fold_case else label

    def meaning_of_set(cell: Any) -> Any:
        is_named = same(cell) in mapped or _text(cell, reading) in missing
        written = [cell] if is_named else checks.list_of(cell)
        labels = {meaning(label) for label in written}
        if written and labels == {None}:
            return None
        return json.dumps(sorted(map(str, labels - {None})), ensure_ascii=False)

    return meaning_of_set if reading.sets else meaning


def _text(label: Any, reading: Reading) -> str:
    """Label as text, 99.0 as 99."""
    text = str(unify([label])[label])
    return fold(text) if reading.fold_case else text


def _cut(label: Any, cuts: Sequence[float]) -> str:
    value = columns.number_or_nan(str(label))
    if np.isnan(value):
        shown = ", ".join(f"{cut:g}" for cut in cuts)
        raise InputError(f"{str(label)!r} is no number to cut at {shown}", "correct it")
    return cut_names(cuts)[int(np.searchsorted(cuts, value, side="right"))]


def cut_names(cuts: Sequence[float]) -> list[str]:
    """Name the categories that numbers are cut into.

    Examples
    --------
    >>> cut_names([0.5])
    ['below 0.5', '0.5 or more']
    """
    between = [f"{low:g} to below {high:g}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]:g}", *between, f"{cuts[-1]:g} or more"]
