"""Parameters of the system and the raters by each kind of method, from which measures are made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.algebra.algebraic import credit_majority
from lehner.core.arrays import Booleans, Floats, Seed, make_rng
from lehner.core.errors import InputError, Warning, check_level, compose, find, warn
from lehner.core.estimate import (
    CREDIBLE,
    ESTIMANDS,
    Draws,
    Estimate,
    IntervalEstimate,
    Row,
    make_rows,
    stack_draws,
    summarise_draws,
)
from lehner.core.lazy import special, xr
from lehner.core.text import to_decimal
from lehner.data.estimable import find_mean_widening, name_coords
from lehner.data.ratings import Ratings
from lehner.known_truths.correction import find_variance, infer_proportion, predict_truth
from lehner.known_truths.partly_known import RECALIBRATED, WEIGHTED, collect_known
from lehner.performance.measures import RATIOS, PositiveCategory, measure_performance

# The prior of a method's bias tells about as much as so many labelled items.
BIAS_ITEMS = 10.0
PRIOR_ITEMS = 4.0
LEAST_EXPECTED = 1e-6
MOST_DRAWS, LEAST_DRAWS, MOST_NUMBERS = 4000, 500, 4_000_000


def take_parameters(
    ratings: Ratings, estimate: Estimate, *, resamples: int, seed: Seed
) -> Draws | None:
    """Give the parameters from which measures are computed, as far as an estimate has them.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    estimate : Estimate
        Of these ratings.
    resamples, seed
        Not used: an estimate has its draws, or none.

    Returns
    -------
    Draws or None
        None if the method says nothing of base rates and confusion matrices.
    """
    coords = name_coords(ratings)
    if estimate.draws is not None:
        if estimate.system_accuracy.estimate is not None:
            return take_posterior(estimate.draws, coords)
        nothing = np.full((ratings.n_categories, ratings.n_categories), np.nan)
        return Draws(point=tabulate_parameters(nothing, ratings.n_raters), coords=coords)
    if estimate.resamples is not None or not {"base_rates", "confusion"} <= set(estimate.arrays):
        return estimate.resamples
    point = {name: array.values for name, array in estimate.arrays.items()}
    point.setdefault("rater_accuracy", np.full(ratings.n_raters, np.nan))
    point["rater_recall"] = np.diagonal(point["confusion"][:-1], axis1=1, axis2=2)
    point["confusion"] = point["confusion"][-1]
    return Draws(point=point, coords=coords)


def take_posterior(tree: "xr.DataTree", coords: Mapping[str, Any]) -> Draws:
    """Take base rates, the system's confusion matrix, and the raters' accuracy and recall.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `bayes_models.fit`, of ratings with a system, which is the last rater.
    coords : mapping of str to sequence
        As `Draws` has them.

    Returns
    -------
    Draws
        Their point estimate is the posterior mean.
    """
    posterior = tree["posterior"].to_dataset()
    matrices = stack_draws(posterior, "confusion", "rater", "category", "response")
    drawn = {
        "base_rates": stack_draws(posterior, "base_rates", ...),
        "confusion": matrices[:, -1],
        "rater_accuracy": stack_draws(posterior, "accuracy", "rater")[:, :-1],
        "rater_recall": np.diagonal(matrices[:, :-1], axis1=-2, axis2=-1),
    }
    point = {name: np.asarray(values, order="C").mean(axis=0) for name, values in drawn.items()}
    return Draws(point=point, drawn=drawn, coords=coords, kind=CREDIBLE, posterior=True)


def count_by_majority(
    ratings: Ratings, estimate: Estimate | None = None, *, resamples: int = 0, seed: Seed = 1
) -> Draws:
    """Take the majority for the truth; tied categories share the item. There are no resamples."""
    truth = credit_majority(ratings.count_votes())
    answers = np.asarray(ratings.system)[:, None] == np.arange(ratings.n_categories)
    text = "compared with the majority, as if it were always right"
    table = truth.T @ (answers * ratings.weights[:, None])
    return Draws(
        point=tabulate_parameters(table, ratings.n_raters),
        coords=name_coords(ratings),
        warnings=(warn("reference-imperfect", text),),
    )


def tabulate_parameters(table: Floats, n_raters: int) -> dict[str, Floats]:
    """Give base rates and confusion matrix of tables of truths and answers (last)."""
    true = table.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        confusion, rates = table / true[..., None], true / true.sum(axis=-1, keepdims=True)
    unknown = np.full((*true.shape[:-1], n_raters), np.nan)
    return {"base_rates": rates, "confusion": confusion, "rater_accuracy": unknown}


# The method, and what must hold for it.
BY_REFERENCE = "imperfect_reference"
AS_GIVEN = "the reference errs as given, and independently of the system"
# An interval of the reference's sensitivity or specificity is taken for one of 95%.
REFERENCE_Z = 1.959964
PROPOSED, KEPT = 40_000, 4000
# If a smaller part of the proposed solutions is in range, there is no estimate.
LEAST_POSSIBLE = 0.01


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """A rater whose sensitivity and specificity are known from elsewhere.

    Parameters
    ----------
    name : str
    intervals : ndarray, shape (2, 2)
        For each category the ends of the interval of the recall, which are equal if it is exact.
    measures : sequence of str
        For each category whether its recall is the sensitivity or the specificity.
    """

    name: str
    intervals: Floats
    measures: Sequence[str]

    @property
    def matrix(self) -> Floats:
        """The confusion matrix in the middle of the intervals, (truth, answer)."""
        return make_matrices(self.intervals.mean(axis=1))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw confusion matrices, (n, truth, answer), whose recalls have beta distributions."""
        middle, spread = self.intervals.mean(axis=1), np.ptp(self.intervals, axis=1) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            n_items = middle * (1 - middle) / (spread / REFERENCE_Z) ** 2 - 1
        right, wrong = np.where(spread > 0, np.stack([middle, 1 - middle]) * n_items, 1.0)
        return make_matrices(np.where(spread > 0, rng.beta(right, wrong, (n, 2)), middle))


