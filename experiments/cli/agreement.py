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
