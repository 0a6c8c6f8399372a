"""The tables: tidy CSVs, and `page.md` filled in."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.benchmarks.real.left_out import calibrated_rows
from experiments.benchmarks.real.measures import MEASURES, mean_over_crowds, measure_crowds
from experiments.benchmarks.real.outcomes import read_outcomes
from experiments.benchmarks.real.results import in_order, read_rows
from experiments.benchmarks.real.sources import SOURCES
from experiments.report.files import write_text
from experiments.report.table import Cell, Column, Table, to_markdown
from experiments.study.cells import read_cells
from lehner.core.text import DASH, short
from lehner.empirical_prior.designs import ALL, DESIGNS

FEW = "3"
"""Ratings of an item in tables of one design."""


def write_report(output: Path, seed: int, draws: int) -> list[Path]:
    """Write the tables of all results that are kept.

    Parameters
    ----------
    output : Path
        Where results are kept, and the tables go.
    seed : int
        Of the benchmark.
    draws : int
        How often labelled items were drawn for each fit.

    Returns
    -------
    list of Path
        `systems.csv`, a row for each system and method without gold labels; `real.csv`, all
        measures on each crowd; `domains.csv`, those without whole domains; `real.md`.
    """
    rows = read_rows(output, seed, draws)
    measured = measure_crowds(rows)
    alone = rows[(rows["known"] == 0) & (rows["per_item"] == FEW)]
    domains = measure_crowds(in_order(calibrated_rows(alone, read_outcomes(), "domain")))
    means = mean_over_crowds(measured)
    first = measured[(measured["per_item"] == FEW) & (measured["known"] == 0)]
    page = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    text = page.format(
        finding=_finding(means.set_index(["design", "per_item", "known", "method"])),
        draws=draws,
        crowds=_crowds(read_cells(output / "crowds").set_index("crowd")),
        means="\n\n".join(_means(means[means["known"] == 0])),
        known="\n\n".join(_known(measured[measured["known"] > 0])),
        splits=_splits(mean_over_crowds(first, ["split", "design", "method"])),
        domains=table_of_means(domains, ["domain", "design", "method"]),
    )
    tables = {
        "systems.csv": of_systems(rows),
        "real.csv": measured.drop(columns=["domain", "split"]),
        "domains.csv": domains.drop(columns=["split", "known", "per_item"]),
    }
    files = {name: table.round(4).to_csv(index=False) for name, table in tables.items()}
    return [
        write_text(content, output / name) for name, content in (files | {"real.md": text}).items()
    ]


def of_systems(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep what every method says of every system without gold labels; workers get numbers."""
    kept = rows[rows["known"] == 0]
    numbers = kept.groupby("crowd")["system"].transform(lambda one: pd.factorize(one, sort=True)[0])
    numbered = kept.assign(system=numbers.astype(int) + 1)
    columns = [
        "crowd",
        "design",
        "per_item",
        "system",
        "n_items",
        "n_categories",
        "truth",
        "method",
    ]
    return numbered[[*columns, "estimate", "lower", "upper"]]


def table_of_means(measured: pd.DataFrame, keys: Sequence[str]) -> str:
    """Write means over crowds, a row for each value of the keys."""
    columns = [
        *(Column(name) for name in [*keys, "crowds"]),
        Column("accuracy", "mean accuracy", short),
        *(Column(_title(name), format=_in_brackets) for name in MEASURES),
    ]
    rows = [
        (*(row[name] for name in [*keys, "crowds", "accuracy"]), *_measures(row))
        for row in mean_over_crowds(measured, keys).to_dict("records")
    ]
    return to_markdown(Table(columns=columns, rows=rows, keys=len(keys)))


def table_of_known(measured: pd.DataFrame, keys: Sequence[str] = ("method",)) -> str:
    """Write RMSE, coverage and width, a column for each number of gold labels."""
    means = mean_over_crowds(measured, [*keys, "known"])
    return _across(means, "known", ["rmse", "coverage", "width"], "{} gold labels".format, keys)


