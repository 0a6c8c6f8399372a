"""The steps of Lehner (2015), Eq. 1 to 7, and the system's confusion matrix.

Functions work on arrays with any leading dimensions, so that thousands of bootstrap resamples are
computed at once. Step 4 (Eq. 6 and 7) combines the items in one of two ways.

Eq. 7 divides by K P_g - 1. An item whose ratings make all categories equally probable (two raters
against two, with equal base rates) has P_g = 1/K and tells nothing about the system. In data the
estimated P_g differs from 1/K by sampling error, and Eq. 7 is then one error divided by another.

- "weighted", the default, is the mean of Eq. 7 over items and categories with weights (K p - 1)^2,
  so that a term with a divisor near 0 has a weight near 0.
- "paper" sorts items into bins of P_g, computes Eq. 7 in each bin, clips it to [0, 1] and weights
  it by the number of items, even if these have P_g near 1/K. It is therefore not consistent: with
  more items the proportion of such items stays the same, and the error does not go to zero, even if
  all K-properties are true. Clipping makes the error one-sided: the accuracy of a good system is
  underestimated. The estimate also jumps if categories tie for the highest probability, or if P_g
  is at the edge of two bins. Of the .731 that the paper prints for its ten cases, .2 come from two
  items of P_g = .325 = 1/K + .075, for which Eq. 7 gives 2.75, clipped to 1.

"weighted" depends continuously on the frequencies of votes and answers, so that it converges in
large samples. A rule that drops bins near 1/K would not, because chance would still decide into
which bin an item falls.

Arrays: `truth` (n_samples, n_votes, n_categories), the truth probabilities of items with the same
votes; `answers`, of the same shape, the number of these items for which the system answered each
category. Each function returns (n_samples,), with NaN where all truth probabilities are 1/K.

Steps 1 to 3 of the algebra give each item the probability of every category. They assume the
K-properties of the raters only; here the system may have any confusion matrix θ. If p_ik is the
probability that item i is of category k, the system answers l with probability Σ_k p_ik θ_kl. θ is
therefore estimated by a regression of answers on probabilities: θ = M⁻¹N with M = Σ_i p_i p_iᵀ and
N_kl = Σ_i p_ik [y_i = l].

A ridge shrinks θ toward the matrix of step 4 (one accuracy, equal errors), with a weight that is
greater the less the ratings determine about a category. For category k it is worth 4 (1 - Σ_i p_ik²
/ Σ_i p_ik) answers: none if each item is of this category or is not, as where the raters are
unanimous, so that the measures are then those of a table of answers by truths; nearly four if all
items are of it with the same small probability. Each row of the solution is projected onto the
probabilities that sum to 1.

Simulations with 50 to 1,000 items, 2 to 5 categories and raters of accuracy .55 to 1 compared it
with a constant ridge of two answers. The root mean squared error of the matrix of these items is at
most .003 larger, and smaller from a rater accuracy of .85 on. As an estimate of the matrix for
other items it is noisier where raters are accurate and categories have few items, as any table of
few answers is: by up to .026 with 50 items, .006 with 200 and .001 with 1,000.

Resamples have a constant ridge of two answers, toward a matrix that is drawn: see
`lehner.performance.replicates`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers
from lehner.core.lazy import sparse, xr
from lehner.data.counts import CollapsedVotes, VoteTable
from lehner.data.ratings import Ratings

CHANCE_TOLERANCE = 1e-12
# From this size of a sum on, a term too small for a float is less than its rounding error.
FULL_PRECISION = np.finfo(float).tiny / np.finfo(float).eps
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
    ratings that a rater repeats the most frequent one counts (`Ratings.votes`).

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
    agreeing, pairs = ratings.votes.count_pairs()
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


def estimate_rater_accuracy(agreement: ArrayLike, n_categories: int) -> Floats:
    r"""Step 1: the accuracy of the raters from their agreement.

    .. math:: P_a = P_c^2 + \frac{(1 - P_c)^2}{K - 1} \tag{1}
    .. math:: P_c = \frac1K + \sqrt{\frac{(K - 1) P_a - (K - 1)/K}{K}} \tag{2}

    Parameters
    ----------
    agreement : array_like
        Proportion of agreeing pairs of ratings, between 0 and 1.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray
        NaN where agreement is at or below the chance level 1/K.

    Examples
    --------
    >>> float(estimate_rater_accuracy(1 / 3, 4))
    0.5
    """
    kappa = brennan_prediger(agreement, n_categories)
    root = np.sqrt(np.where(kappa > CHANCE_TOLERANCE, kappa, np.nan))
    return np.asarray(1 / n_categories + (1 - 1 / n_categories) * root)


def estimate_base_rates(frequency: ArrayLike, accuracy: ArrayLike) -> Floats:
    r"""Step 2: base rates from how often the raters use each category.

    .. math:: P("A") = P_c P(A) + \frac{1 - P_c}{K - 1} (1 - P(A)) \tag{3, corrected}
    .. math:: P(A) = \frac{(K - 1) P("A") - 1 + P_c}{K P_c - 1} \tag{4, 5}

    Parameters
    ----------
    frequency : array_like, shape (..., n_categories)
        Proportion of all ratings in each category.
    accuracy : array_like, shape (...)
        P_c, above 1/K.

    Returns
    -------
    ndarray, shape (..., n_categories)
        May be negative in small samples: see `clip_base_rates`.

    Notes
    -----
    The paper prints the bracket of Eq. 3 in the wrong place; its Eq. 5 is correct.

    Examples
    --------
    >>> estimate_base_rates([0.275, 0.25, 0.25, 0.225], 0.5).round(3).tolist()
    [0.325, 0.25, 0.25, 0.175]
    """
    frequency = np.asarray(frequency, dtype=float)
    accuracy = np.asarray(accuracy, dtype=float)[..., None]
    k = frequency.shape[-1]
    return ((k - 1) * frequency - 1 + accuracy) / (k * accuracy - 1)


def clip_base_rates(rates: ArrayLike) -> Floats:
    """Set negative base rates to 0 and renormalise.

    Parameters
    ----------
    rates : array_like, shape (..., n_categories)

    Returns
    -------
    ndarray, shape (..., n_categories)
        Sums to 1.

    Examples
    --------
    >>> clip_base_rates([-0.1, 0.55, 0.55]).tolist()
    [0.0, 0.5, 0.5]
    """
    clipped = np.maximum(np.asarray(rates, dtype=float), 0.0)
    return clipped / clipped.sum(axis=-1, keepdims=True)


def estimate_truth(votes: ArrayLike, accuracy: ArrayLike, rates: ArrayLike) -> Floats:
    """Step 3: the probability of each true category by Bayes' rule, raters independent.

    Parameters
    ----------
    votes : array_like of int, shape (n_items, n_categories)
        Number of ratings of each item in each category.
    accuracy : array_like, shape (...)
        P_c.
    rates : array_like, shape (..., n_categories)
        Base rates.

    Returns
    -------
    ndarray, shape (..., n_items, n_categories)
        An item without ratings has the base rates.

    Examples
    --------
    >>> estimate_truth([[0, 0, 3, 1]], 0.5, [0.325, 0.25, 0.25, 0.175]).round(3).tolist()
    [[0.041, 0.032, 0.86, 0.067]]
    """
    votes = np.asarray(votes)
    accuracy = np.asarray(accuracy, dtype=float)
    log_odds = log_odds_right(accuracy, votes.shape[-1])
    # Samples are the last axis in memory, because sums over few categories are then several times
    # faster.
    prior = np.moveaxis(np.asarray(rates, dtype=float), -1, 0)
    behind = votes.max(axis=1, keepdims=True) - votes
    ladder = np.exp(-np.multiply.outer(np.arange(behind.max(initial=0) + 1), log_odds))
    probability = prior * ladder[behind]
    total = probability.sum(axis=1, keepdims=True)
    if (total < FULL_PRECISION).any():
        probability = _multiply_logs(prior, -np.multiply.outer(behind, log_odds))
        total = probability.sum(axis=1, keepdims=True)
    return np.moveaxis(probability / total, (0, 1), (-2, -1))


def log_odds_right(accuracy: Floats, n_categories: int) -> Floats:
    """Log odds of a right against a wrong rating, on which alone equal errors depend."""
    # The lower limit of wrong ratings stands for raters who are always right.
    error = np.maximum((1 - accuracy) / (n_categories - 1), np.finfo(float).tiny)
    return np.asarray(np.log(accuracy / error))


def _multiply_logs(prior: Floats, log_likelihood: Floats) -> Floats:
    """Multiply if all categories with enough votes to matter have a base rate of 0."""
    with np.errstate(divide="ignore"):
        log = np.log(prior) + log_likelihood
    return np.asarray(np.exp(log - log.max(axis=1, keepdims=True)))


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstSteps:
    """The results of steps 1 to 3 for each sample.

    Parameters
    ----------
    agreement, kappa, accuracy : ndarray, shape (n_samples,)
        P_a, kappa and P_c.
    raw_base_rates, base_rates : ndarray, shape (n_samples, n_categories)
        Base rates by Eq. 5, before and after clipping to 0 or more.
    truth : ndarray, shape (n_samples, n_votes, n_categories)
        Truth probabilities of items with the same votes.
    """

    agreement: Floats
    kappa: Floats
    accuracy: Floats
    raw_base_rates: Floats
    base_rates: Floats
    truth: Floats


def take_first_steps(table: VoteTable, n_items: Floats) -> FirstSteps:
    """Take steps 1 to 3 for many samples at once.

    Parameters
    ----------
    table : VoteTable
    n_items : ndarray, shape (n_samples, n_votes)
        Number, or proportion, of items with these votes.

    Returns
    -------
    FirstSteps
    """
    totals = n_items @ table.votes
    agreement, accuracy, raw = take_steps_1_and_2(n_items, table.agreeing, table.pairs, totals)
    rates = clip_base_rates(raw)
    return FirstSteps(
        agreement=agreement,
        kappa=brennan_prediger(agreement, table.votes.shape[1]),
        accuracy=accuracy,
        raw_base_rates=raw,
        base_rates=rates,
        truth=estimate_truth(table.votes, accuracy, rates),
    )


def take_steps_1_and_2(
    n_items: Floats, agreeing: Integers, pairs: Integers, totals: Floats
) -> tuple[Floats, Floats, Floats]:
    """Compute the agreement and accuracy of the raters, and base rates before they are clipped."""
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = n_items @ agreeing / (n_items @ pairs)
        frequency = totals / totals.sum(axis=1, keepdims=True)
    accuracy = estimate_rater_accuracy(agreement, totals.shape[1])
    return agreement, accuracy, estimate_base_rates(frequency, accuracy)


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
    for i, (first, second) in enumerate(zip(*pairs, strict=True)):
        weighted[first, second] = weighted[second, first] = weights[i] * values[:, i]
        weight[first, second] = weight[second, first] = weights[i]
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


type Aggregation = Literal["weighted", "paper"]

N_BINS = 10
TIE = 1e-9
FLAT = 1e-12


def solve_accuracy(agreement: ArrayLike, top_probability: ArrayLike, n_categories: int) -> Floats:
    r"""Step 4: the accuracy of the system from its agreement with the most probable category.

    .. math:: P_a = P_g P_s + (1 - P_g) \frac{1 - P_s}{K - 1} \tag{6}
    .. math:: P_s = \frac{(K - 1) P_a - 1 + P_g}{K P_g - 1} \tag{7}

    Parameters
    ----------
    agreement : array_like
        P_a, how often the system answers the most probable category.
    top_probability : array_like
        P_g, the probability of that category.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray
        NaN where P_g is 1/K; may lie outside [0, 1].

    Examples
    --------
    >>> float(solve_accuracy(2 / 3, 0.8493, 4).round(3))
    0.771
    """
    top = np.asarray(top_probability, dtype=float)
    slope = n_categories * top - 1
    slope = np.where(np.abs(slope) > 1e-9, slope, np.nan)
    return np.asarray(((n_categories - 1) * np.asarray(agreement) - 1 + top) / slope)


def average_in_bins(truth: Floats, answers: Floats) -> Floats:
    """Average Eq. 7 over bins (0, .1], …, (.9, 1] of the top probability, as the paper does.

    In each bin it is clipped to [0, 1], and the bins are weighted by their numbers of items.

    Categories that tie for the top share the item: the system's answer counts 1/m if it is one
    of m. Only bins whose mean top probability is 1/K to nine digits are left out.
    """
    bins = _sum_bins(truth, answers)
    used = np.where(np.isnan(bins["accuracy"]), 0.0, bins["n_items"])
    with np.errstate(invalid="ignore"):
        return np.nansum(bins["accuracy"] * used, axis=-1) / used.sum(axis=-1)


def tabulate_bins(truth: Floats, answers: Floats) -> "xr.Dataset":
    """Give the paper's Table 4 for the first sample: the bins that contain items."""
    bins = {name: values[0] for name, values in _sum_bins(truth, answers).items()}
    edges = np.arange(N_BINS + 1) / N_BINS
    table = {"lower": edges[:-1], "upper": edges[1:]} | bins
    filled = np.flatnonzero(bins["n_items"] > 0)
    return xr.Dataset({name: ("bin", values[filled]) for name, values in table.items()})


