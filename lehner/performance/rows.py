"""Measures of the system and of the raters by one method, each with its interval."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Floats
from lehner.core.estimate import Parameters, Replicates
from lehner.core.resampling import interval_of_draws
from lehner.core.rows import Row, rows_of
from lehner.core.text import first_few
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.performance.measures import (
    LOWEST_MEASURES,
    NUMBERS_AT_ONCE,
    RATIOS,
    occurring,
    performance_measures,
)
from lehner.performance.positive import PositiveCategory

MOST_NAMED = 5
OF_TWO = ("recall", "precision", "specificity", *RATIOS)
"""Measures of raters by category, if there are two."""

type Measures = dict[str, Floats]
"""Arrays of measures by name, each with or without a leading dimension of replicates."""


def performance_rows(
    ratings: Ratings,
    replicates: Replicates,
    *,
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

    def measure(parameters: Parameters) -> Measures:
        rates, confusion = parameters.base_rates, parameters.confusion
        occurs = occurring(rates) & rated
        if not occurs.all():
            confusion = np.where(occurs[..., None], confusion, np.nan)
        named = performance_measures(rates, confusion, rated=rated, answered=answered)
        named = {"confusion": confusion} | named | {"base_rates": rates}
        if not np.isnan(replicates.point.rater_accuracy).all():
            named["rater_accuracy"] = parameters.rater_accuracy
        return named

    points = measure(replicates.point)
    drawn = None if replicates.drawn is None else measure(replicates.drawn)
    columns = {"confusion": ("category", "response"), "rater_accuracy": ("rater",)}
    warnings = [*replicates.notes, *_undefined(ratings, rated, answered)]
    for quantity, point in points.items():
        names = columns.get(quantity, ("category",) * point.ndim)
        values = _with_intervals(quantity, points, drawn, replicates, level)
        yield from _rows(quantity, values, names, ratings, replicates, level)
        warnings += _infinite(quantity, values, ratings, positive)
    yield from warnings


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

    def measure(parameters: Parameters) -> Measures:
        rates, recall = parameters.base_rates[..., None, :], parameters.rater_recall
        if recall is None:
            return {}
        if recall.shape[-1] != 2:
            return {"recall": np.where(occurring(rates) & rated, recall, np.nan)}
        right = recall[..., None]
        matrices = np.where(np.eye(2), right, 1 - right)
        measures = performance_measures(rates, matrices, rated=rated, answered=answered)
        return {name: measures[name] for name in OF_TWO}

    points = measure(replicates.point)
    drawn = None if replicates.drawn is None else measure(replicates.drawn)
    infinite: list[Warning] = []
    for quantity in points:
        values = _with_intervals(quantity, points, drawn, replicates, level)
        infinite += _infinite(quantity, values, ratings, positive)
        yield from _rows(quantity, values, ("rater", "category"), ratings, replicates, level)
        if quantity == "recall":
            text = "no ratings tell how {} rate items of {}: recall is undefined there"
            yield from _undefined_of_raters(ratings, np.isnan(values[..., 0]), text)
    if "precision" in points:
        text = "{} never answered {}: what it means is undefined"
        yield from _undefined_of_raters(ratings, ~answered, text)
    yield from infinite


def _with_intervals(
    quantity: str,
    points: Measures,
    drawn: Measures | None,
    replicates: Replicates,
    level: float,
) -> Floats:
    """Put intervals beside the numbers of a measure, (..., 3).

    The estimate of a posterior is the mean of its draws; that of a likelihood ratio is their
    median, because a mean of ratios need not exist.
    """
    point = points[quantity]
    if drawn is None:
        return np.stack([point, *np.full((2, *point.shape), np.nan)], axis=-1)
    ratio = quantity in RATIOS
    options: dict[str, Any] = {
        "lowest": LOWEST_MEASURES.get(quantity, 0.0),
        "highest": np.inf if ratio else 1.0,
        "ratio": ratio,
    }

    def with_interval(point: Floats, sample: Floats) -> Floats:
        if replicates.posterior:
            middle = np.quantile(sample, 0.5, 0, method="inverted_cdf") if ratio else sample.mean(0)
            point = np.where(np.isnan(sample).any(axis=0), np.nan, middle)
        return interval_of_draws(sample, point, level, **options)

    sample = drawn[quantity]
    if sample.size <= NUMBERS_AT_ONCE or not point.ndim:
        return with_interval(point, sample)
    return np.array([with_interval(point[i], sample[:, i]) for i in range(len(point))])


def _rows(
    quantity: str,
    values: Floats,
    columns: Sequence[str],
    ratings: Ratings,
    replicates: Replicates,
    level: float,
) -> list[Row]:
    named: Mapping[str, Sequence[Any]] = {
        name: ratings.raters if name == "rater" else ratings.categories for name in columns
    }
    return rows_of(quantity, values, named, level=level, kind=replicates.kind)


def rated_categories(ratings: Ratings) -> Booleans:
    """Tell which categories a rater gave, or a gold label is, (n_categories,)."""
    counted, flat = ratings.weights > 0, ratings.flat
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    rated = np.append(flat.category_index[counted[flat.item_index]], truth[counted])
    return np.isin(np.arange(ratings.n_categories), rated)


def _answered_by_system(ratings: Ratings) -> Booleans:
    answers = np.asarray(ratings.system)[ratings.weights > 0]
    return np.isin(np.arange(ratings.n_categories), answers)


def _answered_by_raters(ratings: Ratings) -> Booleans:
    """Which answers each rater gives, (n_raters, n_categories)."""
    flat = ratings.flat
    counted = ratings.weights[flat.item_index] > 0
    answered = np.zeros((ratings.n_raters, ratings.n_categories), dtype=bool)
    answered[flat.rater_index[counted], flat.category_index[counted]] = True
    return answered


def _undefined(ratings: Ratings, rated: Booleans, answered: Booleans) -> Iterator[Warning]:
    """Say which measures the ratings leave undefined, and why."""
    no_rater = (
        "no rater gives {}: recall is undefined there, and averages over categories leave it out"
    )
    no_answer = "the system never answers {}: precision is undefined there"
    for occurs, reason in ((rated, no_rater), (answered, no_answer)):
        missing = [ratings.categories[k] for k in np.flatnonzero(~occurs)]
        if missing:
            yield warn("measure-undefined", reason.format(first_few(missing, MOST_NAMED)))


def _undefined_of_raters(ratings: Ratings, undefined: Booleans, text: str) -> Iterator[Warning]:
    """Say of each category of which raters a measure is undefined, (n_raters, n_categories)."""
    for category, of_raters in zip(ratings.categories, undefined.T, strict=True):
        names = [ratings.raters[j] for j in np.flatnonzero(of_raters)]
        if names:
            whole = len(names) == ratings.n_raters and text.startswith("no ratings")
            who = "all raters" if whole else first_few(names, MOST_NAMED)
            yield warn("measure-undefined", text.format(who, category))


def _infinite(
    quantity: str, values: Floats, ratings: Ratings, positive: PositiveCategory | None
) -> Iterator[Warning]:
    """Say if a likelihood ratio of the positive category, or an end of it, divides by zero."""
    if quantity not in RATIOS or positive is None:
        return
    if np.isinf(values[..., ratings.categories.index(positive.name), :]).any():
        divisor = f"specificity may be {1 - RATIOS.index(quantity)}"
        text = f"{quantity.replace('_', ' ')}: where it is infinite, {divisor}; JSON has null there"
        yield warn("measure-undefined", text)


def implied_accuracy(point: Parameters) -> float:
    """Give the accuracy that base rates and recall imply."""
    right = np.where(occurring(point.base_rates), np.diagonal(point.confusion), 0.0)
    return float(point.base_rates @ right)
