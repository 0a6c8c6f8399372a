"""The command `lehner bounds`."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from experiments.cli.arguments import AsJson, Data, Interval, Output, Reading, Seed, System
from experiments.reporting.terminal import json_text

if TYPE_CHECKING:
    from experiments.reporting.table import Table
    from lehner.dependence.bounds import AccuracyBounds

CORRELATIONS = (0.1, 0.25, 0.5)
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
    from lehner.core.errors import check_probability

    for cap in correlation or ():
        check_probability("correlation", cap)
    ratings = load(data, reading.options(system))
    caps = [(cap, whose) for whose in (True, False) for cap in correlation or CORRELATIONS]
    found = [
        accuracy_bounds(ratings, cap, cap if system_too else 1.0, level=interval, seed=seed)
        for cap, system_too in caps
    ]
    needed = mistakes_needed(ratings, above)
    table = _table(found)
    if as_json:
        told = {"bounds": [asdict(one) for one in found], "needed": asdict(needed)}
        print(json_text({"data": data} | told))
    else:
        from rich.console import Group

        from experiments.reporting.renderers import to_terminal
        from experiments.reporting.terminal import line, print_wide, terminal_width

        heading = f"{data}: {found[0].n_items} items with two ratings and an answer"
        shown = to_terminal(table, terminal_width())
        said = f"{needed}."
        last = (line(), line(said[0].upper() + said[1:]), line(ASSUMED))
        print_wide(Group(line(heading), line(), *shown, *last))
    if output is not None:
        from experiments.reporting.bounds_figure import plot_bounds
        from experiments.reporting.files import write_figure, write_text
        from experiments.reporting.renderers import to_csv, to_latex

        output.mkdir(parents=True, exist_ok=True)
        for path in (
            write_text(to_csv(table), output / "bounds.csv"),
            write_text(to_latex(table), output / "bounds.tex"),
            *write_figure(plot_bounds(ratings, needed), output, "bounds"),
        ):
            print(f"wrote {path}", file=sys.stderr)


def _table(found: "list[AccuracyBounds]") -> "Table":
    from experiments.reporting.table import Column, Table
    from lehner.core.text import decimal, percent

    def ends(lower: float | None, upper: float | None) -> str:
        return "impossible" if lower is None else f"{decimal(lower)} to {decimal(upper)}"

    expected = (f"expected, {percent(found[0].level or 0)}", ends)
    return Table(
        columns=[
            Column("mistakes_of"),
            Column("correlation", "correlate by at most", "{:g}".format),
            Column("in_sample", "accuracy on these items", ends, fields=("lower", "upper")),
            Column("expected", *expected, fields=("expected_lower", "expected_upper")),
        ],
        rows=[
            (
                "raters" if one.system == 1 else "raters and system",
                one.raters,
                (one.lower, one.upper),
                (one.expected_lower, one.expected_upper),
            )
            for one in found
        ],
        keys=2,
    )
