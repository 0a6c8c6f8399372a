r"""Which pairs of raters agree more than their accuracies explain.

In the null model raters err independently given the true category. Each has an accuracy in each
category, or one accuracy if there are few items, and equally probable errors. In the alternative
one rater of a pair repeats the other on a proportion q of the items. If :math:`\tau_k` is the
probability that an item is of category k, and :math:`L_a(k)` the probability of the rating by a if
it is, the derivative of the item's log-likelihood at q = 0 is

.. math:: [y_a = y_b] \sum_k \frac{\tau_k}{2} \left(\frac{1}{L_a(k)} + \frac{1}{L_b(k)}\right) - 1

The score test compares the sum of these derivatives with 0, given that the parameters of the null
model were fitted to the same ratings (Rao 1948; Oberski, van Kollenburg & Vermunt 2013,
https://doi.org/10.1007/s11634-013-0146-2, for pairs in latent-class models). The fitted
probabilities are moved away from 0 and 1 a little. What this changes is taken from the sum, by the
derivatives of the other parameters: Neyman's (1959) C(α) test. Without this, two raters who hardly
ever err would stand out by the move alone.

Items of unequal difficulty, or errors that all raters prefer, raise the agreement of all pairs. The
statistic z of a pair is therefore divided by the factor by which those of the other pairs are
larger than by chance: the median of their :math:`|z|` divided by that of a standard normal
distribution, if it is above 1 (genomic control, Devlin & Roeder 1999,
https://doi.org/10.1111/j.0006-341X.1999.00997.x). A pair must differ from the other pairs, too.

Raters who make correlated errors seem more accurate, so that they change the statistics of other
pairs. The clearest pair is therefore named first, and the others are tested given q of the named
pairs, until none is significant.
"""

from dataclasses import replace
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.lazy import sparse
from lehner.latent_class.em import (
    LatentClasses,
    Search,
    expect,
    expected_ratings,
    fit_patterns,
    vote_start,
)
from lehner.latent_class.models import LATENT_CLASS_MODELS
from lehner.latent_class.pattern_table import PatternTable, tabulate_codes

ITEMS_PER_PARAMETER = 20
LEAST_VARIANCE = 1e-6
LEAST_LEFT = 0.1
PAIRS_OF_FOUR = 6
"""In their order the last is the pair of the two raters who are not in the first, and so on."""
ALIKE = 0.5
"""The rival of a pair has a statistic at least so large, compared with that of the pair."""
SEARCH = Search(tolerance=1e-9, max_iterations=2000)
HALF = 0.5
"""Added to expected numbers of ratings and items, so that no probability is 0."""
NORMAL_MEDIAN = NormalDist().inv_cdf(0.75)
FEW_CELLS = 1_000_000
CELLS_AT_ONCE = 2_000_000


class PairScores(NamedTuple):
    """Scores of pairs, (n_pairs,), and their covariance, given the parameters of the null model."""

    score: Floats
    covariance: Floats


class NamedPairs(NamedTuple):
    """p-values of pairs; which of them are named, the clearest first; and a rival of the only one.

    The p-values are not divided by the factor that all pairs have in common. Among four raters the
    rival is the pair of the other two, if that explains the ratings as well.
    """

    p_value: Floats
    named: tuple[int, ...]
    rival: int | None


