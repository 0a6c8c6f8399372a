"""The algebraic estimate adjusted for its bias under fitted violations of the K-properties.

Indirect inference: samples are simulated from the fitted violations at each accuracy that the
system may have, and the algebra is applied to each. The adjusted estimate is the accuracy at
which the algebra gives on average what it gave for the data.
"""

from dataclasses import replace
from typing import Literal

import numpy as np

from lehner.algebra.algebraic import estimate_algebraic, first_steps
from lehner.algebra.system_accuracy import AGGREGATIONS, Aggregation
from lehner.core.arrays import Floats, Integers
from lehner.core.checks import check_choice, check_number, check_whole_number
from lehner.core.draw_categories import draw_categories
from lehner.core.errors import InputError
from lehner.core.estimate import Estimate, IntervalEstimate
from lehner.core.named_array import name_places
from lehner.core.number_format import percent
from lehner.core.seeds import Seed, generator
from lehner.core.warning import Warning, warn
from lehner.data.clusters import cluster_warnings
from lehner.data.ratings import Ratings
from lehner.data.votes import VoteTable, tabulate_votes
from lehner.k_properties.behaviour import LEVELS, Behaviour
from lehner.k_properties.violations import Violations, fit_violations, require_single_ratings

type Inversion = Literal["population", "sample"]

ACCURACY_GRID = np.linspace(0.0, 1.0, 11)
MOST_SIMULATED_ITEMS = 5000
MOST_UNDEFINED = 0.5
LIMIT_ITEMS = 100_000
RATINGS_AT_ONCE = 200_000


def estimate_adjusted(
    ratings: Ratings,
    violations: Violations | None = None,
    *,
    aggregation: Aggregation = "weighted",
    inversion: Inversion = "population",
    level: float = 0.9,
    samples: int = 200,
    seed: Seed = 1,
) -> Estimate:
    """Estimate the accuracy of the system by Lehner's algebra, adjusted for its bias.

    Violations of the K-properties bias the algebra. They are fitted to the raters' ratings, and
    samples are simulated with them. The adjusted estimate is that accuracy of the system for which
    the algebra gives, in these samples, the same estimate as for the data.

    It is assumed that the items that are difficult for the raters are difficult for the system, and
    that it prefers the same errors.

    In simulations, with step 4 by likelihood and as in the paper, the adjustment removes the bias.
    It makes the error smaller with 1,000 items, but hardly with 200; the error is smaller with step
    4 by likelihood. 90% intervals contain the truth in 84 to 92% of the samples if only the fitted
    kinds of violation occur, and in 65 to 89% if raters also prefer some errors at random, which is
    not fitted: see `experiments/simulations/adjustment.md`.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    violations : Violations, optional
        Violations as returned by `lehner.fit_violations`, which is called by default. Call it with
        other arguments to see the estimate for, say, another difficulty.
    aggregation : {"weighted", "likelihood", "paper"}
        As in `estimate_algebraic`, whose estimate is adjusted.
    inversion : {"population", "sample"}
        With what the algebra's estimate for the data is compared: "population" for its value for
        100,000 items with the fitted violations, or "sample" for its mean over samples like the
        data. The latter also adjusts for the bias of small samples and for the uncertainty of the
        fit; its error is larger in most cases.
    level : float
        Probability of the interval, between 0 and 1.
    samples : int
        How many samples are simulated for the interval. Each has as many items, missing ratings and
        missing answers as the data, or 5,000 items drawn from them if there are more.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the simulated samples: the same seed gives the same estimate.

    Returns
    -------
    Estimate
        The interval consists of the accuracies for which the estimate for the data lies in neither
        tail of the estimates in the samples; it always includes the adjusted estimate. For each
        sample the violations are drawn from the sampling distribution of the fit. `diagnostics` has
        the fitted violations, their standard errors and the unadjusted estimate.

    Raises
    ------
    InputError
        For the same reasons as in `estimate_algebraic` and `fit_violations`.

    References
    ----------
    Lehner (2015), "Related and future research", which suggests such an adjustment; Gouriéroux,
    Monfort & Renault (1993), Indirect inference, https://doi.org/10.1002/jae.3950080507; Carpenter
    (1999), Test inversion bootstrap confidence intervals, https://doi.org/10.1111/1467-9868.00170

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7), asymmetric_dispersion=2)
    >>> estimate = estimate_adjusted(simulate(scenario), samples=20)
    >>> round(estimate.diagnostics["unadjusted"], 3)
    0.881
    >>> print(estimate.system_accuracy)
    0.895 [0.843, 0.942]
    """
    check_number("level", level, 0.01, 0.999)
    check_whole_number("samples", samples, 1)
    check_choice("inversion", inversion, ("population", "sample"))
    require_single_ratings(ratings)
    _require_same_raters(ratings, violations)
    unadjusted = estimate_algebraic(ratings, aggregation=aggregation, interval=None)
    method = f"{unadjusted.method}_adjusted"
    observed = unadjusted.system_accuracy.estimate
    if observed is None:
        return replace(unadjusted, method=method)
    fit = fit_violations(ratings) if violations is None else violations
    rng = generator(seed)
    values = curves = _simulate(ratings, fit, aggregation, samples, rng)
    if inversion == "population":
        certain = replace(fit, root=np.zeros_like(fit.root))
        curves = _simulate(ratings, certain, aggregation, 1, rng, LIMIT_ITEMS)
    undefined = np.isnan(values).mean(axis=0)
    most = max(undefined.max(), np.isnan(curves).mean(axis=0).max())
    ignored = cluster_warnings(ratings, "adjusted intervals")
    warnings = (*unadjusted.warnings, *fit.warnings, *ignored)
    chance = "of the samples with the fitted violations raters agree at or below chance level"
    if most > MOST_UNDEFINED:
        text = f"in {percent(most, 0)} {chance}: there is no adjusted estimate"
        nothing = IntervalEstimate(estimate=None)
        return replace(
            unadjusted,
            method=method,
            system_accuracy=nothing,
            system_accuracy_in_sample=nothing,
            warnings=(*warnings, warn("adjustment-undefined", text)),
        )
    if undefined.max() > 0:
        text = f"in {percent(undefined.mean(), 1)} {chance}: the interval leaves these out"
        warnings = (*warnings, warn("undefined-resamples", text))
    mean = np.nanmean(curves, axis=0)
    accuracy = _interval(mean, values, observed, level)
    return Estimate(
        system=ratings.systems[0],
        method=method,
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        arrays={
            "rater_accuracy": name_places(fit.expected_rater_accuracy(), ratings, "rater"),
            "base_rates": name_places(fit.scenario.base_rates, ratings, "category"),
        },
        warnings=(*warnings, *_out_of_reach(mean, observed)),
        diagnostics=unadjusted.diagnostics
        | {
            "violations": {
                "rater_accuracy": fit.scenario.initial_rater_accuracy,
                "difficulty": fit.difficulty,
                "asymmetric_dispersion": fit.scenario.asymmetric_dispersion,
            },
            "standard_errors": fit.standard_errors,
            "unadjusted": observed,
            "samples": samples,
            "undefined_samples": float(undefined.mean()),
        },
    )


