"""Ratings from tables with a row per item, a row per rating, or counts of anonymous raters."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Integers
from lehner.core.errors import InputError
from lehner.data.categories import Label, unify
from lehner.data.checks.coding import check_read
from lehner.data.checks.columns import (
    refuse_counts,
    refuse_other_names,
    refuse_rows_of_raters,
    refuse_stray_columns,
    role_of,
    say_columns,
    say_doubtful_names,
)
from lehner.data.clusters import several_clusters
from lehner.data.columns import (
    Column,
    Table,
    read_counts,
    read_probabilities,
    refuse_first,
    require_columns,
    table_of,
)
from lehner.data.flat import (
    FlatRatings,
    are_repeated,
    as_array,
    check_counts,
    flatten,
    sort_ratings,
)
from lehner.data.reading import Reading, names_of, reading_of
from lehner.data.shared_categories import Coded, are_fixed, code_labels
from lehner.data.systems import keep_raters, raters_as_systems

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

GOLD = "gold labels of another table"


def from_wide(
    cls: "type[Ratings]",
    data: Any,
    *,
    raters: Sequence[str] | None = None,
    item: str | None = None,
    cluster: str | None = None,
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
    truth_probability: str | None = None,
    counts: str | None = None,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
    missing: Sequence[Label] = (),
    fold_case: bool = False,
) -> "Ratings":
    """Read a table with a row per item and a column per rater.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table, mapping of columns or ndarray
        The labels of the ratings; an array has raters as columns.
    raters : sequence of str, optional
        The raters' columns; by default all columns not named below. For an array, names.
    item, truth, counts : str, optional
        Columns of the items' names, of gold labels, and of the number of items of each row.
    truth_probability : str, optional
        Column of the probability with which each item was chosen to have its truth found out; see
        `with_truth`.
    cluster : str, optional
        Column of the cluster of each item, as the patient of a lesion; see `with_clusters`.
    system : str or sequence of str, optional
        Column of the system's answers, or the columns of several systems.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether their order is meaningful.
    missing : sequence of str
        Labels of missing ratings, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are one.

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
    reading = reading_of(locals())
    return build(cls, table_of(data, reading.raters), reading)


def from_long(
    cls: "type[Ratings]",
    data: Any,
    *,
    item: str = "item",
    rater: str = "rater",
    rating: str = "rating",
    cluster: str | None = None,
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
    truth_probability: str | None = None,
    occasion: str | None = None,
    repeated: bool | str = False,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
    missing: Sequence[Label] = (),
    fold_case: bool = False,
) -> "Ratings":
    """Read a table with a row per rating.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table or mapping of columns
        The table.
    item, rater, rating : str
        Names of the columns of the item, the rater and the rater's label.
    cluster : str, optional
        Column with the item's cluster, the same in all rows of an item; see `with_clusters`.
    system : str or sequence of str, optional
        The rater who is the system, or the raters who are systems.
    truth : str, optional
        Column with the item's gold label, the same or blank in all rows of an item; or the rater
        whose ratings are the gold labels.
    truth_probability : str, optional
        Column with the probability with which the item was chosen to have its truth found out, the
        same in all rows of an item; see `with_truth`.
    occasion : str, optional
        Column that distinguishes repeated ratings of an item by a rater; without it a
        repetition is an error, unless `repeated` is set. A rater has one vote for an item, the
        most frequent of the ratings, because repeated ratings mostly repeat their errors; if
        two are equally frequent, the rater has none. A note gives the numbers.
    repeated : bool or {"vote", "first", "last"}
        Whether a rater may rate an item more than once without `occasion`, and which rating counts:
        the most frequent ("vote", True), the first or the last.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether their order is meaningful.
    missing : sequence of str
        Labels of missing ratings, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are one.

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
    return build(cls, table_of(data), reading_of(locals()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Gold:
    """Gold labels from a table of their own, with a row per item.

    Parameters
    ----------
    table : Table
    item, truth : str
        Its columns.
    """

    table: Table
    item: str
    truth: str


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """What the rows of a table say: the item of each, everybody's ratings, and gold labels."""

    item: Integers
    items: NDArray[Any]
    people: Sequence[str]
    raters: Sequence[str]
    flat: FlatRatings
    truth: Integers | None
    coded: Coded
    used: Sequence[str]
    odd: Sequence[str] = ()