def make_matrices(recall: Floats) -> Floats:
    """Make confusion matrices of two categories, (..., truth, answer), from recalls."""
    right = recall[..., None]
    return np.where(np.eye(2), right, 1 - right)


def find_reference(
    ratings: Ratings, known: Mapping[str, Sequence[Any]], positive: PositiveCategory | None
) -> Reference:
    """Find the rater who is the reference, and check what is known of it.

    Parameters
    ----------
    ratings : Ratings
    known : mapping of str to sequence
        As the field `reference` of `lehner.Given`.
    positive : PositiveCategory, optional
        The positive one of two categories.

    Returns
    -------
    Reference

    Raises
    ------
    InputError
        If there are not two categories, there is no such rater, or numbers are impossible.
    """
    if positive is None:
        problem = f"sensitivity is of two categories, and there are {ratings.n_categories}"
        raise InputError(problem, compose("join categories ({labels})"))
    name = next(iter(known))
    find("rater", name, dict.fromkeys(map(str, ratings.raters)))
    try:
        ends = np.array([np.broadcast_to(number, 2) for number in known[name]], dtype=float)
    except (TypeError, ValueError):
        ends = np.empty(0)
    possible = ends.shape == (2, 2) and (ends >= 0).all() and (ends <= 1).all()
    if len(known) > 1 or not possible or (np.diff(ends) < 0).any():
        problem = f"{dict(known)} is not the sensitivity and the specificity of one reference"
        raise InputError(problem, "give two numbers from 0 to 1, or the ends of two intervals")
    if ends.mean(axis=1).sum() <= 1:
        problem = f"with such a sensitivity and specificity {name} is no better than guessing"
        raise InputError(problem, compose("check both, and which category is {positive}"))
    codes = [int(category != positive.name) for category in ratings.categories]
    measures = [("sensitivity", "specificity")[code] for code in codes]
    return Reference(name=name, intervals=ends[codes], measures=measures)


