"""The tables: one tidy CSV of every measure, one of labels, and a Markdown report."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments.benchmarks.real.label_accuracy import read_label_accuracy, read_published
from experiments.benchmarks.real.measures import mean_over_crowds, measure_crowds
from experiments.benchmarks.real.protocol import ALL
from experiments.benchmarks.real.results import read_rows
from experiments.benchmarks.real.sources import SOURCES
from experiments.reporting.files import write_text
from experiments.reporting.markdown import DASH, short
from experiments.study.document import Block, Heading, Paragraph, Table, to_markdown

OF_MEANS = (
    "Each crowd counts once, and a method is averaged over the crowds that it was run on: compare "
    "rows of as many crowds. The lowest coverage is of a crowd with 4 to 12 systems."
)
SPLITS = {
    "choose": "Crowds for choosing among models",
    "report": "Crowds for reporting, to be looked at once",
}
HOW = (
    "Made by `python -m experiments.benchmarks.real FOLDER --output OUTPUT`. Each of up to 12 "
    "workers of a crowd is the system in turn; 3, 5 or all other ratings of an item, at most 300 "
    "items. Estimated is the share of these items that the system got right; intervals are of 90%. "
    "Monte Carlo standard errors, over systems, are in brackets; systems of a crowd rate the same "
    "items, which the errors leave out. With known truths, a method's estimate is corrected by "
    "`lehner.correct_by_truth`; the known items are drawn at random, {draws} times a system, "
    "and are at most half of all. `ppi_` is PPI++ with the method's probabilities; "
    "`known_items_alone` uses no method (Wilson, finite population). `widened`: the lower end "
    "allows for a share of items that mislead raters and system alike, Beta(0.5, 4.5) "
    "(`lehner.widen_interval`)."
)
OF_LABELS = (
    "Share of items whose most probable category is the true one, on the whole crowd; ties share "
    "the item. EBCC, BWA and iBCC are as published."
)


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
        `real.csv`, `labels.csv` and `real.md`.
    """
    measured = measure_crowds(read_rows(output, seed, draws))
    labels = read_label_accuracy(output, seed).join(read_published(), how="left")
    blocks = [Paragraph(HOW.format(draws=draws)), *_crowds(output)]
    if not measured.empty:
        blocks += [*_means(measured), *_by_crowd(measured)]
    text = to_markdown("Real ratings with known truth", [*blocks, *_labels(labels)])
    files = {
        "real.csv": measured.round(4).to_csv(index=False),
        "labels.csv": labels.round(4).to_csv(),
        "real.md": text,
    }
    return [write_text(content, output / name) for name, content in files.items()]


def _crowds(output: Path) -> Iterator[Block]:
    yield Heading("Crowds")
    head = ("crowd", "split", "items", "with truth", "raters", "ratings", "categories", "systems")
    rows = []
    for name, source in SOURCES.items():
        path = output / "crowds" / f"{name}.json"
        if path.exists():
            size = json.loads(path.read_text(encoding="utf-8"))
            numbers = [f"{value:,}" for value in size.values()]
            repository = f"{source.repository.folder}, {source.repository.licence}"
            rows.append((name, source.split, *numbers, repository))
    yield Table((*head, "repository, licence"), tuple(rows))


def _means(measured: pd.DataFrame) -> Iterator[Block]:
    yield Paragraph(OF_MEANS)
    means = mean_over_crowds(measured)
    head = ("method", "crowds", "no estimate", "bias", "RMSE", "coverage", "lowest", "width")
    for split, title in SPLITS.items():
        for (per_item, known), one in means[means["split"] == split].groupby(
            ["per_item", "known"], sort=False
        ):
            yield Heading(f"{title}: {_design(per_item, known)}")
            yield Table(head, tuple(_mean_row(row) for _, row in one.iterrows()))


def _mean_row(row: pd.Series) -> tuple[str, ...]:
    worst = DASH if pd.isna(row["worst"]) else f"{short(row['worst'])} ({row['worst_crowd']})"
    return (
        row["method"],
        str(row["crowds"]),
        short(row["failed"]),
        *(_with_error(row, name) for name in ("bias", "rmse", "coverage")),
        worst,
        _with_error(row, "width"),
    )


def _by_crowd(measured: pd.DataFrame) -> Iterator[Block]:
    """Give RMSE and coverage on each crowd, a table for each design."""
    for (per_item, known), one in measured.groupby(["per_item", "known"], sort=False):
        methods = list(dict.fromkeys(one["method"]))
        yield Heading(f"RMSE (coverage) on each crowd: {_design(per_item, known)}")
        rows = []
        for name, crowd in one.groupby("crowd", sort=False):
            cells = crowd.set_index("method")
            shown = [_cell(cells, method) for method in methods]
            first = cells.iloc[0]
            size = (
                first["split"],
                str(int(cells["systems"].max())),
                short(first["accuracy"]),
            )
            rows.append((str(name), *size, *shown))
        head = ("crowd", "split", "systems", "mean accuracy", *methods)
        yield Table(head, tuple(rows))


def _cell(cells: pd.DataFrame, method: str) -> str:
    if method not in cells.index or pd.isna(cells.loc[method, "rmse"]):
        return DASH
    rmse, coverage = cells.loc[method, "rmse"], cells.loc[method, "coverage"]
    return short(rmse) + ("" if pd.isna(coverage) else f" ({short(coverage, 2)})")


def _labels(labels: pd.DataFrame) -> Iterator[Block]:
    yield Heading("Labels")
    yield Paragraph(OF_LABELS)
    rows = [
        (str(name), *map(short, row))
        for name, row in zip(labels.index, labels.to_numpy(), strict=True)
    ]
    complete = labels.dropna()
    if len(complete):
        mean = f"mean of the {len(complete)} with all numbers"
        rows.append((mean, *map(short, complete.mean())))
    yield Table(("crowd", *labels.columns), tuple(rows))


def _design(per_item: str, known: int) -> str:
    raters = "all ratings" if per_item == ALL else f"{per_item} ratings an item"
    return f"{raters}, {known or 'no'} known truths"


def _with_error(row: pd.Series, name: str) -> str:
    if pd.isna(row[name]):
        return DASH
    error = row[f"{name}_se"]
    return short(row[name]) + ("" if pd.isna(error) else f" ({short(error)})")
