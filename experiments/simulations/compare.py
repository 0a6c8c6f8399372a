"""Coverage of proportions in groups of items and their differences, and false bests."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.study.cells import result_row
from lehner import Ratings, Results, compare
from lehner.core.arrays import Floats, Integers
from lehner.core.seeds import child_seeds
from lehner.estimation.results import value_of

LEVEL, SURE = 0.9, 0.95
METHODS = ("dawid_skene", "dawid_skene_ml", "majority")
RECALL = np.array([[0.75, 0.65, 0.6, 0.8], [0.75, 0.6, 0.8, 0.7]])
"""Of four raters (columns) of bad and of good items."""
WORSE, SPREAD, N_KNOWN = 0.1, 1.5, 20
"""How much less accurate raters are in the first group; standard deviation of difficulty in log
odds; and items of known truth in each group."""
PROCESSES = ("as assumed", "raters worse in one group", "items differ in difficulty")
RATES = {"equal": np.full(6, 0.6), "unequal": np.linspace(0.75, 0.5, 6)}


def compare_groups(
    seed: int, process: str, rates: str, groups: int, size: int, known: int
) -> Iterator[dict[str, Any]]:
    """Estimate proportions and differences of groups whose rates are equal or unequal."""
    data, fit = child_seeds(seed, 2)
    of_groups = RATES[rates][:: 6 // groups][:groups]
    group, ratings = draw_ratings(process, of_groups, size, known, np.random.default_rng(data))
    names = np.array([f"g{g}" for g in range(groups)])[group]
    of_fit = int(fit.generate_state(1)[0])
    yield from _rows(compare(ratings, "good", names, METHODS, level=LEVEL, seed=of_fit), of_groups)


def draw_ratings(
    process: str, rates: Floats, size: int, known: int, rng: np.random.Generator
) -> tuple[Integers, Ratings]:
    """Draw the groups of items, each of the same size, and their ratings, good or bad."""
    group = np.repeat(np.arange(len(rates)), size)
    truth = (rng.random(len(group)) < rates[group]).astype(np.int64)
    recall = RECALL[truth]
    if process == PROCESSES[1]:
        recall = recall - WORSE * (group == 0)[:, None]
    elif process == PROCESSES[2]:
        odds = recall / (1 - recall) * np.exp(SPREAD * rng.standard_normal((len(group), 1)))
        recall = odds / (1 + odds)
    right = rng.random(recall.shape) < recall
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    shown = np.where(np.tile(np.arange(size), len(rates)) < known, truth, -1)
    return group, Ratings(codes, ["bad", "good"], truth=shown if known else None)


def _rows(found: Results, rates: Floats) -> Iterator[dict[str, Any]]:
    """Lay out estimates; of false bests and of warnings the bias is how often there is one."""
    rate_of = {f"g{g}": rate for g, rate in enumerate(rates)}
    best = (
        {name for name, rate in rate_of.items() if rate == rates.max()} if np.ptp(rates) else set()
    )
    for method, table in found.select(category="good").groupby("method", sort=False):
        for _, one in table[table["quantity"] == "base_rates"].iterrows():
            truth = rate_of[one["group"]]
            yield result_row(truth, value_of(one), method=method, quantity="proportion")
        for _, one in table[table["quantity"] == "base_rates_difference"].iterrows():
            truth = rate_of[one["group"]] - rate_of[one["versus"]]
            row = result_row(truth, value_of(one), method=method, quantity="difference")
            # Of pairs as they are, the one with the higher estimate first, all would be biased.
            yield row if one["group"] < one["versus"] else _turned(row)
        ranks = table[table["quantity"] == "base_rates_rank"]
        sure = set(ranks["group"][ranks["probability"] > SURE])
        said = {one.code for one in found.warnings if one.method in ("", method)}
        for quantity, happened in (
            ("false best", bool(sure - best)),
            ("best found", bool(sure & best)),
            ("raters-differ", "raters-differ" in said),
            ("agreement-unexplained", bool(said & {"agreement-unexplained", "shared-mistakes"})),
        ):
            row = {"method": method, "quantity": quantity, "truth": 0.0}
            yield row | {"estimate": float(happened), "lower": None, "upper": None}


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """Subtract the first from the second."""
    ends = {"lower": -row["upper"], "upper": -row["lower"]}
    return row | ends | {"truth": -row["truth"], "estimate": -row["estimate"]}
