"""Estimates corrected by known truths that the methods have not seen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from experiments.estimate.known_truth import known_truth
from lehner import (
    Estimate,
    IntervalEstimate,
    Ratings,
    TruthCorrection,
    correct_base_rates,
    correct_by_truth,
)


def truth_corrections(
    ratings: Ratings, estimates: Sequence[Estimate], level: float
) -> dict[str, TruthCorrection]:
    """Correct the estimate of each method with truth probabilities, by method."""
    known = known_truth(ratings)
    if known is None or not known.used:
        return {}
    return {
        estimate.method: correct_by_truth(ratings, estimate, level=level)
        for estimate in estimates
        if "truth_probabilities" in estimate.arrays
        and estimate.system_accuracy.estimate is not None
        and not uses_truths(estimate)
    }


def seen(ratings: Ratings, estimate: Estimate) -> Ratings:
    """Leave out the truths that the method of an estimate has not seen."""
    return ratings if uses_truths(estimate) else ratings.with_truth(None)


def uses_truths(estimate: Estimate) -> bool:
    """Whether known truths entered the fit of a model."""
    if estimate.draws is not None:
        return bool(estimate.draws.attrs.get("known_truths", 0))
    return bool(estimate.diagnostics.get("known_truths", 0))


def add_warnings(estimate: Estimate, corrections: dict[str, TruthCorrection]) -> Estimate:
    """Give an estimate the warnings of its correction."""
    if estimate.method not in corrections:
        return estimate
    return replace(estimate, warnings=(*estimate.warnings, *corrections[estimate.method].warnings))


def correction_dict(
    ratings: Ratings, estimate: Estimate, correction: TruthCorrection | None, level: float
) -> dict[str, Any]:
    """Give a correction for JSON; null where there is none."""
    if correction is None or estimate.truth_probabilities is None:
        return {"with_known_truth": None}
    rates = correct_base_rates(ratings, estimate.truth_probabilities, level=level)

    def ends(value: IntervalEstimate) -> dict[str, Any]:
        return {name: getattr(value, name) for name in ("estimate", "lower", "upper")}

    return {
        "with_known_truth": ends(correction.system_accuracy_in_sample)
        | {"n_known": correction.n_known},
        "known_truth_details": {
            "expected_system_accuracy": ends(correction.system_accuracy),
            "known_items_alone": ends(correction.known_items_alone),
            "prediction_powered": ends(correction.prediction_powered),
            "expected_right": correction.expected_right,
            "right": correction.right,
            "p_value": correction.p_value,
            "base_rates": {
                str(c): {name: float(rates[name].sel(category=c)) for name in rates}
                for c in ratings.categories
            },
        },
    }
