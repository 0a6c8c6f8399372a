"""The true categories, given draws of the parameters."""

from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_models.likelihood import RatingSlots, rating_slots, response_counts
from lehner import Ratings

type Floats = NDArray[np.float64]

CHUNK = 2_000_000
MOST_LOG_LIKELIHOODS = 50_000_000


def add_truth(tree: xr.DataTree, ratings: Ratings, rng: np.random.Generator) -> None:
    """Add what the posterior says about the true categories of the items.

    Group `truth` gets `truth_probabilities` (item, category). Group `log_likelihood` gets
    `ratings` (chain, draw, item), a grouped row counting as its items, unless that is more than
    50 million numbers. With a system, group `posterior` gets `system_accuracy_in_sample`: in
    each draw the items get truths, and the system is right on those it answers truly.

    Parameters
    ----------
    tree : xarray.DataTree
        With group `posterior`; changed in place.
    ratings : Ratings
        The data the posterior is of.
    rng : numpy.random.Generator
    """
    posterior = tree["posterior"].to_dataset()
    slots = rating_slots(ratings)
    truth = np.zeros((len(slots.counts), ratings.n_categories))
    likelihood, right = [], []
    for joint in _log_joints(posterior, slots):
        top = joint.max(axis=-1, keepdims=True)
        probability = np.exp(joint - top)
        total = probability.sum(axis=-1, keepdims=True)
        likelihood.append((top + np.log(total))[..., 0])
        truth += (probability / total).sum(axis=0)
        right.append(_proportion_right(probability / total, slots, rng))
    truth /= sum(len(part) for part in likelihood)
    sample = {"chain": posterior["chain"], "draw": posterior["draw"]}
    shape = tuple(posterior.sizes[name] for name in sample)
    inverse = slots.patterns.inverse
    tree["truth"] = xr.DataTree(
        xr.Dataset(
            {"truth_probabilities": (("item", "category"), truth[inverse])},
            {"item": ratings.items, "category": posterior["category"]},
        )
    )
    if ratings.system is not None:
        draws = xr.DataArray(np.concatenate(right).reshape(shape), sample, tuple(sample))
        posterior["system_accuracy_in_sample"] = draws
        tree["posterior"] = xr.DataTree(posterior)
    if ratings.n_items * np.prod(shape) <= MOST_LOG_LIKELIHOODS:
        rows = np.repeat(np.arange(len(inverse)), ratings.weights)
        per_item = np.concatenate(likelihood)[:, inverse[rows]].reshape(*shape, -1)
        tree["log_likelihood"] = xr.DataTree(
            xr.Dataset(
                {"ratings": ((*sample, "item"), per_item)}, sample | {"item": ratings.items[rows]}
            )
        )


def log_joint(slots: RatingSlots, base_rates: Floats, confusion: Floats) -> Floats:
    """Give the log probability of each pattern's ratings together with each true category.

    Parameters
    ----------
    slots : RatingSlots
    base_rates : ndarray, shape (n_draws, n_categories)
    confusion : ndarray, shape (n_draws, n_raters, n_categories, n_responses)

    Returns
    -------
    ndarray, shape (n_draws, n_patterns, n_categories)
    """
    n_draws, n_categories = base_rates.shape
    tiny = np.finfo(float).tiny
    by_cell = np.log(np.maximum(confusion, tiny)).transpose(1, 3, 0, 2)
    ratings = response_counts(slots) @ by_cell.reshape(-1, n_draws * n_categories)
    ratings = ratings.reshape(-1, n_draws, n_categories).swapaxes(0, 1)
    return ratings + np.log(np.maximum(base_rates, tiny))[:, None, :]


def _log_joints(posterior: xr.Dataset, slots: RatingSlots) -> Iterator[Floats]:
    draws = posterior[["base_rates", "confusion"]].stack(sample=("chain", "draw"))
    base_rates = draws["base_rates"].transpose("sample", "category").values
    confusion = draws["confusion"].transpose("sample", "rater", "category", "response").values
    size = max(1, CHUNK // (len(slots.counts) * base_rates.shape[1]))
    for start in range(0, len(base_rates), size):
        part = slice(start, start + size)
        yield log_joint(slots, base_rates[part], confusion[part])


def _proportion_right(truth: Floats, slots: RatingSlots, rng: np.random.Generator) -> Floats:
    """Draw the proportion of the system's answers that are right, for each draw."""
    system = slots.patterns.ratings.system
    if system is None:
        return np.empty(0)
    answered = np.flatnonzero(system >= 0)
    chance = truth[:, answered, system[answered]]
    counts = slots.counts[answered]
    return rng.binomial(counts, np.minimum(chance, 1.0)).sum(axis=1) / counts.sum()
