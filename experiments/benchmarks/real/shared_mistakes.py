"""Where real crowds lie: how much errors correlate in each, and whether bounds hold the truth.

Data sets with three ratings of each item are drawn as for the priors; the truth is known.

Run in a clone: `python -m experiments.benchmarks.real.shared_mistakes FOLDER`
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.sources import Source, find_sources, read_crowd
from experiments.report.files import write_csv, write_text
from experiments.report.table import Column, Table, to_markdown
from lehner.core.seeds import seed_of
from lehner.core.text import short
from lehner.dependence.bounds import (
    REAL_CROWDS,
    bounds_of,
    mistake_correlations,
    mistakes_needed,
    tabulate_mistakes,
)
from lehner.empirical_prior.designs import DESIGNS, choose_panels, draw_design

PER_ITEM = "3"
SEED = 1
CAPS = (0, 0.1, 0.25, 0.5)
ROUNDING = 0.002
OF_CROWD = ["crowd", "family", "domain", "design"]
OF_GROUP = {"categories": None, "design": "system is", "cap": "correlate by at most"}
MEASURES = {
    "inside": "raters only: inside",
    "width": "width",
    "inside_both": "raters and system: inside",
    "width_both": "width",
    "above": "above the sentence’s accuracy",
}


def measure(source: Source, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure correlations of errors, and compute bounds, in each data set of a crowd.

    Parameters
    ----------
    source : Source
    folder : Path
        With a folder for each repository.

    Yields
    ------
    dict
        A row for each data set and cap: what it is of, the correlations `raters` and `system`, the
        system's `accuracy`, and whether bounds hold it.
    """
    crowd = read_crowd(source, folder)
    for how in DESIGNS:
        for panel in choose_panels(crowd, how):
            drawn = draw_design(panel, PER_ITEM, seed_of(SEED, source.name, panel.system))
            if drawn is None:
                continue
            raters, system = mistake_correlations(drawn)
            accuracy = float(np.mean(drawn.system == drawn.truth))
            above = accuracy > mistakes_needed(drawn).above
            for cap in CAPS:
                alone, both = (bounds_of(tabulate_mistakes(drawn), cap, y) for y in (1.0, cap))
                yield {
                    "crowd": source.name,
                    "family": source.family,
                    "domain": source.domain,
                    "design": how,
                    "panel": panel.system,
                    "categories": "2" if drawn.n_categories == 2 else "more",
                    "raters": raters,
                    "system": system,
                    "accuracy": accuracy,
                    "cap": cap,
                    "inside": alone[0] - ROUNDING <= accuracy <= alone[1] + ROUNDING,
                    "width": alone[1] - alone[0],
                    "inside_both": both[0] - ROUNDING <= accuracy <= both[1] + ROUNDING,
                    "width_both": both[1] - both[0],
                    "above": above,
                }


def coverage_table(measured: pd.DataFrame) -> Table:
    """Tabulate how often bounds held the truth, and how wide they were: means over crowds."""
    crowds = measured.groupby([*OF_GROUP, "crowd"])[list(MEASURES)].mean()
    titles = OF_GROUP | MEASURES
    return Table(
        columns=[
            Column(name, title, "{:g}".format if name == "cap" else short)
            for name, title in titles.items()
        ],
        rows=crowds.groupby(list(OF_GROUP)).mean().reset_index().to_numpy().tolist(),
        keys=2,
    )


def main() -> None:
    """Measure all crowds in a folder, and write the means over systems and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with a folder for each repository")
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    measured = pd.DataFrame(row for source in find_sources() for row in measure(source, folder))
    groups = measured.groupby(OF_CROWD, sort=False)
    means = groups[["raters", "system", "accuracy"]].mean()
    means = means.assign(systems=groups["panel"].nunique()).dropna().reset_index()
    write_csv(means.round(3), REAL_CROWDS)
    write_text(to_markdown(coverage_table(measured)) + "\n", Path(__file__).with_suffix(".md"))


if __name__ == "__main__":
    main()