def estimate_by_reference(
    ratings: Ratings, *, level: float, seed: Seed, reference: Reference
) -> Estimate:
    r"""Estimate a system by a reference that errs as often as an earlier study found.

    Given the truth d, errors of system and reference are independent: the proportion of items with
    the answers r of the reference and t of the system is :math:`\sum_d m_{dt} \theta_{dr}`, where θ
    is the reference's confusion matrix and m the joint proportions of truth and system's answer.
    These equations are solved for m.

    Parameters
    ----------
    ratings : Ratings
        With a system. Items without the answers of both are not used.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the draws from which the intervals are made.
    reference : Reference

    Returns
    -------
    Estimate
        Intervals are of a posterior with uniform priors of prevalence and recalls, and with what is
        given of the reference: it is in range even where the solution is not. In this case a
        warning says the solution, and the estimate is the posterior mean; there is none if hardly
        any draw is in range. The diagnostics have bounds of the system's recalls for dependent
        errors.

    Raises
    ------
    InputError
        If no item has the answers of both.

    References
    ----------
    Staquet, Rozencweig, Lee & Muggia (1981), https://doi.org/10.1016/0021-9681(81)90059-X
    """
    table, effect = _count_answers(ratings, reference, level)
    share, rng = table / table.sum(), make_rng(seed)
    proposed = rng.dirichlet(table.ravel() / effect + 1, PROPOSED).reshape(-1, 2, 2)
    matrices = reference.draw(PROPOSED, rng)
    joint, drawn = _solve(share, reference.matrix), _solve(proposed, matrices)
    # By Youden's index the reference's answers rise with the base rate.
    rise = np.trace(matrices, axis1=1, axis2=2) - 1
    in_range = (drawn >= 0).all(axis=(1, 2)) & (rise > 0)
    warnings = list(_warn_of_range(joint, reference, float(in_range.mean())))
    fields: dict[str, Any] = {"method": BY_REFERENCE, "system": ratings.systems[0]}
    if in_range.mean() < LEAST_POSSIBLE:
        return Estimate(**fields, warnings=tuple(warnings))
    bounds = bound_recall(proposed[in_range], matrices[in_range])
    ends = np.quantile(bounds, [(1 - level) / 2, (1 + level) / 2], axis=0).diagonal(0, 0, 2)
    # The prior is uniform in prevalence and recalls; proposals are so in proportions of answers.
    weight = in_range / (rise**2 * drawn.sum(axis=2).prod(axis=1))
    chosen = rng.choice(PROPOSED, KEPT, p=weight / weight.sum())
    drawn, matrices = drawn[chosen], matrices[chosen]
    joint = joint if (joint >= 0).all() else drawn.mean(axis=0)
    n_right = rng.binomial(table.astype(int), _find_chance_right(drawn, matrices))
    sampled = np.trace(drawn, axis1=1, axis2=2), n_right.sum(axis=(1, 2)) / table.sum()
    for name, values in zip(ESTIMANDS, sampled, strict=True):
        estimated, lower, upper = summarise_draws(values, np.trace(joint), level).tolist()
        fields[name] = IntervalEstimate(estimated, lower, upper, level, CREDIBLE)
    point, parameters = (tabulate_parameters(x, ratings.n_raters) for x in (joint, drawn))
    coords, described = name_coords(ratings), {"level": level, "kind": "errors may depend"}
    warnings.append(_say_that_independent(ratings.systems[0], reference, ends))
    rows = [
        {"quantity": "recall_bounds", "category": str(category), "lower": lower, "upper": upper}
        for category, (lower, upper) in zip(ratings.categories, ends.tolist(), strict=True)
    ]
    return Estimate(
        **fields,
        resamples=Draws(point=point, drawn=parameters, coords=coords, kind=CREDIBLE),
        warnings=tuple(warnings),
        diagnostics={"recall_bounds": [part | described for part in rows]},
    )


def _count_answers(ratings: Ratings, reference: Reference, level: float) -> tuple[Floats, float]:
    """Count items by the answers of the reference and of the system; their design effect."""
    votes, system = ratings.votes, np.asarray(ratings.system)
    by_reference = votes.rater_index == list(map(str, ratings.raters)).index(reference.name)
    answers = np.full(ratings.n_rows, -1)
    answers[votes.item_index[by_reference]] = votes.category_index[by_reference]
    both = (answers >= 0) & (system >= 0)
    table, weights = np.zeros((2, 2)), (ratings.weights * both).astype(float)
    np.add.at(table, (answers[both], system[both]), weights[both])
    if not table.any():
        problem = f"no item has an answer of both {ratings.systems[0]} and {reference.name}"
        raise InputError(problem, "give items that both answered")
    agrees = (answers == system).astype(float)
    return table, find_mean_widening(ratings, agrees, weights, level) ** 2


