"""Estimates corrected by gold labels: rows that stand beside those of the method.

The accuracy in all items is corrected, and that in parts of them: the items that got one answer of
the system, whose accuracy is the precision of that answer, and groups of items; recall and other
measures by category, and base rates.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from lehner.core.estimate import ESTIMANDS, IntervalEstimate
from lehner.core.resampling import wilson_interval
from lehner.core.rows import Row, row, rows_of
from lehner.core.text import first_few, with_interval
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.estimation.accuracy import count_answered
from lehner.estimation.question import Answer, Fit, Options
from lehner.estimation.ratings_rows import count_known
from lehner.known_truths.correction import (
    TruthCorrection,
    correct_base_rates,
    correct_by_truth,
    own_variance,
    probabilities_right,
)
from lehner.known_truths.partly_known import RECALIBRATED, WEIGHTED
from lehner.performance.corrected import correct_measures

MOST_NAMED = 5
FEW_TRUTHS = 5
"""With fewer labelled items of a category its recall rests mostly on a prior."""


def ask_known_truths(fit: Fit, options: Options) -> Answer:
    """Correct an estimate by gold labels that the method has not seen."""
    if not fit.can_be_corrected():
        return
    ratings, estimate, level = fit.ratings, fit.estimate, options.level
    corrected = correct_by_truth(ratings, estimate, level=level)
    n_answered = count_answered(ratings)
    for name in ESTIMANDS:
        yield _corrected(name, getattr(corrected, name), n_items=n_answered)
    measures = correct_measures(ratings, estimate, level=level, seed=options.seed)
    for (quantity, *labels), value in measures.items():
        if quantity != "precision":
            names = dict(zip(("category", "response"), labels, strict=False))
            yield _corrected(quantity, value, **names)
    kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED
    rates = correct_base_rates(ratings, estimate.truth_probabilities, level=level)  # type: ignore[arg-type]
    values = np.stack([rates[end] for end in ("estimate", "lower", "upper")], axis=-1)
    of_rates: dict[str, Any] = {"level": level, "kind": kind, "corrected": True}
    yield from rows_of("base_rates", values, {"category": ratings.categories}, **of_rates)
    answers = {name: ratings.system == k for k, name in enumerate(ratings.categories)}
    for name, part in _correct_parts(fit, level, answers).items():
        yield _corrected("precision", part.system_accuracy_in_sample, category=name)
    if options.groups is not None:
        of_rows = options.groups.names
        groups = {name: of_rows == name for name in np.unique(of_rows) if name != ""}
        yield from _in_groups(groups, _correct_parts(fit, level, groups), ratings)
    known = {"n_items": corrected.n_known}
    right = {"estimate": corrected.expected_right}
    yield row("prediction_powered", corrected.prediction_powered, **known)
    yield {"quantity": "known_items_right_expected"} | right | known
    yield {"quantity": "known_truths_test", "probability": corrected.p_value} | known
    yield from corrected.warnings
    yield from _few_known(ratings, level)


def _corrected(quantity: str, value: IntervalEstimate, **columns: Any) -> Row:
    return row(quantity, value, **columns) | {"corrected": True}


def _correct_parts(fit: Fit, level: float, parts: Mapping[Any, Any]) -> dict[str, TruthCorrection]:
    """Correct the accuracy in parts of the items, those with gold labels, by their rows."""
    ratings, estimate = fit.ratings, fit.estimate
    assert ratings.system is not None and ratings.truth is not None
    right, variance = probabilities_right(ratings, estimate), own_variance(estimate)
    answered = ratings.system >= 0
    known = answered & (ratings.truth >= 0) & (ratings.weights > 0)
    return {
        str(name): correct_by_truth(
            ratings.take(rows & answered), right[rows & answered], variance=variance, level=level
        )
        for name, rows in parts.items()
        if (rows & known).any()
    }


def _in_groups(
    groups: Mapping[Any, Any], corrected: Mapping[str, TruthCorrection], ratings: Ratings
) -> Iterator[Row]:
    """Give corrected accuracies of groups, and their differences."""
    for name, part in corrected.items():
        answered = groups[name] & (np.asarray(ratings.system) >= 0)
        n_items = int(ratings.weights[answered].sum())
        for quantity in ESTIMANDS:
            names: Row = {"grouping": "group", "group": name, "n_items": n_items}
            yield _corrected(quantity, getattr(part, quantity), **names)
    for pair in combinations(map(str, groups), 2):
        both = [corrected[name] for name in pair if name in corrected]
        names = {"grouping": "group", "group": pair[0], "versus": pair[1]}
        for quantity in ESTIMANDS if both else ():
            difference, higher = IntervalEstimate(estimate=None), None
            if len(both) == 2:
                first, second = (getattr(part, quantity) for part in both)
                difference, higher = subtract_independent(first, second)
            made = _corrected(f"{quantity}_difference", difference, **names)
            yield made | {"probability": higher}


def _few_known(ratings: Ratings, level: float) -> Iterator[Warning]:
    few = []
    for category, (right, known) in count_known(ratings, ratings.truth).items():  # type: ignore[arg-type]
        if not known:
            few.append(f"{category} (none)")
        elif known < FEW_TRUTHS:
            z = NormalDist().inv_cdf((1 + level) / 2)
            ends = wilson_interval(right / known, known, z=z).tolist()
            shown = with_interval(right / known, *ends)
            few.append(f"{category} ({right}/{known} right, {shown} by Wilson)")
    if few:
        text = (
            f"too few labelled items are of {first_few(few, MOST_NAMED)}: recall rests mostly on "
            "the prior of the method's bias"
        )
        yield warn("few-truths-of-category", text)


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
