"""Simulation-based calibration: coverage and ranks of true values, of each model and design.

`lehner study run calibration` draws parameters from the prior of a model and ratings from these,
and ranks the parameters among the posterior draws.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binom, kstest

from bayes_models import ConvergenceWarning, draw_from_prior, find_model, fit_many
from bayes_models.models.spec import Priors
from bayes_models.posterior.draws import take_states
from bayes_models.posterior.predictive import draw_ratings, mask_truths
from experiments.report.style import REFERENCE, figure_style, limits, method_label, method_style
from experiments.study.performance import Z, estimate_proportion
from lehner import InputError, Ratings
from lehner.core.arrays import Floats, Seed, child_seeds
from lehner.core.errors import find
from lehner.core.resampling import wilson_interval
from lehner.data.patterns import find_pair

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
NOMINAL = 0.9
LEVEL = 0.95
"""Probability that all that is drawn of calibrated models lies in the bands."""

BAND = "0.92"
TITLES = {
    "base_rates": "Base rates",
    "accuracy": "Rater accuracy",
    "system_accuracy": "System accuracy",
    "system_accuracy_in_sample": "System accuracy\nin the sample",
}


KEPT = 99
"""Draws of a posterior among which a true value is ranked."""


def rank(seed: int, model: str, design: str, simulations: int) -> Iterator[dict[str, Any]]:
    """Rank true values among the draws of so many simulations, as an experiment."""
    # 99 of 1,000 draws are ranked: that these are nearly independent needs no second try.
    engine = "gibbs" if find_model(model).conjugate else "nuts"
    options: dict[str, Any] = {"engine": engine, "chains": 2, "draws": 500, "tries": 1}
    tree = calibrate(model, make_design(design), simulations, seed=seed, **options)
    yield from tree["prior_sbc"].to_dataset().to_dataframe().round(6).to_dict("records")


def calibrate(
    model: str,
    ratings: Ratings,
    n_simulations: int,
    *,
    priors: Priors = None,
    seed: Seed = 1,
    **sampling: Any,
) -> xr.DataTree:
    """Simulate from the prior, fit, and rank the true values among the posterior draws.

    Parameters
    ----------
    ratings : Ratings
        Determines which rater rates which item, and of which items the truth is known; if all
        truths are known, none is used. The ratings and truths themselves are not used.
    **sampling
        Options of `fit_many`.

    Returns
    -------
    xarray.DataTree
        Group `prior_sbc`, as `arviz.plot_ecdf_pit` takes it: for each simulation (dimension
        `sample`) the proportion of 99 posterior draws below the true value, of the base rate of the
        first category, the accuracy of the first rater, and with a system its accuracy and its
        accuracy in the sample; ties are broken at random.

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
    >>> tree = calibrate("one_coin", lehner.load_dataset("lehner_table2"), 100)  # doctest: +SKIP
    """
    if n_simulations < 1:
        raise InputError(f"there are {n_simulations} simulations", "ask for one or more")
    prior_seed, data_seed, fit_seed, rank_seed = child_seeds(seed, 4)
    prior = draw_from_prior(model, ratings, n_simulations, priors=priors, seed=prior_seed)
    rng = np.random.default_rng(data_seed)
    drawn = zip(*take_states(prior, find_pair(ratings)), strict=True)
    simulated = [draw_ratings(ratings, *parameters, rng) for parameters in drawn]
    seen = [mask_truths(ratings, data) for data in simulated]
    trees = fit_many(model, seen, seed=fit_seed, priors=priors, **sampling)
    ranking = np.random.default_rng(rank_seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        simulations = [
            _rank_values(
                _list_values(prior.isel(draw=i), data), tree["posterior"].to_dataset(), ranking
            )
            for i, (data, tree) in enumerate(zip(simulated, trees, strict=True))
        ]
    ranks = {
        name: ("sample", np.array([parameters[name] for parameters in simulations]))
        for name in simulations[0]
    }
    return xr.DataTree.from_dict(
        {"prior_sbc": xr.Dataset(ranks, {"sample": np.arange(n_simulations)})}
    )


def _list_values(prior: xr.Dataset, simulated: Ratings) -> dict[str, float]:
    names = ("base_rates", "accuracy", "system_accuracy")
    values = {name: prior[name].values.ravel()[0] for name in names if name in prior}
    if simulated.system is not None and simulated.truth is not None:
        answered = simulated.system >= 0
        values["system_accuracy_in_sample"] = (simulated.truth == simulated.system)[answered].mean()
    return values


def _rank_values(
    values: Mapping[str, float], posterior: xr.Dataset, rng: np.random.Generator
) -> dict[str, float]:
    ranks = {}
    for name, value in values.items():
        draws = posterior[name].values
        draws = draws.reshape(*draws.shape[:2], -1)[..., 0].T.ravel()
        ranks[name] = _rank(draws[np.linspace(0, len(draws) - 1, KEPT).astype(int)], value, rng)
    return ranks


def _rank(draws: Floats, value: float, rng: np.random.Generator) -> float:
    """Proportion of draws below the value; a random part of one step breaks ties."""
    below, equal = (draws < value).sum(), (draws == value).sum()
    return float((below + rng.integers(0, equal + 1) + rng.random()) / (len(draws) + 1))


def tabulate(results: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables of coverage and of ranks."""
    ranks = results.drop(columns=["scenario", "replicate", "simulations"])
    return {"calibration": summarise(ranks), "ranks": ranks}


