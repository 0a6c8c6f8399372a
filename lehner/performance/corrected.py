"""Measures of a system corrected by gold labels: its confusion matrix and all that follow from it.

Which items are truly of a category is not known, but to which ones the system gave each answer.
Among the items with one answer, the proportion on which the system is right is recalibrated by the
labelled items, as the precision of the answer is. The others are wrong answers, and are of the
other categories in proportions that have a Dirichlet distribution: its prior are the proportions
that the method expects, with the weight of `PRIOR_ITEMS`, and the labelled wrong answers are its
data.
"""

from collections.abc import Iterator

import numpy as np

from lehner.core.arrays import Booleans, Floats, Seed, make_rng
from lehner.core.errors import check_level
from lehner.core.estimate import Estimate, Row, make_rows
from lehner.core.lazy import special
from lehner.data.ratings import Ratings
from lehner.known_truths.correction import find_variance, infer_proportion, predict_truth
from lehner.known_truths.partly_known import RECALIBRATED, WEIGHTED, collect_known
from lehner.performance.measures import RATIOS, measure_performance

# The prior of a method's bias tells about as much as so many labelled items.
BIAS_ITEMS = 10.0
PRIOR_ITEMS = 4.0
LEAST_EXPECTED = 1e-6
MOST_DRAWS, LEAST_DRAWS, MOST_NUMBERS = 4000, 500, 4_000_000


def correct_measures(
    ratings: Ratings, estimate: Estimate, *, level: float = 0.9, seed: Seed = 1
) -> Iterator[Row]:
    """Correct measures of the system by the gold labels of some items.

    These are a random sample, or the ratings have the probabilities with which they were chosen.

    Parameters
    ----------
    ratings : Ratings
        With a system and the truth of some items.
    estimate : Estimate
        From the same ratings without their truths, by a method with truth probabilities.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the draws from which the intervals are made.

    Yields
    ------
    dict
        A row of the table of results: `recall`, `precision`, `specificity`, `f1` and the likelihood
        ratios of each category, of the items that the system answered, `balanced_accuracy`, `mcc`,
        `kappa_with_truth`, and `confusion`. There is no estimate where a measure is undefined.

    Raises
    ------
    InputError
        If the method has no truth probabilities, or they are undefined for these data.

    Notes
    -----
    In simulations (`experiments/simulations/known_truths_by_category.csv`) 90% intervals cover
    recall, MCC and kappa in 92% or more of the cases, and specificity and the proportions
    of wrong answers in 89% or more, however few labelled items are of the category. The error of
    recall and specificity is .2 to .65 times that of the labelled items of the category alone. If
    there are none, the interval rests on the prior of the method's bias and is very wide.

    Examples
    --------
    >>> from lehner import Scenario, estimate_algebraic, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, misleading=0.2)
    >>> ratings = simulate(scenario, 1)
    >>> some = ratings.with_truth(np.where(np.arange(ratings.n_items) < 40, ratings.truth, -1))
    >>> algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
    >>> recall = next(correct_measures(some, algebra))
    >>> recall["quantity"], recall["category"], round(recall["estimate"], 3)
    ('recall', 'A', 0.764)
    """
    level, tables = check_level(level), draw_corrected(ratings, estimate, seed=seed)
    confusion = tables["confusion"]
    drawn = measure_performance(tables["base_rates"], confusion)
    kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED
    columns = [("category", ratings.categories), ("response", ratings.categories)]
    for measure, values in (drawn | {"confusion": confusion}).items():
        bounds, names = _bound(values, level, ratio=measure in RATIOS), columns[: values.ndim - 1]
        made: Row = {"level": level, "kind": kind, "corrected": True}
        yield from make_rows(measure, bounds, dict(names), **made)


