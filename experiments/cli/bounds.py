"""The command `lehner bounds`."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, Seed, System
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from experiments.reporting.table import Table
    from lehner import AccuracyBounds

CORRELATIONS = (0.1, 0.25, 0.5)
WHOSE = {True: "raters and system", False: "raters"}
ASSUMED = "Assumed is only that the ratings are more often right than wrong."


def bounds(
    data: Data,
    system: System = None,
    correlation: list[float] | None = None,
    above: float | None = None,
    interval: Interval = 0.9,
    seed: Seed = 1,
    *,
    reading: Reading,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Bound the accuracy by how much mistakes correlate, without a model of raters and items.

    Parameters
    ----------
    correlation : P
        The greatest correlation of two raters' mistakes, and of the system's with theirs. The
        option may be repeated. Default: 0.1, 0.25 and 0.5.
    above : P
        The accuracy of which it is said how much mistakes must correlate for it not to be reached.
        Default: the one that correlations as in half of the real crowds leave standing.
    """
    from experiments.cli.load import load
    from lehner import accuracy_bounds, mistakes_needed

    ratings = load(data, reading.options(system))
    found = [
        accuracy_bounds(ratings, cap, cap if whose else 1.0, level=interval, seed=seed)
        for whose in WHOSE
        for cap in correlation or CORRELATIONS
    ]
    needed = mistakes_needed(ratings, above)
    if as_json:
        told = {"bounds": [asdict(one) for one in found], "needed": asdict(needed)}
        print(json_text({"data": data} | told))
    else:
        _show(data, found, f"{needed}.")
    if output is not None:
        from experiments.reporting.bounds_figure import plot_bounds
        from experiments.reporting.files import write_figure, write_text
        from experiments.reporting.renderers import to_csv, to_latex

        output.mkdir(parents=True, exist_ok=True)
        table = _table(found)
        for path in (
            write_text(to_csv(table), output / "bounds.csv"),
            write_text(to_latex(table), output / "bounds.tex"),
            *write_figure(plot_bounds(ratings, needed), output, "bounds"),
        ):
            print(f"wrote {path}", file=sys.stderr)


def _show(name: str, found: "list[AccuracyBounds]", needed: str) -> None:
    from rich.console import Group

    from experiments.reporting.renderers import to_terminal
    from experiments.reporting.terminal import line, print_wide, terminal_width
    from lehner.core.wording import counted

    heading = f"{name}: {counted(found[0].n_items, 'item')} with two ratings and an answer"
    sentences = (f"{needed[0].upper()}{needed[1:]}", ASSUMED)
    table = to_terminal(_table(found), terminal_width())
    print_wide(Group(line(heading), line(), *table, line(), *map(line, sentences)))


def _table(found: "list[AccuracyBounds]") -> "Table":
    from experiments.reporting.table import Column, Table
    from lehner.core.number_format import percent

    return Table(
        columns=[
            Column("mistakes_of"),
            Column("correlation", "correlate by at most", "{:g}".format),
            Column("in_sample", "accuracy on these items", _ends, fields=("lower", "upper")),
            Column(
                "expected",
                f"expected, {percent(found[0].level or 0)}",
                _ends,
                fields=("expected_lower", "expected_upper"),
            ),
        ],
        rows=[
            (
                WHOSE[one.system < 1],
                one.raters,
                (one.lower, one.upper),
                (one.expected_lower, one.expected_upper),
            )
            for one in found
        ],
        keys=2,
    )


def _ends(lower: float | None, upper: float | None) -> str:
    from lehner.core.number_format import decimal

    return "impossible" if lower is None else f"{decimal(lower)} to {decimal(upper)}"
