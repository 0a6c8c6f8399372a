"""What pooling raters within their groups gains, by simulation: four experts and a crowd of eight.

Experts are right in about .85 and the crowd in about .6 of the items, in three categories; each
rater has a confusion matrix that varies around that accuracy. Each item has four ratings and a
system's answer, right in .8. Models are fitted with the groups and without.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from experiments.simulations.simulation import Simulation, of_data_sets
from experiments.study.performance import mean_proportion
from lehner import Ratings
from lehner.core.arrays import Floats, draw_categories
from lehner.core.seeds import child_seeds

DATA_SETS = 60
N_RATINGS = (10, 30, 100)
"""Of each rater."""
LEVEL = 0.9
BASE_RATES = np.array([0.5, 0.3, 0.2])
GROUP = np.repeat(["expert", "crowd"], [4, 8])
MEAN = {"expert": 0.85, "crowd": 0.6}
SPREAD = 0.04
"""Standard deviation of the accuracy around which a rater's matrix varies."""
ROW_WEIGHT = 30.0
"""Concentration of the rows of a rater's matrix around that accuracy."""
SYSTEM = 0.8
RATINGS_OF_AN_ITEM = 4
METHODS = (
    ("dawid_skene", False),
    ("hierarchical_dawid_skene", False),
    ("hierarchical_dawid_skene", True),
    ("relaxed_k", False),
    ("relaxed_k", True),
)
"""Models, and whether they are told the groups."""
FITTED: dict[str, Any] = {"chains": 2, "tries": 1}
MEASURED = ["bias", "squared_error", "interval_width"]
BY = ["ratings_of_a_rater", "method", "with_groups", "quantity"]


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Bias, error, coverage and width of intervals, with standard errors between data sets.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row for each data set, method and quantity, with means over the raters of a group: `bias`,
        `squared_error`, `coverage` and `interval_width`. Raters of a data set are not independent.

    Returns
    -------
    pandas.DataFrame
        Measures with their Monte Carlo standard errors in `…_se`.

    Examples
    --------
    >>> row = {"bias": 0.1, "squared_error": 0.04, "coverage": 1.0, "interval_width": 0.3}
    >>> rows = pd.DataFrame([row, row]).assign(**dict.fromkeys(BY, "x"))
    >>> summarise(rows)[["rmse", "rmse_se", "n"]].to_dict("records")
    [{'rmse': 0.2, 'rmse_se': 0.0, 'n': 2}]
    """
    groups = rows.groupby(BY, sort=False)
    mean, error = groups[MEASURED].mean(), groups[MEASURED].sem()
    rmse = np.sqrt(mean["squared_error"])
    coverage = [mean_proportion(found) for _, found in groups["coverage"]]
    return pd.DataFrame(
        {
            "n": groups.size(),
            "bias": mean["bias"],
            "bias_se": error["bias"],
            "rmse": rmse,
            "rmse_se": error["squared_error"] / (2 * rmse),
            "coverage": [value for value, _ in coverage],
            "coverage_se": [standard_error for _, standard_error in coverage],
            "interval_width": mean["interval_width"],
            "interval_width_se": error["interval_width"],
        }
    ).reset_index()


def _estimate(size: int, seed: np.random.SeedSequence) -> Iterator[dict[str, Any]]:
    import bayes_models

    data, of_fit = child_seeds(seed, 2)
    ratings, accuracy = draw_crowd(size, np.random.default_rng(data))
    told = ratings.with_rater_groups(dict(zip(ratings.raters, GROUP, strict=True)))
    for model, with_groups in METHODS:
        engine = {"engine": "gibbs", "draws": 1000} if model == "dawid_skene" else {}
        with warnings.catch_warnings():
            # Intervals are measured as they are given.
            warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
            one = [told if with_groups else ratings]
            (tree,) = bayes_models.fit_many(model, one, seed=of_fit, **(FITTED | engine))
        for quantity, row in measure_draws(tree, accuracy).items():
            yield {"method": model, "with_groups": with_groups, "quantity": quantity} | row


def draw_crowd(size: int, rng: np.random.Generator) -> tuple[Ratings, Floats]:
    """Raters and their ratings, drawn at random.

    Parameters
    ----------
    size : int
        Number of ratings of each rater.
    rng : numpy.random.Generator

    Returns
    -------
    ratings : Ratings
        Without groups.
    accuracy : ndarray, shape (n_raters + 1,)
        The system's accuracy is the last.
    """
    k = len(BASE_RATES)
    right = rng.normal([*(MEAN[group] for group in GROUP), SYSTEM], SPREAD).clip(0.05, 0.97)
    rows = np.where(np.eye(k), right[:, None, None], (1 - right[:, None, None]) / (k - 1))
    confusion = np.array([[rng.dirichlet(ROW_WEIGHT * row) for row in one] for one in rows])
    # Each rater rates one item of each block.
    n_raters = len(GROUP)
    in_block = n_raters // RATINGS_OF_AN_ITEM
    place = rng.permuted(np.tile(np.arange(n_raters), (size, 1)), axis=1) // RATINGS_OF_AN_ITEM
    item = (in_block * np.arange(size)[:, None] + place).ravel()
    rater = np.tile(np.arange(n_raters), size)
    n_items = in_block * size
    truth = rng.choice(k, n_items, p=BASE_RATES)
    codes = np.full((n_items, n_raters), -1)
    codes[item, rater] = draw_categories(confusion, rng.random(len(item)), rater, truth[item])
    system = draw_categories(confusion[-1], rng.random(n_items), truth)
    accuracy = np.diagonal(confusion, axis1=1, axis2=2) @ BASE_RATES
    return Ratings(codes, ["a", "b", "c"], system=system), accuracy


def measure_draws(tree: xr.DataTree, accuracy: Floats) -> dict[str, dict[str, float]]:
    """Compare draws with the accuracies of raters, groups and system, and the groups' difference.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit.
    accuracy : ndarray, shape (n_raters + 1,)
        True accuracies, the system's last.

    Returns
    -------
    dict
        By quantity, means over the raters of a group: see `summarise`.
    """
    drawn = tree["posterior"].to_dataset()["accuracy"].values.reshape(-1, len(accuracy))
    found = {}
    means = {}
    for group in MEAN:
        own = np.flatnonzero(group == GROUP)
        found[f"rater, {group}"] = _measure(drawn[:, own], accuracy[own])
        means[group] = drawn[:, own].mean(axis=1), accuracy[own].mean()
        found[f"group, {group}"] = _measure(*means[group])
    (experts, of_experts), (crowd, of_crowd) = means.values()
    found["difference of groups"] = _measure(experts - crowd, of_experts - of_crowd)
    found["system"] = _measure(drawn[:, -1], accuracy[-1])
    return found


def _measure(drawn: Floats, truth: Any) -> dict[str, float]:
    error = drawn.mean(axis=0) - truth
    lower, upper = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return {
        "bias": float(np.mean(error)),
        "squared_error": float(np.mean(error**2)),
        "coverage": float(np.mean((lower <= truth) & (truth <= upper))),
        "interval_width": float(np.mean(upper - lower)),
    }


SIMULATION = Simulation(
    designs=[
        of_data_sets((10, size), _estimate, size, ratings_of_a_rater=size) for size in N_RATINGS
    ],
    summarise=summarise,
    data_sets=DATA_SETS,
)