def draw_corrected(
    ratings: Ratings, estimate: Estimate, *, seed: Seed = 1, rows: Booleans | None = None
) -> dict[str, Floats]:
    """Draw base rates and confusion matrix of the items that the system answered.

    Parameters
    ----------
    ratings, estimate, seed
        As of `correct_measures`.
    rows : ndarray of bool, shape (n_rows,), optional
        Which items are asked for; by default all.

    Returns
    -------
    dict of str to ndarray
        `base_rates` and `confusion`, with a first dimension of draws.
    """
    rng, k, probability = make_rng(seed), ratings.n_categories, predict_truth(ratings, estimate)
    if rows is not None:
        ratings, probability = ratings.take(rows), probability[rows]
    n_draws = min(MOST_DRAWS, max(LEAST_DRAWS, MOST_NUMBERS // k**2))
    variance = find_variance(estimate.system_accuracy_in_sample)
    right = _draw_right(ratings, probability, variance, n_draws, rng)
    numbers = np.stack(
        [_allocate(ratings, code, probability, right[:, code], rng) for code in range(k)], axis=-1
    )
    true = numbers.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates, confusion = true / true.sum(axis=-1, keepdims=True), numbers / true[..., None]
    return {"base_rates": rates, "confusion": confusion}


def _draw_right(
    ratings: Ratings, probability: Floats, variance: float, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Draw on how many items with each answer the system is right, (n_draws, n_categories).

    What biases the method in items with one answer biases it in those with others too. The numbers
    are therefore correlated, the less the more items with these answers are known.
    """
    assert ratings.system is not None and ratings.truth is not None
    right = np.zeros((n_draws, ratings.n_categories))
    common = rng.standard_normal(n_draws)
    for code in range(ratings.n_categories):
        rows = (ratings.system == code) & (ratings.weights > 0)
        if not rows.any():
            continue
        items = collect_known(ratings, rows, probability[:, code], ratings.truth == code)
        posterior = infer_proportion(items, variance)
        bias = BIAS_ITEMS / (BIAS_ITEMS + items.n_known)
        normal = np.sqrt(bias) * common + np.sqrt(1 - bias) * rng.standard_normal(n_draws)
        right[:, code] = posterior.quantiles(special.ndtr(normal)) * items.n_items
    return right


def _allocate(
    ratings: Ratings, code: int, probability: Floats, right: Floats, rng: np.random.Generator
) -> Floats:
    """Draw how many items with one answer are of each category, (n_draws, n_categories)."""
    rows = (ratings.system == code) & (ratings.weights > 0)
    wrong_codes = np.arange(ratings.n_categories) != code
    labelled, weights = _count_known_truths(ratings, rows)[wrong_codes], ratings.weights[rows]
    expected = (weights @ probability[rows])[wrong_codes] + LEAST_EXPECTED
    shares = rng.dirichlet(PRIOR_ITEMS * expected / expected.sum() + labelled, len(right))
    wrong = weights.sum() - right
    # Weighted numbers of labelled items are not numbers of these items.
    counted = labelled if ratings.truth_probability is None else np.zeros_like(labelled)
    unknown = np.maximum(np.rint(wrong - counted.sum()), 0).astype(int)
    drawn = counted + rng.multinomial(unknown, shares)
    numbers = np.empty((len(right), ratings.n_categories))
    numbers[:, wrong_codes] = drawn * (wrong / np.maximum(drawn.sum(axis=1), 1))[:, None]
    numbers[:, code] = right
    return numbers


def _count_known_truths(ratings: Ratings, rows: Booleans) -> Floats:
    """Count the labelled items among some rows by category, as of a simple random sample."""
    assert ratings.truth is not None
    rows = rows & (ratings.truth >= 0)
    counts = ratings.weights[rows].astype(float)
    if ratings.truth_probability is not None and counts.size:
        weight = 1 / ratings.truth_probability[rows]
        counts = counts * weight * (counts @ weight) / (counts @ weight**2)
    return np.bincount(ratings.truth[rows], counts, ratings.n_categories)


def _bound(values: Floats, level: float, *, ratio: bool) -> Floats:
    """Estimate and ends of intervals from those draws that are defined, (..., 3)."""
    # NaN is sorted to the end. Between infinite numbers one cannot interpolate.
    ordered, n_defined = np.sort(values, axis=0), (~np.isnan(values)).sum(axis=0)
    last = np.maximum(n_defined - 1, 0)
    lower, middle, upper = (
        np.take_along_axis(ordered, np.rint(p * last).astype(int)[None], 0)[0]
        for p in ((1 - level) / 2, 0.5, (1 + level) / 2)
    )
    if not ratio:  # The mean of a ratio need not exist.
        total = np.nansum(values, axis=0)
        middle = np.where(n_defined > 0, total / np.maximum(n_defined, 1), np.nan)
    # The mean of a cell in which most draws have no item is above them.
    return np.stack([middle, np.fmin(lower, middle), np.fmax(upper, middle)], axis=-1)
