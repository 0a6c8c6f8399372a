"""How often warnings about ratings fire on the real crowds, without their truths.

    python -m experiments.benchmarks.real.warning_rates CROWDS > warning_rates.csv

deals each crowd as `lehner.empirical_prior.deals` says, and writes the mean over crowds.
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.benchmarks.real.sources import find_sources
from experiments.simulations.warning_rates import WARNINGS, warnings_of
from lehner.core.seeds import seed_of
from lehner.empirical_prior.deals import choose_panels, deal


def crowd_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """What fires on each system of each crowd, dealt in both ways."""
    for source in find_sources():
        crowd = source.reader(source.paths(folder))
        for how, per_item in product(("like", "better"), ("3", "5", "all")):
            for panel in choose_panels(crowd, how):
                ratings = deal(panel, per_item, seed_of(1, source.name, panel.system))
                if ratings is not None:
                    place = {"crowd": source.name, "deal": how, "ratings": per_item}
                    yield place | warnings_of(ratings.with_truth(None))


if __name__ == "__main__":
    rows = pd.DataFrame(crowd_rows(Path(sys.argv[1])))
    by_crowd = rows.groupby(["deal", "ratings", "crowd"])[list(WARNINGS)].mean()
    by_deal = by_crowd.groupby(["deal", "ratings"], sort=False)
    errors = by_deal.sem().add_suffix("_se")
    table = by_deal.size().to_frame("crowds").join(by_deal.mean()).join(errors)
    print(table.round(4).to_csv(), end="")
