"""Is the stated probability that one system is better than another right? A simulation.

Three raters right on .7 of the items and two systems, whose accuracies are drawn from .6 to .9 for
each data set, so that either may be the better; three categories and 200 items. Processes are those
of `experiments.simulations.system_differences`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from experiments.simulations.simulation import Simulation, of_data_sets
from experiments.simulations.system_differences import (
    LEVEL,
    PROCESSES,
    Method,
    by_algebra,
    by_model,
    by_resampling,
    simulate_pair,
)
from lehner import compare_systems, estimate_latent_class
from lehner.core.seeds import child_seeds

N_ITEMS = 200
LEAST, MOST = 0.6, 0.9
BINS = (0.5, 0.7, 0.9, 0.99, 1.0)
"""Of the probability that the favoured system, whichever it is, is the better one."""


def reliability(found: pd.DataFrame) -> pd.DataFrame:
    """Brier score, and how often the favoured system is the better, in bins.

    Parameters
    ----------
    found : pandas.DataFrame
        With `method`, `estimand`, `probability` (that the first is better) and `better` (1 if it
        is, 0 if not, .5 for equal ones).

    Returns
    -------
    pandas.DataFrame
        A row for each method, estimand and bin: `n`, the mean `probability` of the favoured, the
        `share_better` and its `standard_error`; and a row for all, with `brier` and `brier_se`.

    Examples
    --------
    >>> values = {"probability": [0.8, 0.3], "better": [1, 0]}
    >>> one = reliability(pd.DataFrame({"method": "x", "estimand": "y"} | values))
    >>> one[["bin", "n", "share_better", "brier"]].to_dict("records")[-1]
    {'bin': 'all', 'n': 2, 'share_better': 1.0, 'brier': 0.065}
    """
    favoured = np.maximum(found["probability"], 1 - found["probability"])
    right = np.where(found["probability"] >= 0.5, found["better"], 1 - found["better"])
    rows = found.assign(favoured=favoured, right=right)
    labels = [f"{low} to {high}" for low, high in pairwise(BINS)]
    rows["bin"] = pd.cut(rows["favoured"], BINS, labels=labels, include_lowest=True).astype(str)
    tables = []
    for keys, group in rows.groupby(["method", "estimand"], sort=False):
        loss = (group["favoured"] - group["right"]) ** 2
        brier = {"brier": loss.mean(), "brier_se": loss.sem()}
        for name, part in [*group.groupby("bin"), ("all", group)]:
            n, smoothed = len(part), (part["right"].sum() + 1) / (len(part) + 2)
            tables.append(
                {"method": keys[0], "estimand": keys[1], "bin": name, "n": n}
                | {"probability": part["favoured"].mean(), "share_better": part["right"].mean()}
                # Above zero also where the proportion is 0 or 1.
                | {"standard_error": np.sqrt(smoothed * (1 - smoothed) / n)}
                | (brier if name == "all" else {})
            )
    return pd.DataFrame(tables)


def _rows(
    process: str, methods: Sequence[Method], seed: np.random.SeedSequence
) -> Iterator[dict[str, Any]]:
    of_accuracy, of_data, of_fit = child_seeds(seed, 3)
    base, copied = PROCESSES[process]
    first, second = np.random.default_rng(of_accuracy).uniform(LEAST, MOST, 2)
    scenario = replace(
        base,
        n_items=N_ITEMS,
        initial_rater_accuracy=(*base.initial_rater_accuracy[:3], second),
        initial_system_accuracy=first,
    )
    ratings, truth = simulate_pair(scenario, copied, of_data)
    better = {name: (np.sign(value) + 1) / 2 for name, value in truth.items()}
    for estimate in methods:
        method, draws, points = estimate(ratings, of_fit)
        (found,) = compare_systems(points, draws, level=LEVEL)
        said = (found.probability_better, found.probability_better_in_sample)
        for estimand, probability in zip(better, said, strict=True):
            row = {"method": method, "estimand": estimand, "probability": probability}
            yield row | {"better": better[estimand]}


by_maximum_likelihood = partial(
    by_resampling,
    "dawid_skene_ml",
    partial(estimate_latent_class, interval=None, restarts=0),
)


def _simulation(methods: Sequence[Method], data_sets: int) -> Simulation:
    designs = [
        of_data_sets((1, place), _rows, process, methods, process=process)
        for place, process in enumerate(PROCESSES)
    ]
    return Simulation(designs=designs, summarise=reliability, data_sets=data_sets)


SIMULATION = _simulation([by_algebra, by_maximum_likelihood, partial(by_model, "dawid_skene")], 100)
BY_RELAXED_K = _simulation([partial(by_model, "relaxed_k")], 60)