def average_by_weights(truth: Floats, answers: Floats) -> Floats:
    """Solve Eq. 6, written for every item and category, by least squares.

    The solution is the mean of Eq. 7 over items and categories with weights (K p - 1)^2: a truth
    probability p has more weight the farther it is from 1/K.
    """
    k = truth.shape[-1]
    n_items = answers.sum(axis=-1, keepdims=True)
    x = (k * truth - 1) / (k - 1)
    expected = n_items * (1 - truth) / (k - 1)
    numerator = (x * (answers - expected)).sum(axis=(-2, -1))
    denominator = (n_items * x**2).sum(axis=(-2, -1))
    return np.clip(numerator / np.where(denominator > FLAT, denominator, np.nan), 0.0, 1.0)


AGGREGATIONS = {"weighted": average_by_weights, "paper": average_in_bins}


def _sum_bins(truth: Floats, answers: Floats) -> dict[str, Floats]:
    """Give each bin's numbers, of shape (n_samples, n_bins)."""
    n_samples = len(truth)
    top = truth.max(axis=-1)
    n_items = np.where(np.isnan(top), 0.0, answers.sum(axis=-1))
    tied = truth >= top[..., None] - TIE
    agreeing = (answers * tied).sum(axis=-1) / np.maximum(tied.sum(axis=-1), 1)
    top = np.nan_to_num(top, nan=1.0)
    index = np.ceil(N_BINS * top - TIE).astype(np.int64) - 1
    flat = (index + N_BINS * np.arange(n_samples)[:, None]).T.ravel()

    def add(values: Floats) -> Floats:
        sums = np.bincount(flat, weights=values.T.ravel(), minlength=n_samples * N_BINS)
        return sums.reshape(n_samples, N_BINS)

    n_in_bin = add(n_items)
    with np.errstate(invalid="ignore"):
        mean, agreement = add(n_items * top) / n_in_bin, add(agreeing) / n_in_bin
    return {
        "mean_probability": mean,
        "n_items": n_in_bin,
        "agreement": agreement,
        "accuracy": np.clip(solve_accuracy(agreement, mean, truth.shape[-1]), 0.0, 1.0),
    }


