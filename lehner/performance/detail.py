"""A system's performance in detail, by any method that estimates its confusion matrix."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.algebra.algebraic import ALGEBRAIC_METHODS
from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import InputError, check_level, check_whole_number
from lehner.core.estimate import Estimate, NamedArray, Parameters, Replicates
from lehner.core.seeds import Seed
from lehner.core.text import first_few
from lehner.core.warning import Warning, warn
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.performance.costs import check_costs
from lehner.performance.intervals import infinite_notes, with_bounds
from lehner.performance.measures import occurring, performance_measures
from lehner.performance.positive import PositiveCategory, find_positive
from lehner.performance.raters import describe_raters
from lehner.performance.replicates import replicates_of
from lehner.performance.result import BOUNDS, SystemPerformance

NOTICEABLE = 0.01
MOST_NAMED = 5


def system_performance(
    ratings: Ratings,
    estimate: Estimate,
    *,
    costs: ArrayLike | None = None,
    positive: Label | None = None,
    level: float | None = None,
    resamples: int = 2000,
    seed: Seed = 1,
) -> SystemPerformance:
    """Give a system's confusion matrix, recall, precision and other measures, with intervals.

    For a Bayesian model each measure is computed in each posterior draw; its mean and equal-tailed
    interval are given. For the algebra the confusion matrix is a regression of the system's answers
    on the truth probabilities of steps 1 to 3, with bootstrap intervals: see
    `lehner.algebra.steps`. There the system's errors need not be equally probable, and
    its accuracy may differ between categories, so that the accuracy implied by the matrix may
    differ from that of step 4.
    For maximum likelihood the resamples are those of the estimate; if it has none, at most 300 are
    fitted. For the naive methods the matrix is the table of answers by what these methods take
    for the truth, without intervals.

    Parameters
    ----------
    ratings : Ratings
        The ratings that were estimated, with a system.
    estimate : Estimate
        By the algebra, a Bayesian model, maximum likelihood or a naive method.
    costs : array_like or xarray.DataArray, shape (n_categories, n_categories), optional
        The cost of each answer (column) given each true category (row), for `expected_cost`. The
        dims of a labelled array are category and response. See `read_costs`.
    positive : str or int, optional
        Which of two categories `diagnostic_accuracy()` takes for the positive one. By default it
        is guessed from the names, as "malignant", or it is the category that raters give less
        often; the attribute `positive` says which and why.
    level : float, optional
        Probability of the intervals, by default that of the estimate, or .9.
    resamples : int
        Number of bootstrap resamples, for the algebra.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    SystemPerformance
        The measures; `to_xarray()` gives them as labelled arrays.

    Raises
    ------
    InputError
        If the method does not estimate a confusion matrix, as `calibrated`, if there is no
        system, or if an argument is not as above.

    Notes
    -----
    Error and coverage of recall and precision in simulations:
    `experiments/simulations/system_measures.csv`.

    Examples
    --------
    >>> from lehner import Scenario, estimate_algebraic, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, n_items=400)
    >>> ratings = simulate(scenario, 1)
    >>> found = system_performance(ratings, estimate_algebraic(ratings, interval=None))
    >>> print(found.value("recall", "A"))
    0.886 [0.855, 0.919]
    >>> truth, answers = ratings.truth, ratings.system
    >>> round(float((answers[truth == 0] == 0).mean()), 3)
    0.914
    """
    level = check_level(level or estimate.system_accuracy.level or 0.9)
    check_whole_number("resamples", resamples, 1)
    if ratings.system is None:
        raise InputError("there is no system", "name the column or rater that is the system")
    cost_matrix = None if costs is None else check_costs(costs, ratings.categories)
    chosen = find_positive(ratings, positive)
    found = describe_system(ratings, estimate, cost_matrix, chosen, level, resamples, seed)
    if found is None:
        raise InputError(
            f"{estimate.method} does not estimate a confusion matrix of the system",
            "use the algebra, a Bayesian model or maximum likelihood",
        )
    return found


def describe_system(
    ratings: Ratings,
    estimate: Estimate,
    costs: Floats | None,
    positive: PositiveCategory | None,
    level: float,
    resamples: int,
    seed: Seed,
) -> SystemPerformance | None:
    """Give each quantity with its interval; None if the method says nothing of it by category."""
    replicates = replicates_of(ratings, estimate, resamples=resamples, seed=seed)
    if replicates is None:
        return None
    categories = list(ratings.categories)
    names: dict[str, list[Any]] = {"category": categories, "response": categories}
    names |= {"rater": list(ratings.raters), "bound": list(BOUNDS)}
    dims = {"confusion": ("category", "response"), "rater_accuracy": ("rater",)}
    seen = _seen(ratings)
    points = _quantities(replicates.point, costs, seen)
    drawn = None if replicates.drawn is None else _quantities(replicates.drawn, costs, seen)
    arrays = {}
    for name, point in points.items():
        if name == "rater_accuracy" and np.isnan(point).all():
            continue
        sample = None if drawn is None else drawn[name]
        range_ = costs if name == "expected_cost" else None
        values = with_bounds(name, point, sample, level, replicates, range_)
        own = dims.get(name, ("category",) * point.ndim)
        arrays[name] = NamedArray(values=values, names={dim: names[dim] for dim in (*own, "bound")})
    return SystemPerformance(
        method=estimate.method,
        system=ratings.all_raters[-1],
        level=None if drawn is None else level,
        kind=replicates.kind,
        arrays=arrays,
        positive=positive,
        raters=describe_raters(
            ratings, estimate.method, replicates, seen["rated"], positive, level
        ),
        notes=(
            *replicates.notes,
            *_undefined_notes(ratings.categories, seen),
            *infinite_notes(arrays, positive),
            *_accuracy_note(estimate, replicates),
        ),
    )


def _seen(ratings: Ratings) -> dict[str, Booleans]:
    """Tell which categories a rater gave, or a known truth is, and which the system answered."""
    counted, flat = ratings.weights > 0, ratings.flat
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    given = np.append(flat.category_index[counted[flat.item_index]], truth[counted])
    categories = np.arange(ratings.n_categories)
    answers = np.asarray(ratings.system)[counted]
    return {"rated": np.isin(categories, given), "answered": np.isin(categories, answers)}


def _quantities(
    parameters: Parameters, costs: Floats | None, seen: dict[str, Booleans]
) -> dict[str, Floats]:
    rates, confusion = parameters.base_rates, parameters.confusion
    occurs = occurring(rates) & seen["rated"]
    if not occurs.all():
        confusion = np.where(occurs[..., None], confusion, np.nan)
    return {
        "confusion": confusion,
        **performance_measures(rates, confusion, costs, **seen),
        "base_rates": rates,
        "rater_accuracy": parameters.rater_accuracy,
    }


def _undefined_notes(categories: Sequence[Any], seen: dict[str, Booleans]) -> Iterator[Warning]:
    """Say which measures the ratings leave undefined, and why."""
    for there, reason in (
        (
            "rated",
            "no rater gives {}: recall is undefined there, and averages over categories leave it "
            "out",
        ),
        ("answered", "the system never answers {}: precision is undefined there"),
    ):
        missing = [name for name, yes in zip(categories, seen[there], strict=True) if not yes]
        if missing:
            yield warn("measure-undefined", reason.format(first_few(missing, MOST_NAMED)))


def _accuracy_note(estimate: Estimate, replicates: Replicates) -> tuple[Warning, ...]:
    """Note if the accuracy implied by the matrix differs from that of step 4."""
    accuracy = estimate.system_accuracy.estimate
    point = replicates.point
    right = np.where(occurring(point.base_rates), np.diagonal(point.confusion), 0.0)
    implied = float(point.base_rates @ right)
    if (
        estimate.method not in ALGEBRAIC_METHODS
        or accuracy is None
        or not abs(implied - accuracy) > NOTICEABLE
    ):
        return ()
    text = (
        f"base rates and recall imply a system accuracy of {implied:.3f}; step 4, which assumes "
        f"that all errors are equally probable, gives {accuracy:.3f}"
    )
    return (warn("two-accuracies", text),)
