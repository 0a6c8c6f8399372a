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
pairs, until none is significant. If two of four raters make correlated errors, the agreement of the
other two looks nearly the same.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.data.counts import Patterns
from lehner.latent_class import em
from lehner.latent_class.em import LATENT_CLASS_MODELS

ITEMS_PER_PARAMETER = 20
LEAST_VARIANCE = 1e-6
LEAST_LEFT = 0.1
# In their order the last is the pair of the two raters who are not in the first, and so on.
PAIRS_OF_FOUR = 6
# The rival of a pair has a statistic at least so large, compared with that of the pair.
ALIKE = 0.5
SEARCH = em.Search(tolerance=1e-9, max_iterations=2000)
# Added to expected numbers of ratings and items, so that no probability is 0.
HALF = 0.5
NORMAL_MEDIAN = NormalDist().inv_cdf(0.75)
CELLS_AT_ONCE = 2_000_000


class PairScores(NamedTuple):
    """Scores of pairs, (n_pairs,), and their covariance, given the parameters of the null model."""

    score: Floats
    covariance: Floats


class NamedPairs(NamedTuple):
    """p-values of pairs; which of them are named, the clearest first; and a rival of the only one.

    The p-values are not divided by the factor that all pairs have in common. The rival explains the
    ratings as well.
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
    n_raters, k = codes.shape[1], n_categories
    table = replace(em.tabulate_codes(codes, weights, k), truths=truths)
    by_category = n_raters * k * ITEMS_PER_PARAMETER <= weights.sum()
    # Which of the accuracies in each category are one parameter, (n_raters * k, n_parameters).
    free = np.eye(n_raters * k) if by_category else np.repeat(np.eye(n_raters), k, axis=0)
    model = LATENT_CLASS_MODELS["class_conditional" if by_category else "one_coin_by_rater"]
    null = _smooth(table, em.fit_starts(table, [em.vote_start(table)], model, SEARCH)[0], free)
    classes, _ = em.expect(table, null)
    n_null, n_pairs = k - 1 + free.shape[1], n_raters * (n_raters - 1) // 2

    size = max(1, CELLS_AT_ONCE // (n_raters * (n_raters + k)))
    parts = [slice(start, start + size) for start in range(0, len(codes), size)]

    @lru_cache(maxsize=1)  # so that it is done once if there is one part
    def derive(start: int) -> tuple[Floats, Floats]:
        part = slice(start, start + size)
        return _derive(codes[part], classes[part], null, free)

    information = _find_added_information(null, free)
    products, total, moved = np.zeros((n_null, n_pairs)), np.zeros(n_pairs), np.zeros(n_null)
    for part in parts:
        n_items = weights[part, None]
        by_parameter, by_pair = derive(part.start)
        information += by_parameter.T @ (n_items * by_parameter)
        products += by_parameter.T @ (n_items * by_pair)
        total += n_items[:, 0] @ by_pair
        moved += n_items[:, 0] @ by_parameter
    inverse = np.linalg.pinv(information, hermitian=True)
    slopes = inverse @ products
    covariance = np.zeros((n_pairs, n_pairs))
    n_clusters = 0 if cluster is None else int(cluster.max(initial=-1)) + 1
    of_clusters, kept = np.zeros((n_clusters, n_pairs)), np.ones(n_clusters)
    for part in parts:
        n_items = weights[part, None]
        by_parameter, by_pair = derive(part.start)
        leverage = ((by_parameter @ inverse) * by_parameter).sum(axis=1)
        left = by_pair - by_parameter @ slopes
        if cluster is None:
            left /= np.maximum(1 - leverage, LEAST_LEFT)[:, None]
            covariance += left.T @ (n_items * left)
        else:
            np.add.at(of_clusters, cluster[part], n_items * left)
            np.add.at(kept, cluster[part], -n_items[:, 0] * leverage)
    of_clusters /= np.maximum(kept, LEAST_LEFT)[:, None]
    return PairScores(total - moved @ slopes, covariance + of_clusters.T @ of_clusters)


def _smooth(table: Patterns, fit: em.LatentClasses, free: Floats) -> em.LatentClasses:
    """Move the probabilities of a fit away from 0 and 1."""
    classes, _ = em.expect(table, fit)
    k, ratings = table.n_categories, em.expect_ratings(table, classes)
    diagonal, sums = np.diagonal(ratings, axis1=1, axis2=2), ratings.sum(axis=2)
    right = (free @ (free.T @ diagonal.ravel())).reshape(-1, k) + HALF
    n_ratings = (free @ (free.T @ sums.ravel())).reshape(-1, k) + HALF * k
    items, accuracy = table.weights @ classes + HALF, (right / n_ratings)[..., None]
    confusion = np.where(np.eye(k, dtype=bool), accuracy, (1 - accuracy) / (k - 1))
    return em.LatentClasses(base_rates=items / items.sum(), confusion=confusion)


def _find_added_information(null: em.LatentClasses, free: Floats) -> Floats:
    """Compute the information of the items and ratings that were added, half of each."""
    rates, accuracy = null.base_rates, np.diagonal(null.confusion, axis1=1, axis2=2)
    k = len(rates)
    items = np.eye(k)[:, :-1] / rates[:-1] - np.eye(k)[:, -1:] / rates[-1]
    of_ratings = (1 / accuracy**2 + (k - 1) / (1 - accuracy) ** 2).ravel()
    none = np.zeros((k - 1, free.shape[1]))
    return HALF * np.block(
        [[items.T @ items, none], [none.T, free.T @ (of_ratings[:, None] * free)]]
    )


def _derive(
    codes: Integers, classes: Floats, null: em.LatentClasses, free: Floats
) -> tuple[Floats, Floats]:
    """Compute the derivatives of log probabilities: by base rates and accuracies, and by pairs."""
    rates, accuracy = null.base_rates, np.diagonal(null.confusion, axis1=1, axis2=2)
    k, rated = len(rates), codes >= 0
    right = codes[:, :, None] == np.arange(k)
    by_rate = classes[:, :-1] / rates[:-1] - classes[:, -1:] / rates[-1]
    by_accuracy = np.where(right, 1 / accuracy, -1 / (1 - accuracy)) * rated[:, :, None]
    by_accuracy = (by_accuracy * classes[:, None, :]).reshape(len(codes), -1) @ free
    likelihood = np.where(right, accuracy, (1 - accuracy) / (k - 1))
    surprise = (classes[:, None, :] / likelihood).sum(axis=2)
    first, second = np.triu_indices(codes.shape[1], 1)
    same = np.where(
        codes[:, first] == codes[:, second], surprise[:, first] + surprise[:, second], 0
    )
    by_pair = (same / 2 - 1) * (rated[:, first] & rated[:, second])
    return np.column_stack([by_rate, by_accuracy]), by_pair


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
    z = _standardise(scores, named, tested)
    p_value = _adjust(z, n_pairs)
    while not np.isnan(z).all():
        best = int(np.nanargmax(z))
        rival, left = len(z) - 1 - best, _standardise(scores, [*named, best], tested)
        # Among four raters a pair that makes correlated errors raises that of its rival and lowers
        # the others.
        rest = np.maximum(np.delete(z, [best, rival]), 0) if len(z) == PAIRS_OF_FOUR else left
        if _adjust(z / _find_common_factor(rest), n_pairs)[best] > significance:
            break
        p_value[best] = _adjust(z, n_pairs)[best]
        named.append(best)
        if len(z) == PAIRS_OF_FOUR:
            return NamedPairs(p_value, (best,), rival if z[rival] >= ALIKE * z[best] else None)
        z = left
    return NamedPairs(p_value, tuple(named), None)


def compute_p_value_together(scores: PairScores, tested: Booleans) -> float:
    """Compute the one-sided p-value of the test that no pairs agree more, if all do so by one q."""
    variance = float(scores.covariance[np.ix_(tested, tested)].sum())
    if variance <= 0:
        return 1.0
    return NormalDist().cdf(-float(scores.score[tested].sum()) / float(np.sqrt(variance)))


def _standardise(scores: PairScores, named: list[int], tested: Booleans) -> Floats:
    """Compute the statistic z of each pair if those named take their most likely values.

    It is NaN for these, and for pairs that they determine.
    """
    score, covariance = scores
    slopes = np.linalg.lstsq(covariance[np.ix_(named, named)], covariance[named])[0]
    before, variance = np.diag(covariance), np.diag(covariance - covariance[named].T @ slopes)
    free = tested & (variance > LEAST_VARIANCE * before) & (before > 0)
    free[named] = False
    z = np.full(len(tested), np.nan)
    z[free] = (score - score[named] @ slopes)[free] / np.sqrt(variance[free])
    return z


def _find_common_factor(z: Floats) -> float:
    """Compute the factor by which these statistics are larger than by chance, 1 or more."""
    size = np.abs(z[~np.isnan(z)])
    return max(1.0, float(np.median(size)) / NORMAL_MEDIAN) if len(size) else 1.0


def _adjust(z: Floats, n_pairs: int) -> Floats:
    """Compute the one-sided p-values, adjusted for the number of pairs by Bonferroni's method."""
    tails = [1.0 if np.isnan(statistic) else NormalDist().cdf(-statistic) for statistic in z]
    return np.minimum(np.array(tails) * n_pairs, 1.0)


def adjust_by_holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values for the number of tests by Holm's method.

    Examples
    --------
    >>> adjust_by_holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    names = sorted(p_values, key=p_values.__getitem__)
    multiplied = [p_values[name] * (len(names) - rank) for rank, name in enumerate(names)]
    rising = np.maximum.accumulate(np.minimum(multiplied, 1.0))
    return dict(zip(names, rising.tolist(), strict=True))
