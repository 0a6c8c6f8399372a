"""Measures of the system and of the raters by one method, each with its interval."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.estimate import IntervalEstimate, Parameters, Replicates
from lehner.core.rows import Row, row
from lehner.core.text import first_few
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.performance.intervals import with_bounds
from lehner.performance.measures import RATIOS, occurring, performance_measures
from lehner.performance.positive import PositiveCategory

MOST_NAMED = 5
OF_TWO = ("recall", "precision", "specificity", *RATIOS)
"""Measures of raters by category, if there are two."""


def performance_rows(
    ratings: Ratings,
    replicates: Replicates,
    *,
    costs: Floats | None,
    positive: PositiveCategory | None,
    level: float,
) -> Iterator[Row | Warning]:
    """Give the system's confusion matrix, recall, precision and other measures, with intervals.

    For a Bayesian model each measure is computed in each posterior draw; its mean and equal-tailed
    interval are given. For others the interval is that of resamples.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    replicates : Replicates
        Base rates, and the system's confusion matrix.
    costs : ndarray, shape (n_categories, n_categories), optional
        The cost of each answer (column) given each true category (row), for `expected_cost`.
    positive : PositiveCategory, optional
        The positive one of two categories.
    level : float
        Probability of the intervals.

    Yields
    ------
    dict or Warning
        Rows of the table of results, and what is to be known of them.
    """
    rated, answered = rated_categories(ratings), _answered_by_system(ratings)
    points = _measures(replicates.point, costs, rated, answered)
    drawn = None
    if replicates.drawn is not None:
        drawn = _measures(replicates.drawn, costs, rated, answered)
    labels = {"confusion": ("category", "response"), "rater_accuracy": ("rater",)}
    names = {"rater": ratings.raters, "category": ratings.categories}
    names["response"] = ratings.categories
    infinite: list[Warning] = []
    for quantity, point in points.items():
        if quantity == "rater_accuracy" and np.isnan(point).all():
            continue
        sample = None if drawn is None else drawn[quantity]
        range_ = costs if quantity == "expected_cost" else None
        values = with_bounds(quantity, point, sample, level, replicates, range_)
        columns = labels.get(quantity, ("category",) * point.ndim)
        places = {column: names[column] for column in columns}
        infinite += _infinite(quantity, values, ratings.categories, positive)
        yield from labelled_rows(quantity, values, places, replicates, level)
    yield from replicates.notes
    yield from _undefined(ratings.categories, rated, answered)
    yield from infinite


def rater_rows(
    ratings: Ratings,
    replicates: Replicates,
    *,
    positive: PositiveCategory | None,
    level: float,
) -> Iterator[Row | Warning]:
    """Give each rater's recall, and with two categories what else follows from it.

    Parameters
    ----------
    ratings, replicates, positive, level
        As of `performance_rows`; the replicates have the raters' recall.

    Yields
    ------
    dict or Warning
        Rows of the table of results, and what is to be known of them; none where the method does
        not estimate recall.
    """
    rated, answered = rated_categories(ratings), _answered_by_raters(ratings)
    points = _rater_measures(replicates.point, rated, answered)
    drawn = None
    if replicates.drawn is not None:
        drawn = _rater_measures(replicates.drawn, rated, answered)
    places = {"rater": ratings.raters, "category": ratings.categories}
    infinite: list[Warning] = []
    for quantity, point in points.items():
        sample = None if drawn is None else drawn[quantity]
        values = with_bounds(quantity, point, sample, level, replicates)
        infinite += _infinite(quantity, values, ratings.categories, positive)
        if quantity == "recall":
            yield from _without_recall(ratings, values[..., 0])
        yield from labelled_rows(quantity, values, places, replicates, level)
    if "precision" in points:
        yield from _never_answered(ratings, answered)
    yield from infinite


def labelled_rows(
    quantity: str,
    values: Floats,
    places: Mapping[str, Sequence[Any]],
    replicates: Replicates,
    level: float,
) -> Iterator[Row]:
    """Make a row of each number of an array, whose last axis is estimate, lower and upper end."""
    made: dict[str, Any] = {
        "level": None if replicates.drawn is None else level,
        "kind": replicates.kind,
    }
    for index in np.ndindex(values.shape[:-1]):
        columns = {
            column: str(names[i]) for (column, names), i in zip(places.items(), index, strict=True)
        }
        estimate, lower, upper = (None if np.isnan(x) else float(x) for x in values[index])
        value = IntervalEstimate(estimate=estimate, lower=lower, upper=upper, **made)
        yield row(quantity, value, **columns)


def rated_categories(ratings: Ratings) -> Booleans:
    """Tell which categories a rater gave, or a known truth is, (n_categories,)."""
    counted, flat = ratings.weights > 0, ratings.flat
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    given = np.append(flat.category_index[counted[flat.item_index]], truth[counted])
    return np.isin(np.arange(ratings.n_categories), given)


def _answered_by_system(ratings: Ratings) -> Booleans:
    answers = np.asarray(ratings.system)[ratings.weights > 0]
    return np.isin(np.arange(ratings.n_categories), answers)


def _answered_by_raters(ratings: Ratings) -> Booleans:
    """Which answers each rater gives, (n_raters, n_categories)."""
    flat, shape = ratings.flat, (ratings.n_raters, ratings.n_categories)
    counted = ratings.weights[flat.item_index] > 0
    answered = np.zeros(shape, dtype=bool)
    answered[flat.rater_index[counted], flat.category_index[counted]] = True
    return answered


def _measures(
    parameters: Parameters, costs: Floats | None, rated: Booleans, answered: Booleans
) -> dict[str, Floats]:
    rates, confusion = parameters.base_rates, parameters.confusion
    occurs = occurring(rates) & rated
    if not occurs.all():
        confusion = np.where(occurs[..., None], confusion, np.nan)
    return {
        "confusion": confusion,
        **performance_measures(rates, confusion, costs, rated=rated, answered=answered),
        "base_rates": rates,
        "rater_accuracy": parameters.rater_accuracy,
    }


def _rater_measures(
    parameters: Parameters, rated: Booleans, answered: Booleans
) -> dict[str, Floats]:
    rates, recall = parameters.base_rates[..., None, :], parameters.rater_recall
    if recall is None:
        return {}
    if recall.shape[-1] != 2:
        return {"recall": np.where(occurring(rates) & rated, recall, np.nan)}
    right = recall[..., None]
    matrices = np.where(np.eye(2), right, 1 - right)
    measures = performance_measures(rates, matrices, rated=rated, answered=answered)
    return {name: measures[name] for name in OF_TWO}


def _undefined(categories: Sequence[Any], rated: Booleans, answered: Booleans) -> Iterator[Warning]:
    """Say which measures the ratings leave undefined, and why."""
    for there, reason in (
        (
            rated,
            "no rater gives {}: recall is undefined there, and averages over categories leave it "
            "out",
        ),
        (answered, "the system never answers {}: precision is undefined there"),
    ):
        missing = [name for name, yes in zip(categories, there, strict=True) if not yes]
        if missing:
            yield warn("measure-undefined", reason.format(first_few(missing, MOST_NAMED)))


def _infinite(
    quantity: str, values: Floats, categories: Sequence[Any], positive: PositiveCategory | None
) -> Iterator[Warning]:
    """Say if a likelihood ratio of the positive category, or an end of it, divides by zero."""
    if quantity not in RATIOS or positive is None:
        return
    if np.isinf(values[..., list(categories).index(positive.name), :]).any():
        divisor = f"specificity may be {1 - RATIOS.index(quantity)}"
        text = f"{quantity.replace('_', ' ')}: where it is infinite, {divisor}; JSON has null there"
        yield warn("measure-undefined", text)


def _without_recall(ratings: Ratings, recall: Floats) -> Iterator[Warning]:
    for place, name in enumerate(ratings.categories):
        who = [ratings.raters[j] for j in np.flatnonzero(np.isnan(recall[:, place]))]
        if who:
            about = "all raters" if len(who) == ratings.n_raters else first_few(who, MOST_NAMED)
            reason = f"no ratings tell how {about} rate items of {name}: recall is undefined there"
            yield warn("measure-undefined", reason)


def _never_answered(ratings: Ratings, answered: Booleans) -> Iterator[Warning]:
    for place, name in enumerate(ratings.categories):
        who = [ratings.raters[j] for j in np.flatnonzero(~answered[:, place])]
        if who:
            text = f"{first_few(who, MOST_NAMED)} never answered {name}: what it means is undefined"
            yield warn("measure-undefined", text)


def implied_accuracy(point: Parameters) -> float:
    """Give the accuracy that base rates and recall imply."""
    right = np.where(occurring(point.base_rates), np.diagonal(point.confusion), 0.0)
    return float(point.base_rates @ right)
