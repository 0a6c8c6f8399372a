"""The command `lehner agreement`."""

import sys

import typer

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, System
from experiments.reporting.terminal import json_text


def agreement(
    data: Data,
    system: System = None,
    table: bool = False,
    weights: list[str] | None = None,
    interval: Interval = 0.9,
    *,
    reading: Reading,
    n_items: float | None = None,
    population_size: float | None = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Measure how much raters agree, by every usual coefficient with its interval.

    Parameters
    ----------
    table : bool
        DATA is a square table of counts or probabilities: a row for each estimated category, a
        column for each actual one.
    weights : NAMES
        Weights of disagreements, separated by commas: identity; by position linear, quadratic,
        radical, ordinal, circular, bipolar; by value interval, ratio, linear_by_value, …; or a file
        with a square table. Default: identity; for ordered categories identity, linear, quadratic
        and ordinal.
    n_items : N
        The number of items that a table of probabilities is of.
    population_size : N
        The number of all items, of which these are a random sample.
    """
    from experiments.agreement.report import report_on_ratings, report_on_table, show, write
    from experiments.cli.load import given_options, load, refuse

    read_as = reading.options(system)
    options = {"level": interval, "population_size": population_size}
    if table:
        refuse("--table takes no", *given_options(read_as, "categories", "ordered"))
        options |= {"ordered": reading.ordered, "n_items": n_items}
        report = report_on_table(data, reading.categories or None, weights or None, **options)
    else:
        refuse("ratings take no", *([] if n_items is None else ["n_items"]))
        report = report_on_ratings(data, load(data, read_as), weights or None, **options)
    if as_json:
        print(json_text(report.to_dict()))
    else:
        show(report)
    if output is not None:
        for path in write(report, output):
            print(f"wrote {path}", file=sys.stderr)
    if all(one.estimate is None for one in report.agreement.coefficients):
        raise typer.Exit(1)
