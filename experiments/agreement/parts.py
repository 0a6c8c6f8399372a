"""Agreement in parts of the data: by criterion, of each rater with himself, in groups of items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np

from experiments.agreement.answer import interval_of, plot_coefficients
from experiments.report.answer import Answer, Section
from experiments.report.options import data_notes, header_lines
from experiments.report.sentences import write_apa
from experiments.report.table import Column, Table
from lehner import InputError, Ratings, agreement
from lehner.contrasts.groups import GroupColumn
from lehner.core.lazy import special
from lehner.core.text import percent
from lehner.interrater.agreement import Agreement
from lehner.interrater.coefficients import Coefficient, printed_name
from lehner.interrater.label_sets import SetAgreement

COEFFICIENTS = ("percent_agreement", "krippendorff_alpha", "gwet_ac1")
MOST_NOTES = 3


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Coefficients of each part of the data.

    Parameters
    ----------
    part : str
        What the parts are, as "criterion".
    coefficients : mapping of str to sequence of Coefficient
        By part.
    content : mapping
        The same in plain types, for JSON.
    differences : mapping of str to sequence of Coefficient
        Differences of two parts, by their names.
    """

    part: str
    coefficients: Mapping[str, Sequence[Coefficient]]
    content: Mapping[str, Any]
    differences: Mapping[str, Sequence[Coefficient]] | None = None


def compare_conditions(
    ratings: Ratings,
    groups: GroupColumn,
    coefficients: Sequence[str] | None,
    weights: Sequence[str] | None,
    level: float,
) -> Parts:
    """Measure the agreement on the items of each group, and how much groups differ.

    Parameters
    ----------
    ratings : Ratings
    groups : GroupColumn
        The group of each row. Items of two groups are taken to be sampled independently.
    coefficients, weights
        As of `lehner.agreement`; by default percent agreement, Krippendorff's alpha and Gwet's AC1.
    level : float
        Probability of the intervals, of differences by Welch's degrees of freedom.

    Returns
    -------
    Parts

    Raises
    ------
    InputError
        If there is one group, or a cluster has items of two groups.

    References
    ----------
    Gwet (2014), chapter 9, for coefficients of independent samples; Welch (1947),
    https://doi.org/10.1093/biomet/34.1-2.28
    """
    names = sorted({*groups.names} - {""})
    if len(names) < 2:
        raise InputError("it has one group", "name a column of two or more", column=groups.column)
    rows = {name: np.flatnonzero(groups.names == name) for name in names}
    if ratings.cluster is not None and any(
        np.intersect1d(ratings.cluster[rows[one]], ratings.cluster[rows[other]]).size
        for one, other in combinations(names, 2)
    ):
        raise InputError(
            f"a cluster has items of two groups of {groups.column}",
            "compare groups that have no cluster in common, or leave out the clusters",
        )
    options: dict[str, Any] = {"coefficients": coefficients or COEFFICIENTS, "level": level}
    options["weights"] = weights or "identity"
    found = {name: agreement(ratings.take(rows[name]), **options) for name in names}
    differences = {
        f"{one} − {other}": [
            _subtract(first, second, len(rows[one]), len(rows[other]), level)
            for first, second in zip(
                found[one].coefficients, found[other].coefficients, strict=True
            )
        ]
        for one, other in combinations(names, 2)
    }
    return Parts(
        part=groups.column,
        coefficients={name: one.coefficients for name, one in found.items()},
        content={
            "by": groups.column,
            "groups": {name: one.to_dict() for name, one in found.items()},
            "differences": {name: list(map(vars, ones)) for name, ones in differences.items()},
        },
        differences=differences,
    )


def _subtract(
    first: Coefficient, second: Coefficient, n_first: int, n_second: int, level: float
) -> Coefficient:
    """Subtract coefficients of independent samples of so many items."""
    difference = Coefficient(name=first.name, weights=first.weights, estimate=None)
    if first.estimate is None or second.estimate is None:
        return difference
    estimate = first.estimate - second.estimate
    difference = replace(difference, estimate=estimate)
    if not first.standard_error or not second.standard_error:
        return difference
    error = hypot(first.standard_error, second.standard_error)
    parts = ((first.standard_error, n_first), (second.standard_error, n_second))
    degrees = error**4 / sum(one**4 / (n - 1) for one, n in parts)
    half = error * float(special.stdtrit(degrees, (1 + level) / 2))
    return replace(
        difference,
        standard_error=error,
        lower=estimate - half,
        upper=estimate + half,
        p_value=2 * float(special.stdtr(degrees, -abs(estimate) / error)),
    )


