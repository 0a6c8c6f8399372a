"""Ratings from tables with a row per item, a row per rating, or counts of anonymous raters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Integers
from lehner.core.errors import InputError
from lehner.data.categories import Label, unify
from lehner.data.checks.coding import check_read
from lehner.data.checks.columns import (
    refuse_counts,
    refuse_other_columns,
    refuse_other_raters,
    refuse_rows_of_raters,
    refuse_stray_columns,
    say_columns,
    say_doubtful_names,
)
from lehner.data.clusters import several_clusters
from lehner.data.columns import (
    Column,
    Table,
    read_counts,
    read_probabilities,
    require_columns,
    table_of,
)
from lehner.data.flat import FlatRatings, as_array, check_counts, sort_ratings
from lehner.data.reading import Reading, names_of, reading_of
from lehner.data.shared_categories import Coded, are_fixed, code_labels
from lehner.data.systems import keep_raters, raters_as_systems

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


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
        Columns of the items' names, of known truths, and of the number of items of each row.
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
        If the data are not a table with a row per item, or if they are probably a mistake: a
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
        most frequent of the ratings, because repeated ratings mostly repeat their mistakes; if
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


GOLD = "gold labels of another table"
FEWEST_RATERS = 1


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
    if reading.category_counts:
        return _build_counts(cls, table, reading)
    make = _build_wide if reading.rater is None else _build_long
    ratings, coded, odd = make(cls, table, reading, gold)
    if gold is not None:
        ratings = _add_gold(ratings, gold, coded)
    return check_read(ratings, odd, fixed=coded.fixed)


def _code(table: Table, names: Sequence[str], reading: Reading, gold: Gold | None) -> Coded:
    """Code columns of labels, and the gold labels of another table as they are."""
    columns = {name: table[name] for name in names}
    if gold is not None:
        columns[GOLD] = gold.table[gold.truth]
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
    index, names = gold.table[gold.item].items
    refuse_second_rows(index, names, gold.item, gold.table)
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    known = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth.copy()
    used = {*ratings.given.category_index.tolist(), *ratings.answers.ravel().tolist()}
    used |= set(range(ratings.n_categories)) if coded.fixed else set(known.tolist())
    for line, (name, code) in enumerate(zip(names[index].tolist(), coded.codes[GOLD], strict=True)):
        row, problem, column = row_of.get(str(name)), "", gold.truth
        if row is None:
            problem, column = f"the ratings have no item {str(name)!r}", gold.item
            remedy = "name items as the ratings do"
        elif code >= 0 and code not in used:
            known_names = [str(coded.categories[k]) for k in sorted(used - {-1})]
            label = str(coded.categories[code])
            problem = f"{label!r} is not one of the categories {', '.join(known_names)}"
            remedy = "correct it, or name all categories, used or not (categories=…)"
        elif code >= 0 and known[row] not in (-1, code):
            here, there = (str(coded.categories[k]) for k in (code, known[row]))
            problem = f"the truth of item {str(name)!r} is {here!r} here and {there!r} in the "
            problem, remedy = f"{problem}ratings file", "give each item one truth"
        elif code >= 0:
            known[row] = code
        if problem:
            error = InputError(problem, remedy, row=line, column=column)
            gold.table.locate(error)
            raise error
    return ratings.with_truth(known, ratings.truth_probability)


def refuse_second_rows(index: Integers, names: Any, item: str, table: Table | None = None) -> None:
    """Raise an InputError if an item has a second row."""
    first_use = np.zeros(len(index), dtype=bool)
    first_use[np.unique(index, return_index=True)[1]] = True
    if not first_use.all():
        row = int(np.argmin(first_use))
        error = InputError(
            f"item {str(names[index[row]])!r} occurs a second time in a table with a row per item",
            "give each item one row, or, if each row is a rating, name its columns (rater=…, "
            "rating=…)",
            row=row,
            column=item,
        )
        if table is not None:
            table.locate(error)
        raise error


def _item_column(table: Table, reading: Reading) -> str | None:
    """Name of the column of items, if there is one."""
    if len(reading.item) > 1:
        raise InputError(f"items are named by {' and '.join(reading.item)}", "name one column")
    return reading.item[0] if reading.item else None


def _build_wide(
    cls: "type[Ratings]", table: Table, reading: Reading, gold: Gold | None
) -> tuple["Ratings", Coded, list[str]]:
    item, systems = _item_column(table, reading), reading.system
    of_items = (item, reading.truth, reading.truth_probability, reading.counts, reading.cluster)
    special = [*systems, *(name for name in of_items if name is not None)]
    guessed = not reading.raters
    raters = reading.raters or tuple(name for name in table if name not in special)
    require_columns(table, [*special, *raters])
    if guessed and systems and reading.truth:
        # One system and its gold labels need no raters.
        raters = _sharing(table, raters, [*systems, reading.truth])
    if guessed:
        refuse_other_columns(raters, systems)
        answers = {name: table[name] for name in (*raters, *systems)}
        refuse_rows_of_raters(answers, table.n_rows, item)
        if not are_fixed(answers, reading):
            refuse_stray_columns(answers, raters, reading.decimal)
            if reading.counts is None:
                refuse_counts({name: table[name] for name in raters})
    coded = _code(table, [*raters, *systems, *names_of(reading.truth)], reading, gold)
    odd = [*coded.odd, *(say_doubtful_names(raters, systems) if guessed else ())]
    names = None
    if item is not None:
        index, names = table[item].items
        refuse_second_rows(index, names, item)

    def stack(columns: Sequence[str]) -> Integers:
        codes = [coded.codes[name] for name in columns]
        return np.stack(codes, axis=1) if codes else np.empty((table.n_rows, 0), np.int64)

    probability = reading.truth_probability
    ratings = cls(
        stack(raters),
        coded.categories,
        raters,
        names,
        stack(systems),
        None if reading.truth is None else coded.codes[reading.truth],
        counts=None if reading.counts is None else read_counts(table[reading.counts]),
        cluster=None
        if reading.cluster is None
        else several_clusters(table[reading.cluster].items[0]),
        truth_probability=None if probability is None else read_probabilities(table[probability]),
        ordered=coded.ordered,
        systems=systems,
        noticed=(say_columns(raters, _left(table, [*special, *raters]), reading), *odd),
    )
    return ratings, coded, odd


def _sharing(table: Table, names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Columns with a label that others have, if there are few; else all."""
    labels = {str(label) for other in others for label in table[other].labels}
    sharing = [name for name in names if labels & set(map(str, table[name].labels))]
    return tuple(sharing) if len(sharing) < FEWEST_RATERS else tuple(names)