def _require_same_raters(ratings: Ratings, violations: Violations | None) -> None:
    if violations is None:
        return
    fitted = violations.scenario.n_raters, violations.scenario.n_categories
    if fitted != (ratings.n_raters, ratings.n_categories):
        raise InputError(
            f"the violations are of {fitted[0]} raters and {fitted[1]} categories, and the ratings "
            f"of {ratings.n_raters} and {ratings.n_categories}",
            "fit them to ratings by the same raters",
        )


def _interval(mean: Floats, values: Floats, observed: float, level: float) -> IntervalEstimate:
    point = float(np.mean(_invert(mean, observed)))
    high, low = np.nanquantile(values, [(1 + level) / 2, (1 - level) / 2], axis=0)
    lower, upper = min(point, _invert(high, observed)[0]), max(point, _invert(low, observed)[1])
    kind = "test-inversion bootstrap"
    return IntervalEstimate(estimate=point, lower=lower, upper=upper, level=level, kind=kind)


def _invert(curve: Floats, observed: float) -> tuple[float, float]:
    """Least and greatest accuracy at which a curve reaches a value.

    They differ if the curve is flat, for example if all samples have an estimate of 1. If the curve
    does not reach the value, both are the nearest end of the grid.
    """
    rising = np.maximum.accumulate(curve)
    least = np.interp(-observed, -rising[::-1], ACCURACY_GRID[::-1])
    return float(least), float(np.interp(observed, rising, ACCURACY_GRID))


