"""Fit a model: sample it, find the truths, check the draws."""

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import xarray as xr

from bayes_models.dawid_skene import dawid_skene
from bayes_models.diagnostics import ConvergenceWarning, Diagnostics, diagnose
from bayes_models.likelihood import rating_slots
from bayes_models.start import vote_start
from bayes_models.truth import add_truth
from lehner import InputError, Ratings
from lehner.seeds import Seed, child_seeds

MODELS: dict[str, Callable[..., pm.Model]] = {"dawid_skene": dawid_skene}


def fit(
    model: str,
    ratings: Ratings,
    *,
    seed: Seed = 1,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    progressbar: bool = False,
    **priors: Any,
) -> xr.DataTree:
    """Fit a model by NUTS.

    Chains start where the raters' votes point and the prior holds them there; whether the
    labels stayed put is checked after sampling, with R-hat, effective sample sizes and
    divergences. What failed is raised as a `ConvergenceWarning` and kept in the result.

    Parameters
    ----------
    model : str
        Name of the model, as in `MODELS`.
    ratings : Ratings
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Same seed, same draws.
    draws, tune, chains : int
        Draws kept and warm-up draws per chain, and number of chains.
    target_accept : float
        Mean acceptance probability aimed at, between 0 and 1.
    progressbar : bool
    **priors
        As the model takes them.

    Returns
    -------
    xarray.DataTree
        Groups `posterior`, `sample_stats`, `log_likelihood` (per item), `truth`,
        `observed_data`, `constant_data`; attributes `model`, `seed`, `diagnostics` and
        `warnings`, the last two as JSON.

    Raises
    ------
    InputError
        If there is no such model, or the ratings cannot be fitted.

    Warns
    -----
    ConvergenceWarning
        If the diagnostics fail.

    Examples
    --------
    >>> import lehner
    >>> tree = fit("dawid_skene", lehner.load_dataset("lehner_table2"))  # doctest: +SKIP
    >>> float(tree.posterior["system_accuracy"].mean())  # doctest: +SKIP
    """
    if model not in MODELS:
        raise InputError(f"there is no model {model!r}", f"choose among {', '.join(MODELS)}")
    if ratings.n_items == 0 or ratings.n_categories < 2:
        raise InputError(
            f"there are {ratings.n_items} items and {ratings.n_categories} categories",
            "give items, and two or more categories",
        )
    sampler_seed, truth_seed = child_seeds(seed, 2)
    # Fast math rounds differently with a warm and a cold compile cache: same seed, other draws.
    exact = pytensor.config.change_flags(numba__fastmath=False)
    with exact, MODELS[model](ratings, **priors):
        tree = pm.sample(
            draws,
            tune=tune,
            chains=chains,
            cores=chains,
            nuts_sampler="nutpie",
            nuts={"target_accept": target_accept},
            initvals=vote_start(rating_slots(ratings)),
            # Jitter can throw a chain into a permuted labelling from which it never returns.
            compile_kwargs={"jitter_rvs": set()},
            random_seed=int(sampler_seed.generate_state(1)[0]),
            progressbar=progressbar,
            quiet=not progressbar,
            compute_convergence_checks=False,
        )
    add_truth(tree, ratings, np.random.default_rng(truth_seed))
    found = diagnose(tree)
    tree.attrs |= {
        "model": model,
        "seed": str(seed),
        "diagnostics": json.dumps(asdict(found)),
        "warnings": json.dumps(found.warnings()),
    }
    _warn(model, found)
    return tree


def _warn(model: str, found: Diagnostics) -> None:
    for text in found.warnings():
        warnings.warn(f"{model}: {text}", ConvergenceWarning, stacklevel=3)
