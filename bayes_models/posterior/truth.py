"""The true categories, given draws of the parameters."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bayes_models.models.base_rates import BY_POPULATION
from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats
from lehner.core.class_posterior import class_posterior
from lehner.data.patterns import UNKNOWN

DRAWN_CELLS_AT_ONCE = 2_000_000
MOST_LOG_LIKELIHOODS = 50_000_000
LEAST = np.finfo(float).tiny


def add_truth(
    tree: xr.DataTree,
    ratings: Ratings,
    patterns: Patterns,
    rng: np.random.Generator,
    *,
    log_likelihood: bool = True,
) -> None:
    """Add the posterior probabilities of the true categories of the items.

    Group `truth` gets `truth_probabilities` (item, category). With a system, group `posterior` gets
    `system_accuracy_in_sample`: in each draw, true categories of the items are drawn, and it is the
    proportion of the system's answers that equal them. Group `log_likelihood` gets `ratings`
    (chain, draw, item), with an entry for each item of a grouped row, unless that is more than 50
    million numbers.

    Parameters
    ----------
    tree : xarray.DataTree
        With group `posterior`; changed in place.
    ratings : Ratings
        The ratings that were fitted.
    patterns : Patterns
        Of the same ratings.
    log_likelihood : bool
        Whether to add the group `log_likelihood`.
    """
    posterior = tree["posterior"].to_dataset()
    truth = np.zeros((len(patterns.counts), patterns.n_categories))
    sample = {"chain": posterior["chain"], "draw": posterior["draw"]}
    shape = tuple(posterior.sizes[name] for name in sample)
    keep = log_likelihood and ratings.n_items * np.prod(shape) <= MOST_LOG_LIKELIHOODS
    likelihood, right = [], []
    for joint in log_joints(posterior, patterns):
        probability, log_probability = class_posterior(joint)
        if keep:
            likelihood.append(log_probability)
        truth += probability.sum(axis=0)
        right.append(_proportion_right(probability, patterns, rng))
    truth /= np.prod(shape)
    inverse = patterns.inverse
    tree["truth"] = xr.DataTree(
        xr.Dataset(
            {"truth_probabilities": (("item", "category"), truth[inverse])},
            {"item": ratings.items, "category": posterior["category"]},
        )
    )
    if patterns.has_system:
        draws = xr.DataArray(np.concatenate(right).reshape(shape), sample, tuple(sample))
        posterior["system_accuracy_in_sample"] = draws
        tree["posterior"] = xr.DataTree(posterior)
    if keep:
        rows = np.repeat(np.arange(len(inverse)), ratings.weights)
        per_item = np.concatenate(likelihood)[:, inverse[rows]].reshape(*shape, -1)
        tree["log_likelihood"] = xr.DataTree(
            xr.Dataset(
                {"ratings": ((*sample, "item"), per_item)}, sample | {"item": ratings.items[rows]}
            )
        )


def log_joint(patterns: Patterns, rates: Floats, confusion: Floats) -> Floats:
    """Log probability of each pattern's ratings together with each true category.

    Parameters
    ----------
    rates : ndarray, shape (n_draws, n_states) or (n_draws, n_populations, n_states)
    confusion : ndarray, shape (n_draws, n_raters, n_states, n_responses)

    Returns
    -------
    ndarray, shape (n_draws, n_patterns, n_categories)
        Summed over levels of difficulty if states have levels.
    """
    n_draws, n_states = rates.shape[0], rates.shape[-1]
    k = patterns.n_categories
    # Draws are last in memory, because what follows sums and compares over a few categories.
    by_cell = np.log(np.maximum(confusion, LEAST)).transpose(1, 3, 2, 0)
    log = patterns.sum_cells(by_cell.reshape(-1, n_states * n_draws))
    log = log.reshape(-1, n_states, n_draws)
    log_rates = np.log(np.maximum(rates, LEAST)).T
    log += log_rates if rates.ndim == 2 else log_rates.swapaxes(0, 1)[patterns.population]
    if n_states > k:
        log = _sum_levels(log.reshape(-1, n_states // k, k, n_draws))
    known = patterns.truths[:, None]
    log[(known != UNKNOWN) & (known != np.arange(k))] = -np.inf
    return log.transpose(2, 0, 1)


def _sum_levels(log: Floats) -> Floats:
    """Log of the sum over axis 1 of what has these logs, which are overwritten."""
    # NumPy's logaddexp takes more than twice as long.
    highest = log.max(axis=1)
    log -= highest[:, None]
    return np.asarray(np.log(np.exp(log, out=log).sum(axis=1)) + highest)


def states(posterior: xr.Dataset) -> tuple[Floats, Floats]:
    """Probability of each state, and confusion matrices by state, for each draw.

    The states are those of all items, whichever population they are from.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates` and `confusion` or `confusion_by_level`.

    Returns
    -------
    rates : ndarray, shape (n_draws, n_states)
    confusion : ndarray, shape (n_draws, n_raters, n_states, n_responses)
    """
    k = posterior.sizes["category"]
    rates = posterior["base_rates"].transpose("chain", "draw", "category").values.reshape(-1, k)
    name = "confusion_by_level" if "confusion_by_level" in posterior else "confusion"
    confusion = posterior[name].transpose("chain", "draw", "rater", ..., "category", "response")
    by_state = confusion.values.reshape(len(rates), posterior.sizes["rater"], -1, k)
    n_levels = by_state.shape[2] // k
    return np.tile(rates / n_levels, n_levels), by_state


def states_by_population(posterior: xr.Dataset) -> tuple[Floats, Floats]:
    """What `states` returns, with rates (n_draws, n_populations, n_states) if there are any."""
    rates, confusion = states(posterior)
    if BY_POPULATION not in posterior:
        return rates, confusion
    dims = ("chain", "draw", "population", "category")
    by_population = posterior[BY_POPULATION].transpose(*dims).values
    by_population = by_population.reshape(len(rates), *by_population.shape[2:])
    n_levels = rates.shape[1] // by_population.shape[2]
    return np.tile(by_population / n_levels, n_levels), confusion


def log_joints(posterior: xr.Dataset, patterns: Patterns) -> Iterator[Floats]:
    """Yield `log_joint` for all draws, some of them at a time."""
    rates, confusion = states_by_population(posterior)
    if rates.ndim == 3 and rates.shape[1] != max(1, len(patterns.populations)):
        raise InputError(
            f"the fit has {rates.shape[1]} populations of items, and the ratings have "
            f"{len(patterns.populations)}",
            "give the ratings of the fit, with their populations",
        )
    size = max(1, DRAWN_CELLS_AT_ONCE // (len(patterns.counts) * rates.shape[-1]))
    for start in range(0, len(rates), size):
        part = slice(start, start + size)
        yield log_joint(patterns, rates[part], confusion[part])


def _proportion_right(truth: Floats, patterns: Patterns, rng: np.random.Generator) -> Floats:
    """Draw the proportion of the system's answers that are right, for each draw."""
    if not patterns.has_system:
        return np.empty(0)
    system = patterns.system
    answered = np.flatnonzero(system >= 0)
    chance = truth[:, answered, system[answered]]
    counts = patterns.counts[answered]
    return rng.binomial(counts, np.minimum(chance, 1.0)).sum(axis=1) / counts.sum()
