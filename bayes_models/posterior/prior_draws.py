"""Draws from the priors of a model, and the log density of the priors at draws of a fit."""

from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.deferred import pm, without_c_compiler
from bayes_models.models.density import SHARE, count_earlier_answers, find_parameters
from bayes_models.models.families import FAMILIES, log_answers
from bayes_models.models.priors import (
    DISTRIBUTION,
    Priors,
    choose_priors,
    kept_priors,
)
from bayes_models.models.spec import find_model
from bayes_models.posterior.draws import group, labelled_draws
from bayes_models.posterior.predictive import predict
from lehner import InputError, Patterns, Ratings
from lehner.core.seeds import Seed, child_seeds


def add_prior(
    tree: xr.DataTree, ratings: Ratings, *, draws: int = 1000, priors: Priors = None, seed: Seed = 1
) -> None:
    """Add draws from the priors of a fit, and what they predict, to compare with the posterior.

    Group `prior` gets those variables of the posterior that have a prior in the model, with
    dimensions (chain, draw, ...), and group `prior_predictive` what `add_posterior_predictive`
    adds for the posterior.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`. Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    draws : int
        How many.
    priors : str or mapping, optional
        By default the priors that the fit stores. They must be given again if one of them is a PyMC
        distribution.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Raises
    ------
    InputError
        If a prior was a PyMC distribution and is not given again.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> ratings = lehner.load_dataset("anesthesia")
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, draws=50, checks=False, tries=1)
    >>> add_prior(tree, ratings, draws=20)
    >>> dict(tree["prior"]["base_rates"].sizes)
    {'chain': 1, 'draw': 20, 'category': 4}
    """
    priors_of_fit = kept_priors(tree) if priors is None else priors
    for name, prior in () if isinstance(priors_of_fit, str) else priors_of_fit.items():
        if isinstance(prior, dict) and DISTRIBUTION in prior:
            raise InputError(
                f"the prior of {name} was a PyMC distribution, {prior[DISTRIBUTION]}, which cannot "
                "be made from its name",
                "give the priors again (priors=…)",
            )
    prior_seed, predictive_seed = child_seeds(seed, 2)
    drawn = prior_draws(tree.attrs["model"], ratings, draws, priors=priors_of_fit, seed=prior_seed)
    shared = [name for name in drawn if name in group(tree, "posterior")]
    tree["prior"] = xr.DataTree(drawn[shared])
    tree["prior_predictive"] = xr.DataTree(predict(drawn, ratings, predictive_seed))


def prior_draws(
    model: str, ratings: Ratings, n: int, *, priors: Priors = None, seed: Seed = 1
) -> xr.Dataset:
    """Draw parameters from the prior of a model.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    ratings : Ratings
        Ratings with the raters and categories of the model.
    n : int
        How many.
    priors : str or mapping, optional
        As the model takes them.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Returns
    -------
    xarray.Dataset
        All variables of the model, dimensions `chain` (one), `draw` and those of the variable.

    Raises
    ------
    InputError
        If there is no such model or prior, if the ratings cannot be fitted, or if there are
        `earlier_answers`, which cannot be drawn from.

    Examples
    --------
    >>> import lehner
    >>> drawn = prior_draws("one_coin", lehner.load_dataset("anesthesia"), 10)
    >>> dict(drawn["base_rates"].sizes)
    {'chain': 1, 'draw': 10, 'category': 4}
    """
    all_priors, spec = choose_priors(model, priors), find_model(model)
    if any(np.any(all_priors[variable.name]) for variable in spec.variables if variable.of):
        raise InputError(
            "there are no draws from a prior of earlier answers",
            "leave out prior=True or the earlier studies",
        )
    built = spec.build(ratings, priors)
    variables = [*built.free_RVs, *built.deterministics]
    (child,) = child_seeds(seed, 1)
    # Because to compile the draws would take longer than to make them.
    with without_c_compiler():
        drawn = pm.draw(
            variables, n, random_seed=int(child.generate_state(1)[0]), mode="FAST_COMPILE"
        )
    named = {}
    for variable, values in zip(variables, drawn, strict=True):
        dims = tuple(built.named_vars_to_dims.get(variable.name, ()))
        named[variable.name] = dims, np.reshape(values, (1, n, *np.shape(values)[n > 1 :]))
    if SHARE in named:
        # A pair that is named is dependent with probability one half.
        dims, shares = named[SHARE]
        named[SHARE] = dims, shares * (np.random.default_rng(child).random((1, n, 1)) < 0.5)
    return labelled_draws(named, built.coords)


def log_prior(
    model: str, posterior: xr.Dataset, patterns: Patterns, priors: Any = None
) -> xr.Dataset:
    """Log density of each prior that is given by numbers, summed over its elements.

    It leaves out the effects of raters and categories, which have standard normal priors whatever
    the user chooses; a user scales the priors of their spreads.

    Parameters
    ----------
    model : str
        Name of the model.
    posterior : xarray.Dataset
        Draws of its variables.
    patterns : Patterns
        Of the ratings that were fitted.
    priors : str or mapping, optional
        The priors that were given to the fit.

    Returns
    -------
    xarray.Dataset
        By variable, dims (chain, draw); without the priors that are PyMC distributions.
    """
    all_priors, spec = choose_priors(model, priors), find_model(model)
    densities = {}
    for parameter in find_parameters(spec, patterns, all_priors).values():
        if parameter.variable and parameter.family in FAMILIES:
            variable = posterior[parameter.name].transpose("chain", "draw", *parameter.dims)
            log_density = FAMILIES[parameter.family].log_density
            densities[parameter.variable] = log_density(variable.values, parameter.numbers)
    answers = count_earlier_answers(spec, patterns, all_priors)
    if answers is not None and answers.any():
        densities["earlier_answers"] = log_answers(
            posterior["accuracy"].transpose("chain", "draw", "rater").values, answers
        )
    by_draw = {
        name: (("chain", "draw"), density.reshape(*density.shape[:2], -1).sum(axis=-1))
        for name, density in densities.items()
    }
    return xr.Dataset(by_draw, {dim: posterior[dim] for dim in ("chain", "draw")})
