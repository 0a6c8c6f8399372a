"""What choosing the best workers by the items on which they are then judged does.

Half of a crowd's items are dealt. The systems are of the best third of the workers by these items,
as in the deal "better", or by the other half, which chance does not make look better.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.left_out import calibrated_rows
from experiments.benchmarks.real.measures import measure_crowds
from experiments.benchmarks.real.outcomes import read_outcomes
from experiments.benchmarks.real.results import in_order
from experiments.benchmarks.real.run import crowd_of
from experiments.simulations.methods import estimate_as_in_studies
from experiments.study.cells import Cell, Row, result_row
from lehner.core.seeds import place_of, seed_of
from lehner.empirical_prior.deals import choose_panels, deal

METHODS = ("majority_agreement", "dawid_skene_ml")
RANKED_BY = ("the same items", "other items")
PER_ITEM = "3"


def halves_cell(name: str, folder: Path, seed: int) -> Cell:
    """Cell of a crowd whose workers are ranked in both ways."""
    return Cell(
        name=name,
        place=place_of(name),
        values={"crowd": name, "deal": "better", "per_item": PER_ITEM, "known": 0},
        simulate=partial(_halves, name, folder, seed),
    )


def _halves(name: str, folder: Path, seed: int, draw: np.random.SeedSequence) -> Iterator[Row]:
    crowd = crowd_of(name, folder)
    items = np.random.default_rng(draw).permutation(crowd.n_items)
    dealt_half, other_half = (crowd.take(np.sort(half)) for half in np.array_split(items, 2))
    for ranked_by, half in zip(RANKED_BY, (dealt_half, other_half), strict=True):
        for panel in choose_panels(dealt_half, "better", ranked_by=half):
            dealt = deal(panel, PER_ITEM, seed_of(seed, name, panel.system))
            if dealt is None:
                continue
            ratings = dealt.with_truth(None)
            for method in METHODS:
                found = estimate_as_in_studies(method, ratings, 1).system_accuracy_in_sample
                yield result_row(
                    float(np.mean(dealt.system == dealt.truth)),
                    found,
                    ranked_by=ranked_by,
                    system=panel.system,
                    method=method,
                    n_items=ratings.n_items,
                )


def measure_halves(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure methods, and `calibrated` trained on other families, after either ranking.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of the cells.

    Returns
    -------
    pandas.DataFrame
        As `measure_crowds` gives it, of the crowds with systems in both rankings, after a column
        `ranked_by`.
    """
    both = rows.groupby("crowd")["ranked_by"].transform("nunique") == len(RANKED_BY)
    tables = []
    for name, found in rows[both].groupby("ranked_by", sort=False):
        found = found.drop(columns="ranked_by")
        measured = measure_crowds(
            in_order(pd.concat([calibrated_rows(found, read_outcomes()), found]))
        )
        tables.append(measured.assign(ranked_by=name))
    return pd.concat(tables, ignore_index=True)
