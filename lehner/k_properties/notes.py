"""What was observed in each test of a K-property, in plain words."""

from collections.abc import Callable

import numpy as np

from lehner.data.categories import Label
from lehner.k_properties.bootstrap import Outcome
from lehner.k_properties.model import disagreement_shares, expected_triples
from lehner.k_properties.statistics import mean_distance, rater_agreement


def _errors(outcome: Outcome, categories: tuple[Label, ...]) -> str:
    null = outcome.null
    seen = null.totals.disagreeing[0]
    expected = seen.sum() * disagreement_shares(null.model)[0]
    most = int(np.argmax((seen - expected) / np.sqrt(np.maximum(expected, 1e-9))))
    a, b = (int(ends[most]) for ends in np.triu_indices(len(categories), 1))
    return (
        f"{categories[a]} against {categories[b]} stands out most: {seen[most]:.0f} disagreements, "
        f"{expected[most]:.1f} expected"
    )


def _distance(outcome: Outcome, categories: tuple[Label, ...]) -> str:
    seen = float(mean_distance(outcome.null.totals, outcome.null.design)[0])
    return (
        f"disagreeing ratings are {seen:.2f} steps apart on average, "
        f"{seen - outcome.statistic:.2f} expected"
    )


def _accuracy(outcome: Outcome, categories: tuple[Label, ...]) -> str:
    null = outcome.null
    agreeing, pairs = rater_agreement(null.totals, null.design)
    share = agreeing[0] / np.where(pairs > 0, pairs, np.nan)
    low, high = int(np.nanargmin(share)), int(np.nanargmax(share))
    return (
        f"agreement with the others is between {share[low]:.3f} ({null.design.names[low]}) and "
        f"{share[high]:.3f} ({null.design.names[high]})"
    )


def _difficulty(outcome: Outcome, categories: tuple[Label, ...]) -> str:
    null = outcome.null
    expected = float(expected_triples(null.model, null.design)[0]) / null.totals.triples
    return (
        f"three raters agree on {expected + outcome.statistic:.3f} of their items, "
        f"{expected:.3f} expected"
    )


NOTES: dict[str, Callable[[Outcome, tuple[Label, ...]], str]] = {
    "equal_errors": _errors,
    "error_distance": _distance,
    "equal_accuracy": _accuracy,
    "equal_difficulty": _difficulty,
}
"""For each test, a function of its outcome and the categories."""
