"""The command `lehner agreement`."""

import sys
from dataclasses import replace
from typing import Any

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, System
from experiments.reporting.terminal import json_text


def agreement(
    data: Data,
    system: System = None,
    table: bool = False,
    coefficients: list[str] | None = None,
    weights: list[str] | None = None,
    interval: Interval = 0.9,
    within: float | None = None,
    *,
    reading: Reading,
    criteria: list[str] | None = None,
    within_rater: bool = False,
    n_items: float | None = None,
    sentence: bool = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval.

    Parameters
    ----------
    table : bool
        DATA is a square table of counts or probabilities: a row for each estimated category, a
        column for each actual one.
    coefficients : NAMES
        Only these, in this order, separated by commas, as alpha,ac1: a name as in the JSON, or a
        word of it that no other has.
    weights : NAMES
        Weights of disagreements, separated by commas: identity; by position linear, quadratic,
        ordinal; by value linear_by_value, interval, ratio; or a file with a square table.
        Default: identity; for ordered categories identity, linear, quadratic and ordinal.
    criteria : NAMES
        Columns of ratings by several criteria: the agreement by each.
    within_rater : bool
        The agreement of each rater with himself, where he rated an item more than once.
    n_items : N
        The number of items that a table of probabilities is of.
    within : P
        Take the data as a pilot, and say how many items are needed for intervals that reach no
        farther than this from the coefficient.
    sentence : bool
        Print only the sentence that reports the agreement in a paper: of the --coefficients, or
        Krippendorff's alpha.
    """
    from experiments.agreement.report import report_on_ratings, report_on_table, show, write
    from experiments.agreement.sentence import sentence as write_sentence
    from experiments.cli.load import given_options, load, refuse

    read_as = reading.options(system)
    if criteria or within_rater or read_as.sets:
        by_part(data, read_as, criteria, within_rater, coefficients, weights, interval, as_json)
        return
    options: dict[str, Any] = {"level": interval, "coefficients": coefficients or None}
    if table:
        refuse("--table takes no", *given_options(read_as, "categories", "ordered"))
        options |= {"ordered": reading.ordered, "n_items": n_items}
        report = report_on_table(data, reading.categories or None, weights or None, **options)
    else:
        refuse("ratings take no", *([] if n_items is None else ["n_items"]))
        report = report_on_ratings(data, load(data, read_as), weights or None, **options)
    report = replace(report, within=within)
    if as_json:
        print(json_text(report.to_dict()))
    elif sentence:
        print(write_sentence(report, chosen=bool(coefficients)))
    else:
        show(report, pairs=not coefficients)
    if output is not None:
        for path in write(report, output):
            print(f"wrote {path}", file=sys.stderr)
    if all(one.estimate is None for one in report.agreement.coefficients):
        raise typer.Exit(1)


def by_part(
    data: str,
    reading: Any,
    criteria: list[str] | None,
    within_rater: bool,
    coefficients: list[str] | None,
    weights: list[str] | None,
    interval: float,
    as_json: bool,
) -> None:
    """Measure the agreement by criterion, of each rater with himself, or of sets of labels."""
    from experiments.agreement.parts import parts_of_sets, sets_to_dict, show_parts
    from experiments.agreement.report import report_on_ratings
    from experiments.cli.load import load
    from lehner.interrater.label_sets import set_agreement
    from lehner.interrater.within_rater import COEFFICIENTS, within_rater_agreement

    content: dict[str, Any] = {"data": data}
    if criteria:
        chosen = {"coefficients": coefficients or COEFFICIENTS, "level": interval}
        reports = {}
        for criterion in criteria:
            ratings = load(data, replace(reading, rating=criterion))
            reports[criterion] = report_on_ratings(data, ratings, weights or None, **chosen)
        part, content["criteria"] = "criterion", {k: r.to_dict() for k, r in reports.items()}
        found = {name: list(one.agreement.coefficients) for name, one in reports.items()}
    elif within_rater:
        ratings = load(data, replace(reading, repeated=reading.repeated or "vote"))
        by_rater = within_rater_agreement(ratings, level=interval)
        part, content["raters"] = "rater", {k: one.to_dict() for k, one in by_rater.items()}
        found = {name: list(one.coefficients) for name, one in by_rater.items()}
    else:
        ratings = load(data, reading)
        sets = set_agreement(ratings, level=interval)
        part, found = "of", parts_of_sets(sets)
        content |= sets_to_dict(sets)
    if as_json:
        print(json_text(content))
    else:
        show_parts(data, ratings, part, found, interval)