def measure_criteria(
    by_criterion: Mapping[str, Ratings],
    coefficients: Sequence[str] | None,
    weights: Sequence[str] | None,
    level: float,
) -> Parts:
    """Measure the agreement of ratings by each of several criteria."""
    options: dict[str, Any] = {"coefficients": coefficients or COEFFICIENTS, "level": level}
    options["weights"] = weights
    found = {name: agreement(ratings, **options) for name, ratings in by_criterion.items()}
    return Parts(
        part="criterion",
        coefficients={name: one.coefficients for name, one in found.items()},
        content={"criteria": {name: one.to_dict() for name, one in found.items()}},
    )


def parts_of_raters(by_rater: Mapping[str, Agreement]) -> Parts:
    """Name the parts of the agreement of each rater with himself."""
    return Parts(
        part="rater",
        coefficients={name: one.coefficients for name, one in by_rater.items()},
        content={"raters": {name: one.to_dict() for name, one in by_rater.items()}},
    )


def parts_of_sets(found: SetAgreement) -> Parts:
    """Name the parts of an agreement of sets of labels."""
    measures = {"equal": "equal sets", "jaccard": "Jaccard", "masi": "MASI"}
    parts = {title: [found.similarity[name], found.alpha[name]] for name, title in measures.items()}
    parts |= {f"label {label}": [one] for label, one in found.by_label.items()}
    content = {
        "equal_sets": found.similarity["equal"].estimate,
        "mean_jaccard": found.similarity["jaccard"].estimate,
        "alpha": {name: one.estimate for name, one in found.alpha.items()},
        "alpha_by_label": {label: one.estimate for label, one in found.by_label.items()},
    }
    return Parts(part="of", coefficients=parts, content=content)


def answer_parts(name: str, ratings: Ratings, parts: Parts, level: float) -> Answer:
    """Answer with a table of coefficients for each part of the data, and of their differences.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
    parts : Parts
    level : float
        Of the intervals.

    Returns
    -------
    Answer
    """
    tables = [_table(parts.part, parts.coefficients, level)]
    if parts.differences:
        tables.append(_table("difference", parts.differences, level))
    each = [(part, one) for part, ones in parts.coefficients.items() for one in ones]
    drawn = [(part, one) for part, one in each if one.estimate is not None]
    labels = [f"{printed_name(one.name)}, {part}" for part, one in drawn]
    section = Section(
        name="agreement",
        title=f"Agreement by {parts.part}",
        tables=tables,
        figure=partial(plot_coefficients, [one for _, one in drawn], level, labels),
    )
    told = parts.differences or parts.coefficients
    return Answer(
        title=f"Agreement: {Path(name).name}",
        content={"data": name, **parts.content},
        heading=[
            f"{name}: {repr(ratings).removeprefix('Ratings: ')}",
            *header_lines(data_notes(ratings)[:MOST_NOTES]),
        ],
        sentences=[
            f"{printed_name(one.name)}, {part}: {write_apa(interval_of(one, level))}."
            for part, ones in told.items()
            for one in ones
            if one.estimate is not None
        ],
        sections=[section],
        frames=dict(zip(("agreement", "differences"), tables, strict=False)),
    )


def _table(part: str, parts: Mapping[str, Sequence[Coefficient]], level: float) -> Table:
    rows = [
        (name, one.name, interval_of(one, level), one.standard_error)
        for name, coefficients in parts.items()
        for one in coefficients
    ]
    columns = [
        Column(part),
        Column("coefficient", names=printed_name),
        Column("estimate", f"value [{percent(level)} interval]"),
        Column("standard_error", "SE"),
    ]
    return Table(columns=columns, rows=rows, keys=2)