def build(
    cls: "type[Ratings]", table: Table, reading: Reading, gold: Gold | None = None
) -> "Ratings":
    """Make ratings of a table whose columns' roles are known.

    Parameters
    ----------
    cls : type
    table : Table
    reading : Reading
        A row is a rating if `rater` and `rating` are named, else an item.
    gold : Gold, optional
        Gold labels beside those in the table.

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
    rows = (_read_wide if reading.rater is None else _read_long)(table, reading, gold)
    cluster = chance = None
    if (name := reading.cluster) is not None:
        number, labels = table[name].items
        cluster = several_clusters(_one_per_item(rows, number, name, labels, "cluster"))
    if (name := reading.truth_probability) is not None:
        chances, number = np.unique(read_probabilities(table[name]), return_inverse=True)
        chance = chances[_one_per_item(rows, number, name, chances.tolist(), "probability")]
    ignored = [name for name in table if name not in rows.used]
    odd = (*rows.coded.odd, *rows.odd)
    ratings = cls(
        rows.flat,
        rows.coded.categories,
        rows.people,
        rows.items,
        truth=rows.truth,
        counts=None if reading.counts is None else read_counts(table[reading.counts]),
        cluster=cluster,
        truth_probability=chance,
        ordered=rows.coded.ordered,
        noticed=(say_columns(rows.raters, ignored, reading), *odd),
    )
    everybody = (*rows.raters, *reading.system)
    if everybody != tuple(rows.people):
        ratings = keep_raters(ratings, everybody)
    if reading.system:
        # A judge who saw both orders has one vote for an item, or none.
        by_vote = reading.order is not None or bool(reading.pair)
        ratings = raters_as_systems(ratings, reading.system, by_vote=by_vote)
    if gold is not None:
        ratings = _add_gold(ratings, gold, rows.coded)
    return check_read(ratings, odd, fixed=rows.coded.fixed)


def _read_wide(table: Table, reading: Reading, gold: Gold | None) -> _Rows:
    """Read a table with a row per item, and check that its other columns are raters."""
    systems, item, n_rows = reading.system, reading.item, table.n_rows
    of_items = (reading.truth, reading.truth_probability, reading.counts, reading.cluster)
    special = [*item, *systems, *(name for name in of_items if name is not None)]
    raters: Sequence[str] = reading.raters or [name for name in table if name not in special]
    require_columns(table, [*special, *raters])
    if not reading.raters:
        if systems and reading.truth:
            raters = _leave_out_strangers(table, raters, (*systems, reading.truth))
        answers = {name: table[name] for name in (*raters, *systems)}
        refuse_other_names(raters, systems, columns=True)
        refuse_rows_of_raters(len(answers), n_rows, (*item, None)[0], next(iter(answers), ""))
        if not are_fixed(answers, reading):
            refuse_stray_columns(answers, raters, reading.decimal)
            if reading.counts is None:
                refuse_counts([table[name] for name in raters])
    people = (*raters, *systems)
    coded = _code(table, (*people, *names_of(reading.truth)), reading, gold)
    codes = [coded.codes[name] for name in people]
    dense = np.stack(codes, axis=1) if codes else np.empty((n_rows, 0), np.int64)
    return _Rows(
        item=np.arange(n_rows),
        items=_name_each_once(table[item[0]]) if item else np.arange(n_rows),
        people=people,
        raters=tuple(raters),
        flat=flatten(dense, len(coded.categories))[0],
        truth=None if reading.truth is None else coded.codes[reading.truth],
        coded=coded,
        used=[*special, *raters],
        odd=[] if reading.raters else say_doubtful_names(raters, systems),
    )


def _leave_out_strangers(
    table: Table, names: Sequence[str], others: Sequence[str]
) -> Sequence[str]:
    """Give no names if none has a label of others: a system and its gold labels need no raters."""
    labels = {str(label) for other in others for label in table[other].labels}
    return names if any(labels & set(map(str, table[name].labels)) for name in names) else ()


def _name_each_once(column: Column) -> NDArray[Any]:
    """Give the names of items, or raise an InputError if one has a second row."""
    index, names = column.items
    if len(names) < len(index):
        again = np.ones(len(index), dtype=bool)
        again[np.unique(index, return_index=True)[1]] = False
        name = str(names[index[np.argmax(again)]])
        problem = f"item {name!r} occurs a second time in a table with a row per item"
        remedy = "give each item one row, or, if each row is a rating, name its columns (rater=…, "
        refuse_first(again, column, problem, f"{remedy}rating=…)")
    return names


def _read_long(table: Table, reading: Reading, gold: Gold | None) -> _Rows:
    """Read a table with a row per rating."""
    item, rater, rating = reading.item[0], str(reading.rater), str(reading.rating)
    truth = reading.truth if reading.truth in table else None
    others = (truth, reading.occasion, reading.cluster, reading.truth_probability)
    used = [item, rater, rating, *(name for name in others if name is not None)]
    require_columns(table, used)
    index, items = table[item].items
    column = table[rater].refuse_blank()
    people = list(map(str, unify(column.labels).values()))
    coded = _code(table, [rating, *names_of(truth)], reading, gold)
    codes, by_truth = coded.codes[rating], np.zeros(len(index), bool)
    if reading.truth is not None and truth is None:
        if reading.truth not in people:
            require_columns(table, [reading.truth])
        by_truth = column.codes == people.index(reading.truth)
    if reading.repeated in ("first", "last"):
        codes = np.where(_are_chosen(index, column.codes, codes, reading.repeated), codes, -1)
    rated = (codes >= 0) & ~by_truth
    flat = sort_ratings(index[rated], column.codes[rated], codes[rated], len(coded.categories))
    if reading.occasion is not None and not (reading.order and reading.repeated):
        _refuse_duplicates(index, column, codes, rating, table[reading.occasion].items[0])
    elif reading.occasion is None and not reading.repeated and are_repeated(flat).any():
        _refuse_duplicates(index, column, np.where(by_truth, -1, codes), rating)
    kept = reading.raters or [name for name in people if name != reading.truth or truth]
    raters = [name for name in kept if name not in reading.system]
    if not (reading.raters or reading.preset or reading.order):
        refuse_other_names(raters, (), columns=False)
    rows = _Rows(
        item=index,
        items=items,
        people=people,
        raters=raters,
        flat=flat,
        truth=None,
        coded=coded,
        used=used,
        odd=say_doubtful_names(raters, reading.system),
    )
    if reading.truth is None:
        return replace(rows, odd=[*rows.odd, *_say_gold_labels(table, rating, used)])
    gold_codes = np.where(by_truth, codes, -1) if truth is None else coded.codes[truth]
    known = _one_per_item(rows, gold_codes, truth or rating, coded.categories, "truth")
    return replace(rows, truth=known)


def _say_gold_labels(table: Table, rating: str, used: Sequence[str]) -> list[str]:
    """Name columns that have the name of gold labels, and labels of ratings, but no role."""
    sentences = []
    for name in (name for name in table if role_of(name) == "truth" and name not in used):
        with suppress(InputError):  # such a column may hold what is no label
            if 0 < len(table[name].labels) == len({*table[name].labels} & {*table[rating].labels}):
                sentences.append(f"if {name} has gold labels, say so (truth={name!r})")
    return sentences


def _are_chosen(item: Integers, rater: Integers, rating: Integers, which: str) -> Booleans:
    """Find each rater's first or last rating of each item."""
    rows = np.flatnonzero(rating >= 0)
    key = item[rows] * (int(rater.max(initial=0)) + 1) + rater[rows]
    order = slice(None) if which == "first" else slice(None, None, -1)
    chosen = np.zeros(len(item), bool)
    chosen[rows[order][np.unique(key[order], return_index=True)[1]]] = True
    return chosen


