"""Simulation-based calibration: coverage and ranks of true values, of each model and design.

`lehner study run experiments/simulations/calibration.toml` draws parameters from the prior of a
model and ratings from these, and ranks the parameters among the posterior draws.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.stats import kstest

from bayes_models import ConvergenceWarning, draw_from_prior, find_model, fit_many
from bayes_models.posterior.draws import take_states
from bayes_models.posterior.predictive import draw_ratings, mask_truths
from lehner import Ratings
from lehner.core.arrays import Floats, Seed, derive_seeds
from lehner.core.errors import check_whole_number, find
from lehner.study.performance import estimate_proportion

BY = ["model", "design"]
COLUMNS = [*BY, "quantity", "simulations", "mean_rank", "p_value", "coverage_90", "coverage_se"]
# Name: categories, raters besides the system, items, proportions of missing ratings and of known
# truths, and whether the categories are ordered.
DESIGNS: dict[str, tuple[int, int, int, float, float, bool]] = {
    "K3_J3_n40_missing": (3, 3, 40, 0.2, 0.0, True),
    "K2_J2_n20": (2, 2, 20, 0.0, 0.0, False),
    "K2_J3_n200": (2, 3, 200, 0.0, 0.0, False),
    "K2_J3_n1000": (2, 3, 1000, 0.0, 0.0, False),
    "K3_J2_n200_truths": (3, 2, 200, 0.0, 0.25, False),
    "K5_J3_n500": (5, 3, 500, 0.0, 0.0, False),
    "K5_J10_n40_missing": (5, 10, 40, 0.5, 0.0, True),
}
FIRST = next(iter(DESIGNS))
# Draws of a posterior among which a true value is ranked.
KEPT = 99


def rank_truth(seed: int, model: str, design: str, simulations: int) -> Iterator[dict[str, Any]]:
    """Rank true values among the draws of so many simulations, as an experiment."""
    # 99 of 1,000 draws are ranked: that these are nearly independent needs no second try.
    engine = "gibbs" if find_model(model).conjugate else "nuts"
    options: dict[str, Any] = {"engine": engine, "chains": 2, "draws": 500, "tries": 1}
    ranks = calibrate(model, make_design(design), simulations, seed=seed, **options)
    yield from ranks.round(6).to_dict("records")


def calibrate(
    model: str, ratings: Ratings, n_simulations: int, *, seed: Seed = 1, **sampling: Any
) -> pd.DataFrame:
    """Simulate from the prior, fit, and rank the true values among the posterior draws.

    Parameters
    ----------
    ratings : Ratings
        Determines which rater rates which item, and of which items the truth is known. The ratings
        and truths themselves are not used.
    **sampling
        Options of `fit_many`.

    Returns
    -------
    pandas.DataFrame
        For each simulation, a row, the proportion of 99 posterior draws below the true value, of
        the base rate of the first category, the accuracy of the first rater, and with a system its
        accuracy and its accuracy in the sample; ties are broken at random.

    Raises
    ------
    InputError
        If the number of simulations is not positive.

    References
    ----------
    Talts et al. (2018), https://arxiv.org/abs/1804.06788

    Examples
    --------
    >>> import lehner
    >>> ranks = calibrate("one_coin", lehner.load_dataset("lehner_table2"), 100)  # doctest: +SKIP
    """
    check_whole_number("n_simulations", n_simulations, 1)
    prior_seed, data_seed, fit_seed, rank_seed = derive_seeds(seed, 4)
    prior = draw_from_prior(model, ratings, n_simulations, seed=prior_seed)
    rng = np.random.default_rng(data_seed)
    drawn = zip(*take_states(prior), strict=True)
    simulated = [draw_ratings(ratings, *parameters, rng) for parameters in drawn]
    seen = [mask_truths(ratings, data) for data in simulated]
    trees = fit_many(model, seen, seed=fit_seed, **sampling)
    ranking = np.random.default_rng(rank_seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return pd.DataFrame(
            _rank_values(_list_values(prior.isel(draw=i), data), tree.posterior, ranking)
            for i, (data, tree) in enumerate(zip(simulated, trees, strict=True))
        )


def _list_values(prior: xr.Dataset, simulated: Ratings) -> dict[str, float]:
    names = ("base_rates", "accuracy", "system_accuracy")
    values = {name: prior[name].values.ravel()[0] for name in names if name in prior}
    if simulated.system is not None and simulated.truth is not None:
        answered = simulated.system >= 0
        values["system_accuracy_in_sample"] = (simulated.truth == simulated.system)[answered].mean()
    return values


def _rank_values(
    values: Mapping[str, float], posterior: xr.DataTree, rng: np.random.Generator
) -> dict[str, float]:
    ranks = {}
    for name, value in values.items():
        draws = np.asarray(posterior[name])
        draws = draws.reshape(*draws.shape[:2], -1)[..., 0].T.ravel()
        ranks[name] = _rank(draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)], value, rng)
    return ranks


def _rank(draws: Floats, value: float, rng: np.random.Generator) -> float:
    """Compute the proportion of draws below the value; a random part of one step breaks ties."""
    below, equal = (draws < value).sum(), (draws == value).sum()
    return float((below + rng.integers(0, equal + 1) + rng.random()) / (len(draws) + 1))


def tabulate_ranks(results: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables of coverage and of ranks."""
    ranks = results.drop(columns=["scenario", "replicate", "simulations"])
    return {"calibration": summarise_ranks(ranks), "ranks": ranks}


def summarise_ranks(ranks: pd.DataFrame) -> pd.DataFrame:
    """Test whether ranks are uniform, and measure the coverage of 90% intervals.

    Parameters
    ----------
    ranks : pandas.DataFrame
        Columns `model`, `design`, and ranks between 0 and 1, a column for each quantity.

    Returns
    -------
    pandas.DataFrame
        Columns `model`, `design`, `quantity`, `simulations`, `mean_rank`, `p_value`
        (Kolmogorov-Smirnov), `coverage_90`, `coverage_se`.
    """
    rows = []
    for key, group in ranks.groupby(BY, sort=False):
        quantities = group.drop(columns=[*BY, "replicate"], errors="ignore")
        for quantity, values in quantities.dropna(axis="columns").items():
            covered, error = estimate_proportion(values.between(0.05, 0.95))
            p = kstest(values, "uniform").pvalue
            rows.append((*key, quantity, len(values), values.mean(), p, covered, error))
    return pd.DataFrame(rows, columns=COLUMNS)


def make_design(name: str = FIRST) -> Ratings:
    """Give the items, raters, gaps and gold labels that are simulated.

    Parameters
    ----------
    name : str
        As in `DESIGNS`: K categories, J raters besides the system, n items.

    Returns
    -------
    Ratings
        Where there is a rating it is 0, and so is a truth that is known.

    Raises
    ------
    InputError
        If there is no such design.

    Examples
    --------
    >>> make_design("K2_J2_n20").n_items
    20
    """
    k, n_raters, n_items, missing, share_known, ordered = find("design", name, DESIGNS)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((n_items, n_raters + 1)) < missing, -1, 0)
    truth = np.where(np.arange(n_items) < share_known * n_items, 0, -1) if share_known else None
    categories = [str(category + 1) for category in range(k)]
    return Ratings(codes[:, :-1], categories, system=codes[:, -1], truth=truth, ordered=ordered)
