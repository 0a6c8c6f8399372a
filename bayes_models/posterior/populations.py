"""The accuracy of system and raters, and base rates, in each population of the items of a fit."""

import numpy as np
import xarray as xr

from bayes_models.likelihood.observations import observe
from bayes_models.posterior.fitted_ratings import fitted_ratings
from bayes_models.posterior.groups import CREDIBLE
from bayes_models.posterior.truth import log_joints
from lehner import GroupEstimates, InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.checks import check_level
from lehner.core.class_posterior import class_posterior
from lehner.core.seeds import Seed, generator
from lehner.core.warning import warn
from lehner.groups.membership import Groups, count_answers
from lehner.groups.result import GroupReplicates
from lehner.groups.summary import summarise_groups

NOTE = warn(
    "groups-alike",
    "raters and system are assumed to have the same confusion matrices in all populations, so "
    "that accuracies differ by base rates alone",
)


def accuracy_by_population(
    tree: xr.DataTree, ratings: Ratings, *, level: float = 0.9, seed: Seed = 1
) -> GroupEstimates:
    """Estimate base rates and accuracies in each population of the items of a fit.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system and with populations, see
        `Ratings.with_populations`.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the truths that are drawn: the same seed gives the same numbers.

    Returns
    -------
    GroupEstimates
        Estimates with a group for each population.

    Raises
    ------
    InputError
        If these are not the ratings of the fit, if there is no system, if items are from no
        populations, or if the system answered no item of one.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 2)
    >>> ratings = lehner.simulate(scenario, seed=2).with_truth(None)
    >>> ratings = ratings.with_populations(np.repeat(["x", "y"], 100))
    >>> tree = fit("dawid_skene", ratings, engine="gibbs", checks=False, tries=1)
    >>> [one.group for one in accuracy_by_population(tree, ratings).groups]
    ['x', 'y']
    """
    level = check_level(level)
    fitted = fitted_ratings(tree, ratings)
    if ratings.population is None:
        raise InputError("items are from no populations", "name them by with_populations")
    groups = Groups(names=ratings.populations, index=ratings.population)
    count_answers(ratings, groups)
    posterior = tree["posterior"].to_dataset()
    dims = ("chain", "draw", "population", "category")
    rates = posterior["base_rates_by_population"].transpose(*dims).values
    rates = rates.reshape(-1, *rates.shape[2:])
    sample = ("chain", "draw", "rater", "category", "response")
    right = np.diagonal(posterior["confusion"].transpose(*sample).values, axis1=3, axis2=4)
    accuracy = np.einsum("dpk,djk->dpj", rates, right.reshape(len(rates), *right.shape[2:]))
    replicates = GroupReplicates(
        system_accuracy=accuracy[..., -1],
        system_accuracy_in_sample=_proportions_right(posterior, fitted, seed),
        base_rates=rates,
        rater_accuracy=accuracy[..., :-1],
    )
    return summarise_groups(
        str(tree.attrs["model"]),
        ratings,
        groups,
        replicates,
        level=level,
        kind=CREDIBLE,
        notes=(NOTE,),
    )


def _proportions_right(posterior: xr.Dataset, ratings: Ratings, seed: Seed) -> Floats:
    """Draw the proportion of right answers in each population, (n_draws, n_populations)."""
    patterns, rng = observe(ratings), generator(seed)
    answered = np.flatnonzero(patterns.system >= 0)
    system, counts = patterns.system[answered], patterns.counts[answered]
    member = patterns.population[answered, None] == np.arange(len(patterns.populations))
    drawn = []
    for joint in log_joints(posterior, patterns):
        chance = class_posterior(joint)[0][:, answered, system]
        drawn.append(rng.binomial(counts, np.minimum(chance, 1.0)) @ member)
    return np.asarray(np.concatenate(drawn) / (counts @ member))