# The most answers that the ridge is worth.
PRIOR_ANSWERS = 4.0
RESAMPLED_PRIOR_ANSWERS = 2.0
LEAST_ITEMS = 1e-12


def regress_on_truth(
    truth: Floats, answers: Floats, rng: np.random.Generator | None = None
) -> Floats:
    """Regress answers on truth probabilities.

    Parameters
    ----------
    truth : ndarray, shape (n_samples, n_votes, n_categories)
        Truth probabilities of items with the same votes.
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number of items with these votes and each system answer.
    rng : numpy.random.Generator, optional
        Draws the matrix toward which the ridge shrinks; by default that of step 4 is used.

    Returns
    -------
    ndarray, shape (n_samples, n_categories, n_categories)
        Confusion matrices; NaN if all truth probabilities are equal.
    """
    accuracy = average_by_weights(truth, answers)
    truth = np.where(np.isnan(accuracy)[:, None, None], 1 / answers.shape[-1], truth)
    by_category = np.moveaxis(truth, -1, -2)
    gram = by_category @ (truth * answers.sum(axis=-1, keepdims=True))
    return solve_regression(gram, by_category @ answers, accuracy, rng)


def solve_regression(
    gram: Floats, by_answer: Floats, accuracy: Floats, rng: np.random.Generator | None = None
) -> Floats:
    """Solve the regression; rows of both products are truths, `accuracy` is that of step 4."""
    k, defined = gram.shape[-1], ~np.isnan(accuracy)
    toward = spread_errors(np.where(defined, accuracy, 0.5), k)
    if rng is None:
        weight = PRIOR_ANSWERS * _find_undetermined(gram)
    else:
        weight = np.full(gram.shape[:-1], RESAMPLED_PRIOR_ANSWERS)
        toward = _draw_rows(toward, rng)
    ridge, pulled = weight[..., None] * np.eye(k), weight[..., None] * toward
    solved = np.linalg.solve(gram + ridge, by_answer + pulled)
    return np.where(defined[:, None, None], project_rows(solved), np.nan)


