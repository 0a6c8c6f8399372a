"""The accuracy of a system by maximum likelihood, with an interval from resamples.

A rater without an error among few items has no error in any resample of them, and the interval of
the rater's accuracy would be [1, 1]. To each resample a random number of pseudo-ratings is added:
other items may have them. If the truth is known, proportions in resampled items and pseudo-ratings
are then nearly draws from their posterior distribution with a Dirichlet prior.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lehner.core import resampling
from lehner.core.arrays import Floats, Seed, derive_seeds, make_rng
from lehner.core.errors import check_level, check_whole_number
from lehner.core.estimate import ESTIMANDS, Draws, Estimate, IntervalEstimate, join_parts, number
from lehner.data.counts import Patterns
from lehner.data.estimable import (
    count_rated,
    count_truths,
    label_array,
    name_coords,
    require_estimable,
)
from lehner.data.ratings import Ratings
from lehner.latent_class import em
from lehner.latent_class.em import BY_LIKELIHOOD, find_latent_class_model
from lehner.latent_class.fit import MANY_PATTERNS, FittedModel, fit_by_likelihood, fit_warnings

KIND = "bootstrap with pseudo-ratings"
IN_SAMPLE_KIND = f"{KIND}, truths drawn"
# Mean number of wrong pseudo-ratings of each category, as in Jeffreys' prior.
LEAST_WRONG = 0.5
# Mean number of pseudo-items of each category in each population, as in Jeffreys' prior.
ITEMS = 0.5
RESTARTS = 5
RESAMPLES = 500
# Samples start so much nearer to equal probabilities than the fit, because EM cannot leave 0.
INWARDS = 0.02
# With many patterns, and no more parameters, a step of Newton's method is near the maximum of a
# sample.
MOST_PARAMETERS = 3_000
FROM_NEAR = em.Search(tolerance=1e-9, standing_still=1e-6, max_iterations=1500, far=False)
TO_THE_END = replace(FROM_NEAR, tolerance=1e-12, standing_still=1e-8)


def estimate_latent_class(
    ratings: Ratings,
    model: str = "dawid_skene",
    *,
    interval: Literal["percentile"] | None = "percentile",
    level: float = 0.9,
    resamples: int = RESAMPLES,
    restarts: int = RESTARTS,
    seed: Seed = 1,
) -> Estimate:
    """Estimate the accuracy of the system by a latent-class model and maximum likelihood.

    The system is one more rater. Given an item's true category the ratings are independent. EM
    starts at the items' proportions of votes. The maximum that it reaches from there is the
    estimate, and a warning is given if random starts reach a higher one.

    Parameters
    ----------
    ratings : Ratings
        Ratings with a system. Ratings may be missing at random given the truth. Truths that
        are known enter as data.
    model : str
        The model of the confusion matrices: "one_coin", "one_coin_by_rater", "class_conditional",
        "pooled" or "dawid_skene".
    interval : {"percentile"}, optional
        Kind of interval, from resamples of the items to which pseudo-ratings are added and to which
        the model is fitted, starting at the estimate. None for no interval.
    level : float
        Probability of the interval, between 0 and 1.
    resamples : int
        Number of bootstrap resamples.
    restarts : int
        Number of random starts that search for a higher mode, 0 or more.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of resamples and random starts: the same seed gives the same result.

    Returns
    -------
    Estimate
        An estimate with rater accuracy, base rates, confusion matrices and truth probabilities. For
        the interval of the accuracy in this sample, truths of these items are drawn from their
        probabilities in the fit to each resample.

    Raises
    ------
    InputError
        If there is no system, if there are not two raters, two categories and an item rated by two
        raters, if it is unknown who gave which rating in a model in which raters differ, or if an
        argument is not as above.

    Notes
    -----
    Maximum likelihood has no prior. With few ratings confusion matrices have zeros, and truth
    probabilities are too near 0 or 1; the Bayesian models avoid this. Fits to resamples of few
    items are too alike, so that each resample gets pseudo-ratings as well: see
    `lehner.latent_class.intervals`. In simulations with 50 to 200 items 90% intervals
    contained the expected accuracy in .83 to .95 of the samples, and the accuracy in the sample in
    .81 to .97, with Monte Carlo standard errors up to .04
    (`experiments/simulations/likelihood_intervals.csv`). If the estimate lies outside the interval
    of the resamples, the interval is extended to it. The maxima of resamples of 5,000 different
    items or more are found by one step of Newton's method: in six designs their standard deviation
    was .93 to 1.00 of that of EM.

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806; Efron & Tibshirani (1993), An
    Introduction to the Bootstrap, chapter 13; Newton & Raftery (1994),
    https://doi.org/10.1111/j.2517-6161.1994.tb01956.x, for the interval.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> estimate = estimate_latent_class(load_dataset("anesthesia", system="2"))
    >>> round(estimate.system_accuracy.estimate, 3)
    0.789
    >>> estimate.confusion.dims
    ('rater', 'category', 'response')
    """
    find_latent_class_model(model)
    if interval is not None:
        resampling.check_bootstrap(interval, level, resamples)
    check_level(level)
    check_whole_number("restarts", restarts, 0)
    require_estimable(ratings, by_one=len(ratings.populations) > 1)
    ratings = count_rated(ratings)
    of_starts, of_items, of_truths = derive_seeds(seed, 3)
    fitted = fit_by_likelihood(ratings, model)
    right = fitted.table.counts @ fitted.find_chance_right(fitted.classes[..., None])[:, 0]
    truth = fitted.classes[fitted.table.inverse]
    estimate = Estimate(
        system=ratings.systems[0],
        method=model + BY_LIKELIHOOD,
        system_accuracy=IntervalEstimate(number(fitted.accuracy[-1])),
        system_accuracy_in_sample=IntervalEstimate(number(right / fitted.n_answered)),
        arrays={
            "rater_accuracy": label_array(fitted.accuracy[:-1], ratings, "rater"),
            "base_rates": label_array(fitted.base_rates, ratings, "category"),
            "confusion": label_array(fitted.confusion, ratings, "rater", "category", "response"),
            "truth_probabilities": label_array(truth, ratings, "item", "category"),
        },
        warnings=fit_warnings(fitted, ratings, restarts, of_starts),
        diagnostics={
            "log_likelihood": fitted.parameters.log_likelihood,
            "n_parameters": fitted.n_parameters,
            "converged": fitted.parameters.converged,
            "iterations": fitted.parameters.iterations,
            "known_truths": count_truths(ratings),
        },
    )
    if interval is None:
        return estimate
    rng = np.random.default_rng(of_items)
    is_joint = len(fitted.table.counts) >= MANY_PATTERNS and int(ratings.weights.max()) == 1
    if is_joint and ratings.cluster is None:
        weights = draw_joint_items(ratings, fitted, resamples, rng)
    else:
        weights = draw_patterns(fitted, resamples, rng)
    refits, coords = refit_samples(fitted, weights, of_truths), name_coords(ratings)
    return _add_intervals(estimate, fitted, refits, level, coords, is_joint=is_joint)


def _add_intervals(
    estimate: Estimate,
    fitted: FittedModel,
    refits: Mapping[str, Floats],
    level: float,
    coords: Mapping[str, Any],
    *,
    is_joint: bool,
) -> Estimate:
    """Add what the fits to resamples say; joint ones also have draws of both accuracies."""
    accuracy = _add_ends(estimate.system_accuracy, refits["accuracy"][:, -1], level, KIND, fitted)
    right = refits["n_right"].sum(axis=1) / fitted.n_answered
    in_sample = _add_ends(estimate.system_accuracy_in_sample, right, level, IN_SAMPLE_KIND, fitted)
    if not estimate.diagnostics["known_truths"]:
        in_sample = resampling.widen_at_the_boundary(in_sample, fitted.sampled)
    recall = np.diagonal(fitted.confusion, axis1=1, axis2=2)
    # The system is the last rater.
    point = {"base_rates": fitted.base_rates, "confusion": fitted.confusion[-1]}
    point |= {"rater_accuracy": fitted.accuracy[:-1], "rater_recall": recall[:-1]}
    drawn = {name: refits[name] for name in ("base_rates", "confusion")}
    drawn |= {f"rater_{name}": refits[name][:, :-1] for name in ("accuracy", "recall")}
    if is_joint:
        drawn |= dict(zip(ESTIMANDS, (refits["accuracy"][:, -1], right), strict=True))
    unfinished = float(1 - refits["converged"].mean())
    return replace(
        estimate,
        system_accuracy=resampling.widen_at_the_boundary(accuracy, fitted.sampled),
        system_accuracy_in_sample=in_sample,
        diagnostics=estimate.diagnostics
        | {"resamples": len(right), "unconverged_resamples": unfinished},
        resamples=Draws(point=point, drawn=drawn, coords=coords, kind=KIND),
    )


def _add_ends(
    value: IntervalEstimate, resampled: Floats, level: float, kind: str, fitted: FittedModel
) -> IntervalEstimate:
    """Give the interval, which reaches to the estimate where it is beyond all resamples."""
    if value.estimate is None:
        return value
    settled = np.where(resampled > 1 - resampling.AT_THE_BOUNDARY, 1.0, resampled)
    lower, upper = np.quantile(settled, resampling.find_tails(level, fitted.sampled))
    lower, upper = float(np.fmin(lower, value.estimate)), float(np.fmax(upper, value.estimate))
    error = float(resampled.std(ddof=1)) if len(resampled) > 1 else None
    return IntervalEstimate(value.estimate, lower, upper, level, kind, error)


# ----- Resamples -----


def draw_patterns(fitted: FittedModel, resamples: int, rng: np.random.Generator) -> Floats:
    """Resample items, or whole clusters: numbers by pattern, (n_samples, n_patterns)."""
    return np.concatenate(list(resampling.draw_counts(fitted.sampled, resamples, rng)))


def draw_joint_items(
    ratings: Ratings, fitted: FittedModel, resamples: int, rng: np.random.Generator
) -> Floats:
    """Resample items in an order that does not depend on the system, with names breaking ties.

    The same seed gives all systems the same resamples. The result is as of `draw_patterns`.
    """
    by_raters = ratings.votes.number_patterns(by_content=True)[0]
    order = np.lexsort((ratings.items.astype(str), by_raters))
    pattern = fitted.table.inverse[order[ratings.weights[order] > 0]]
    # Whole numbers up to 2**24 are exact in single precision, which needs half the memory.
    weights = np.empty((resamples, len(fitted.table.counts)), "f4")
    resampling.draw_items(pattern, weights, rng)
    return weights


def add_pseudo_ratings(
    fitted: FittedModel, weights: Floats, rng: np.random.Generator
) -> em.Samples:
    """Draw pseudo-ratings for each resample.

    In each true category the mean number of a rater's pseudo-ratings is the number of categories.
    They are right as often as the rater is in the fit, but on average at least half a rating is
    wrong, and all errors are equally probable. Their numbers have gamma distributions.

    Parameters
    ----------
    fitted : FittedModel
    weights : ndarray, shape (n_samples, n_patterns)
    rng : numpy.random.Generator

    Returns
    -------
    Samples

    References
    ----------
    Newton & Raftery (1994), https://doi.org/10.1111/j.2517-6161.1994.tb01956.x, for posterior
    distributions by weighted likelihood, with artificial data for the prior.
    """
    n_samples, mean = len(weights), average_pseudo_ratings(fitted)
    return em.Samples(
        weights=weights,
        items=rng.gamma(ITEMS, size=(n_samples, *fitted.group_rates.shape)),
        ratings=rng.gamma(mean, size=(n_samples, *mean.shape)),
    )


def average_pseudo_ratings(fitted: FittedModel) -> Floats:
    """Compute the mean numbers of pseudo-ratings, (n_raters, n_classes, n_categories).

    If several rows or raters have a parameter in common, its pseudo-ratings are divided among them.
    """
    k = len(fitted.base_rates)
    accuracy = np.clip(np.nan_to_num(fitted.accuracy, nan=1 / k), 1 / k, 1.0)[:, None, None]
    wrong = np.maximum(k * (1 - accuracy), LEAST_WRONG) / (k - 1)
    mean = np.where(np.eye(k, dtype=bool), k * accuracy, wrong)
    model = fitted.model
    cells = np.full(mean.shape[:1], 1 if model.form in ("category_accuracy", "full") else k)
    n_alike = len(cells) - fitted.table.has_system
    cells[:n_alike] *= n_alike if model.shared else 1
    return np.asarray(mean / cells[:, None, None])


def fit_samples(
    fitted: FittedModel, samples: em.Samples, rng: np.random.Generator
) -> Iterator[dict[str, Floats]]:
    """Maximise the likelihood of each of many samples of the same patterns and pseudo-ratings.

    Each sample ends at the maximum that is reached from the fit to the original items, which keeps
    the order of the classes.

    Parameters
    ----------
    fitted : FittedModel
        The weights of its table are not used.
    samples : Samples
    rng : numpy.random.Generator
        Draws the truths of the items.

    Yields
    ------
    dict of str to ndarray
        The estimates in some samples at a time, in order, as `refit_samples` gives them.
    """
    table, model, inwards = fitted.table, fitted.model, INWARDS / fitted.table.n_categories
    rates = (1 - INWARDS) * fitted.group_rates[None] + inwards
    matrix = (1 - INWARDS) * fitted.parameters.confusion[None] + inwards
    (n_samples, n_patterns), n_parameters = samples.weights.shape, rates.size + matrix.size
    size = em.count_runs_at_once(n_patterns, table.n_categories)
    is_free = model.form == "full" and not model.shared
    if n_patterns >= MANY_PATTERNS and is_free and n_parameters <= MOST_PARAMETERS:
        # The matrix has no Cholesky factor if the search ended before it came near the maximum.
        for search in (FROM_NEAR, TO_THE_END):
            with suppress(np.linalg.LinAlgError):
                yield _follow_maximum(fitted, samples, (rates, matrix), search, rng)
                return
    for first in resampling.with_progress("resampling", range(0, n_samples, size)):
        chunk = samples.take(slice(first, first + size))
        n = len(chunk.weights)
        near = np.repeat(rates, n, axis=0), np.repeat(matrix, n, axis=0), FROM_NEAR
        ended, reached, (classes, _) = em.search_runs(table, model, *near, samples=chunk)
        right = rng.binomial(table.counts[:, None], fitted.find_chance_right(classes))
        n_right = table.sum_populations(right.astype(float)).T
        described = _describe_samples(table, chunk.weights, *reached)
        yield described | {"n_right": n_right, "converged": ended.converged.astype(float)}


def _follow_maximum(
    fitted: FittedModel,
    samples: em.Samples,
    start: tuple[Floats, Floats],
    search: em.Search,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    """Search the maximum of the mean of samples, and find those of the samples from there."""
    table = fitted.table
    mean = em.Samples(
        weights=table.weights[None],
        items=np.full(start[0].shape, ITEMS),
        ratings=average_pseudo_ratings(fitted)[None],
    )
    _, centre, (classes, _) = em.search_runs(table, fitted.model, *start, search, samples=mean)
    moved, more_right = em.follow_samples(table, classes[..., 0], centre, samples)
    # A fit to other items knows less of these, and on average finds fewer that are right.
    chance = fitted.find_chance_right(fitted.classes[..., None]) * table.counts[:, None]
    doubt = chance * (1 - fitted.find_chance_right(classes))
    answered = (table.counts * (table.system >= 0))[:, None]
    n_right, variance, most = map(table.sum_populations, (chance, doubt, answered))
    drawn = rng.normal(n_right.T + more_right, np.sqrt(variance.T))
    n_right, converged = np.clip(drawn, 0, most.T), np.ones(len(samples.weights))
    described = _describe_samples(table, samples.weights, *moved)
    return described | {"n_right": n_right, "converged": converged}


def _describe_samples(
    table: Patterns, weights: Floats, rates: Floats, confusion: Floats
) -> dict[str, Floats]:
    """Name the parameters of some samples."""
    n_items = table.sum_populations(weights.T).T
    proportions = n_items / n_items.sum(axis=1, keepdims=True)
    return {
        "base_rates": np.einsum("sg,sgk->sk", proportions, rates),
        "group_rates": np.where(n_items[..., None] > 0, rates, np.nan),
        "recall": np.diagonal(confusion, axis1=2, axis2=3),
        "confusion": confusion[:, -1],
    }


def refit_samples(fitted: FittedModel, weights: Floats, seed: Seed = 1) -> dict[str, Floats]:
    """Fit a model to weightings of the items, starting at the fit to the original items.

    With the same weights for several systems their differences are those of a joint bootstrap.

    Parameters
    ----------
    fitted : FittedModel
    weights : ndarray, shape (n_samples, n_patterns)
        Number of items of each pattern in each sample, as from `draw_patterns`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the pseudo-ratings and truths that are drawn.

    Returns
    -------
    dict of str to ndarray, shape (n_samples, ...)
        `base_rates`, (n_classes,), of all populations together; `group_rates`, (n_populations,
        n_classes), NaN in samples without items of a population, of which there is one if there are
        none; `recall`, (n_raters, n_classes), and `accuracy`, (n_raters,), where a system is the
        last rater; `confusion`, (n_classes, n_categories), of the last rater; `n_right`,
        (n_populations,), how many of the original items the system got right, whose truths are
        drawn from their probabilities in the fit to the resample; and whether EM `converged`.
    """
    rng = make_rng(seed)
    samples = add_pseudo_ratings(fitted, weights, rng)
    refits = join_parts(fit_samples(fitted, samples, rng), len(weights))
    accuracy = np.einsum("bk,bjk->bj", refits["base_rates"], refits["recall"])
    return refits | {"accuracy": accuracy}
