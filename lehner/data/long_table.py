"""Ratings from a table with a row per rating."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lehner.data.categories import Label, encode, unify
from lehner.data.checks.coding import check_read
from lehner.data.checks.columns import say_columns, say_doubtful_names, say_other_raters
from lehner.data.columns import (
    columns_of,
    encode_items,
    refuse_duplicates,
    require_columns,
    require_complete,
    truth_per_item,
)
from lehner.data.flat import sort_ratings
from lehner.data.options import ReadingOptions, names_of, options_of
from lehner.data.shared_categories import code_labels, encode_labels
from lehner.data.systems import raters_as_systems

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def from_long(
    cls: "type[Ratings]",
    data: Any,
    *,
    item: str = "item",
    rater: str = "rater",
    rating: str = "rating",
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
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
    system : str or sequence of str, optional
        The rater who is the system, or the raters who are systems.
    truth : str, optional
        Column with the item's known truth, the same or blank in all rows of an item.
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
    used = [item, rater, rating, *names_of(truth), *names_of(occasion)]
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
    raters = [name for name in everybody if name not in systems]
    known = None
    if truth is not None:
        known = truth_per_item(item_index, coded.codes[truth], len(items), truth, coded.categories)
    odd = [
        *unused,
        *coded.odd,
        *say_doubtful_names(raters, systems),
        *say_other_raters(raters, systems),
    ]
    rated = codes >= 0
    n_categories = len(coded.categories)
    ratings = cls(
        sort_ratings(item_index[rated], rated_by.codes[rated], codes[rated], n_categories),
        coded.categories,
        everybody,
        items,
        truth=known,
        ordered=coded.ordered,
        noticed=(
            say_columns(raters, [name for name in columns if name not in used], options),
            *odd,
        ),
    )
    if systems:
        ratings = raters_as_systems(ratings, systems)
    return check_read(ratings, odd, fixed=coded.fixed)