def _left(table: Table, used: Sequence[str | None]) -> list[str]:
    return [name for name in table if name not in used]


def _build_long(
    cls: "type[Ratings]", table: Table, reading: Reading, gold: Gold | None
) -> tuple["Ratings", Coded, list[str]]:
    item, rater, rating = str(_item_column(table, reading)), str(reading.rater), str(reading.rating)
    of_rater = reading.truth is not None and reading.truth not in table
    truth = None if of_rater else reading.truth
    others = (truth, reading.occasion, reading.cluster, reading.truth_probability)
    used = [item, rater, rating, *(name for name in others if name is not None)]
    require_columns(table, used)
    index, items = table[item].items
    people = table[rater].refuse_blank()
    names = unify(people.labels)
    everybody = [str(names[label]) for label in people.labels]
    coded = _code(table, [rating, *names_of(truth)], reading, gold)
    codes, known = coded.codes[rating], None
    if of_rater:
        if reading.truth not in everybody:
            require_columns(table, [reading.truth])
        by_truth = people.codes == everybody.index(str(reading.truth))
        known = _one_per_item(
            index, np.where(by_truth, codes, -1), len(items), rating, coded.categories
        )
        codes = np.where(by_truth, -1, codes)
    elif truth is not None:
        known = _one_per_item(index, coded.codes[truth], len(items), truth, coded.categories)
    when = None if reading.occasion is None else table[reading.occasion].items[0]
    if reading.repeated in ("first", "last"):
        codes = np.where(_chosen(index, people.codes, codes, reading.repeated), codes, -1)
    elif not reading.repeated or (when is not None and reading.order is None):
        _refuse_duplicates(index, people, when, codes, rating)
    kept = reading.raters or [name for name in everybody if not of_rater or name != reading.truth]
    raters = [name for name in kept if name not in reading.system]
    cluster = None
    if (name := reading.cluster) is not None:
        number, labels = table[name].items
        cluster = _one_per_item(index, number, len(items), name, labels, "cluster")
        cluster = several_clusters(cluster)
    chance = None
    if (name := reading.truth_probability) is not None:
        given, number = np.unique(read_probabilities(table[name]), return_inverse=True)
        labels = given.tolist()
        chance = given[_one_per_item(index, number, len(items), name, labels, "probability")]
    if not (reading.raters or reading.preset or reading.order):
        refuse_other_raters(raters)
    odd = [*coded.odd, *say_doubtful_names(raters, reading.system)]
    rated = codes >= 0
    ratings = cls(
        sort_ratings(index[rated], people.codes[rated], codes[rated], len(coded.categories)),
        coded.categories,
        everybody,
        items,
        truth=known,
        cluster=cluster,
        truth_probability=chance,
        ordered=coded.ordered,
        noticed=(say_columns(raters, _left(table, used), reading), *odd),
    )
    if len(raters) + len(reading.system) < len(everybody) or reading.raters:
        ratings = keep_raters(ratings, [*raters, *reading.system])
    if reading.system:
        # A judge who saw both orders has one vote for an item, or none.
        by_vote = reading.order is not None or bool(reading.pair)
        ratings = raters_as_systems(ratings, reading.system, by_vote=by_vote)
    return ratings, coded, odd


