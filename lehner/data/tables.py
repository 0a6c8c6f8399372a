"""Ratings from tables with a row per item, a row per rating, or counts of anonymous raters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Integers
from lehner.data.categories import Label, encode, unify
from lehner.data.checks.coding import check_read
from lehner.data.checks.columns import (
    refuse_other_columns,
    refuse_stray_columns,
    say_columns,
    say_doubtful_names,
    say_if_transposed,
    say_other_raters,
)
from lehner.data.clusters import several_clusters
from lehner.data.columns import (
    columns_of,
    count_column,
    encode_items,
    one_per_item,
    probability_column,
    refuse_duplicates,
    require_columns,
    require_complete,
    unique_items,
)
from lehner.data.flat import FlatRatings, as_array, check_counts, sort_ratings
from lehner.data.options import ReadingOptions, names_of, options_of
from lehner.data.shared_categories import are_fixed, code_labels, encode_labels
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
    return read_wide(cls, data, options_of(locals()))


def read_wide(cls: "type[Ratings]", data: Any, options: ReadingOptions) -> "Ratings":
    """Read a table with a row per item."""
    columns = columns_of(data, options.raters)
    systems, item, truth, counts = options.system, options.item, options.truth, options.counts
    cluster, probability = options.cluster, options.truth_probability
    of_items = (item, truth, probability, counts, cluster)
    special = [*systems, *(name for name in of_items if name is not None)]
    guessed = options.raters is None
    raters = options.raters or ()
    if guessed:
        raters = tuple(name for name in columns if name not in special)
    require_columns(columns, [*special, *raters])
    if guessed:
        refuse_other_columns(raters, systems)
    encoded, unused = encode_labels(columns, [*raters, *systems, *names_of(truth)], options)
    if guessed and not are_fixed(encoded, options):
        answers = {name: column for name, column in encoded.items() if name != truth}
        refuse_stray_columns(answers, raters)
    coded = code_labels(encoded, options)
    n_rows = len(next(iter(columns.values())))
    odd = [*unused, *coded.odd]
    if guessed:
        odd += [*say_doubtful_names(raters, systems), *say_if_transposed(len(raters), n_rows)]
    used = {*special, *raters}
    ignored = [name for name in columns if name not in used]

    def stack(names: Sequence[str]) -> Integers:
        given = [coded.codes[name] for name in names]
        return np.stack(given, axis=1) if given else np.empty((n_rows, 0), np.int64)

    ratings = cls(
        stack(raters),
        coded.categories,
        raters,
        None if item is None else unique_items(columns[item], item),
        stack(systems),
        None if truth is None else coded.codes[truth],
        counts=None if counts is None else count_column(columns[counts], counts),
        cluster=None
        if cluster is None
        else several_clusters(encode_items(columns[cluster], cluster)[0]),
        truth_probability=None
        if probability is None
        else probability_column(columns[probability], probability),
        ordered=coded.ordered,
        systems=systems,
        noticed=(say_columns(raters, ignored, options), *odd),
    )
    return check_read(ratings, odd, fixed=coded.fixed)


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
    repeated: bool = False,
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
        Column with the item's known truth, the same or blank in all rows of an item.
    truth_probability : str, optional
        Column with the probability with which the item was chosen to have its truth found out, the
        same in all rows of an item; see `with_truth`.
    occasion : str, optional
        Column that distinguishes repeated ratings of an item by a rater; without it a
        repetition is an error, unless `repeated` is set. A rater has one vote for an item, the
        most frequent of the ratings, because repeated ratings mostly repeat their mistakes; if
        two are equally frequent, the rater has none. A note gives the numbers.
    repeated : bool
        Whether a rater may rate an item more than once without `occasion`.
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
    return read_long(cls, data, options_of(locals()))


def read_long(cls: "type[Ratings]", data: Any, options: ReadingOptions) -> "Ratings":
    """Read a table with a row per rating, whose columns the options name."""
    columns = columns_of(data)
    item, rater, rating = str(options.item), str(options.rater), str(options.rating)
    truth, occasion, systems = options.truth, options.occasion, options.system
    others = (truth, occasion, options.cluster, options.truth_probability)
    used = [item, rater, rating, *(name for name in others if name is not None)]
    require_columns(columns, used)
    item_index, items = encode_items(columns[item], item)
    rated_by = require_complete(encode(columns[rater], rater), rater)
    when = None if occasion is None else encode_items(columns[occasion], occasion)[0]
    encoded, unused = encode_labels(columns, [rating, *names_of(truth)], options)
    coded = code_labels(encoded, options)
    codes = coded.codes[rating]
    if occasion is not None or not options.repeated:
        refuse_duplicates(item_index, rated_by, when, codes, rating)
    names = unify(rated_by.labels)
    everybody = [str(names[label]) for label in rated_by.labels]
    kept = everybody if options.raters is None else options.raters
    raters = [name for name in kept if name not in systems]
    known = None
    if truth is not None:
        known = one_per_item(item_index, coded.codes[truth], len(items), truth, coded.categories)
    cluster = None
    if (name := options.cluster) is not None:
        index, labels = encode_items(columns[name], name)
        cluster = one_per_item(item_index, index, len(items), name, labels, "cluster")
        cluster = several_clusters(cluster)
    chance = None
    if (name := options.truth_probability) is not None:
        given, index = np.unique(probability_column(columns[name], name), return_inverse=True)
        labels = given.tolist()
        chance = given[one_per_item(item_index, index, len(items), name, labels, "probability")]
    odd = [*unused, *coded.odd, *say_doubtful_names(raters, systems)]
    odd += say_other_raters(raters, systems)
    ignored = [name for name in columns if name not in used]
    rated = codes >= 0
    n_categories = len(coded.categories)
    ratings = cls(
        sort_ratings(item_index[rated], rated_by.codes[rated], codes[rated], n_categories),
        coded.categories,
        everybody,
        items,
        truth=known,
        cluster=cluster,
        truth_probability=chance,
        ordered=coded.ordered,
        noticed=(say_columns(raters, ignored, options), *odd),
    )
    if options.raters is not None:
        ratings = keep_raters(ratings, [*raters, *systems])
    if systems:
        # A judge who saw both orders has one vote for an item, or none.
        ratings = raters_as_systems(ratings, systems, by_vote=options.order is not None)
    return check_read(ratings, odd, fixed=coded.fixed)


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
