"""Simulation-based calibration: whether the intervals of a model have the coverage they claim.

Parameters are drawn from the prior, ratings from the parameters, and the posterior is sampled. If
prior, likelihood and sampler agree, the rank of the true value among the posterior draws is
uniform.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.priors import Priors
from bayes_models.posterior.diagnostics import ConvergenceWarning
from bayes_models.posterior.predictive import draw_ratings, with_known_truths
from bayes_models.posterior.prior_draws import prior_draws
from bayes_models.posterior.truth import states
from bayes_models.sampling.fit import fit_many
from lehner import InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.seeds import Seed, child_seeds
from lehner.data.dependent_pair import find_pair

KEPT = 99


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
        first category, the accuracy of the first rater and of the first group of raters if the
        model has groups, and with a system its accuracy and its accuracy in the sample; ties are
        broken at random.

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
    prior = prior_draws(model, ratings, n_simulations, priors=priors, seed=prior_seed)
    rng = np.random.default_rng(data_seed)
    drawn = zip(*states(prior, find_pair(ratings)), strict=True)
    simulated = [draw_ratings(ratings, *parameters, rng) for parameters in drawn]
    seen = [with_known_truths(ratings, data) for data in simulated]
    trees = fit_many(model, seen, seed=fit_seed, priors=priors, **sampling)
    ranking = np.random.default_rng(rank_seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        simulations = [
            _ranks(_values(prior.isel(draw=i), data), tree["posterior"].to_dataset(), ranking)
            for i, (data, tree) in enumerate(zip(simulated, trees, strict=True))
        ]
    ranks = {
        name: ("sample", np.array([parameters[name] for parameters in simulations]))
        for name in simulations[0]
    }
    return xr.DataTree.from_dict(
        {"prior_sbc": xr.Dataset(ranks, {"sample": np.arange(n_simulations)})}
    )


def _values(prior: xr.Dataset, simulated: Ratings) -> dict[str, float]:
    names = ("base_rates", "accuracy", "rater_group_accuracy", "system_accuracy")
    values = {name: prior[name].values.ravel()[0] for name in names if name in prior}
    if simulated.system is not None and simulated.truth is not None:
        answered = simulated.system >= 0
        values["system_accuracy_in_sample"] = (simulated.truth == simulated.system)[answered].mean()
    return values


def _ranks(
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
