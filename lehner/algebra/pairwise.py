"""Agreement between raters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.data.ratings import Ratings
from lehner.data.votes import count_pairs


@dataclass(frozen=True, kw_only=True)
class PairwiseAgreement:
    """How often two raters agree on an item, pooled over items and pairs of raters.

    Parameters
    ----------
    agreement : float or None
        Agreeing pairs over pairs, from 0 to 1; None if no item was rated by two raters.
    kappa : float or None
        Agreement beyond the chance of 1/K (Brennan & Prediger 1981), Lehner's Kappa. None if there
        is no agreement, or one category only.
    n_pairs : int
        Pairs of ratings of the same item by different raters.
    """

    agreement: float | None
    kappa: float | None
    n_pairs: int


def pairwise_agreement(ratings: Ratings) -> PairwiseAgreement:
    r"""Measure the agreement between raters with chance 1/K.

    .. math:: \kappa = (P_a - 1/K) / (1 - 1/K)

    Ratings may be missing: every pair of ratings of an item by different raters counts once. Of
    ratings that a rater repeats the most frequent one counts (`Ratings.flat`).

    Parameters
    ----------
    ratings : Ratings
        With or without a system, whose answers are not used.

    Returns
    -------
    PairwiseAgreement
        The proportion of agreeing pairs, kappa, and the number of pairs.

    References
    ----------
    Lehner (2015), Eq. 1 and 2; Brennan & Prediger (1981), Coefficient kappa: some uses, misuses,
    and alternatives, Educational and Psychological Measurement 41, 687-699.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> result = pairwise_agreement(load_dataset("lehner_table2"))
    >>> round(result.agreement, 3), round(result.kappa, 3), result.n_pairs
    (0.333, 0.111, 60)
    """
    agreeing, pairs = count_pairs(ratings)
    n_pairs = int(pairs @ ratings.weights)
    if n_pairs == 0:
        return PairwiseAgreement(agreement=None, kappa=None, n_pairs=0)
    agreement = float(agreeing @ ratings.weights / n_pairs)
    k = ratings.n_categories
    kappa = float(brennan_prediger(agreement, k)) if k > 1 else None
    return PairwiseAgreement(agreement=agreement, kappa=kappa, n_pairs=n_pairs)


def brennan_prediger(agreement: ArrayLike, n_categories: int) -> Floats:
    """Convert agreement to kappa with chance 1/K.

    Parameters
    ----------
    agreement : array_like
        Between 0 and 1.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> float(brennan_prediger(1 / 3, 4).round(3))
    0.111
    """
    return np.asarray((np.asarray(agreement) - 1 / n_categories) / (1 - 1 / n_categories))
