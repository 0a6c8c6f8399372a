"""All results that are kept, as rows: one for each estimate."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.benchmarks.real.known_truths import ALONE, BY_PPI, known_folder
from experiments.benchmarks.real.maximum_likelihood import ALL_METHODS
from experiments.benchmarks.real.protocol import RATINGS_PER_ITEM
from experiments.benchmarks.real.run import LEVEL
from experiments.benchmarks.real.sources import SOURCES
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
    rows = _of_common_systems(pd.DataFrame(_rows(output, seed, draws), columns=[*COLUMNS, "draw"]))
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


def _rows(output: Path, seed: int, draws: int) -> Iterator[dict[str, Any]]:
    for path in sorted((output / "parts").glob("*.json")):
        part = json.loads(path.read_text(encoding="utf-8"))
        if part["seed"] != seed or not part["n_items"]:
            continue
        source = SOURCES[part["crowd"]]
        names = set(COLUMNS) & set(part)
        shared = {name: part[name] for name in names} | {
            "family": source.family,
            "split": source.split,
        }
        yield shared | {"known": 0, "draw": 0}
        if part["lower"] is not None:
            yield shared | {"known": 0, "draw": 0} | _widened(part)
        corrected = known_folder(output, draws) / path.name
        if corrected.exists():
            rows = json.loads(corrected.read_text(encoding="utf-8"))["rows"]
            yield from (shared | row for row in rows)


def _widened(part: dict[str, Any]) -> dict[str, Any]:
    """Give the interval that allows for items that mislead raters and system alike."""
    interval = IntervalEstimate(
        estimate=part["estimate"],
        lower=part["lower"],
        upper=part["upper"],
        level=LEVEL,
        kind="of a benchmark",
    )
    wide = widen_interval(interval, SHARED_MISTAKES, part["n_categories"])
    return {"method": part["method"] + WIDENED, "lower": wide.lower}