def _refuse_duplicates(
    item: Integers, rater: Column, rating: Integers, name: str, occasion: Integers | None = None
) -> None:
    """Raise an InputError, for the column of this name, where a rater rates an item twice."""
    rows = np.flatnonzero(rating >= 0)
    key = item[rows] * len(rater.labels) + rater.codes[rows]
    if occasion is not None:
        key = key * (int(occasion.max(initial=0)) + 1) + occasion[rows]
    again = np.setdiff1d(np.arange(len(rows)), np.unique(key, return_index=True)[1])
    if again.size:
        row = int(rows[again[0]])
        raise InputError(
            f"rater {str(rater.labels[rater.codes[row]])!r} rates the item a second time",
            "say which rating counts (repeated='vote', 'first' or 'last'), name more columns of "
            "the item (item=…) or one that tells the ratings apart (occasion=…), or read only some "
            "rows (where=…)",
            row=row,
            column=name,
        )


def _one_per_item(
    rows: _Rows, values: Integers, name: str, labels: Sequence[Any] | NDArray[Any], what: str
) -> Integers:
    """Gather what each item has once, as its gold label, -1 where it has none, (n_items,)."""
    known = np.flatnonzero(values >= 0)
    per_item = np.full(len(rows.items), -1)
    per_item[rows.item[known[::-1]]] = values[known[::-1]]
    conflict = known[per_item[rows.item[known]] != values[known]]
    if conflict.size:
        row = int(conflict[0])
        first, second = labels[per_item[rows.item[row]]], labels[values[row]]
        raise InputError(
            f"the item's {what} is {str(second)!r} here and {str(first)!r} in an earlier row",
            f"give each item one {what}",
            row=row,
            column=name,
        )
    return per_item


