"""All results that are kept, as rows: one for each estimate."""

from pathlib import Path

import pandas as pd

from experiments.benchmarks.real.known_truths import ALONE, BY_PPI, known_folder
from experiments.benchmarks.real.maximum_likelihood import ALL_METHODS, LEVEL
from experiments.benchmarks.real.protocol import RATINGS_PER_ITEM
from experiments.benchmarks.real.sources import SOURCES
from experiments.study.cells import read_cells
from lehner import IntervalEstimate, widen_interval

COLUMNS = [
    "crowd",
    "family",
    "split",
    "per_item",
    "known",
    "method",
    "system",
    "n_items",
    "truth",
    "estimate",
    "lower",
    "upper",
]
WIDENED = ", widened"
SHARED_MISTAKES = (0.5, 4.5)


def read_rows(output: Path, seed: int, draws: int) -> pd.DataFrame:
    """Read the estimates that were kept.

    Parameters
    ----------
    output : Path
        Where results are kept.
    seed : int
        Of the benchmark; results of other seeds are left out.
    draws : int
        How often known items were drawn for each fit.

    Returns
    -------
    pandas.DataFrame
        As `measure_crowds` takes it, in the order of the crowds and methods. Of each crowd and
        number of ratings of an item there are the systems that every method there was run on, so
        that all methods are compared on the same ratings.
    """
    rows = _of_common_systems(_rows(output, seed, draws)[[*COLUMNS, "draw"]])
    # The known items alone are there once for each method.
    rows = rows.drop_duplicates(["crowd", "per_item", "known", "method", "system", "draw"])
    places = {
        "crowd": list(SOURCES),
        "per_item": RATINGS_PER_ITEM,
        "method": [
            *(name + end for name in ALL_METHODS for end in ("", WIDENED)),
            *(BY_PPI + name for name in ALL_METHODS),
            ALONE,
        ],
    }
    order = {name: {one: i for i, one in enumerate(known)} for name, known in places.items()}
    return rows.sort_values(
        ["crowd", "per_item", "known", "method", "system"],
        key=lambda column: column.map(order[column.name]) if column.name in order else column,
        ignore_index=True,
    )


def _of_common_systems(rows: pd.DataFrame) -> pd.DataFrame:
    fits = rows[(rows["known"] == 0) & ~rows["method"].str.endswith(WIDENED)]
    methods = fits.groupby(["crowd", "per_item"])["method"].nunique().rename("methods")
    of_system = fits.groupby([*methods.index.names, "system"])["method"].nunique().rename("run")
    counts = rows.join(methods, on=methods.index.names).join(of_system, on=of_system.index.names)
    return rows[counts["run"] == counts["methods"]]


def _rows(output: Path, seed: int, draws: int) -> pd.DataFrame:
    fits = read_cells(output / "parts")
    if fits.empty:
        return pd.DataFrame(columns=[*COLUMNS, "draw"])
    found = pd.concat(
        [
            fits.assign(known=0, draw=0),
            _widened(fits.dropna(subset="lower")).assign(known=0, draw=0),
            read_cells(known_folder(output, draws)),
        ]
    )
    found = found[found["seed"] == seed]
    sources = found["crowd"].map(SOURCES)
    return found.assign(
        family=[source.family for source in sources], split=[source.split for source in sources]
    )


def _widened(fits: pd.DataFrame) -> pd.DataFrame:
    """Intervals that allow for items that mislead raters and system alike."""
    lower = []
    for fit in fits.itertuples():
        interval = IntervalEstimate(
            estimate=fit.estimate,
            lower=fit.lower,
            upper=fit.upper,
            level=LEVEL,
            kind="of a benchmark",
        )
        lower.append(widen_interval(interval, SHARED_MISTAKES, fit.n_categories).lower)
    return fits.assign(method=fits["method"] + WIDENED, lower=lower)
