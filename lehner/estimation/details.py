"""The system in detail, and the raters: measures by category, and who is more accurate."""

from collections.abc import Iterator

import numpy as np

from lehner.contrasts.contrast import TIED, contrast
from lehner.core.arrays import Floats
from lehner.core.estimate import Replicates, number
from lehner.core.rows import Row, row
from lehner.core.warning import Warning, warn
from lehner.estimation.question import Answer, Fit, Options
from lehner.performance.rows import implied_accuracy, performance_rows, rater_rows

MANY_CATEGORIES = 100
"""Above these there are half the resamples, each of which has a matrix of K × K cells."""
MOST_COMPARED = 50
"""Raters whose accuracies are compared two by two."""
NOTICEABLE = 0.01


def ask_performance(fit: Fit, options: Options) -> Answer:
    """Give the system's confusion matrix, recall, precision and other measures."""
    found = replicates_of(fit, options)
    if found is not None:
        yield from performance_rows(
            fit.ratings,
            found,
            costs=options.costs,
            positive=options.positive,
            level=options.level,
        )
        yield from _two_accuracies(fit, found)
    known = set() if found is None else {"base_rates"}
    if found is not None and not np.isnan(found.point.rater_accuracy).all():
        known.add("rater_accuracy")
    yield from _without_interval(fit, known)


def replicates_of(fit: Fit, options: Options) -> Replicates | None:
    """Give the parameters from which measures are computed."""
    many = fit.ratings.n_categories > MANY_CATEGORIES
    resamples = options.resamples // 2 if many else options.resamples
    method = fit.method
    return method.replicates(fit.ratings, fit.estimate, resamples=resamples, seed=options.seed)


def _without_interval(fit: Fit, known: set[str]) -> Iterator[Row]:
    """Give accuracies of raters and base rates of methods that have no intervals of them."""
    for quantity, column in (("rater_accuracy", "rater"), ("base_rates", "category")):
        array = fit.estimate.arrays.get(quantity)
        if array is None or quantity in known:
            continue
        for name, value in zip(array[column].values, array.values, strict=True):
            yield row(quantity, estimate=number(value), **{column: str(name)})


def _two_accuracies(fit: Fit, found: Replicates) -> Iterator[Warning]:
    """Warn if the accuracy that the matrix implies differs from that of the algebra's step 4."""
    accuracy, implied = fit.estimate.system_accuracy.estimate, implied_accuracy(found.point)
    if not fit.estimate.by_raters_alone or accuracy is None:
        return
    if abs(implied - accuracy) > NOTICEABLE:
        text = (
            f"base rates and recall imply a system accuracy of {implied:.3f}; step 4, which "
            f"assumes that all errors are equally probable, gives {accuracy:.3f}"
        )
        yield warn("two-accuracies", text)


def ask_raters(fit: Fit, options: Options) -> Answer:
    """Give each rater's measures, differences of their accuracies, and who is least accurate."""
    found = replicates_of(fit, options)
    if found is None or fit.ratings.anonymous or np.isnan(found.point.rater_accuracy).all():
        return
    yield from rater_rows(fit.ratings, found, positive=options.positive, level=options.level)
    if found.drawn is None:
        return
    accuracy = found.drawn.rater_accuracy
    if not (np.ptp(accuracy, axis=-1) > TIED).any():
        text = f"{fit.estimate.method} takes all raters for equally accurate"
        yield warn("raters-alike", text)
        return
    yield from _compare_raters(fit, found, accuracy, options.level)


def _compare_raters(fit: Fit, found: Replicates, accuracy: Floats, level: float) -> Iterator[Row]:
    raters = fit.ratings.raters
    if len(raters) <= MOST_COMPARED:
        points = dict(zip(raters, map(number, found.point.rater_accuracy), strict=True))
        drawn = dict(zip(raters, accuracy.T, strict=True))
        yield from contrast("rater_accuracy", "rater", points, drawn, level=level, kind=found.kind)
    lowest = accuracy < accuracy.min(axis=1, keepdims=True) + TIED
    share = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    for rater, probability in zip(raters, share.tolist(), strict=True):
        yield row("rater_accuracy_lowest", rater=rater, probability=probability)
