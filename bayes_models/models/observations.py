"""Ratings as a model is built of them: the coordinates, shapes and data of its variables.

Items with the same ratings are collapsed to one pattern; the system is one more rater.

The second of a dependent pair rates those items that the first rated too as further raters: "the
second where the first answered i", with the probabilities P(j | i) of `answers_after`. Sums over
true categories then need to know nothing of the pair.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats, Integers
from lehner.data.patterns import FlatRatings
from lehner.latent_class.em import known_truths


def observe(ratings: Ratings | Patterns) -> Patterns:
    """Collapse ratings to patterns and put the system among the raters.

    If the truth of some items is known, it is used. If all truths are known there is nothing to
    infer: they are left out, and estimates can be compared with them.

    Parameters
    ----------
    ratings : Ratings or Patterns
        With or without a system; patterns are given back, so that ratings are collapsed once.

    Returns
    -------
    Patterns
        Each pattern of ratings once, with its count; the system is the last rater.

    Raises
    ------
    InputError
        If there are no items or fewer than two categories, if the system answered nothing, or if it
        is unknown who gave which rating.

    Examples
    --------
    >>> seen = observe(Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"], system=[1, -1, 1]))
    >>> seen.counts, seen.starts, seen.flat.rater_index, seen.flat.category_index
    (array([2, 1]), array([0, 3, 5]), array([0, 1, 2, 0, 1]), array([0, 1, 1, 1, 1]))
    """
    if isinstance(ratings, Patterns):
        return ratings
    if ratings.n_items == 0 or ratings.n_categories < 2:
        raise InputError(
            f"there are {ratings.n_items} items and {ratings.n_categories} categories",
            "give items, and two or more categories",
        )
    if ratings.anonymous:
        raise InputError(
            "it is unknown who gave which rating, and each rater has a confusion matrix",
            "use data in which raters are named",
        )
    if ratings.system is not None and not ratings.weights[ratings.system >= 0].any():
        raise InputError("the system answered no item", "give its answers, or leave it out")
    return ratings.patterns(truth=bool(known_truths(ratings)))


def coords_of(observed: Patterns) -> dict[str, Any]:
    """Coordinates that every model has."""
    categories = list(observed.categories)
    coords = {
        "rater": list(observed.raters),
        "rater_without_system": list(observed.raters[: observed.n_raters]),
        "category": categories,
        "response": categories,
    }
    if observed.populations:
        coords["population"] = list(observed.populations)
    return coords


def arrays_of(observed: Patterns) -> dict[str, Integers]:
    """Arrays that the likelihood reads, by their names in models."""
    return {
        "starts": observed.starts,
        "raters": observed.flat.rater_index,
        "responses": observed.flat.category_index,
        "truths": observed.truths,
        "counts": observed.counts,
        "populations": observed.population,
    }


def data_of(observed: Patterns) -> dict[str, Any]:
    """All that changes from data to data, by the names that models give it."""
    data: dict[str, Any] = dict(arrays_of(observed))
    if observed.populations:
        data["population_shares"] = population_shares(observed)
    if observed.dependent is not None:
        data |= arrays_of(split_second(observed)) | {"dependent": np.array(observed.dependent)}
    return data


def population_shares(observed: Patterns) -> Floats:
    """Proportion of the items that are from each population, (n_populations,)."""
    n_populations = max(1, len(observed.populations))
    n_items = np.bincount(observed.population, observed.counts, n_populations)
    return np.asarray(n_items / n_items.sum())


def cells_of_matrix(observed: Patterns) -> int:
    """Count the free probabilities in a full confusion matrix."""
    return observed.n_categories * (observed.n_categories - 1)


LEAST = np.finfo(float).tiny


def split_second(observed: Patterns) -> Patterns:
    """Count the second's ratings by what the first answered, as those of further raters.

    Parameters
    ----------
    observed : Patterns
        With a dependent pair.

    Returns
    -------
    Patterns
        With as many further raters as there are categories.

    Raises
    ------
    InputError
        If one of the two has several ratings of an item.
    """
    assert observed.dependent is not None
    first, second = observed.dependent
    item, rater = observed.flat.item_index, observed.flat.rater_index
    answer = np.full(len(observed.counts), -1)
    for member in (first, second):
        if len(np.unique(item[rater == member])) < (rater == member).sum():
            raise InputError(
                f"{observed.raters[member]!r} has several independent ratings of an item, and is "
                "one of the dependent pair",
                "count one vote for each item and rater, or name another pair",
            )
    answer[item[rater == first]] = observed.flat.category_index[rater == first]
    after = (rater == second) & (answer[item] >= 0)
    n, names = len(observed.raters), map(str, observed.categories)
    flat = FlatRatings(
        item_index=item,
        rater_index=np.where(after, n + answer[item], rater),
        category_index=observed.flat.category_index,
    )
    further = (f"{observed.raters[second]} after {name}" for name in names)
    return replace(observed, flat=flat, raters=(*observed.raters, *further))


def answers_after(first: Any, second: Any, share: Any, n_categories: int) -> Any:
    r"""Probabilities of the second's answers given the first's, P(i, j) / a_i.

    On a share c of the items of a true category the two answers are as alike as the two rows a and
    b of the confusion matrices allow; on the others they are independent:

    .. math::
        P(i, j) = (1 - c)\, a_i b_j + c\, m_{ij}, \quad
        m_{ij} = 1_{i = j} \min(a_i, b_i)
            + \frac{(a_i - \min(a_i, b_i))(b_j - \min(a_j, b_j))}{1 - \sum_l \min(a_l, b_l)}

    m is the maximal coupling, so that each of the two answers as its own row says, whatever c is,
    and an answer of one of them alone needs nothing new. With two categories the covariance of the
    two answers is c times min(a, b) - ab, its upper bound (Vacek 1985); a uniform c is the prior of
    Dendukuri & Joseph (2001). With more categories the two share wrong answers as well as right
    ones.

    Parameters
    ----------
    first, second : ndarray or TensorVariable, shape (..., n_categories, n_responses)
        Confusion matrices of the two.
    share : ndarray or TensorVariable, shape (..., n_categories)
        Of the items of each true category, on which the two answer as alike as they can.

    Returns
    -------
    ndarray or TensorVariable, shape (..., n_responses, n_categories, n_responses)
        By the first's answer, true category and the second's answer.

    References
    ----------
    Vacek (1985), https://doi.org/10.2307/2530967; Dendukuri & Joseph (2001),
    https://doi.org/10.1111/j.0006-341X.2001.00158.x

    Examples
    --------
    >>> rows = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> answers_after(rows, rows, np.array([0.5, 0.0]), 2)[0].round(2).tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    excess = first - second
    of_first, of_second = (abs(excess) + excess) / 2, (abs(excess) - excess) / 2
    alike = np.eye(n_categories) * (first - of_first)[..., :, None]
    left = of_second.sum(axis=-1)[..., None, None] + LEAST
    apart = of_first[..., :, None] * of_second[..., None, :] / left
    coupled = (alike + apart) / (first[..., :, None] + LEAST)
    c = share[..., None, None]
    return ((1 - c) * second[..., None, :] + c * coupled).swapaxes(-3, -2)
