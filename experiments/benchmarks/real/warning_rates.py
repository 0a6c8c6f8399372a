"""How often warnings about ratings fire on the real crowds, without their truths.

    python -m experiments.benchmarks.real.warning_rates CROWDS > warning_rates.csv

deals each crowd as `lehner.empirical_prior.deals` says, and writes how often each fires, the
mean over crowds, and the error of the algebra where it fires and elsewhere, means over systems.
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.sources import find_sources
from experiments.simulations.warning_rates import WARNINGS, warnings_of
from lehner import Ratings, estimate_algebraic
from lehner.core.seeds import seed_of
from lehner.empirical_prior.deals import choose_panels, deal

COLUMNS = ["deal", "ratings", "warning", "crowds", "fires", "se"]
COLUMNS += ["systems", "error", "error_elsewhere"]


def crowd_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """What fires on each system of each crowd, dealt in both ways."""
    for source in find_sources():
        crowd = source.reader(source.paths(folder))
        for how, per_item in product(("like", "better"), ("3", "5", "all")):
            for panel in choose_panels(crowd, how):
                ratings = deal(panel, per_item, seed_of(1, source.name, panel.system))
                if ratings is not None:
                    place = {"crowd": source.name, "deal": how, "ratings": per_item}
                    yield place | {"error": _error(ratings)} | warnings_of(ratings.with_truth(None))


def _error(ratings: Ratings) -> float:
    accuracy = estimate_algebraic(ratings, interval=None).system_accuracy.estimate
    truth = float(np.mean(ratings.system == ratings.truth))
    return np.nan if accuracy is None else accuracy - truth


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Make a row for each deal, number of ratings and warning."""
    table = []
    for place, group in rows.groupby(["deal", "ratings"], sort=False):
        for name in WARNINGS:
            by_crowd, fired = group.groupby("crowd")[name].mean(), group[name] == 1
            numbers = (len(by_crowd), by_crowd.mean(), by_crowd.sem(), fired.sum())
            errors = (group[fired]["error"].mean(), group[~fired]["error"].mean())
            table.append((*place, name, *numbers, *errors))
    return pd.DataFrame(table, columns=COLUMNS)


if __name__ == "__main__":
    found = pd.DataFrame(crowd_rows(Path(sys.argv[1])))
    print(summarise(found).round(4).to_csv(index=False), end="")
