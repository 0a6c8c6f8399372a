"""Where real crowds lie: how much mistakes correlate in each, and whether bounds hold the truth.

Data sets with three ratings of each item are dealt as for the priors; the truth is known.

Run in a clone: `python -m experiments.benchmarks.real.shared_mistakes FOLDER`
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.sources import Source, find_sources, read_crowd
from experiments.reporting.files import write_csv, write_text
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Column, Table
from lehner import Ratings
from lehner.core.number_format import short
from lehner.core.seeds import seed_of
from lehner.dependence.accuracy_bounds import bounds_of
from lehner.dependence.mistakes import mistake_correlations, tabulate_mistakes
from lehner.dependence.mistakes_needed import REAL_CROWDS, mistakes_needed
from lehner.empirical_prior.deals import DEALS, choose_panels, deal

PER_ITEM = "3"
SEED = 1
CAPS = (0, 0.1, 0.25, 0.5)
ROUNDING = 0.002
TITLES = ("raters only: inside", "width", "raters and system: inside", "width")
BY = ["crowd", "family", "domain", "deal"]


def measure(source: Source, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure correlations of mistakes, and compute bounds, in each data set of a crowd.

    Parameters
    ----------
    source : Source
    folder : Path
        With a folder for each repository.

    Yields
    ------
    dict
        What the data set is of, `raters` and `system` with their correlations, the system's
        `accuracy`, and by caps whether bounds are `inside`, and their `width`.
    """
    crowd = read_crowd(source, folder)
    for how in DEALS:
        for panel in choose_panels(crowd, how):
            dealt = deal(panel, PER_ITEM, seed_of(SEED, source.name, panel.system))
            if dealt is None:
                continue
            raters, system = mistake_correlations(dealt)
            row = dict(zip(BY, (source.name, source.family, source.domain, how), strict=True))
            row["categories"] = "2" if dealt.n_categories == 2 else "more"
            accuracy = float(np.mean(dealt.system == dealt.truth))
            yield (
                row
                | {"raters": raters, "system": system, "accuracy": accuracy}
                | _held(dealt, accuracy)
            )


def _held(dealt: Ratings, accuracy: float) -> dict[str, float]:
    """Whether bounds hold the truth, and their widths, by caps."""
    held = {"above": float(accuracy > mistakes_needed(dealt).above)}
    for cap in CAPS:
        for whose, of_system in (("raters", 1.0), ("both", cap)):
            lower, upper = bounds_of(tabulate_mistakes(dealt), cap, of_system)
            inside = lower - ROUNDING <= accuracy <= upper + ROUNDING
            held |= {f"inside {whose} {cap}": float(inside), f"width {whose} {cap}": upper - lower}
    return held


def coverage_table(measured: pd.DataFrame) -> Table:
    """Tabulate how often bounds held the truth, and how wide they were: means over crowds."""
    numbers = measured.columns.difference([*BY, "categories"])
    crowds = measured.groupby(["categories", "deal", "crowd"])[list(numbers)].mean()
    groups = crowds.groupby(["categories", "deal"])
    names = [f"{what} {whose}" for whose in ("raters", "both") for what in ("inside", "width")]
    return Table(
        columns=[
            Column("categories"),
            Column("deal", "system is"),
            Column("cap", "correlate by at most", "{:g}".format),
            *(Column(name, title, short) for name, title in zip(names, TITLES, strict=True)),
            Column("above", "above the sentence’s accuracy", short),
        ],
        rows=[
            (*key, cap, *(means[f"{name} {cap}"] for name in names), means["above"])
            for key, means in groups.mean().iterrows()
            for cap in CAPS
        ],
        keys=3,
    )


def main() -> None:
    """Measure all crowds in a folder, and write the means over systems and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    measured = pd.DataFrame(row for source in find_sources() for row in measure(source, folder))
    groups = measured.groupby(BY, sort=False)[["raters", "system", "accuracy"]]
    means = groups.mean().assign(systems=groups.size()).reset_index().dropna()
    table = to_markdown(coverage_table(measured))
    for path in (
        write_csv(means.round(3), REAL_CROWDS),
        write_text(table, Path(__file__).with_suffix(".md")),
    ):
        print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