def _code(table: Table, names: Sequence[str], reading: Reading, gold: Gold | None) -> Coded:
    """Code columns of labels, and the gold labels of another table as they are."""
    columns = {name: table[name] for name in names}
    if gold is not None:
        columns[GOLD] = replace(gold.table[gold.truth], name=GOLD)
    try:
        return code_labels(columns, reading)
    except InputError as error:
        if error.column == GOLD and gold is not None:
            error.column = gold.truth
            gold.table.locate(error)
        raise


def add_gold_labels(ratings: "Ratings", gold: Gold) -> "Ratings":
    """Add gold labels of a table of their own to ratings, with the ratings' categories."""
    reading = Reading(categories=ratings.categories)
    return _add_gold(ratings, gold, _code(Table({}), [], reading, gold))


def _add_gold(ratings: "Ratings", gold: Gold, coded: Coded) -> "Ratings":
    """Add gold labels to those that the ratings have."""
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    known = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth.copy()
    used = {*ratings.given.category_index.tolist(), *ratings.answers.ravel().tolist()}
    used |= set(range(ratings.n_categories)) if coded.fixed else set(known.tolist())
    categories = list(map(str, coded.categories))
    try:
        names = _name_each_once(gold.table[gold.item]).tolist()
        for line, (name, code) in enumerate(zip(names, coded.codes[GOLD], strict=True)):
            row = row_of.get(str(name))
            if row is None:
                problem, remedy = f"the ratings have no item {str(name)!r}", "name items as they do"
            elif code >= 0 and code not in used:
                listed = ", ".join(categories[k] for k in sorted(used - {-1}))
                problem = f"{categories[code]!r} is not one of the categories {listed}"
                remedy = "correct it, or name all categories, used or not (categories=…)"
            elif code >= 0 and known[row] not in (-1, code):
                problem = f"the truth of item {str(name)!r} is {categories[code]!r} here and "
                problem += f"{categories[known[row]]!r} in the ratings file"
                remedy = "give each item one truth"
            else:
                known[row] = code if code >= 0 else known[row]
                continue
            column = gold.item if row is None else gold.truth
            raise InputError(problem, remedy, row=line, column=column)
    except InputError as error:
        gold.table.locate(error)
        raise
    return ratings.with_truth(known, ratings.truth_probability)


def _build_counts(cls: "type[Ratings]", table: Table, reading: Reading) -> "Ratings":
    """Read a table with a column per category, whose cells count anonymous raters."""
    special = [*reading.item, *names_of(reading.counts)]
    categories = reading.categories or tuple(name for name in table if name not in special)
    require_columns(table, [*special, *categories])
    for name in ("system", "truth", "raters"):
        if getattr(reading, name):
            raise InputError(f"cells that count raters have no {name}", f"leave it out ({name}=…)")
    shown = ", ".join(map(str, categories))
    return from_counts(
        cls,
        np.stack([read_counts(table[str(name)]) for name in categories], axis=1),
        categories,
        items=_name_each_once(table[reading.item[0]]).tolist() if reading.item else None,
        item_counts=None if reading.counts is None else read_counts(table[reading.counts]),
        ordered=reading.ordered,
    )._note(f"each column is a category, and each cell a number of raters: {shown}")


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
    table = as_array(counts, "counts")
    n_items, n_categories = (len(table), len(categories)) if table.ndim else (0, 0)
    table = check_counts(table, (n_items, n_categories))
    lengths = table.sum(axis=1)
    item = np.repeat(np.arange(n_items), lengths)
    category = np.repeat(np.tile(np.arange(n_categories), n_items), table.ravel())
    starts = np.cumsum(lengths) - lengths
    # Each rating of an item gets a slot, which replaces its unknown rater.
    slot = np.arange(len(item)) - starts[item]
    return cls(
        FlatRatings(item_index=item, rater_index=slot, category_index=category),
        categories,
        [f"rating {j + 1}" for j in range(int(lengths.max(initial=0)))],
        np.arange(1, n_items + 1) if items is None else items,
        counts=item_counts,
        ordered=ordered,
        anonymous=True,
    )