def _solve(share: Floats, matrix: Floats) -> Floats:
    """Solve for the joint proportions of truth and system's answer, (..., truth, answer)."""
    return np.asarray(np.linalg.solve(matrix.swapaxes(-1, -2), share))


def _find_chance_right(joint: Floats, matrix: Floats) -> Floats:
    """Find how probably the system is right, given both answers: (..., reference's, system's)."""
    of_both = joint[..., :, None, :] * matrix[..., :, :, None]
    right = np.diagonal(of_both, axis1=-3, axis2=-1)
    whole = of_both.sum(axis=-3)
    return np.divide(right, whole, out=np.zeros_like(whole), where=whole > 0)


def bound_recall(share: Floats, matrix: Floats) -> Floats:
    """Bound the system's recalls, however its errors depend on those of the reference.

    Parameters
    ----------
    share : ndarray, shape (..., 2, 2)
        Proportions of items by the answers of the reference and of the system.
    matrix : ndarray, shape (..., 2, 2)
        The reference's confusion matrix.

    Returns
    -------
    ndarray, shape (..., 2, 2)
        For each category the least and the greatest recall, NaN where no base rate from 0 to 1
        explains the reference's answers. Any recalls between them are possible.

    References
    ----------
    Thibodeau (1981), https://doi.org/10.2307/2530154

    Examples
    --------
    >>> share = np.array([[0.589, 0.101], [0.1, 0.21]])
    >>> bound_recall(share, make_matrices(np.array([0.9, 0.8]))).round(3).tolist()
    [[0.756, 0.941], [0.467, 0.9]]
    """
    rates = _solve(share, matrix).sum(axis=-1)
    # These are joint proportions of the truth and the reference's answer, (..., truth, answer).
    of_reference = rates[..., None] * matrix
    same = share.swapaxes(-1, -2)
    other = share.sum(axis=-1)[..., None, :] - same
    least = np.maximum(of_reference - other, 0).sum(axis=-1)
    most = np.minimum(of_reference, same).sum(axis=-1)
    possible = (rates > 0).all(axis=-1)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.stack([least, most], axis=-1) / rates[..., None]
    return np.where(possible[..., None], bounds, np.nan)


def _warn_of_range(joint: Floats, reference: Reference, possible: float) -> Iterator[Warning]:
    """Warn if the solution is out of range, and say how much of its posterior is in range."""
    if (joint >= 0).all():
        return
    rates = joint.sum(axis=1)
    values = dict(zip(reference.measures, np.diagonal(joint) / rates, strict=True))
    values["prevalence"] = rates[list(reference.measures).index("sensitivity")]
    parts = [f"{name} {to_decimal(x)}" for name, x in values.items() if not 0 <= x <= 1]
    text = f"no solution from 0 to 1 explains the answers of {reference.name}: it would be "
    text += f"{', '.join(parts)}. {100 * possible:.0f}% of posterior draws are in range, "
    text += "too few for an estimate" if possible < LEAST_POSSIBLE else "whose mean is the estimate"
    yield warn("reference-contradicted", text)


def _say_that_independent(system: str, reference: Reference, ends: Floats) -> Warning:
    """Say what is assumed, and what holds without it."""
    parts = [
        f"{name} is from {to_decimal(lower)} to {to_decimal(upper)}"
        for name, (lower, upper) in sorted(zip(reference.measures, ends.tolist(), strict=True))
    ]
    text = f"errors of {system} and {reference.name} are taken to be independent. If both make the "
    text += f"same errors, estimates are too high; whatever they do, {' and '.join(parts)}"
    return warn("reference-independent", text)


def ask_reference(fit: Any, options: Any) -> Iterator[Row]:
    """Give bounds of the system's recalls if its errors depend on those of the reference."""
    yield from fit.estimate.diagnostics.get("recall_bounds", ())


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

    Notes
    -----
    Which items are truly of a category is not known, but to which ones the system gave each answer.
    Among the items with one answer, the proportion on which the system is right is recalibrated by
    the labelled items, as the precision of the answer is. The others are wrong answers, and are of
    the other categories in proportions that have a Dirichlet distribution: its prior are the
    proportions that the method expects, with the weight of `PRIOR_ITEMS`, and the labelled wrong
    answers are its data.
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
