"""Agreement between raters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.data.ratings import Ratings
from lehner.data.votes import count_pairs

FIT_SWEEPS = 50
FACTOR_TOLERANCE = 1e-5
STANDS_FOR_0 = 1e-12


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


def fit_knowledge(
    agreement: Floats, weights: Floats, pairs: Sequence[Integers], n_raters: int, n_categories: int
) -> Floats:
    """Find what each rater knows, so that the products of two raters are near the kappas of pairs.

    Parameters
    ----------
    agreement : ndarray, shape (n_samples, n_pairs)
    weights : ndarray, shape (n_pairs,)
    pairs : sequence of two ndarrays of int, shape (n_pairs,)
        The first and the second rater of each pair.
    n_raters : int
    n_categories : int
        K; knowledge is between -1/(K - 1) and 1.

    Returns
    -------
    ndarray, shape (n_samples, n_raters)
    """
    values, lowest = brennan_prediger(agreement, n_categories), -1 / (n_categories - 1)
    n, j = len(values), n_raters
    # Samples are the last axis in memory.
    weighted, weight = np.zeros((j, j, n)), np.zeros((j, j))
    for i, (one, other) in enumerate(zip(*pairs, strict=True)):
        weighted[one, other] = weighted[other, one] = weights[i] * values[:, i]
        weight[one, other] = weight[other, one] = weights[i]
    mean = np.maximum(values @ weights / weights.sum(), 0.01)
    factors = np.tile(np.sqrt(mean), (j, 1))
    for _ in range(FIT_SWEEPS):
        before = factors.copy()
        for rater in np.flatnonzero(weight.any(axis=1)):
            above = (weighted[rater] * factors).sum(axis=0)
            below = weight[rater] @ factors**2
            factors[rater] = np.minimum(np.maximum(above / (below + STANDS_FOR_0), lowest), 1.0)
        if np.abs(factors - before).max() < FACTOR_TOLERANCE:
            break
    return factors.T
