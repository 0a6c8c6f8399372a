"""What methods ask of ratings: whether they suffice, which rows count, clusters, and labels."""

from collections import UserDict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import InputError, Warning, compose, list_few, warn
from lehner.core.lazy import xr
from lehner.core.resampling import design_effect, find_widening
from lehner.data.ratings import Ratings
from lehner.data.roles import tell_raters

# The dimensions of the arrays of an estimate.
ARRAY_DIMS = {
    "rater_accuracy": ("rater",),
    "base_rates": ("category",),
    "confusion": ("rater", "category", "response"),
    "truth_probabilities": ("item", "category"),
}


class LabelledArrays(UserDict[str, Any]):
    """The arrays of an estimate, which are labelled when they are looked up.

    A command by the algebra looks none up, and need not load xarray.

    Parameters
    ----------
    ratings : Ratings
    **arrays : ndarray
        With the dimensions of `ARRAY_DIMS`.

    Examples
    --------
    >>> ratings = Ratings([[0, 1]], ["no", "yes"])
    >>> LabelledArrays(ratings, base_rates=np.array([0.4, 0.6]))["base_rates"].dims
    ('category',)
    """

    def __init__(self, ratings: Ratings, **arrays: Floats) -> None:
        super().__init__(arrays)
        self.ratings = ratings

    def __getitem__(self, name: str) -> "xr.DataArray":
        return label_array(self.data[name], self.ratings, *ARRAY_DIMS[name])


def label_array(values: ArrayLike, ratings: Ratings, *dims: str) -> "xr.DataArray":
    """Label an array with the names of items, raters and categories.

    Parameters
    ----------
    values : array_like
        Of the raters alone, or also of the system, which is then the last rater.
    ratings : Ratings
    *dims : {"item", "rater", "category", "response", "group"}
        A group is a population of items.

    Returns
    -------
    xarray.DataArray
    """
    values = np.asarray(values, order="C")
    names = name_coords(ratings)
    names |= {"rater": ratings.all_raters, "response": ratings.categories}
    sizes = zip(dims, values.shape, strict=True)
    coords = {dim: np.asarray(names[dim])[:size] for dim, size in sizes}
    return xr.DataArray(values, coords, dims)


def name_coords(ratings: Ratings) -> dict[str, Any]:
    """Name the places along each dimension of `lehner.core.estimate.Draws`."""
    return {
        "item": ratings.items,
        "rater": ratings.raters,
        "category": ratings.categories,
        "group": ratings.populations,
    }


def require_estimable(ratings: Ratings, *, by_one: bool = False) -> None:
    """Raise an InputError unless each system's accuracy can be estimated from the ratings at all.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems.
    by_one : bool
        Whether one rater will do, because more is known than the ratings, such as populations.

    Raises
    ------
    InputError
        If there is no system, if one answered no item, if the items that it answered have neither
        ratings nor gold labels, or for the reasons of `require_pairs`.
    """
    if not ratings.systems:
        names = list_few(ratings.raters, 8) or "the columns of the file that holds its answers"
        way = compose("name it with {system}, as one of {}; or call `lehner compare`", names)
        raise InputError("no column or rater is the system", way)
    answered = (ratings.answers >= 0) & (ratings.weights > 0)[:, None]
    seen = np.zeros(ratings.n_rows, bool) if ratings.truth is None else ratings.truth >= 0
    seen[ratings.entries.item_index] = True
    several = len(ratings.systems) > 1
    for name, answers in zip(ratings.systems, answered.T, strict=True):
        system = f"system {name!r}" if several else "the system"
        if not answers.any():
            raise InputError(f"{system} answered no item", "give its answers")
        if not by_one or ratings.n_raters != 1:
            require_pairs(ratings)
        if not (seen & answers).any():
            problem = f"no item has both a rating and an answer of {system}, so that the ratings "
            remedy = "give ratings of items that the system answered"
            raise InputError(f"{problem}tell nothing of its answers", remedy)


