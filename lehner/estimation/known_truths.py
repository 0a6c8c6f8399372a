"""Estimates corrected by known truths: rows that stand beside those of the method.

The accuracy in all items is corrected, and that in parts of them: the items that got one answer of
the system, whose accuracy is the precision of that answer, and groups of items; recall and other
measures by category, and base rates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehner.core.arrays import Booleans
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, uses_truths
from lehner.core.resampling import wilson_interval
from lehner.core.rows import Row, row
from lehner.core.text import first_few, with_interval
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.estimation.accuracy import count_answered
from lehner.estimation.question import Answer, Fit, Options
from lehner.estimation.ratings_rows import count_known
from lehner.known_truths.correction import correct_by_truth, own_variance, probabilities_right
from lehner.known_truths.posterior import RECALIBRATED, WEIGHTED
from lehner.known_truths.recalibration import correct_base_rates
from lehner.latent_class.pattern_table import known_truths
from lehner.performance.corrected import correct_measures

MOST_NAMED = 5
FEW_TRUTHS = 5
"""With fewer known items of a category its recall rests mostly on a prior."""
LABELS = {"confusion": ("category", "response")}


@dataclass(frozen=True, kw_only=True)
class PartCorrection:
    """The accuracy in one part of the items, corrected by known truths.

    Parameters
    ----------
    part : {"precision", "groups"}
        Whether the part is of one answer, or a group.
    label : str
        The answer of the system, or the group.
    n_items : int
        Items of the part that the system answered.
    n_known : int
        Those of known truth, 1 or more.
    accuracy : IntervalEstimate
        Proportion of the part's items that the system got right.
    expected : IntervalEstimate
        Expected accuracy on items like these.
    """

    part: str
    label: str
    n_items: int
    n_known: int
    accuracy: IntervalEstimate
    expected: IntervalEstimate


def ask_known_truths(fit: Fit, options: Options) -> Answer:
    """Correct an estimate by known truths that the method has not seen."""
    if not can_correct(fit):
        return
    ratings, estimate, level = fit.ratings, fit.estimate, options.level
    found = correct_by_truth(ratings, estimate, level=level)
    n_answered = count_answered(ratings)
    for name in ESTIMANDS:
        yield _corrected(name, getattr(found, name), n_items=n_answered)
    yield from _measures(fit, options)
    names = None if options.groups is None else options.groups.names
    parts = correct_parts(ratings, estimate, names, level)
    for part in parts:
        if part.part == "precision":
            yield _corrected("precision", part.accuracy, category=part.label)
    yield from _groups(fit, options, [part for part in parts if part.part == "groups"])
    known = {"n_items": found.n_known}
    yield row("prediction_powered", found.prediction_powered, **known)
    yield row("known_items_right_expected", estimate=found.expected_right, **known)
    yield row("known_truths_test", probability=found.p_value, **known)
    yield from found.warnings
    yield from _few_known(ratings, level)


def can_correct(fit: Fit) -> bool:
    """Tell whether some truths, not all, are known that the method has not seen."""
    ratings, estimate = fit.ratings, fit.estimate
    if ratings.truth is None or ratings.system is None or not known_truths(ratings):
        return False
    known = (ratings.system >= 0) & (ratings.truth >= 0) & (ratings.weights > 0)
    probable = "truth_probabilities" in estimate.arrays
    estimated = estimate.system_accuracy.estimate is not None
    return bool(known.any()) and probable and estimated and not uses_truths(estimate)


def _corrected(quantity: str, value: IntervalEstimate, **columns: Any) -> Row:
    return row(quantity, replace(value, corrected=True), **columns)


def _measures(fit: Fit, options: Options) -> Iterator[Row]:
    """Correct recall and other measures, and the base rates."""
    ratings, level = fit.ratings, options.level
    measures = correct_measures(
        ratings, fit.estimate, costs=options.costs, level=level, seed=options.seed
    )
    for (quantity, *labels), value in measures.items():
        if quantity == "precision":
            continue
        columns = LABELS.get(quantity, ("category",))
        yield _corrected(quantity, value, **dict(zip(columns, labels, strict=False)))
    kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED
    truth = fit.estimate.truth_probabilities
    rates = correct_base_rates(ratings, truth, level=level)  # type: ignore[arg-type]
    for name in ratings.categories:
        rate, lower, upper = (
            float(rates[end].sel(category=name)) for end in ("estimate", "lower", "upper")
        )
        value = IntervalEstimate(estimate=rate, lower=lower, upper=upper, level=level, kind=kind)
        yield _corrected("base_rates", value, category=str(name))


def _groups(fit: Fit, options: Options, parts: "Sequence[PartCorrection]") -> Iterator[Row]:
    """Give corrected accuracies of groups, and their differences."""
    if options.groups is None:
        return
    by_name = {part.label: part for part in parts}
    for name, part in by_name.items():
        group: Row = {"grouping": "group", "group": name, "n_items": part.n_items}
        yield _corrected("system_accuracy", part.expected, **group)
        yield _corrected("system_accuracy_in_sample", part.accuracy, **group)
    names = [str(name) for name in np.unique(options.groups.names) if name != ""]
    nothing = IntervalEstimate(estimate=None)
    for first, second in combinations(names, 2):
        pair: Row = {"grouping": "group", "group": first, "versus": second}
        one, other = by_name.get(first), by_name.get(second)
        for name, of in zip(ESTIMANDS, ("expected", "accuracy"), strict=True):
            if one is not None and other is not None:
                value, higher = subtract_independent(getattr(one, of), getattr(other, of))
                yield _corrected(f"{name}_difference", value, probability=higher, **pair)
            elif one is not None or other is not None:
                yield _corrected(f"{name}_difference", nothing, **pair)


def _few_known(ratings: Ratings, level: float) -> Iterator[Warning]:
    known = count_known(ratings, ratings.truth)  # type: ignore[arg-type]
    few = {name: both for name, both in known.items() if both[1] < FEW_TRUTHS}
    if few:
        counts = (_few(name, *both, level) for name, both in few.items())
        text = (
            f"too few known items are of {first_few(counts, MOST_NAMED)}: recall rests mostly on "
            "the prior of the method's bias"
        )
        yield warn("few-truths-of-category", text)


def _few(category: str, right: int, known: int, level: float) -> str:
    if not known:
        return f"{category} (none)"
    one_side = NormalDist().inv_cdf((1 + level) / 2)
    ends = wilson_interval(right / known, known, z=one_side).tolist()
    return f"{category} ({right}/{known} right, {with_interval(right / known, *ends)} by Wilson)"


def subtract_independent(
    first: IntervalEstimate, second: IntervalEstimate
) -> tuple[IntervalEstimate, float]:
    """Subtract corrected proportions of different items; the probability that the first is higher.

    The ends are those of Zou & Donner (2008), https://doi.org/10.1002/sim.3095: the distances of
    both from their estimates are squared and added.
    """
    a, b = (np.array([one.lower, one.estimate, one.upper], dtype=float) for one in (first, second))
    estimate = float(a[1] - b[1])
    lower = estimate - float(np.hypot(a[1] - a[0], b[2] - b[1]))
    upper = estimate + float(np.hypot(a[2] - a[1], b[1] - b[0]))
    one_side = NormalDist().inv_cdf((1 + float(first.level or 0)) / 2)
    spread = (estimate - lower if estimate > 0 else upper - estimate) / one_side
    difference = replace(first, estimate=estimate, lower=lower, upper=upper, kind="independent")
    return difference, NormalDist().cdf(estimate / spread) if spread else 0.5


def correct_parts(
    ratings: Ratings, estimate: Estimate, groups: NDArray[Any] | None, level: float
) -> tuple[PartCorrection, ...]:
    """Correct precision, and accuracy in groups, as the accuracy in all items is.

    Parameters
    ----------
    ratings : Ratings
        With one system.
    estimate : Estimate
        By a method that has not seen the known truths.
    groups : ndarray of str, shape (n_rows,), optional
        The group of each row, "" for none.
    level : float
        Probability of the intervals.

    Returns
    -------
    tuple of PartCorrection
        Parts without known truths are left out.
    """
    right, variance = probabilities_right(ratings, estimate), own_variance(estimate)
    corrected = []
    for part, label, rows in _parts(ratings, groups):
        own = ratings.take(rows)
        correction = correct_by_truth(own, right[rows], variance=variance, level=level)
        corrected.append(
            PartCorrection(
                part=part,
                label=label,
                n_items=int(ratings.weights[rows].sum()),
                n_known=correction.n_known,
                accuracy=correction.system_accuracy_in_sample,
                expected=correction.system_accuracy,
            )
        )
    return tuple(corrected)


def _parts(ratings: Ratings, groups: NDArray[Any] | None) -> Iterator[tuple[str, str, Booleans]]:
    """Find the parts in which some truth is known, and their rows that the system answered."""
    assert ratings.system is not None and ratings.truth is not None
    answered = ratings.system >= 0
    known = answered & (ratings.truth >= 0) & (ratings.weights > 0)
    masks = [
        ("precision", str(name), ratings.system == code)
        for code, name in enumerate(ratings.categories)
    ]
    if groups is not None:
        masks += [
            ("groups", str(name), answered & (groups == name))
            for name in np.unique(groups)
            if name != ""
        ]
    for part, label, rows in masks:
        if (known & rows).any():
            yield part, label, np.asarray(rows)
