"""The tables: one tidy CSV of every measure, one of labels, and a Markdown report."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd

from experiments.benchmarks.real.label_accuracy import read_label_accuracy, read_published
from experiments.benchmarks.real.measures import mean_over_crowds, measure_crowds
from experiments.benchmarks.real.protocol import ALL
from experiments.benchmarks.real.results import read_rows
from experiments.benchmarks.real.sources import SOURCES
from experiments.reporting.files import write_text
from experiments.reporting.table import Cell, Column, Table
from experiments.study.cells import read_cells
from experiments.study.document import Block, Heading, Paragraph, to_markdown
from lehner.core.number_format import DASH, short

OF_MEANS = (
    "The next tables have means over crowds, in which each crowd counts once. A method is averaged "
    "over the crowds that it was run on, so compare rows with the same number of crowds. With all "
    "ratings of an item, some crowds with more than two categories have three systems only, "
    "because the fits of `relaxed_k` are slow with many raters; in `relevance`, where a fit takes "
    "more than four minutes, it was not run. `no estimate` is the share of systems for which the "
    "method gives none. `bias` is the mean of estimate minus truth, `RMSE` the root mean squared "
    "error, `coverage` the share of the 90% intervals that contain the truth, and `width` their "
    "mean width. `lowest` is the coverage in the crowd in which it is lowest; such a crowd has at "
    "most 12 systems."
)
SPLITS = {
    "choose": "Crowds for choosing among models",
    "report": "Crowds for reporting, to be looked at once",
}
KNOWN_BY_CROWD = (0, 20)
QUESTION = (
    "How near to the truth are the methods on ratings that people and language models really gave? "
    "In these crowds the true categories are known; they are hidden from the methods, and then "
    "compared with what these estimate."
)
HOW = (
    "Up to 12 workers of a crowd play the system, one after another; their raters are 3, 5 or all "
    "of the others who rated an item. At most 300 items are used. The estimand is the share of "
    "these items on which the system is right, and intervals have a level of 90%. In a table, all "
    "methods that were run on a crowd have the same systems; the tables of single crowds say how "
    "many. Standard errors over systems are in brackets. They leave out that the systems of a "
    "crowd rate the same items. Made by "
    "`python -m experiments.benchmarks.real FOLDER --output OUTPUT`."
)
VARIANTS = (
    "With known truths a method's estimate is corrected by `lehner.correct_by_truth`. The items "
    "whose truth is known are drawn at random, {draws} times for each system, and are at most half "
    "of all. A name that begins with `ppi_` is PPI++ with the probabilities of that method, and "
    "`known_items_alone` is the share right of the known items, with Wilson's interval for a "
    "finite population and without any method. `widened` means that the lower end of the interval "
    "allows for items that mislead raters and system alike, whose share has the prior "
    "Beta(0.5, 4.5) (`lehner.widen_interval`)."
)
OF_CROWDS = (
    "`split` says whether a crowd was used for choosing among models (choose) or kept until the "
    "choice was made (report). `items` is the number of items, `with truth` of those whose true "
    "category is known, and `systems` the number of workers who play the system."
)
OF_ONE_CROWD = (
    "Each cell of the next tables has the root mean squared error of a method on a crowd, and in "
    "brackets the coverage of its 90% intervals, if it has intervals. A dash means that the method "
    "was not run or gave no estimate. `mean accuracy` is the mean true accuracy of the systems. "
    "What 10, 50 and 100 known truths do on each crowd is in `real.csv`."
)
OF_LABELS = (
    "The table has the share of items whose most probable category is the true one, on the whole "
    "crowd. Where several categories are equally probable, the item is shared between them. EBCC, "
    "BWA and iBCC are as published. A dash means that a number was not published."
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
    opening = (f"{QUESTION} {_finding(measured)}", HOW, VARIANTS.format(draws=draws))
    blocks = [*map(Paragraph, opening), *_crowds(output)]
    if not measured.empty:
        blocks += [*_means(measured), *_by_crowd(measured)]
    text = to_markdown("Real ratings with known truth", [*blocks, *_labels(labels)])
    files = {
        "real.csv": measured.round(4).to_csv(index=False),
        "labels.csv": labels.round(4).to_csv(),
        "real.md": text,
    }
    return [write_text(content, output / name) for name, content in files.items()]


def _finding(measured: pd.DataFrame) -> str:
    """Say what known truths change, and more ratings, if models were run with these."""
    if measured.empty:
        return ""
    means = mean_over_crowds(measured).set_index(["split", "per_item", "known", "method"])
    alone, known = (("choose", "3", n, "relaxed_k") for n in (0, 20))
    if alone not in means.index or known not in means.index:
        return ""
    before, after = means.loc[alone], means.loc[known]
    found = (
        "They are often far from it, and their intervals are too narrow, because people and models "
        f"make the same mistakes: with three ratings an item, on {before['crowds']} crowds, the "
        f"90% intervals of `relaxed_k` contain the truth for {before['coverage']:.0%} of the "
        f"systems, and its root mean squared error is {short(before['rmse'])}. Known truths of 20 "
        f"items mend this: with them it is {after['coverage']:.0%} of the systems, and the error "
        f"is {short(after['rmse'])}."
    )
    every = ("choose", ALL, 0, "dawid_skene")
    if every not in means.index:
        return found
    more = means.loc[every]
    return (
        f"{found} More ratings do not: with all ratings of an item, on {more['crowds']} crowds, "
        f"the intervals of `dawid_skene` contain the truth for {more['coverage']:.0%} of the "
        f"systems, and its error is {short(more['rmse'])}."
    )


def _crowds(output: Path) -> Iterator[Block]:
    yield Heading("Crowds")
    yield Paragraph(OF_CROWDS)
    sizes = read_cells(output / "crowds").set_index("crowd")
    columns = [
        Column("crowd"),
        Column("split"),
        *(Column(name, name, "{:,}".format) for name in sizes.columns),
        Column("repository, licence"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, source in SOURCES.items():
        if name in sizes.index:
            repository = f"{source.repository.folder}, {source.repository.licence}"
            rows.append((name, source.split, *map(int, sizes.loc[name]), repository))
    yield Table(columns=columns, rows=rows)


def _means(measured: pd.DataFrame) -> Iterator[Block]:
    yield Paragraph(OF_MEANS)
    means = mean_over_crowds(measured)
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
        of_split = means[means["split"] == split]
        for (per_item, known), cell in of_split.groupby(["per_item", "known"]):
            yield Heading(f"{title}: {_design(per_item, known)}")
            yield Table(columns=columns, rows=[_mean_row(row) for _, row in cell.iterrows()])


def _mean_row(row: pd.Series) -> tuple[Cell, ...]:
    return (
        row["method"],
        row["crowds"],
        row["failed"],
        *((row[name], row[f"{name}_se"]) for name in ("bias", "rmse", "coverage")),
        (row["worst"], row["worst_crowd"]),
        (row["width"], row["width_se"]),
    )


def _in_brackets(value: float, second: float, digits: int = 3) -> str:
    if pd.isna(value) or pd.isna(second):
        return short(value)
    return f"{short(value)} ({short(second, digits)})"


def _lowest(coverage: float, crowd: str) -> str:
    return DASH if pd.isna(coverage) else f"{short(coverage)} ({crowd})"


def _by_crowd(measured: pd.DataFrame) -> Iterator[Block]:
    """Compare RMSE and coverage on each crowd, a table for each design."""
    yield Paragraph(OF_ONE_CROWD)
    shown = measured[measured["known"].isin(KNOWN_BY_CROWD)]
    for (per_item, known), cell in shown.groupby(["per_item", "known"]):
        methods = list(dict.fromkeys(cell["method"]))
        yield Heading(f"RMSE (coverage) on each crowd: {_design(per_item, known)}")
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
        yield Table(columns=columns, rows=rows)


def _labels(labels: pd.DataFrame) -> Iterator[Block]:
    yield Heading("Labels")
    yield Paragraph(OF_LABELS)
    rows = [(str(row.Index), *row[1:]) for row in labels.itertuples()]
    complete = labels.dropna()
    if len(complete):
        rows.append((f"mean of the {len(complete)} with all numbers", *complete.mean()))
    columns = [Column("crowd"), *(Column(name, name, short) for name in labels.columns)]
    yield Table(columns=columns, rows=rows)


def _design(per_item: str, known: int) -> str:
    raters = "all ratings" if per_item == ALL else f"{per_item} ratings an item"
    return f"{raters}, {known or 'no'} known truths"