def _out_of_reach(mean: Floats, observed: float) -> list[Warning]:
    if mean[0] <= observed <= mean[-1]:
        return []
    end, side = (0, "below") if observed < mean[0] else (1, "above")
    text = (
        f"the algebra gives {observed:.3f}, {side} the {mean[-end]:.3f} that it gives for a system "
        f"that is {'always' if end else 'never'} right: the adjusted estimate is {end}"
    )
    return [warn("adjustment-out-of-reach", text)]


def _simulate(
    ratings: Ratings,
    fit: Violations,
    aggregation: Aggregation,
    n: int,
    rng: np.random.Generator,
    n_items: int | None = None,
) -> Floats:
    """Estimates by the algebra in simulated samples, shape (n_samples, n_grid).

    The same random numbers are used for all accuracies of the system, so that curves are smooth.
    """
    items = _items(ratings, n_items or min(ratings.n_items, MOST_SIMULATED_ITEMS), rng)
    size = max(1, RATINGS_AT_ONCE // max(1, len(items.flat.item_index), items.n_rows))
    sizes = [min(size, n - start) for start in range(0, n, size)]
    return np.concatenate([_chunk(items, fit.draw(m, rng), aggregation, rng) for m in sizes])


def _items(ratings: Ratings, n_items: int, rng: np.random.Generator) -> Ratings:
    """All items, or some drawn from them: who rates what in a sample, and what is answered."""
    if ratings.n_items == n_items:
        return ratings.expand()
    rows = rng.choice(ratings.n_rows, n_items, p=ratings.weights / ratings.weights.sum())
    return ratings.take(rows, np.ones(len(rows), np.int64))


def _chunk(
    items: Ratings, raters: Behaviour, aggregation: Aggregation, rng: np.random.Generator
) -> Floats:
    n, k = raters.base_rates.shape
    item, rater, answered = items.flat.item_index, items.flat.rater_index, items.answers[:, 0] >= 0
    shape, sample = (n, items.n_rows), np.arange(n)[:, None]
    truth = draw_categories(raters.base_rates, rng.random(shape), sample)
    level = rng.integers(len(LEVELS), size=shape)
    state = (level * k + truth)[:, item]
    confusion = raters.confusion().swapaxes(1, 2).reshape(n, items.n_raters, -1, k)
    rating = draw_categories(confusion, rng.random(state.shape), sample, rater, state)
    cell = ((sample * items.n_rows + item) * k + rating).ravel()
    votes = np.bincount(cell, minlength=n * items.n_rows * k).reshape(-1, k)
    table, kind = _collapse(votes)
    kind = kind.reshape(shape) + sample * len(table.votes)
    n_kinds = n * len(table.votes)
    steps = first_steps(
        table, np.bincount(kind.ravel(), minlength=n_kinds).astype(float).reshape(n, -1)
    )
    luck = rng.random(shape)
    error = draw_categories(raters.errors(), rng.random(shape), sample, truth)
    step_4 = AGGREGATIONS[aggregation]
    values = []
    ease = np.multiply.outer(raters.difficulty, LEVELS)[sample, level]
    for initial in _initial_accuracy(raters.difficulty).T:
        right = luck < initial[:, None] + ease
        answer = np.where(right, truth, error)
        counts = np.bincount((kind * k + answer)[:, answered].ravel(), minlength=n_kinds * k)
        answers = np.asarray(counts.reshape(n, -1, k), dtype=float, order="F")
        values.append(step_4(steps.truth, answers))
    return np.stack(values, axis=1)


def _collapse(votes: Integers) -> tuple[VoteTable, Integers]:
    """Unique votes, and the index of each item's votes."""
    import pandas as pd

    kind = np.zeros(len(votes), dtype=np.int64)
    for column in votes.T:
        kind = pd.factorize(kind * (votes.max() + 1) + column)[0]
    first = np.zeros(kind.max() + 1, dtype=np.int64)
    first[kind[::-1]] = np.arange(len(kind))[::-1]
    return tabulate_votes(votes[first]), kind


def _initial_accuracy(difficulty: Floats) -> Floats:
    """Initial accuracies for which the expected accuracies are those of `ACCURACY_GRID`.

    Between these nodes the expected accuracy, of three levels each within [0, 1], is linear.

    Returns
    -------
    ndarray, shape (n_samples, n_grid)
    """
    knots = [(0, d / 3, d, 1 - d, 1 - d / 3, 1) for d in difficulty]
    values = [(-d, 0, d, 1 - d, 1, 1 + d) for d in difficulty]
    return np.array([np.interp(ACCURACY_GRID, *at) for at in zip(knots, values, strict=True)])