def _chosen(item: Integers, rater: Integers, rating: Integers, which: str) -> Booleans:
    """Find each rater's first or last rating of each item."""
    rows = np.flatnonzero(rating >= 0)
    key = item[rows] * (int(rater.max(initial=0)) + 1) + rater[rows]
    order = slice(None) if which == "first" else slice(None, None, -1)
    found = np.zeros(len(item), bool)
    found[rows[order][np.unique(key[order], return_index=True)[1]]] = True
    return found


def _refuse_duplicates(
    item: Integers, rater: Column, occasion: Integers | None, rating: Integers, name: str
) -> None:
    """Raise an InputError, for the column of this name, where a rater rates an item twice."""
    rows = np.flatnonzero(rating >= 0)
    key = item[rows] * len(rater.labels) + rater.codes[rows]
    if occasion is not None:
        key = key * (int(occasion.max(initial=0)) + 1) + occasion[rows]
    order = np.argsort(key, kind="stable")
    again = rows[order[1:][key[order[1:]] == key[order[:-1]]]]
    if again.size:
        row = int(again.min())
        raise InputError(
            f"rater {str(rater.labels[rater.codes[row]])!r} rates the item a second time",
            "say which rating counts (repeated='vote', 'first' or 'last'), name more columns of "
            "the item (item=…) or one that tells the ratings apart (occasion=…), or read only some "
            "rows (where=…)",
            row=row,
            column=name,
        )


def _one_per_item(
    item: Integers, truth: Integers, n_items: int, name: str, labels: Any, what: str = "truth"
) -> Integers:
    """Gather what each item has once, as its gold label, from a table with a row per rating."""
    known = np.flatnonzero(truth >= 0)
    per_item = np.full(n_items, -1)
    per_item[item[known[::-1]]] = truth[known[::-1]]
    conflict = known[per_item[item[known]] != truth[known]]
    if conflict.size:
        row = int(conflict[0])
        first, second = labels[per_item[item[row]]], labels[truth[row]]
        raise InputError(
            f"the item's {what} is {str(second)!r} here and {str(first)!r} in an earlier row",
            f"give each item one {what}",
            row=row,
            column=name,
        )
    return per_item


def _build_counts(cls: "type[Ratings]", table: Table, reading: Reading) -> "Ratings":
    """Read a table with a column per category, whose cells count anonymous raters."""
    item = _item_column(table, reading)
    special = [name for name in (item, reading.counts) if name is not None]
    categories = reading.categories or tuple(name for name in table if name not in special)
    require_columns(table, [*special, *categories])
    given = {"system": reading.system, "truth": reading.truth, "raters": reading.raters}
    for name in (name for name, value in given.items() if value):
        raise InputError(f"cells that count raters have no {name}", f"leave it out ({name}=…)")
    names = None
    if item is not None:
        index, names = table[item].items
        refuse_second_rows(index, names, item)
    shown = ", ".join(map(str, categories))
    note = f"each column is a category, and each cell a number of raters: {shown}"
    return from_counts(
        cls,
        np.stack([read_counts(table[str(name)]) for name in categories], axis=1),
        categories,
        items=None if names is None else names.tolist(),
        item_counts=None if reading.counts is None else read_counts(table[reading.counts]),
        ordered=reading.ordered,
    )._note(note)


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
