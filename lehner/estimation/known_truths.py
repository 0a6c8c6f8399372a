"""Known truths: how the system does on these items, and estimates corrected by them.

The accuracy in all items is corrected, and that in parts of them: the items that got one answer of
the system, whose accuracy is the precision of that answer, and groups of items; recall and other
measures by category, and base rates. A corrected number takes the place of the method's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Integers
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, ends
from lehner.core.resampling import wilson_interval
from lehner.core.text import first_few, with_interval
from lehner.core.warning import warn
from lehner.data.ratings import Ratings
from lehner.estimation.question import Options, Question
from lehner.groups.membership import GroupColumn
from lehner.groups.result import GroupDifference, GroupEstimate, GroupEstimates
from lehner.known_truths.correction import (
    TruthCorrection,
    correct_by_truth,
    own_variance,
    probabilities_right,
)
from lehner.known_truths.partly_known import known_items_alone, rightness
from lehner.known_truths.posterior import RECALIBRATED, WEIGHTED
from lehner.known_truths.recalibration import correct_base_rates
from lehner.latent_class.pattern_table import known_truths
from lehner.performance.corrected import correct_measures
from lehner.performance.result import SystemPerformance

MOST_NAMED = 5
FEW_TRUTHS = 5
"""With fewer known items of a category its recall rests mostly on a prior."""


@dataclass(frozen=True, kw_only=True)
class KnownTruth:
    """How the system does on the items whose truth is known.

    Parameters
    ----------
    n_items : int
        Items with a known truth and an answer of the system.
    system_accuracy : float
        Proportion of them that the system got right; if their truths were found out with known
        probabilities, weighted by their inverse.
    used : bool
        Whether they correct estimates or enter models: unless the truth of all items is known.
    by_truth, by_answer : mapping of str to tuple of int
        By true category, and by answer of the system: on how many known items it is right, and how
        many there are.
    lower, upper, level : float or None
        The interval of these items alone for the system's accuracy in this sample, as if they were
        drawn from it at random (Wilson's), or with the probabilities given; None if the truth of
        all is known, when the proportion is exact.
    weighted : bool
        Whether these probabilities are given.
    """

    n_items: int
    system_accuracy: float
    used: bool
    by_truth: Mapping[str, tuple[int, int]]
    by_answer: Mapping[str, tuple[int, int]]
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    kind: str = ""
    weighted: bool = False


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
        n_items=items.n_known,
        system_accuracy=alone.estimate,
        used=known_truths(ratings) > 0,
        by_truth=_counts(ratings, ratings.truth),
        by_answer=_counts(ratings, ratings.system),
    )
    if not score.used:
        return score
    return replace(
        score,
        lower=alone.lower,
        upper=alone.upper,
        level=alone.level,
        kind=alone.kind,
        weighted=ratings.truth_probability is not None,
    )


def _counts(ratings: Ratings, codes: Integers) -> dict[str, tuple[int, int]]:
    """Count the known items of each category on which the system is right, and all of them."""
    assert ratings.system is not None and ratings.truth is not None
    weights = np.where((ratings.system >= 0) & (ratings.truth >= 0), ratings.weights, 0)
    right = np.where(ratings.system == ratings.truth, weights, 0)
    return {
        str(name): (int(right[codes == code].sum()), int(weights[codes == code].sum()))
        for code, name in enumerate(ratings.categories)
    }


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
    measures : mapping of tuple to IntervalEstimate
        By name of the measure and its categories, as in `SystemPerformance`: see
        `correct_measures`.
    few : mapping of str to tuple of int
        Categories of which fewer than `FEW_TRUTHS` items are known: on how many of these the system
        is right, and how many there are.
    """

    correction: TruthCorrection
    parts: tuple[PartCorrection, ...]
    measures: Mapping[tuple[str, ...], IntervalEstimate]
    few: Mapping[str, tuple[int, int]]


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
    level, truth = options.level, estimate.truth_probabilities
    parts = correct_parts(ratings, estimate, options.groups, level)
    kind = RECALIBRATED if ratings.truth_probability is None else WEIGHTED
    rates = correct_base_rates(ratings, truth, level=level)  # type: ignore[arg-type]
    measures = correct_measures(
        ratings, estimate, costs=options.costs, level=level, seed=options.seed
    )
    measures |= {(one.part, one.label): one.accuracy for one in parts if one.part == "precision"}
    for name in ratings.categories:
        rate, lower, upper = (
            float(rates[end].sel(category=name)) for end in ("estimate", "lower", "upper")
        )
        measures["base_rates", str(name)] = IntervalEstimate(
            estimate=rate, lower=lower, upper=upper, level=level, kind=kind
        )
    return Corrected(
        correction=correct_by_truth(ratings, estimate, level=level),
        parts=parts,
        measures={place: replace(one, corrected=True) for place, one in measures.items()},
        few={name: both for name, both in known.by_truth.items() if both[1] < FEW_TRUTHS},
    )


def corrected_details(
    details: SystemPerformance | None, corrected: Corrected
) -> SystemPerformance | None:
    """Put corrected measures in the place of a method's."""
    if details is None:
        return None
    arrays = dict(details.arrays)
    for (quantity, *labels), one in corrected.measures.items():
        if quantity not in arrays:
            continue
        array, values = arrays[quantity], arrays[quantity].values.copy()
        names = [list(map(str, array.names[dim])) for dim in array.dims]
        place = tuple(own.index(label) for own, label in zip(names, labels, strict=False))
        values[place] = [np.nan if x is None else x for x in (one.estimate, one.lower, one.upper)]
        arrays[quantity] = replace(array, values=values)
    notes = details.notes
    if corrected.few:
        level = corrected.correction.system_accuracy.level or 0.9
        counts = (_few(name, *both, level) for name, both in corrected.few.items())
        text = (
            f"too few known items are of {first_few(counts, MOST_NAMED)}: recall rests mostly on "
            "the prior of the method's bias"
        )
        notes = (*notes, warn("few-truths-of-category", text))
    return replace(details, arrays=arrays, corrected=corrected.measures, notes=notes)


def _few(category: str, right: int, known: int, level: float) -> str:
    if not known:
        return f"{category} (none)"
    one_side = NormalDist().inv_cdf((1 + level) / 2)
    ends = wilson_interval(right / known, known, z=one_side).tolist()
    return f"{category} ({right}/{known} right, {with_interval(right / known, *ends)} by Wilson)"


def corrected_groups(found: GroupEstimates | None, corrected: Corrected) -> GroupEstimates | None:
    """Put corrected accuracies of groups, and their differences, in the place of a method's."""
    parts = {one.label: one for one in corrected.parts if one.part == "groups"}
    if found is None or not parts:
        return found
    groups = tuple(
        replace(
            one,
            system_accuracy=replace(parts[one.group].expected, corrected=True),
            system_accuracy_in_sample=replace(parts[one.group].accuracy, corrected=True),
        )
        if one.group in parts
        else one
        for one in found.groups
    )
    return replace(found, groups=groups, differences=difference_pairs(groups, found.differences))


def difference_pairs(
    groups: Sequence[GroupEstimate], pairs: Sequence[GroupDifference]
) -> tuple[GroupDifference, ...]:
    """Give the differences of corrected groups; none between one that is and one that is not."""
    by_name = {one.group: one for one in groups}
    differences = []
    for pair in pairs:
        first, second = (by_name[name] for name in pair.groups)
        both, in_sample = (
            subtract_independent(getattr(first, name), getattr(second, name)) for name in ESTIMANDS
        )
        if first.system_accuracy.corrected or second.system_accuracy.corrected:
            pair = replace(
                pair,
                difference=both[0],
                difference_in_sample=in_sample[0],
                probability_higher=both[1],
            )
        differences.append(pair)
    return tuple(differences)


def subtract_independent(
    first: IntervalEstimate, second: IntervalEstimate
) -> tuple[IntervalEstimate, float | None]:
    """Subtract corrected proportions of different items; the probability that the first is higher.

    The ends are those of Zou & Donner (2008), https://doi.org/10.1002/sim.3095: the distances of
    both from their estimates are squared and added.
    """
    if not (first.corrected and second.corrected):
        return IntervalEstimate(estimate=None), None
    a, b = (np.array([one.lower, one.estimate, one.upper], dtype=float) for one in (first, second))
    estimate = float(a[1] - b[1])
    lower = estimate - float(np.hypot(a[1] - a[0], b[2] - b[1]))
    upper = estimate + float(np.hypot(a[2] - a[1], b[1] - b[0]))
    one_side = NormalDist().inv_cdf((1 + float(first.level or 0)) / 2)
    spread = (estimate - lower if estimate > 0 else upper - estimate) / one_side
    difference = replace(first, estimate=estimate, lower=lower, upper=upper, kind="independent")
    return difference, NormalDist().cdf(estimate / spread) if spread else 0.5


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
                expected=correction.system_accuracy,
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
        return {"known_truth_details": None}
    correction = corrected.correction
    return {
        "known_truth_details": {
            "n_known": correction.n_known,
            "known_items_alone": ends(correction.known_items_alone),
            "prediction_powered": ends(correction.prediction_powered),
            "expected_right": correction.expected_right,
            "right": correction.right,
            "p_value": correction.p_value,
            "n_known_of_group": {
                one.label: one.n_known for one in corrected.parts if one.part == "groups"
            },
        },
    }


KNOWN_TRUTHS = Question(name="corrected", answer=correct, to_dict=_to_dict)