def plot_calibration(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Draw the coverage of all models and designs."""
    return {"calibration": plot_coverage(tables["calibration"].round(4))}


def summarise(ranks: pd.DataFrame) -> pd.DataFrame:
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
    for place, group in ranks.groupby(BY, sort=False):
        quantities = group.drop(columns=[*BY, "replicate"], errors="ignore")
        for quantity, values in quantities.dropna(axis="columns").items():
            covered, error = estimate_proportion(values.between(0.05, 0.95))
            p = kstest(values, "uniform").pvalue
            rows.append((*place, quantity, len(values), values.mean(), p, covered, error))
    return pd.DataFrame(rows, columns=COLUMNS)


def make_design(name: str = FIRST) -> Ratings:
    """Items, raters, gaps and gold labels that are simulated.

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


def plot_coverage(table: pd.DataFrame) -> Figure:
    """Draw how many 90% intervals of each model contain the true value.

    Parameters
    ----------
    table : pandas.DataFrame
        As `summarise` gives it.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each quantity, a row for each model and design, with Wilson's 95% intervals. If
        all models are calibrated, then all points lie in the grey band with a probability of
        95% or more.
    """
    cells = list(table[["model", "design"]].drop_duplicates().itertuples(index=False, name=None))
    quantities = list(dict.fromkeys(table["quantity"]))
    low, high = wilson_interval(table["coverage_90"], table["simulations"], z=Z)
    # All of so many calibrated coverages lie between these (Šidák 1967), rounded as in the table.
    tail, n = (1 - LEVEL ** (1 / len(table))) / 2, table["simulations"].to_numpy()
    band_low, band_high = ((binom.ppf(q, n, NOMINAL) / n).round(4) for q in (tail, 1 - tail))
    table = table.assign(low=low, high=high, band_low=band_low, band_high=band_high)
    with figure_style() as width:
        figure = Figure(figsize=(width, 1.4 + 0.17 * len(cells)), layout="constrained")
        axes = figure.subplots(1, len(quantities), sharex=True, sharey=True, squeeze=False)[0]
        for ax, quantity in zip(axes, quantities, strict=True):
            rows = table[table["quantity"] == quantity].set_index(["model", "design"])
            for place, cell in enumerate(cells):
                if cell in rows.index:
                    _draw_coverage(ax, rows.loc[cell], place, cell[0])
            ax.axvline(100 * NOMINAL, color=REFERENCE, lw=0.8, ls="--", zorder=1)
            ax.set_title(TITLES.get(quantity, quantity))
            ax.grid(axis="x")
            ax.tick_params(axis="y", length=0)
        names = [f"{method_label(model)}: {_describe_design(name)}" for model, name in cells]
        axes[0].set_yticks(range(len(cells)), names)
        axes[0].set(ylim=(len(cells) - 0.5, -0.5), xlim=limits(100 * low, 100, within=(0, 100)))
        figure.supxlabel(
            "90% intervals that contain the true value (%), with Wilson’s 95% intervals\n"
            "Grey: where all points lie with probability .95 or more if models are calibrated\n"
            "K categories, J raters, n items"
        )
    outside = (table["coverage_90"] < band_low) | (table["coverage_90"] > band_high)
    figure.set_label(
        f"Coverage of the 90% intervals of {len(cells)} models and designs for {len(quantities)} "
        f"quantities, from {table['coverage_90'].min():.0%} to {table['coverage_90'].max():.0%}; "
        f"{outside.sum()} of {len(table)} points lie outside the band."
    )
    return figure


def _draw_coverage(ax: Axes, row: pd.Series, place: int, model: str) -> None:
    """Draw a point, and the band."""
    ends = 100 * row["band_low"], 100 * row["band_high"]
    ax.fill_betweenx([place - 0.5, place + 0.5], *ends, color=BAND, lw=0, zorder=0)
    style = method_style(model)
    ax.hlines(place, 100 * row["low"], 100 * row["high"], color=style.color, lw=1.2, zorder=1.5)
    ax.plot(100 * row["coverage_90"], place, ls="", ms=4, **style.options())


def _describe_design(name: str) -> str:
    """Who rates what, in words."""
    k, n_raters, n_items, missing, share_known, _ = DESIGNS[name]
    more = [f"{missing:.0%} missing"] if missing else []
    more += [f"{share_known:.0%} known"] if share_known else []
    return "; ".join([f"K {k}, J {n_raters}, n {n_items}", *more])
