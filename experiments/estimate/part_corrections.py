"""Accuracy in parts of the items, corrected by the known truths among them.

The parts are the items that got one answer of the system, whose accuracy is the precision of that
answer, and groups of items. Recall is a share of the items of one true category, which are not
known, and is not corrected.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.estimate.group_column import GroupColumn
from lehner import (
    Estimate,
    IntervalEstimate,
    Ratings,
    TruthCorrection,
    correct_by_truth,
    probabilities_right,
)
from lehner.core.arrays import Booleans
from lehner.core.estimate import ends
from lehner.known_truths.correction import own_variance

NOT_CORRECTED = (
    "Recall, the confusion matrix and the other measures of the system are without the known "
    "truths: too few known items have one given truth."
)
OF_PARTS = {"precision": "precision", "groups": "system_accuracy_in_sample"}
"""The parts, and what the accuracy in each of them is called."""


@dataclass(frozen=True, kw_only=True)
class PartCorrection:
    """The accuracy in one part of the items by one method, corrected by known truths.

    Parameters
    ----------
    method : str
    part : {"precision", "groups"}
    label : str
        The answer of the system, or the group.
    n_items : int
        Items of the part that the system answered.
    n_known : int
        Those of known truth, 1 or more.
    accuracy : IntervalEstimate
        Share of the part's items that the system got right.
    """

    method: str
    part: str
    label: str
    n_items: int
    n_known: int
    accuracy: IntervalEstimate


def correct_parts(
    ratings: Ratings,
    estimates: Sequence[Estimate],
    corrections: Mapping[str, TruthCorrection],
    groups: GroupColumn | None,
    level: float,
) -> tuple[PartCorrection, ...]:
    """Correct precision, and accuracy in groups, as the accuracy in all items is.

    Parameters
    ----------
    ratings : Ratings
        With one system.
    estimates : sequence of Estimate
    corrections : mapping of str to TruthCorrection
        Of the accuracy in all items, by method: others are left out.
    groups : GroupColumn, optional
    level : float
        Probability of the intervals.

    Returns
    -------
    tuple of PartCorrection
        Parts without known truths are left out.
    """
    corrected = []
    for estimate in estimates:
        if estimate.method not in corrections:
            continue
        right = probabilities_right(ratings, estimate)
        for part, label, rows in _parts(ratings, groups):
            correction = correct_by_truth(
                ratings.take(rows),
                right[rows],
                variance=own_variance(estimate),
                level=level,
            )
            corrected.append(
                PartCorrection(
                    method=estimate.method,
                    part=part,
                    label=label,
                    n_items=int(ratings.weights[rows].sum()),
                    n_known=correction.n_known,
                    accuracy=correction.system_accuracy_in_sample,
                )
            )
    return tuple(corrected)


def _parts(ratings: Ratings, groups: GroupColumn | None) -> Iterator[tuple[str, str, Booleans]]:
    """Give the parts in which some truth is known, and their rows that the system answered."""
    assert ratings.system is not None
    assert ratings.truth is not None
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


def part_rows(
    corrected: Sequence[PartCorrection], group_column: str = "", *, limit: int | None = None
) -> list[list[str]]:
    """Give a table of the parts with a column for each method; empty without parts.

    Parameters
    ----------
    corrected : sequence of PartCorrection
    group_column : str
        By which there are groups.
    limit : int, optional
        How many answers of the system, and groups, are shown at most.

    Returns
    -------
    list of rows
    """
    methods = list(dict.fromkeys(one.method for one in corrected))
    titles = {"precision": "precision", "groups": f"accuracy by {group_column}"}
    rows = [["", *methods]] if corrected else []
    for part, title in titles.items():
        of_part = [one for one in corrected if one.part == part]
        if of_part:
            rows.append([title, *("" for _ in methods)])
        labels = list(dict.fromkeys(one.label for one in of_part))
        for label in labels[:limit]:
            same = {one.method: one for one in of_part if one.label == label}
            first = next(iter(same.values()))
            cells = (str(same[method].accuracy) if method in same else "" for method in methods)
            rows.append([f"  {label} ({first.n_known} of {first.n_items} known)", *cells])
        if limit is not None and len(labels) > limit:
            rows.append([f"  … and {len(labels) - limit} more", *("" for _ in methods)])
    return rows


def precision_correction(corrected: Sequence[PartCorrection], method: str) -> dict[str, Any]:
    """Give the precision of each answer by one method for JSON; null if it was not corrected."""
    answers = {
        one.label: _plain(one)
        for one in corrected
        if one.part == "precision" and one.method == method
    }
    return {"precision_with_known_truth": answers or None}


def group_correction(
    corrected: Sequence[PartCorrection], method: str, group: str
) -> dict[str, Any]:
    """Give the accuracy in one group by one method for JSON; null if it was not corrected."""
    for one in corrected:
        if (one.part, one.method, one.label) == ("groups", method, group):
            return {"with_known_truth": _plain(one)}
    return {"with_known_truth": None}


def _plain(one: PartCorrection) -> dict[str, Any]:
    return ends(one.accuracy) | {"n_items": one.n_items, "n_known": one.n_known}


def part_records(corrected: Sequence[PartCorrection], system: str) -> Iterator[dict[str, Any]]:
    """Give a row for each part, as `Comparison.to_frame` has them."""
    for one in corrected:
        names = {
            "method": one.method,
            "system": system,
            "quantity": f"{OF_PARTS[one.part]}_with_known_truth",
            "label": one.label,
        }
        yield names | vars(one.accuracy)
