"""All results that are kept, as rows: one for each estimate."""

from pathlib import Path

import pandas as pd

from experiments.benchmarks.real.known_truths import ALONE, BY_PPI, known_folder
from experiments.benchmarks.real.left_out import calibrated_rows
from experiments.benchmarks.real.outcomes import read_outcomes
from experiments.benchmarks.real.sources import SOURCES
from experiments.study.cells import read_cells
from lehner import InputError
from lehner.empirical_prior.designs import DESIGNS, RATINGS_PER_ITEM
from lehner.empirical_prior.prior import SYSTEM_IS
from lehner.estimation.methods import list_methods

DESIGN = ["crowd", "design", "per_item"]
OF_CROWD = ("family", "domain", "split")


def read_rows(output: Path, seed: int, draws: int) -> pd.DataFrame:
    """Read the estimates that were kept.

    Parameters
    ----------
    output : Path
        Where results are kept.
    seed : int
        Of the benchmark; results of other seeds are left out.
    draws : int
        How often labelled items were drawn for each fit.

    Returns
    -------
    pandas.DataFrame
        As `measure_crowds` takes it, in the order of the crowds and methods. Of each crowd, design
        and number of ratings of an item there are the systems that every method there was run on,
        so that all methods are compared on the same ratings.

    Raises
    ------
    InputError
        If there are none.
    """
    fits = read_cells(output / "parts")
    if fits.empty:
        raise InputError("no worker has enough items to play the system", "add other crowds")
    fits = fits[fits["seed"] == seed]
    methods = fits.groupby(DESIGN)["method"].transform("nunique")
    of_system = fits.groupby([*DESIGN, "system"])["method"].transform("nunique")
    common = fits.loc[of_system == methods, [*DESIGN, "system"]].drop_duplicates()
    rows = pd.concat([fits.assign(known=0, draw=0), read_cells(known_folder(output, draws))])
    rows = rows[rows["seed"] == seed].merge(common)
    # The labelled items alone are there once for each method.
    rows = rows.drop_duplicates([*DESIGN, "known", "method", "system", "draw"])
    return in_order(pd.concat([rows, calibrated_rows(rows, read_outcomes())]))


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Say the family, domain and split of each row's crowd, and put crowds and methods in order."""
    of_crowd = {
        column: [getattr(SOURCES[name], column) for name in rows["crowd"]] for column in OF_CROWD
    }
    names = list_methods()
    places = {
        "crowd": list(SOURCES),
        "design": DESIGNS,
        "per_item": RATINGS_PER_ITEM,
        "method": [
            *(f"calibrated, {system_is}" for system_is in SYSTEM_IS),
            *names,
            *(BY_PPI + name for name in names),
            ALONE,
        ],
    }
    order = {
        name: {value: i for i, value in enumerate(order_of)} for name, order_of in places.items()
    }
    return rows.assign(**of_crowd).sort_values(
        [*DESIGN, "known", "method", "system"],
        key=lambda column: column.map(order[column.name]) if column.name in order else column,
        ignore_index=True,
    )
