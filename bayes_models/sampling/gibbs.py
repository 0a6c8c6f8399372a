"""Gibbs sampling of models whose base rates and confusion matrices have Dirichlet conditionals.

Given base rates and confusion matrices, the true categories of the items of a pattern are
multinomial; given the true categories, base rates and confusion matrices are Dirichlet. Nothing is
tuned or compiled. Draws take far less time than those of NUTS, but are more autocorrelated,
especially if there are many items.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.density.log_density import compile_kept, list_arrays
from bayes_models.models import assemble
from bayes_models.models.registry import MODELS, choose_priors, find_model
from bayes_models.models.spec import ModelSpec, Priors, Start, is_distribution
from bayes_models.posterior.draws import check_memory, derive_variables, label_draws
from bayes_models.sampling.start import spread_chains, start_at_vote
from lehner import InputError, Patterns
from lehner.core.arrays import Floats, Integers, Seed, derive_seeds
from lehner.core.resampling import log_progress
from lehner.data.counts import UNKNOWN

# Parameters are base rates of each population, and the confusion matrix of each rater.
type Parameters = tuple[Floats, Floats]

# Sweeps with so many probabilities and parameters take a fifth of a second.
CELLS_AT_ONCE = 20_000_000
# Gamma variates of a smaller shape may be too small for a double; their logarithms are not.
SMALL_SHAPE = 0.1
# Below it products of probabilities lose digits.
LEAST_PRODUCT = 1e-280


def sample_conjugate(
    model: str,
    observed: Patterns,
    priors: Priors = None,
    *,
    seed: Seed,
    draws: int,
    tune: int,
    chains: int,
    cores: int | None = 1,
    starts: Sequence[Start] | None = None,
) -> xr.Dataset:
    """Sample the posterior by Gibbs.

    Parameters
    ----------
    model : str
        One whose conditionals are Dirichlet.
    observed : Patterns
    priors : str or mapping, optional
        As the model takes them; numbers only.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    draws, tune, chains : int
    cores : int, optional
        How many chains are sampled at once, by default all; the draws do not depend on it.
    starts : sequence of Start, optional
        Base rates and confusion matrices at which chains start, the most probable first; by default
        those that EM finds from the majority vote.

    Returns
    -------
    xarray.Dataset
        The variables of the model.

    Raises
    ------
    InputError
        If the conditionals of the model are not Dirichlet, or a prior is a PyMC distribution.

    References
    ----------
    Kim & Ghahramani (2012), Bayesian classifier combination.
    """
    spec, all_priors = find_model(model), choose_priors(model, priors)
    _check_conjugate(model, spec, all_priors)
    parameters = assemble.find_parameters(spec, observed, all_priors)
    base_rates, confusion = (parameters[role].numbers for role in ("base_rates", "confusion"))
    prior = base_rates.reshape(-1, observed.n_categories), confusion
    check_memory(model, "gibbs", sum(map(np.size, prior)) * draws * chains)
    data = tuple(list_arrays(observed).values())
    starts = starts or [start_at_vote(observed)]
    chains_of_starts = spread_chains(len(starts), chains)
    start_of_chain = np.repeat(range(len(chains_of_starts)), chains_of_starts)
    cells = len(data[1]) * observed.n_categories + observed.counts.sum() + prior[1].size
    parts = range(-tune, draws, max(1, CELLS_AT_ONCE // int(cells)))
    tell = log_progress(f"{model}: sampling", chains * len(parts))
    rates, confusion = (np.empty((chains, draws, *variable.shape)) for variable in prior)
    seeds, done, stopped = derive_seeds(seed, chains), count(1), Event()

    def sample_chain(chain: int) -> None:
        rng = np.random.default_rng(seeds[chain])
        start = starts[start_of_chain[chain]]
        start_rates = np.tile(start.base_rates, (len(prior[0]), 1))
        logs = _take_logs(start_rates, start.confusion.copy())
        # Between some sweeps and the next a chain may be interrupted.
        for first in parts:
            if not stopped.is_set():
                last = min(first + parts.step, parts.stop)
                _sweep(rng, logs, prior, data, (rates[chain], confusion[chain]), first, last)
                tell(next(done))

    with ThreadPoolExecutor(cores or chains) as threads:
        try:
            list(threads.map(sample_chain, range(chains)))
        finally:
            stopped.set()
    variables = derive_variables(observed, rates, confusion)
    return label_draws(variables, assemble.make_coords(observed))


def _check_conjugate(model: str, spec: ModelSpec, priors: Mapping[str, Any]) -> None:
    if not spec.conjugate:
        conjugate = sorted(name for name in MODELS if find_model(name).conjugate)
        remedy = f"it samples {' and '.join(conjugate)}: use engine='nuts'"
        raise InputError(f"engine 'gibbs' does not sample {model}", remedy)
    for name, prior in priors.items():
        if is_distribution(prior):
            problem = f"the prior of {name} is a PyMC distribution, and engine 'gibbs' needs a "
            remedy = "give its concentration as numbers, or use engine='nuts'"
            raise InputError(f"{problem}Dirichlet", remedy)


@compile_kept
def _take_logs(base_rates: Floats, confusion: Floats) -> Parameters:
    """Take logarithms; those of confusion matrices by rater, response and true category."""
    return np.log(base_rates), np.log(confusion.transpose(0, 2, 1).copy())


@compile_kept
def _sweep(
    rng: Any,
    logs: Parameters,
    prior: Parameters,
    data: tuple[Integers, ...],
    kept: Parameters,
    first: int,
    last: int,
) -> None:
    """Go on from logarithms of the parameters, which are replaced; sweeps from 0 on are kept."""
    (log_base_rates, log_confusion), (kept_base_rates, kept_confusion) = logs, kept
    n_raters, n_populations, k = len(log_confusion), *log_base_rates.shape
    row = np.empty(k)
    for sweep in range(first, last):
        new_base_rates, new_confusion = _count_items(rng, logs, prior, data)
        for z in range(k):
            for h in range(n_populations):
                log_base_rates[h, z] = _draw_log_gamma(rng, new_base_rates[h, z])
            for j in range(n_raters):
                for response in range(k):
                    row[response] = _draw_log_gamma(rng, new_confusion[j, z, response])
                row -= _add_logs(row)
                log_confusion[j, :, z] = row
                if sweep >= 0:
                    kept_confusion[sweep, j, z] = np.exp(row)
        for h in range(n_populations):
            log_base_rates[h] -= _add_logs(log_base_rates[h])
        if sweep >= 0:
            kept_base_rates[sweep] = np.exp(log_base_rates)


@compile_kept
def _count_items(
    rng: Any, logs: Parameters, prior: Parameters, data: tuple[Integers, ...]
) -> Parameters:
    """Draw true categories, and add the numbers of items and of ratings to those of the prior.

    What is read or added of a rating is a row over the true categories, contiguous in memory.
    Products are faster than sums of logarithms, which are needed where products are too small for a
    double.
    """
    log_base_rates, log_confusion = logs
    starts, rows, truths, counts, population = data
    n_raters, k, _ = log_confusion.shape
    log_table = log_confusion.reshape(n_raters * k, k)
    base_rates, table = np.exp(log_base_rates), np.exp(log_table)
    new_base_rates = prior[0].copy()
    new_ratings = prior[1].transpose(0, 2, 1).copy().reshape(n_raters * k, k)
    joint, items = np.empty(k), np.empty(k, np.int64)
    for p in range(len(counts)):
        group, first, last = population[p], np.uint64(starts[p]), np.uint64(starts[p + 1])
        for z in range(k):
            possible = truths[p] == UNKNOWN or truths[p] == z
            joint[z] = base_rates[group, z] if possible else 0.0
        for s in range(first, last):
            row = np.uint64(rows[s])
            for z in range(k):
                joint[z] *= table[row, z]
        largest = 0.0
        for z in range(k):
            largest = max(largest, joint[z])
        if largest < LEAST_PRODUCT:
            for z in range(k):
                possible = truths[p] == UNKNOWN or truths[p] == z
                joint[z] = log_base_rates[group, z] if possible else -np.inf
            for s in range(first, last):
                for z in range(k):
                    joint[z] += log_table[np.uint64(rows[s]), z]
            top = joint.max()
            for z in range(k):
                joint[z] = np.exp(joint[z] - top)
        for z in range(1, k):
            joint[z] += joint[z - 1]
        items[:] = 0
        drawn = np.uint64(0)
        for _ in range(counts[p]):
            threshold = rng.random() * joint[k - 1]
            drawn = np.uint64(0)
            for z in range(k - 1):
                drawn += np.uint64(joint[z] <= threshold)
            items[drawn] += 1
        if counts[p] == 1:
            # Most patterns of many raters are of one item.
            new_base_rates[group, drawn] += 1
            for s in range(first, last):
                new_ratings[np.uint64(rows[s]), drawn] += 1
            continue
        for z in range(k):
            new_base_rates[group, z] += items[z]
            if items[z] > 0:
                for s in range(first, last):
                    new_ratings[np.uint64(rows[s]), z] += items[z]
    new_confusion = new_ratings.reshape(n_raters, k, k).transpose(0, 2, 1).copy()
    return new_base_rates, new_confusion


@compile_kept
def _draw_log_gamma(rng: Any, shape: float) -> float:
    """Draw the logarithm of a gamma variate."""
    if shape >= SMALL_SHAPE:
        return np.log(rng.standard_gamma(shape))
    return np.log(rng.standard_gamma(shape + 1)) + np.log(1 - rng.random()) / shape


@compile_kept
def _add_logs(log: Floats) -> float:
    top = log.max()
    return top + np.log(np.exp(log - top).sum())
