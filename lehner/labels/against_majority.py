"""Labels compared with the majority's, by a better model and by most ratings of like items."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lehner.algebra.soft_labels import SoftLabels
from lehner.algebra.system_accuracy import TIE
from lehner.core.arrays import Floats
from lehner.core.number_format import percent
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.labels.mean_field import MeanField
from lehner.latent_class.pattern_table import PatternTable

LEAST_MOVED = 0.01
"""Proportion of items from which on contradicted ratings give a warning."""


def warn_if_majority_is_better(
    labels: SoftLabels, reference: SoftLabels, ratings: Ratings
) -> tuple[Warning, ...]:
    """Warn if, according to a reference, fewer of these labels are right than of the majority's.

    Parameters
    ----------
    labels : SoftLabels
    reference : SoftLabels
        The automatic labels of the same ratings.
    ratings : Ratings

    Returns
    -------
    tuple of Warning
        A warning or none.
    """
    believed = np.asarray(reference.truth_probabilities.values)
    own = expected_proportion_right(labels.truth_probabilities.values, believed, ratings.weights)
    majority = expected_proportion_right(ratings.votes(), believed, ratings.weights)
    if own >= majority:
        return ()
    text = (
        f"these labels may be worse than the majority: according to {reference.method}, which "
        f"predicts ratings better, {own:.3f} of them are right, and {majority:.3f} of the "
        "majority's"
    )
    return (warn("labels-worse-than-majority", text),)


def expected_proportion_right(values: ArrayLike, believed: Floats, weights: ArrayLike) -> float:
    """Expected proportion of items whose most probable category is the true one.

    Parameters
    ----------
    values : array_like, shape (n_rows, n_categories)
        Probabilities or votes; categories that tie for the most share the item.
    believed : ndarray, shape (n_rows, n_categories)
        Probability of each category.
    weights : array_like, shape (n_rows,)
        Numbers of items.

    Returns
    -------
    float

    Examples
    --------
    >>> believed = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> expected_proportion_right([[3, 0], [1, 1]], believed, [1, 1])
    0.7
    """
    values = np.asarray(values, dtype=float)
    best = values >= values.max(axis=1, keepdims=True) - TIE
    right = (best * believed).sum(axis=1) / best.sum(axis=1)
    return float(np.average(right, weights=np.asarray(weights)))


def contradicted_ratings(
    table: PatternTable, fits: Sequence[MeanField], categories: Sequence[Label]
) -> tuple[Warning, ...]:
    """Warn if many items are of a kind to which most raters give another label than the model.

    Parameters
    ----------
    table : PatternTable
    fits : sequence of MeanField
        Fits from several starts.
    categories : sequence

    Returns
    -------
    tuple of Warning
        A warning or none.
    """
    k = len(categories)
    moved = np.zeros((k, k))
    for fit in fits:
        np.add.at(moved, (fit.category, fit.said.argmax(axis=1)), fit.components @ table.weights)
    moved /= len(fits) * table.weights.sum()
    np.fill_diagonal(moved, 0)
    if moved.sum() < LEAST_MOVED:
        return ()
    labelled, called = divmod(int(moved.argmax()), k)
    text = (
        f"labels contradict most ratings: {percent(moved.sum(), 0)} of the items get another label "
        f"than most ratings of items of their kind, for example {categories[labelled]} where most "
        f"ratings are {categories[called]}"
    )
    return (warn("labels-contradict-ratings", text),)
