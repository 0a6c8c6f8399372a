"""The command `lehner agreement`."""

import sys
from typing import Annotated, Any

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, System, split_names
from experiments.reporting.terminal import json_text

OF_RATINGS = ("item", "raters", "counts", "missing", "repeated", "fold_case")


def agreement(
    data: Data,
    system: System = None,
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="DATA is a square table of counts or probabilities: a row for each estimated "
            "category, a column for each actual one.",
        ),
    ] = False,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Weights of disagreements, separated by commas: identity; by position linear, "
            "quadratic, radical, ordinal, circular, bipolar; by value interval, ratio, "
            "linear_by_value, …; or a file with a square table. Default: identity; for ordered "
            "categories identity, linear, quadratic and ordinal.",
        ),
    ] = None,
    interval: Interval = 0.9,
    *,
    reading: Reading,
    n_items: Annotated[
        float | None,
        typer.Option(metavar="N", help="The number of items that a table of probabilities is of."),
    ] = None,
    population_size: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="The number of all items, of which these are a random sample."
        ),
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval."""
    from experiments.agreement.report import report_on_ratings, report_on_table, show, write
    from experiments.cli.load import load

    chosen = split_names(weights) or None
    if table:
        columns = {name: getattr(reading, name) or None for name in OF_RATINGS}
        _refuse("--table takes no", {"system": system} | columns)
        report = report_on_table(
            data,
            split_names(reading.categories) or None,
            chosen,
            level=interval,
            ordered=reading.ordered,
            n_items=n_items,
            population_size=population_size,
        )
    else:
        _refuse("ratings take no", {"n-items": n_items})
        ratings = load(data, system, reading)
        options = {"level": interval, "population_size": population_size}
        report = report_on_ratings(data, ratings, chosen, **options)
    if as_json:
        print(json_text(report.to_dict()))
    else:
        show(report)
    if output is not None:
        for path in write(report, output):
            print(f"wrote {path}", file=sys.stderr)
    if all(one.estimate is None for one in report.agreement.coefficients):
        raise typer.Exit(1)


def _refuse(text: str, options: dict[str, Any]) -> None:
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if given:
        from lehner import InputError

        raise InputError(f"{text} {', '.join(given)}", "leave it out")