def require_pairs(ratings: Ratings) -> None:
    """Raise an InputError unless the raters' accuracy can be estimated from the ratings at all.

    Parameters
    ----------
    ratings : Ratings

    Raises
    ------
    InputError
        If there are fewer than two raters or categories, or no item was rated by two raters.
    """
    if ratings.n_raters < 2:
        system = " besides the system" * bool(ratings.systems)
        raters = f"there is {ratings.n_raters or 'no'} rater{system}"
        raise InputError(raters, "give two or more raters")
    if ratings.n_categories < 2:
        only = ", ".join(map(str, ratings.categories)) or "missing"
        remedy: str = compose("name all categories, used or not, with {categories}")
        raise InputError(f"the only category is {only}", remedy)
    counted = ratings.weights > 0
    if (counted & (ratings.votes.count_raters() > 1)).any():
        return
    if (counted & (ratings.entries.count_raters() > 1)).any():
        problem = "no item has votes of two raters: a rater whose ratings of an item are equally "
        remedy = "check the ratings; if pairs were shown in both orders, whether answers to "
        remedy += "swapped pairs name positions or were swapped back already"
        raise InputError(f"{problem}frequent has none", remedy)
    raise InputError("no item was rated by two raters", "give two or more ratings for some items")


def find_rated_rows(ratings: Ratings) -> Booleans:
    """Tell which rows have a rating, or a gold label that enters estimates, (n_rows,).

    The system's answers to other items tell nothing of its accuracy that does not rest on a
    method's assumptions alone.
    """
    rated = ratings.votes.n_ratings > 0
    if ratings.truth is None or (ratings.truth >= 0).all():
        return np.asarray(rated)
    return np.asarray(rated | (ratings.truth >= 0))


def count_truths(ratings: Ratings) -> int:
    """Count the items that have a gold label."""
    return 0 if ratings.truth is None else int(ratings.weights[ratings.truth >= 0].sum())


def is_partly_labelled(ratings: Ratings) -> bool:
    """Tell whether some items have a gold label, and others have none."""
    return 0 < count_truths(ratings) < ratings.n_items


def are_raters_unnamed(ratings: Ratings) -> bool:
    """Tell whether raters are just the other columns beside a system: no option or name says so."""
    if ratings.source is None or not ratings.n_raters:
        return False
    _, roles = ratings.source
    by_option = roles.rater or roles.raters or roles.category_counts
    return bool(roles.system) and not by_option and not tell_raters(ratings.raters, roles.system)


def count_rated(ratings: Ratings) -> Ratings:
    """Count items that no rater rated as no items; all rows stay.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    Ratings
        The same ratings if all items were rated.

    Examples
    --------
    >>> from lehner import Ratings
    >>> count_rated(Ratings([[0, 1], [-1, -1]], ["no", "yes"])).weights.tolist()
    [1, 0]
    """
    rated = find_rated_rows(ratings)
    if rated.all():
        return ratings
    return ratings.take(np.arange(ratings.n_rows), np.where(rated, ratings.weights, 0))


FEW_CLUSTERS = 10


def find_mean_widening(ratings: Ratings, values: Floats, weights: Floats, level: float) -> float:
    """Give the factor by which the interval of a mean over rows is wider because of clusters."""
    if ratings.cluster is None:
        return 1.0
    effect = design_effect(values, weights, ratings.cluster)
    return find_widening(effect, len(np.unique(ratings.cluster[weights > 0])), level)


def warn_of_clusters(ratings: Ratings, ignored: str = "") -> tuple[Warning, ...]:
    """Warn of few clusters, and of what takes clustered items for independent, if anything."""
    if ratings.cluster is None:
        return ()
    few = f"there are only {ratings.n_clusters} clusters, which tell little of others"
    text = f"{ignored} take items for independent, and they are clustered"
    warnings = [warn("few-clusters", few)] if ratings.n_clusters < FEW_CLUSTERS else []
    warnings += [warn("clusters-ignored", text)] if ignored else []
    return tuple(warnings)
