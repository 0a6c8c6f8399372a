"""The command `lehner agreement`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from experiments.cli.emit import emit
from experiments.cli.options import Data, Interval, Output, Reading, System

if TYPE_CHECKING:
    from experiments.report.answer import Answer
    from lehner.data import reading as data_reading


@dataclass(frozen=True, kw_only=True)
class Coefficients:
    """Which coefficients, of what.

    Parameters
    ----------
    coefficients : NAMES
        Only these, in this order, separated by commas, as alpha,ac1: a name as in the JSON, or a
        word of it that no other has.
    weights : NAMES
        Weights of disagreements, separated by commas: identity; by position linear, quadratic,
        ordinal; by value linear_by_value, interval, ratio.
        Default: identity; for ordered categories identity, linear, quadratic and ordinal.
    by : COLUMN
        The column of the file that groups the items, as their condition: the agreement in each
        group, and differences.
    criteria : NAMES
        Columns of ratings by several criteria: the agreement by each.
    within_rater : bool
        The agreement of each rater with himself, where he rated an item more than once.
    """

    coefficients: list[str] | None = None
    weights: list[str] | None = None
    by: str | None = None
    criteria: list[str] | None = None
    within_rater: bool = False


def agreement(
    data: Data,
    system: System = None,
    interval: Interval = 0.9,
    *,
    asked: Coefficients,
    reading: Reading,
    output: Output,
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval.

    Examples
    --------
    lehner agreement ratings.csv
    lehner agreement ratings.csv --ordered --weights quadratic --output results/
    lehner agreement ratings.csv --coefficients alpha,ac1 --sentence
    lehner agreement ratings.csv --by condition --report agreement.html
    """
    answer = _answer(data, asked, reading.options(system), interval)
    emit(answer, output, data)
    coefficients = answer.to_dict().get("coefficients", [])
    if coefficients and all(one["estimate"] is None for one in coefficients):
        raise typer.Exit(1)


def _answer(
    data: str, asked: Coefficients, read_as: "data_reading.Reading", level: float
) -> "Answer":
    """Measure the agreement, in groups, by criterion, of each rater with himself, or of sets."""
    from experiments.agreement import (
        COEFFICIENTS,
        answer_agreement,
        answer_parts,
        compare_conditions,
        parts_of_sets,
    )
    from experiments.cli.columns import read_groups, split_cuts
    from experiments.cli.load import load
    from lehner import agreement as measure
    from lehner import set_agreement, within_rater_agreement

    wanted: dict[str, Any] = {"coefficients": asked.coefficients, "weights": asked.weights}
    options = {name: value for name, value in wanted.items() if value}
    if asked.by:
        ratings = load(data, read_as, columns={"by": split_cuts(asked.by)[0]})
        groups = read_groups(Path(data), asked.by, ratings)
        parts = compare_conditions(ratings, groups, level, **options)
        return answer_parts(data, ratings, groups.column, *parts, level=level)
    if asked.criteria:
        rated = {name: load(data, replace(read_as, rating=name)) for name in asked.criteria}
        ratings, part, options = (
            rated[asked.criteria[-1]],
            "criterion",
            {"coefficients": COEFFICIENTS} | options,
        )
        measured = {name: measure(own, level=level, **options) for name, own in rated.items()}
    elif asked.within_rater:
        ratings = load(data, replace(read_as, repeated=read_as.repeated or "vote"))
        measured, part = within_rater_agreement(ratings, level=level), "rater"
    else:
        ratings = load(data, read_as)
        if read_as.sets:
            sets = parts_of_sets(set_agreement(ratings, level=level))
            return answer_parts(data, ratings, "of", sets, level=level)
        return answer_agreement(data, ratings, level=level, **options)
    coefficients = {name: own.coefficients for name, own in measured.items()}
    return answer_parts(data, ratings, part, coefficients, level=level)
