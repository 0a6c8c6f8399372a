"""Items with the probability that the system is right, or of another property, known for some."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import InputError
from lehner.data.ratings import Ratings

PROBABILITY_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class PartlyKnown:
    """Rows of items, each with the probability of a property, and whether it has it, if known.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        Probability of the property, by a method that did not use the known truths.
    counts : ndarray, shape (n_rows,)
        Number of items of each row.
    known : ndarray of bool, shape (n_rows,)
        Whether it is known if these items have the property.
    holds : ndarray of bool, shape (n_rows,)
        Whether these items have the property; False where that is not known.
    """

    probability: Floats
    counts: Floats
    known: Booleans
    holds: Booleans

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.counts.sum())

    @property
    def n_known(self) -> int:
        """Number of items for which it is known whether they have the property."""
        return int(self.counts[self.known].sum())

    @property
    def n_holding(self) -> int:
        """Number of items that are known to have the property."""
        return int(self.counts[self.holds].sum())

    @property
    def mean(self) -> float:
        """Mean probability over all items: the proportion that the method expects."""
        return float(self.counts @ self.probability / self.counts.sum())

    @property
    def variance_of_proportion(self) -> float:
        """Variance of the proportion that has the property if the probabilities are right."""
        probability = self.probability
        return float(self.counts @ (probability * (1 - probability))) / self.n_items**2

    @property
    def mean_of_known(self) -> float:
        """Mean probability over the known items; NaN if there are none."""
        counts = self.counts * self.known
        return float(counts @ self.probability / counts.sum()) if self.n_known else np.nan


def rightness(ratings: Ratings, probabilities_right: ArrayLike) -> PartlyKnown:
    """Collect on which items the system is right, as far as that is known.

    Parameters
    ----------
    ratings : Ratings
        Ratings with a system and the truth of some items.
    probabilities_right : array_like, shape (n_rows,)
        Probability that the system is right. Rows without an answer of the system are left out.

    Returns
    -------
    PartlyKnown

    Raises
    ------
    InputError
        If there is no system, or if there is not a probability from 0 to 1 for each row.
    """
    if ratings.system is None or not (ratings.weights[ratings.system >= 0] > 0).any():
        raise InputError("there is no answer of a system", "give ratings with a system")
    answered = (ratings.system >= 0) & (ratings.weights > 0)
    probability = check_probabilities(probabilities_right, ratings, answered)
    truth = np.full(len(answered), -1) if ratings.truth is None else ratings.truth
    return PartlyKnown(
        probability=probability[answered],
        counts=ratings.weights[answered].astype(float),
        known=(truth >= 0)[answered],
        holds=((truth >= 0) & (truth == ratings.system))[answered],
    )


def check_probabilities(values: ArrayLike, ratings: Ratings, needed: Booleans) -> Floats:
    """Raise an InputError unless there is a probability for each row that needs one.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
    ratings : Ratings
    needed : ndarray of bool, shape (n_rows,)

    Returns
    -------
    ndarray, shape (n_rows,)
    """
    try:
        probabilities = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the probabilities are not all numbers", "give one for each row") from None
    if probabilities.shape != needed.shape:
        raise InputError(
            f"the probabilities have shape {probabilities.shape} for {len(needed)} rows of ratings",
            "give one for each row",
        )
    bad = needed & ~(
        (probabilities >= -PROBABILITY_ROUNDING) & (probabilities <= 1 + PROBABILITY_ROUNDING)
    )
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"the probability of item {ratings.items[row]} is {probabilities[row]:g}",
            "give numbers between 0 and 1",
        )
    return np.clip(probabilities, 0.0, 1.0)
