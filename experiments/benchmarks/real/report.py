"""The tables: one tidy CSV of every measure, and `page.md` filled in."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from experiments.benchmarks.real.measures import mean_over_crowds, measure_crowds
from experiments.benchmarks.real.protocol import ALL
from experiments.benchmarks.real.results import read_rows
from experiments.benchmarks.real.sources import SOURCES
from experiments.reporting.files import write_text
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Cell, Column, Table
from experiments.study.cells import read_cells
from lehner.core.number_format import DASH, short

SPLITS = {
    "choose": "Crowds for choosing among models",
    "report": "Crowds for reporting, to be looked at once",
}
KNOWN_BY_CROWD = (0, 20)


def write_report(output: Path, seed: int, draws: int) -> list[Path]:
    """Write the tables of all results that are kept.

    Parameters
    ----------
    output : Path
        Where results are kept, and the tables go.
    seed : int
        Of the benchmark.
    draws : int
        How often known items were drawn for each fit.

    Returns
    -------
    list of Path
        `real.csv` and `real.md`.
    """
    measured = measure_crowds(read_rows(output, seed, draws))
    means = mean_over_crowds(measured)
    page = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    text = page.format(
        finding=_finding(means.set_index(["split", "per_item", "known", "method"])),
        draws=draws,
        crowds=_crowds(read_cells(output / "crowds").set_index("crowd")),
        means="\n\n".join(_means(means)),
        by_crowd="\n\n".join(_by_crowd(measured)),
    )
    files = {"real.csv": measured.round(4).to_csv(index=False), "real.md": text}
    return [write_text(content, output / name) for name, content in files.items()]


def _finding(means: pd.DataFrame) -> str:
    """Say what known truths change, and more ratings, if models were run with these."""
    alone, known = (("choose", "3", n, "relaxed_k") for n in (0, 20))
    every = ("choose", ALL, 0, "dawid_skene")
    if not {alone, known, every} <= set(means.index):
        return ""
    before, after, more = (means.loc[design] for design in (alone, known, every))
    return (
        "They are often far from it, and their intervals are too narrow, because people and models "
        f"make the same mistakes: with three ratings an item, on {before['crowds']} crowds, the "
        f"90% intervals of `relaxed_k` contain the truth for {before['coverage']:.0%} of the "
        f"systems, and its root mean squared error is {short(before['rmse'])}. Known truths of 20 "
        f"items mend this: with them it is {after['coverage']:.0%} of the systems, and the error "
        f"is {short(after['rmse'])}. More ratings do not: with all ratings of an item, on "
        f"{more['crowds']} crowds, the intervals of `dawid_skene` contain the truth for "
        f"{more['coverage']:.0%} of the systems, and its error is {short(more['rmse'])}."
    )


def _crowds(sizes: pd.DataFrame) -> str:
    columns = [
        Column("crowd"),
        Column("split"),
        *(Column(name, name, "{:,}".format) for name in sizes.columns),
        Column("repository, licence"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for name in (name for name in SOURCES if name in sizes.index):
        source = SOURCES[name]
        repository = f"{source.repository.folder}, {source.repository.licence}"
        rows.append((name, source.split, *map(int, sizes.loc[name]), repository))
    return to_markdown(Table(columns=columns, rows=rows))


def _means(means: pd.DataFrame) -> Iterator[str]:
    columns = [
        Column("method"),
        Column("crowds"),
        Column("no estimate", format=short),
        Column("bias", format=_in_brackets),
        Column("RMSE", format=_in_brackets),
        Column("coverage", format=_in_brackets),
        Column("lowest", format=_lowest),
        Column("width", format=_in_brackets),
    ]
    for split, title in SPLITS.items():
        designs = means[means["split"] == split].groupby(["per_item", "known"])
        for (per_item, known), cell in designs:
            yield f"## {title}: {_design(per_item, known)}"
            rows = [
                (
                    row.method,
                    row.crowds,
                    row.failed,
                    (row.bias, row.bias_se),
                    (row.rmse, row.rmse_se),
                    (row.coverage, row.coverage_se),
                    (row.worst, row.worst_crowd),
                    (row.width, row.width_se),
                )
                for row in cell.itertuples()
            ]
            yield to_markdown(Table(columns=columns, rows=rows))


def _in_brackets(value: float, second: float, digits: int = 3) -> str:
    if pd.isna(value) or pd.isna(second):
        return short(value)
    return f"{short(value)} ({short(second, digits)})"


def _lowest(coverage: float, crowd: str) -> str:
    return DASH if pd.isna(coverage) else f"{short(coverage)} ({crowd})"


def _by_crowd(measured: pd.DataFrame) -> Iterator[str]:
    """Compare RMSE and coverage on each crowd, a table for each design."""
    shown = measured[measured["known"].isin(KNOWN_BY_CROWD)]
    for (per_item, known), cell in shown.groupby(["per_item", "known"]):
        methods = list(dict.fromkeys(cell["method"]))
        yield f"## RMSE (coverage) on each crowd: {_design(per_item, known)}"
        rows: list[tuple[Cell, ...]] = []
        for name, crowd in cell.groupby("crowd", sort=False):
            errors = crowd.set_index("method")[["rmse", "coverage"]].reindex(methods)
            first = crowd.iloc[0]
            size = (first["split"], int(crowd["systems"].max()), first["accuracy"])
            rows.append((str(name), *size, *map(tuple, errors.to_numpy())))
        columns = [
            Column("crowd"),
            Column("split"),
            Column("systems"),
            Column("mean accuracy", format=short),
            *(Column(name, name, partial(_in_brackets, digits=2)) for name in methods),
        ]
        yield to_markdown(Table(columns=columns, rows=rows))


def _design(per_item: str, known: int) -> str:
    raters = "all ratings" if per_item == ALL else f"{per_item} ratings an item"
    return f"{raters}, {known or 'no'} known truths"