def _find_undetermined(gram: Floats) -> Floats:
    """Compute the proportion of each category's items, (..., K), that may be of other categories.

    Of a category without items it is 1.
    """
    n_items = gram.sum(axis=-1)
    some = n_items > LEAST_ITEMS
    determined = np.diagonal(gram, axis1=-2, axis2=-1) / np.where(some, n_items, 1.0)
    # A little ridge keeps the matrix invertible where categories cannot be told apart.
    return np.where(some, np.clip(1 - determined, LEAST_ITEMS, 1.0), 1.0)


def spread_errors(accuracy: Floats, n_categories: int) -> Floats:
    """Give the confusion matrices of one accuracy and equal errors, (n_samples, K, K)."""
    eye = np.eye(n_categories)
    right = accuracy[:, None, None]
    return np.asarray(right * eye + (1 - right) / (n_categories - 1) * (1 - eye))


def _draw_rows(rows: Floats, rng: np.random.Generator) -> Floats:
    gamma = rng.standard_gamma(RESAMPLED_PRIOR_ANSWERS * rows) + np.finfo(float).tiny
    return np.asarray(gamma / gamma.sum(axis=-1, keepdims=True))


def project_rows(rows: Floats) -> Floats:
    """Give the probabilities that are nearest to each row.

    References
    ----------
    Duchi et al. (2008), Efficient projections onto the l1-ball, https://doi.org/10.1145/1390156.1390191

    Examples
    --------
    >>> project_rows(np.array([[0.5, 0.7, -0.2]])).round(3).tolist()
    [[0.4, 0.6, 0.0]]
    """
    falling = -np.sort(-rows, axis=-1)
    excess = np.cumsum(falling, axis=-1) - 1
    rank = np.arange(1, rows.shape[-1] + 1)
    last = (falling * rank > excess).sum(axis=-1, keepdims=True) - 1
    shift = np.take_along_axis(excess, last, axis=-1) / (last + 1)
    return np.maximum(rows - shift, 0.0)


