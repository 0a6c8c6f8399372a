"""The system in detail, and the raters: measures by category, and who is more accurate."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lehner.contrasts.contrast import TIED, by_name, contrast
from lehner.core.arrays import Floats
from lehner.core.estimate import Replicates
from lehner.core.rows import Row, rows_of
from lehner.core.warning import warn
from lehner.estimation.question import Answer, Fit, Options
from lehner.performance.rows import implied_accuracy, performance_rows, rater_rows

MANY_CATEGORIES = 100
"""Above these there are half the resamples, each of which has a matrix of K × K cells."""
MOST_COMPARED = 50
"""Raters whose accuracies are compared two by two."""
NOTICEABLE = 0.01


def ask_performance(fit: Fit, options: Options) -> Answer:
    """Give the system's confusion matrix, recall, precision and other measures.

    Where base rates and confusion matrix imply another accuracy than step 4 of the algebra, a
    warning says so. Of methods without such replicates, rater accuracies and base rates have no
    interval.
    """
    replicates, estimate = replicates_of(fit, options), fit.estimate
    with_intervals: set[str] = set()
    if replicates is not None:
        with_intervals = {"base_rates"}
        if not np.isnan(replicates.point.rater_accuracy).all():
            with_intervals.add("rater_accuracy")
        asked: dict[str, Any] = {"positive": options.positive, "level": options.level}
        yield from list(performance_rows(fit.ratings, replicates, **asked))
        accuracy, implied = estimate.system_accuracy.estimate, implied_accuracy(replicates.point)
        if estimate.by_raters_alone and accuracy is not None:
            if abs(implied - accuracy) > NOTICEABLE:
                text = (
                    f"base rates and recall imply a system accuracy of {implied:.3f}; step 4, "
                    f"which assumes that all errors are equally probable, gives {accuracy:.3f}"
                )
                yield warn("two-accuracies", text)
    for quantity, column in (("rater_accuracy", "rater"), ("base_rates", "category")):
        array = estimate.arrays.get(quantity)
        if array is not None and quantity not in with_intervals:
            alone = np.pad(array.values[:, None], ((0, 0), (0, 2)), constant_values=np.nan)
            yield from rows_of(quantity, alone, {column: array[column].values.tolist()})


def replicates_of(fit: Fit, options: Options) -> Replicates | None:
    """Give the parameters from which measures are computed."""
    many = fit.ratings.n_categories > MANY_CATEGORIES
    resamples = options.resamples // 2 if many else options.resamples
    return fit.replicates(resamples=resamples, seed=options.seed)


def ask_raters(fit: Fit, options: Options) -> Answer:
    """Give each rater's measures, differences of their accuracies, and who is least accurate."""
    replicates = replicates_of(fit, options)
    if replicates is None or fit.ratings.anonymous:
        return
    if np.isnan(replicates.point.rater_accuracy).all():
        return
    positive, level = options.positive, options.level
    yield from list(rater_rows(fit.ratings, replicates, positive=positive, level=level))
    if replicates.drawn is None:
        return
    accuracy = replicates.drawn.rater_accuracy
    if (np.ptp(accuracy, axis=-1) > TIED).any():
        yield from _compare_raters(fit.ratings.raters, replicates, accuracy, level)
    else:
        text = f"{fit.estimate.method} takes all raters for equally accurate"
        yield warn("raters-alike", text)


def _compare_raters(
    raters: tuple[str, ...], replicates: Replicates, accuracy: Floats, level: float
) -> Iterator[Row]:
    if len(raters) <= MOST_COMPARED:
        points = by_name(raters, replicates.point.rater_accuracy)
        drawn, kind = by_name(raters, accuracy), replicates.kind
        yield from contrast("rater_accuracy", "rater", points, drawn, level=level, kind=kind)
    lowest = accuracy < accuracy.min(axis=1, keepdims=True) + TIED
    share = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    for rater, probability in zip(raters, share.tolist(), strict=True):
        yield {"quantity": "rater_accuracy_lowest", "rater": rater, "probability": probability}