def _finding(means: pd.DataFrame) -> str:
    """Say what methods without gold labels and `calibrated` do, if they were run."""
    said = []
    for design, words in (("like", "is like its raters"), ("better", "is better than they")):
        names = ("majority_agreement", "relaxed_k", f"calibrated, {design}")
        keys = [(design, FEW, 0, name) for name in names]
        if not set(keys) <= set(means.index):
            return ""
        majority, model, calibrated = (means.loc[key] for key in keys)
        said.append(
            f"Where the system {words}, with three ratings per item, the RMSE is "
            f"{short(majority['rmse'])} by agreement with the majority, {short(model['rmse'])} by "
            f"`relaxed_k` and {short(calibrated['rmse'])} by `calibrated`; the 90% intervals of "
            f"`relaxed_k` cover the truth for {model['coverage']:.0%} of the systems and those of "
            f"`calibrated` for {calibrated['coverage']:.0%}."
        )
    return " ".join(said)


def _crowds(sizes: pd.DataFrame) -> str:
    columns = [
        *(Column(name) for name in ("crowd", "domain", "split")),
        *(Column(name, name, "{:,}".format) for name in sizes.columns),
        Column("repository, licence"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for name in (name for name in SOURCES if name in sizes.index):
        source = SOURCES[name]
        repository = f"{source.repository.folder}, {source.repository.licence}"
        rows.append((name, source.domain, source.split, *map(int, sizes.loc[name]), repository))
    return to_markdown(Table(columns=columns, rows=rows))


def _means(means: pd.DataFrame) -> Iterator[str]:
    columns = [
        Column("method"),
        Column("crowds"),
        Column("no estimate", format=short),
        *(Column(_title(name), format=_in_brackets) for name in MEASURES),
        Column("lowest", format=_lowest),
    ]
    for (design, per_item), table in means.groupby(["design", "per_item"], sort=False):
        yield f"## {_design(design, per_item)}"
        rows = [
            (
                *(row[name] for name in ("method", "crowds", "failed")),
                *_measures(row),
                (row["worst"], row["worst_crowd"]),
            )
            for row in table.to_dict("records")
        ]
        yield to_markdown(Table(columns=columns, rows=rows))


def _known(measured: pd.DataFrame) -> Iterator[str]:
    for (design, per_item), table in measured.groupby(["design", "per_item"], sort=False):
        yield f"### {_design(design, per_item)}"
        yield table_of_known(table)


def _splits(means: pd.DataFrame) -> str:
    means = means.assign(cell=means["design"] + ", " + means["split"])
    means = means.sort_values("split", kind="stable")
    means = means.sort_values(
        "design", key=lambda designs: designs.map(DESIGNS.index), kind="stable"
    )
    # That of better systems is not among the first design's methods.
    means = means.sort_values(
        "method", key=lambda names: ~names.str.startswith("calib"), kind="stable"
    )
    return _across(means, "cell", ["rmse", "coverage"])


def _across(
    table: pd.DataFrame,
    across: str,
    numbers: list[str],
    title: Callable[[str], str] = str,
    keys: Sequence[str] = ("method",),
) -> str:
    """Write a row for each value of the keys, and a column for each value of another one."""
    places = list(dict.fromkeys(table[across]))
    rows = []
    for key, group in table.groupby(list(keys), sort=False):
        cells = group.set_index(across)[numbers].reindex(places)
        rows.append((*key, *map(tuple, cells.to_numpy())))
    columns = [*map(Column, keys), *(Column(str(place), title(place), _cell) for place in places)]
    return to_markdown(Table(columns=columns, rows=rows))


def _title(measure: str) -> str:
    return "RMSE" if measure == "rmse" else measure


def _measures(row: dict[str, Any]) -> list[tuple[float, float]]:
    return [(row[name], row[f"{name}_se"]) for name in MEASURES]


def _cell(rmse: float, *others: float) -> str:
    shown = [short(number, 2) for number in others if not pd.isna(number)]
    return f"{short(rmse)} ({', '.join(shown)})" if shown else short(rmse)


def _in_brackets(value: float, second: float) -> str:
    if pd.isna(value) or pd.isna(second):
        return short(value)
    return f"{short(value)} ({short(second)})"


def _lowest(coverage: float, crowd: str) -> str:
    return DASH if pd.isna(coverage) else f"{short(coverage)} ({crowd})"


def _design(design: str, per_item: str) -> str:
    ratings = "all ratings" if per_item == ALL else f"{per_item} ratings per item"
    words = "like" if design == "like" else f"{design} than"
    return f"System {words} its raters, {ratings}"
