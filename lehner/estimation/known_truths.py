"""Known truths: how the system does on these items, and estimates corrected by them.

The accuracy in all items is corrected, and that in parts of them: the items that got one answer of
the system, whose accuracy is the precision of that answer, and groups of items. Recall is a
proportion of the items of one true category, which are not known, and is not corrected.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans
from lehner.core.estimate import Estimate, IntervalEstimate, ends
from lehner.data.ratings import Ratings
from lehner.estimation.question import Options, Question
from lehner.groups.membership import GroupColumn
from lehner.known_truths.correction import (
    TruthCorrection,
    correct_by_truth,
    own_variance,
    probabilities_right,
)
from lehner.known_truths.partly_known import known_items_alone, rightness
from lehner.known_truths.recalibration import correct_base_rates
from lehner.latent_class.pattern_table import known_truths

OF_PARTS = {"precision": "precision", "groups": "system_accuracy_in_sample"}
"""The parts, and what the accuracy in each of them is called."""


@dataclass(frozen=True, kw_only=True)
class KnownTruth:
    """How the system does on the items whose truth is known.

    Parameters
    ----------
    n_items : int
        Items with a known truth and an answer of the system.
    system_accuracy : float
        Proportion of them that the system got right.
    used : bool
        Whether they correct estimates or enter models: unless the truth of all items is known.
    lower, upper, level : float or None
        Wilson's interval for the system's accuracy in this sample, as if these items were drawn
        from it at random; None if the truth of all is known, when the proportion is exact.
    """

    n_items: int
    system_accuracy: float
    used: bool
    lower: float | None = None
    upper: float | None = None
    level: float | None = None


def known_truth(ratings: Ratings, level: float = 0.9) -> KnownTruth | None:
    """Score the system on the items whose truth is known; None without such items."""
    if ratings.truth is None or ratings.system is None or not (ratings.system >= 0).any():
        return None
    # The known items alone need no method, so that any probabilities will do.
    items = rightness(ratings, np.zeros(len(ratings.system)))
    alone = known_items_alone(items, level)
    if alone.estimate is None:
        return None
    score = KnownTruth(
        n_items=items.n_known, system_accuracy=alone.estimate, used=known_truths(ratings) > 0
    )
    if not score.used:
        return score
    return replace(score, lower=alone.lower, upper=alone.upper, level=alone.level)


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
    """

    part: str
    label: str
    n_items: int
    n_known: int
    accuracy: IntervalEstimate

    def to_dict(self) -> dict[str, Any]:
        """Write it in plain types, without part and label."""
        return ends(self.accuracy) | {"n_items": self.n_items, "n_known": self.n_known}


@dataclass(frozen=True, kw_only=True, eq=False)
class Corrected:
    """An estimate corrected by known truths, in all items and in parts of them.

    Parameters
    ----------
    ratings : Ratings
        With the known truths.
    estimate : Estimate
        The estimate that was corrected.
    correction : TruthCorrection
        Of the accuracy in all items.
    parts : tuple of PartCorrection
        Of precision and of groups, where some truth is known.
    level : float
        Probability of the intervals.
    """

    ratings: Ratings
    estimate: Estimate
    correction: TruthCorrection
    parts: tuple[PartCorrection, ...]
    level: float

    def of_group(self, group: str) -> dict[str, Any] | None:
        """Write the corrected accuracy in a group of items in plain types; None without one."""
        found = (one for one in self.parts if (one.part, one.label) == ("groups", group))
        return next((one.to_dict() for one in found), None)


def correct(ratings: Ratings, estimate: Estimate, options: Options) -> Corrected | None:
    """Correct an estimate by known truths that the method has not seen; None if there are none."""
    known = known_truth(ratings)
    if (
        known is None
        or not known.used
        or "truth_probabilities" not in estimate.arrays
        or estimate.system_accuracy.estimate is None
        or uses_truths(estimate)
    ):
        return None
    return Corrected(
        ratings=ratings,
        estimate=estimate,
        correction=correct_by_truth(ratings, estimate, level=options.level),
        parts=correct_parts(ratings, estimate, options.groups, options.level),
        level=options.level,
    )


def seen(ratings: Ratings, estimate: Estimate) -> Ratings:
    """Leave out the truths that the method of an estimate has not seen."""
    return ratings if uses_truths(estimate) else ratings.with_truth(None)


def uses_truths(estimate: Estimate) -> bool:
    """Tell whether known truths entered the fit of a model."""
    kept = estimate.diagnostics if estimate.draws is None else estimate.draws.attrs
    return bool(kept.get("known_truths", 0))


def correct_parts(
    ratings: Ratings, estimate: Estimate, groups: GroupColumn | None, level: float
) -> tuple[PartCorrection, ...]:
    """Correct precision, and accuracy in groups, as the accuracy in all items is.

    Parameters
    ----------
    ratings : Ratings
        With one system.
    estimate : Estimate
        By a method that has not seen the known truths.
    groups : GroupColumn, optional
        The groups of items.
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
            )
        )
    return tuple(corrected)


def _parts(ratings: Ratings, groups: GroupColumn | None) -> Iterator[tuple[str, str, Booleans]]:
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
            ("groups", str(name), answered & (groups.names == name))
            for name in np.unique(groups.names)
            if name != ""
        ]
    for part, label, rows in masks:
        if (known & rows).any():
            yield part, label, np.asarray(rows)


def _to_dict(corrected: Corrected | None) -> dict[str, Any]:
    if corrected is None:
        return {"with_known_truth": None, "precision_with_known_truth": None}
    ratings, correction = corrected.ratings, corrected.correction
    probabilities = corrected.estimate.truth_probabilities
    assert probabilities is not None
    rates = correct_base_rates(ratings, probabilities, level=corrected.level)
    answers = {one.label: one.to_dict() for one in corrected.parts if one.part == "precision"}
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
        "precision_with_known_truth": answers or None,
    }


KNOWN_TRUTHS = Question(name="corrected", answer=correct, to_dict=_to_dict)