# ----- Items whose ratings are in few of many categories -----

# Categories of an item without a vote have probabilities in proportion to their base rates, so that
# sums over all categories follow from sums over those that have votes. Samples are the last axis in
# memory, as they are in the truth probabilities.

# Up to so many numbers of votes SciPy takes longer to load than it saves.
FEW_VOTES = 20_000
SPARSE = 0.25


class SparseTruth(NamedTuple):
    """Truth probabilities of many samples.

    `voted` (n_voted, n_samples) are those of categories with votes, `rest` (n_votes, n_samples)
    those of categories without, divided by their base rates, `rates` (n_categories, n_samples).
    """

    voted: Floats
    rest: Floats
    rates: Floats


def find_sparse_votes(collapsed: CollapsedVotes) -> "SparseVotes | None":
    """Lay votes out, if most of many categories have none; otherwise None."""
    votes = collapsed.votes
    if votes.size <= FEW_VOTES or np.count_nonzero(votes) >= SPARSE * votes.size:
        return None
    return SparseVotes(collapsed)


class SparseVotes:
    """The categories that have votes, one after another, and the system's answers.

    Parameters
    ----------
    collapsed : CollapsedVotes
    """

    def __init__(self, collapsed: CollapsedVotes) -> None:
        self.table = collapsed
        votes = self.table.votes
        (n_votes, k), self.most = votes.shape, votes.max(axis=1, initial=0)
        self.row, self.category = np.nonzero(votes)
        self.by_category = sparse.csr_array(votes.T.astype(float))
        self.behind = self.most[self.row] - votes[self.row, self.category]
        of_cell, answer = np.divmod(collapsed.cell, k + 1)
        self.has_answer = answer < k
        self.answer_row, self.answer = of_cell[self.has_answer], answer[self.has_answer]
        # Which of the categories with votes an answer is, if it is one.
        code = self.row * k + self.category
        self.voted_index = np.searchsorted(code, self.answer_row * k + self.answer)
        self.has_votes = votes[self.answer_row, self.answer] > 0
        self.sum_cells, self.sum_voted, self.sum_answers = (
            sparse.csr_array(
                (np.ones(len(rows)), (rows, np.arange(len(rows)))), (n_votes, len(rows))
            )
            for rows in (of_cell, self.row, self.answer_row)
        )

    def take_steps(self, weights: Floats) -> tuple[Floats, Floats, SparseTruth | None]:
        """Take steps 1 to 3 for many samples.

        Parameters
        ----------
        weights : ndarray, shape (n_samples, n_cells)
            Number of items with each combination of votes and answer.

        Returns
        -------
        accuracy : ndarray, shape (n_samples,)
        base_rates : ndarray, shape (n_samples, n_categories)
        truth : SparseTruth or None
            None if probabilities are undefined or too small: `take_first_steps` computes them
            otherwise.
        """
        n_items, table = (self.sum_cells @ weights.T).T, self.table
        totals = (self.by_category @ n_items.T).T
        _, accuracy, raw = take_steps_1_and_2(n_items, table.agreeing, table.pairs, totals)
        rates = clip_base_rates(raw)
        prior, log_odds = np.ascontiguousarray(rates.T), log_odds_right(accuracy, rates.shape[1])
        ladder = np.exp(-np.multiply.outer(np.arange(self.most.max(initial=0) + 1), log_odds))
        of_voted, none = prior[self.category], ladder[self.most]
        likely = of_voted * ladder[self.behind]
        left = np.maximum(1 - self.sum_voted @ of_voted, 0.0)
        total = self.sum_voted @ likely + none * left
        if not total.min() >= FULL_PRECISION:
            return accuracy, rates, None
        return accuracy, rates, SparseTruth(likely / total[self.row], none / total, prior)

    def average(self, truth: SparseTruth, answers: Floats) -> Floats:
        """Take step 4 as `average_by_weights` does, from numbers of answers, (n_answers, n)."""
        (voted, rest, rates), k = truth, len(truth.rates)
        of_voted, sums = rates[self.category], self.sum_voted
        # Squared distances of probabilities from 1/K, where there are votes and elsewhere.
        squares = sums @ (voted - 1 / k) ** 2
        squares += rest**2 * ((rates**2).sum(axis=0) - sums @ of_voted**2)
        squares -= 2 / k * rest * np.maximum(1 - sums @ of_voted, 0.0)
        squares += (k - np.diff(sums.indptr)[:, None]) / k**2
        informative = k / (k - 1) * ((self.sum_answers @ answers) * squares).sum(axis=0)
        without = rates[self.answer] * rest[self.answer_row]
        index = np.where(self.has_votes, self.voted_index, 0)
        probability = np.where(self.has_votes[:, None], voted[index], without)
        numerator = (answers * (probability - 1 / k)).sum(axis=0) + informative / k
        defined = k / (k - 1) * informative > FLAT
        return np.clip(numerator / np.where(defined, informative, np.nan), 0.0, 1.0)

    def multiply(self, truth: SparseTruth, answers: Floats) -> tuple[Floats, Floats]:
        """Sum products of truth probabilities, with one another and with the answers, over items.

        Both are of shape (n_samples, n_categories, n_categories).
        """
        shape = self.table.votes.shape
        gram, by_answer = [], []
        for voted, rest, rates, n in zip(*(values.T for values in truth), answers.T, strict=True):
            # Probabilities are the outer product of `rest` and `rates`, and more where there are
            # votes.
            more = voted - rest[self.row] * rates[self.category]
            n_items = self.sum_answers @ n
            of_voted = self.category, self.sum_voted.indptr
            by_items = sparse.csr_array((more * n_items[self.row], *of_voted), shape)
            more = sparse.csr_array((more, *of_voted), shape)
            of_answers = sparse.csr_array((n, self.answer, self.sum_answers.indptr), shape)
            shared = np.outer(more.T @ (n_items * rest), rates)
            same = (more.T @ by_items).toarray()
            gram.append(same + shared + shared.T + n_items @ rest**2 * np.outer(rates, rates))
            by_answer.append((more.T @ of_answers).toarray() + np.outer(rates, rest @ of_answers))
        return np.array(gram), np.array(by_answer)