def score_pairs(
    codes: Integers,
    weights: Floats,
    truths: Integers,
    n_categories: int,
    cluster: Integers | None = None,
) -> PairScores:
    """Compute the score of each pair of raters.

    Parameters
    ----------
    codes : ndarray of int, shape (n_patterns, n_raters)
        Category index of each answer, -1 where it is missing.
    weights : ndarray, shape (n_patterns,)
        Numbers of items.
    truths : ndarray of int, shape (n_patterns,)
        Known true category, -1 where it is unknown.
    n_categories : int
    cluster : ndarray of int, shape (n_patterns,), optional
        The cluster of the items, whose scores are added up for the covariance: patterns of
        different clusters are then kept apart.

    Returns
    -------
    PairScores
        Of the pairs in the order of `itertools.combinations`.
    """
    n_raters = codes.shape[1]
    table = _tabulate(codes, weights, truths, n_categories)
    by_category = n_raters * n_categories * ITEMS_PER_PARAMETER <= weights.sum()
    model = LATENT_CLASS_MODELS["class_conditional" if by_category else "one_coin_by_rater"]
    fit = fit_patterns(table, vote_start(table), model, SEARCH)
    rates, accuracy = _smooth(table, fit, by_category=by_category)
    n_null = n_categories - 1 + accuracy.size if by_category else n_categories - 1 + n_raters
    size = max(1, CELLS_AT_ONCE // (n_raters * (n_raters + n_categories)))
    parts = [slice(start, start + size) for start in range(0, len(codes), size)]

    def scores_of(part: slice) -> tuple[Floats, Floats]:
        scores = _scores(codes[part], truths[part], rates, accuracy, by_category=by_category)
        return scores[:, :n_null], scores[:, n_null:]

    n_pairs = n_raters * (n_raters - 1) // 2
    information = _added_information(rates, accuracy, by_category=by_category)
    products, total = np.zeros((n_null, n_pairs)), np.zeros(n_pairs)
    moved = np.zeros(n_null)
    for part in parts:
        null, pairs = scores_of(part)
        information += null.T @ (weights[part, None] * null)
        products = products + null.T @ (weights[part, None] * pairs)
        total = total + weights[part] @ pairs
        moved = moved + weights[part] @ null
    inverse = np.linalg.pinv(information, hermitian=True)
    slopes = inverse @ products
    covariance = np.zeros((n_pairs, n_pairs))
    n_clusters = 0 if cluster is None else int(cluster.max(initial=-1)) + 1
    of_clusters, kept = np.zeros((n_clusters, n_pairs)), np.ones(n_clusters)
    for part in parts:
        null, pairs = scores_of(part)
        leverage = ((null @ inverse) * null).sum(axis=1)
        left = pairs - null @ slopes
        if cluster is None:
            left /= np.maximum(1 - leverage, LEAST_LEFT)[:, None]
            covariance = covariance + left.T @ (weights[part, None] * left)
        else:
            np.add.at(of_clusters, cluster[part], weights[part, None] * left)
            np.add.at(kept, cluster[part], -weights[part] * leverage)
    of_clusters /= np.maximum(kept, LEAST_LEFT)[:, None]
    covariance = covariance + of_clusters.T @ of_clusters
    return PairScores(total - moved @ slopes, covariance)


def _added_information(rates: Floats, accuracy: Floats, *, by_category: bool) -> Floats:
    """Information of the items and ratings that were added, half of each."""
    k = accuracy.shape[1]
    items = np.eye(k)[:, :-1] / rates[:-1] - np.eye(k)[:, -1:] / rates[-1]
    of_ratings = 1 / accuracy**2 + (k - 1) / (1 - accuracy) ** 2
    of_ratings = of_ratings.ravel() if by_category else of_ratings.sum(axis=1)
    none = np.zeros((k - 1, len(of_ratings)))
    return HALF * np.block([[items.T @ items, none], [none.T, np.diag(of_ratings)]])


def name_pairs(scores: PairScores, tested: Booleans, significance: float) -> NamedPairs:
    """Name the pairs that agree more than their accuracies explain.

    Parameters
    ----------
    scores : PairScores
    tested : ndarray of bool, shape (n_pairs,)
        Which pairs have enough items in common.
    significance : float
        Greatest p-value, adjusted for the number of pairs, of a pair that is named.

    Returns
    -------
    NamedPairs
    """
    n_pairs, named = int(tested.sum()), list[int]()
    p_value = _adjusted(_standardise(scores, [], tested), n_pairs)
    while len(named) < n_pairs:
        z = _standardise(scores, named, tested)
        best = int(np.nanargmax(z))
        others = _others(scores, z, [*named, best], tested)
        if _adjusted(z / _common_factor(others), n_pairs)[best] > significance:
            break
        p_value[best] = _adjusted(z, n_pairs)[best]
        named.append(best)
        if len(tested) == PAIRS_OF_FOUR:
            rival = PAIRS_OF_FOUR - 1 - best
            return NamedPairs(p_value, (best,), rival if z[rival] >= ALIKE * z[best] else None)
    return NamedPairs(p_value, tuple(named), None)


def p_value_together(scores: PairScores, tested: Booleans) -> float:
    """One-sided p-value of the test that pairs do not agree more, if all do so by the same q."""
    variance = float(scores.covariance[np.ix_(tested, tested)].sum())
    if variance <= 0:
        return 1.0
    return NormalDist().cdf(-float(scores.score[tested].sum()) / float(np.sqrt(variance)))


def _tabulate(
    codes: Integers, weights: Floats, truths: Integers, n_categories: int
) -> PatternTable:
    """Tabulate patterns, in a sparse array if they are many: SciPy takes long to load."""
    if codes.size * n_categories <= FEW_CELLS:
        return replace(tabulate_codes(codes, weights, n_categories), truths=truths)

    item, rater = np.nonzero(codes >= 0)
    cells = (item, rater * n_categories + codes[item, rater])
    shape = (len(codes), codes.shape[1] * n_categories)
    answers = sparse.csr_array((np.ones(len(item)), cells), shape=shape)
    return PatternTable(answers=answers, weights=weights, n_categories=n_categories, truths=truths)


def _smooth(table: PatternTable, fit: LatentClasses, *, by_category: bool) -> tuple[Floats, Floats]:
    """Base rates, and accuracies (n_raters, n_categories), none of them 0 or 1."""
    classes, _ = expect(table, fit)
    k = table.n_categories
    ratings = expected_ratings(table, classes)
    right, n_ratings = np.diagonal(ratings, axis1=1, axis2=2), ratings.sum(axis=2)
    if not by_category:
        right, n_ratings = (
            np.repeat(n.sum(axis=1, keepdims=True), k, axis=1) for n in (right, n_ratings)
        )
    items = table.weights @ classes + HALF
    return items / items.sum(), (right + HALF) / (n_ratings + HALF * k)


def _scores(
    codes: Integers, truths: Integers, rates: Floats, accuracy: Floats, *, by_category: bool
) -> Floats:
    """Derivatives of log probabilities: by base rates and accuracies, and then by pairs."""
    n_raters, k = accuracy.shape
    rated = codes >= 0
    right = codes[:, :, None] == np.arange(k)
    likelihood = np.where(right, accuracy, (1 - accuracy) / (k - 1))
    likelihood = np.where(rated[:, :, None], likelihood, 1.0)
    classes = rates * likelihood.prod(axis=1)
    classes = np.where((truths[:, None] < 0) | (truths[:, None] == np.arange(k)), classes, 0.0)
    classes /= classes.sum(axis=1, keepdims=True)
    by_rate = classes[:, :-1] / rates[:-1] - classes[:, -1:] / rates[-1]
    by_accuracy = np.where(right, 1 / accuracy, -1 / (1 - accuracy)) * rated[:, :, None]
    by_accuracy = by_accuracy * classes[:, None, :]
    if not by_category:
        by_accuracy = by_accuracy.sum(axis=2, keepdims=True)
    surprise = (classes[:, None, :] / likelihood).sum(axis=2)
    by_pair = [
        np.where(codes[:, a] == codes[:, b], (surprise[:, a] + surprise[:, b]) / 2, 0.0) - 1
        for a, b in combinations(range(n_raters), 2)
    ]
    both = [rated[:, a] & rated[:, b] for a, b in combinations(range(n_raters), 2)]
    return np.column_stack(
        [by_rate, by_accuracy.reshape(len(codes), -1), np.transpose(by_pair) * np.transpose(both)]
    )


def _given(scores: PairScores, fixed: list[int]) -> PairScores:
    """Scores of all pairs if some of them take their most likely values."""
    slopes = np.linalg.lstsq(scores.covariance[np.ix_(fixed, fixed)], scores.covariance[fixed])[0]
    return PairScores(
        score=scores.score - scores.score[fixed] @ slopes,
        covariance=scores.covariance - scores.covariance[fixed].T @ slopes,
    )


def _standardise(scores: PairScores, named: list[int], tested: Booleans) -> Floats:
    """Statistic z of each pair given those named; NaN for these, and pairs that they determine."""
    left = _given(scores, named) if named else scores
    before, variance = np.diag(scores.covariance), np.diag(left.covariance)
    free = tested & (variance > LEAST_VARIANCE * before) & (before > 0)
    free[named] = False
    z = np.full(len(tested), np.nan)
    z[free] = left.score[free] / np.sqrt(variance[free])
    return z


def _others(scores: PairScores, z: Floats, named: list[int], tested: Booleans) -> Floats:
    """Statistics with which that of the last named pair is compared.

    Among four raters a pair that makes correlated errors raises that of its rival and lowers the
    others.
    """
    if len(tested) != PAIRS_OF_FOUR:
        return _standardise(scores, named, tested)
    others = np.maximum(z, 0.0)
    others[[named[-1], PAIRS_OF_FOUR - 1 - named[-1]]] = np.nan
    return others


def _common_factor(z: Floats) -> float:
    """Factor by which these statistics are larger than by chance, 1 or more."""
    size = np.abs(z[~np.isnan(z)])
    return max(1.0, float(np.median(size)) / NORMAL_MEDIAN) if len(size) else 1.0


def _adjusted(z: Floats, n_pairs: int) -> Floats:
    """One-sided p-values, adjusted for the number of pairs by Bonferroni's method."""
    tails = [1.0 if np.isnan(statistic) else NormalDist().cdf(-statistic) for statistic in z]
    return np.minimum(np.array(tails) * n_pairs, 1.0)
