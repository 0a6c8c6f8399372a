"""Draws of a model's variables: labelled, summarised, and the true categories that they imply."""

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models import assemble
from bayes_models.models.spec import BASE_RATES, BY_POPULATION, LEAST
from lehner import InputError, IntervalEstimate, Patterns, Ratings
from lehner.core import lazy
from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import stack_draws
from lehner.core.lazy import special
from lehner.core.resampling import with_progress
from lehner.latent_class.em import e_step

arviz_stats = lazy.load("arviz_stats.base")

# Dimensions that come last in a dataset, so that others see the same dimensions before theirs.
LAST = ("population", "level")
BYTES = 8
# How often draws are in memory at once: of NUTS the sampler's, those of each chain, and those of
# all chains; of Gibbs sampling also those of a first try.
COPIES = {"nuts": 3, "gibbs": 2}
INSTEAD = "sample fewer draws (draws=500, check='estimands'), or use maximum likelihood (…_ml)"
AXES = {"chain_axis": 0, "draw_axis": 1}
TAILS = (0.05, 0.95)
CELLS_AT_ONCE = 2_000_000
MOST_LOG_LIKELIHOODS = 50_000_000
# Without a system truth probabilities are means of fewer draws if they would be more than these.
MOST_TRUTHS = 50_000_000


class TooLargeError(InputError):
    """The draws of a model need more memory than the computer has."""


def check_memory(model: str, engine: str, n_numbers: int) -> None:
    """Raise a TooLargeError if the draws of a model need more memory than the computer has.

    Parameters
    ----------
    model : str
    engine : {"nuts", "gibbs"}
    n_numbers : int
        How many numbers are kept of all draws of all chains.
    """
    needed, available = float(BYTES * n_numbers * COPIES[engine]), _measure_memory()
    if needed > available:
        problem = f"{model}: draws need {needed / 1e9:.1f} GB of memory, and this computer has "
        raise TooLargeError(f"{problem}{available / 1e9:.1f}", INSTEAD)


def _measure_memory() -> float:
    if not hasattr(os, "sysconf"):
        return math.inf
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def read_group(tree: xr.DataTree, name: str) -> xr.Dataset:
    """Look up a group of a fit; an InputError if it is not there."""
    if name not in tree.children:
        raise InputError(f"the fit has no group {name}", "fit the model by bayes_models.fit")
    return tree[name].to_dataset()


def label_draws(
    variables: Mapping[str, tuple[tuple[str, ...], Floats]], coords: Mapping[str, Any]
) -> xr.Dataset:
    """Put draws and the coordinates they need into a dataset.

    Parameters
    ----------
    variables : mapping
        For each name, the dimensions after chain and draw, and the draws.
    coords : mapping
        Coordinates by dimension; those that are not needed are ignored.

    Returns
    -------
    xarray.Dataset
        Populations and levels are the last dimensions, as `spec.CATEGORIES` says.
    """
    chains, draws = next(iter(variables.values()))[1].shape[:2]
    used = {dim for dims, _ in variables.values() for dim in dims}
    dataset = xr.Dataset(
        {name: (("chain", "draw", *dims), values) for name, (dims, values) in variables.items()},
        {"chain": np.arange(chains), "draw": np.arange(draws)}
        | {dim: np.asarray(coords[dim]) for dim in sorted(used)},
    )
    return dataset.transpose(..., *(dim for dim in LAST if dim in used))


def summarise_beta(concentration: Floats, place: int, level: float) -> IntervalEstimate:
    """Give the mean and central interval of one probability of a Dirichlet distribution."""
    successes, failures = float(concentration[place]), float(np.delete(concentration, place).sum())
    mean = successes / (successes + failures)
    ends = special.betaincinv(successes, failures, [(1 - level) / 2, (1 + level) / 2])
    lower, upper = map(float, ends)
    return IntervalEstimate(estimate=mean, lower=lower, upper=upper, level=level, kind="prior")


def compute_ess(draws: Floats, method: str) -> Floats:
    """Compute effective sample sizes by ArviZ.

    Parameters
    ----------
    draws : ndarray, shape (n_chains, n_draws, ...)
    method : str
        "bulk", "tail" or "mean".

    Returns
    -------
    ndarray, shape (...)
    """
    options = {"prob": TAILS} if method == "tail" else {}
    return np.asarray(arviz_stats.array_stats.ess(draws, **AXES, method=method, **options))


# Each variable has its dimensions after chain and draw, and its draws.
type Variables = dict[str, tuple[tuple[str, ...], Floats]]


def derive_variables(observed: Patterns, base_rates: Floats, confusion: Floats) -> Variables:
    """Give base rates and confusion matrices, and the accuracies that follow from them.

    Parameters
    ----------
    observed : Patterns
    base_rates : ndarray, shape (n_chains, n_draws, n_populations, n_categories)
        Without populations those of all items.
    confusion : ndarray, shape (n_chains, n_draws, n_raters, n_categories, n_responses)

    Returns
    -------
    dict
    """
    variables: Variables = {}
    if observed.populations:
        variables[BY_POPULATION] = (BASE_RATES.dims, base_rates)
    of_all = assemble.weigh_populations(observed) @ base_rates
    accuracy = np.einsum("cdrkk,cdk->cdr", confusion, of_all)
    variables |= {
        BASE_RATES.name: (BASE_RATES.dims[1:], of_all),
        "confusion": (("rater", "category", "response"), confusion),
        "accuracy": (("rater",), accuracy),
    }
    return variables | ({"system_accuracy": ((), accuracy[..., -1])} if observed.has_system else {})


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
    (chain, draw, item), the log density of all ratings of an item, with an entry for each item of a
    grouped row, unless that is more than 50 million numbers; with it, group `observed_data` gets
    the ratings.

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
    posterior = read_group(tree, "posterior")
    truth = np.zeros((len(patterns.counts), patterns.n_categories))
    sample = {"chain": posterior["chain"], "draw": posterior["draw"]}
    shape = tuple(map(len, sample.values()))
    keep = log_likelihood and ratings.n_items * np.prod(shape) <= MOST_LOG_LIKELIHOODS
    rows = np.repeat(np.arange(ratings.n_rows), ratings.weights)
    # A part is put into its place at once, because all parts together may be large.
    per_item, done = np.empty((np.prod(shape) * keep, len(rows))), 0
    used, right = posterior, []
    if not (keep or patterns.has_system):
        step = math.ceil(truth.size * np.prod(shape) / MOST_TRUTHS)
        used = posterior.isel(draw=slice(None, None, step))
    for probability, log_probability in infer_truths(used, patterns):
        if keep:
            part = slice(done, done + len(log_probability))
            per_item[part] = log_probability[:, patterns.inverse[rows]]
            done = part.stop
        truth += probability.sum(axis=0)
        if patterns.has_system:
            right.append(draw_right(probability, patterns, rng).sum(axis=1))
    truth = truth[patterns.inverse] / (used.sizes["chain"] * used.sizes["draw"])
    items = {"item": ratings.items, "category": posterior["category"]}
    probabilities = {"truth_probabilities": (("item", "category"), truth)}
    tree["truth"] = xr.DataTree(xr.Dataset(probabilities, items))
    if patterns.has_system:
        n_answered = patterns.counts[patterns.system >= 0].sum()
        draws = (np.concatenate(right) / n_answered).reshape(shape)
        posterior["system_accuracy_in_sample"] = xr.DataArray(draws, sample, tuple(sample))
        tree["posterior"] = xr.DataTree(posterior)
    if keep:
        densities = {"ratings": ((*sample, "item"), per_item.reshape(*shape, -1))}
        items = sample | {"item": ratings.items[rows]}
        tree["log_likelihood"] = xr.DataTree(xr.Dataset(densities, items))
        tree["observed_data"] = xr.DataTree(label_ratings(ratings))


def label_ratings(ratings: Ratings) -> xr.Dataset:
    """Label the ratings of a fit, so that a saved fit holds its data.

    Parameters
    ----------
    ratings : Ratings
        A grouped row becomes as many items as it has.

    Returns
    -------
    xarray.Dataset
        `ratings` (rating), the index of the category of each rating, with its item and its rater
        as coordinates. The system is the last rater.

    Examples
    --------
    >>> label_ratings(Ratings([[0, 1]], ["no", "yes"], system=[1]))["ratings"].values.tolist()
    [0, 1, 1]
    """
    single = ratings.to_ungrouped()
    votes = single.all_votes
    coords = {
        "item_of_rating": ("rating", single.items[votes.item_index]),
        "rater_of_rating": ("rating", np.array(single.all_raters)[votes.rater_index]),
    }
    return xr.Dataset({"ratings": ("rating", votes.category_index)}, coords)


def infer_truth(patterns: Patterns, rates: Floats, confusion: Floats) -> tuple[Floats, Floats]:
    """Infer the true category of each pattern in each draw.

    Parameters
    ----------
    rates : ndarray, shape (n_draws, n_states) or (n_draws, n_populations, n_states)
    confusion : ndarray, shape (n_draws, n_raters, n_states, n_responses)
        As `take_states` gives it.

    Returns
    -------
    probability : ndarray, shape (n_draws, n_patterns, n_categories)
        Of each true category given the ratings of the pattern.
    log_probability : ndarray, shape (n_draws, n_patterns)
        Log probability of these ratings.
    """
    n_states, k = rates.shape[-1], patterns.n_categories
    log_rates = np.log(np.maximum(rates, LEAST)).T
    if rates.ndim == 3:
        log_rates = log_rates.swapaxes(0, 1)[patterns.population]
    log_confusion = np.log(np.maximum(confusion, LEAST)).transpose(1, 3, 2, 0)
    by_state, log_probability = e_step(patterns, log_rates, log_confusion, np.arange(n_states) % k)
    if n_states > k:
        by_state = by_state.reshape(len(by_state), -1, k, by_state.shape[2]).sum(axis=1)
    return by_state.transpose(2, 0, 1), log_probability.T


def take_states(posterior: xr.Dataset, *, by_population: bool = False) -> tuple[Floats, Floats]:
    """Take the probability of each state, and confusion matrices by state, from each draw.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates` and `confusion` or `confusion_by_level`.
    by_population : bool
        Whether rates are those of each population, if there are any, and not of all items.

    Returns
    -------
    rates : ndarray, shape (n_draws, n_states) or (n_draws, n_populations, n_states)
    confusion : ndarray, shape (n_draws, n_raters, n_states, n_responses)
    """
    k = posterior.sizes["category"]
    rates = stack_draws(posterior, "base_rates", ...)
    if by_population and BY_POPULATION in posterior:
        rates = stack_draws(posterior, BY_POPULATION, "population", ...)
    name = "confusion_by_level" if "confusion_by_level" in posterior else "confusion"
    confusion = stack_draws(posterior, name, "rater", ..., "category", "response")
    by_state = confusion.reshape(len(rates), posterior.sizes["rater"], -1, k)
    n_levels = by_state.shape[2] // k
    return np.tile(rates / n_levels, n_levels), by_state


def infer_truths(posterior: xr.Dataset, patterns: Patterns) -> Iterator[tuple[Floats, Floats]]:
    """Yield what `infer_truth` gives of all draws, some of them at a time."""
    rates, confusion = take_states(posterior, by_population=True)
    size = max(1, CELLS_AT_ONCE // (len(patterns.counts) * rates.shape[-1]))
    for start in with_progress("summarising what was sampled", range(0, len(rates), size)):
        part = slice(start, start + size)
        yield infer_truth(patterns, rates[part], confusion[part])


def draw_right(probability: Floats, patterns: Patterns, rng: np.random.Generator) -> Integers:
    """Draw the number of right answers to the items of each pattern that has an answer."""
    answered = np.flatnonzero(patterns.system >= 0)
    chance = np.minimum(probability[:, answered, patterns.system[answered]], 1.0)
    return np.asarray(rng.binomial(patterns.counts[answered], chance))


def take_fitted(tree: xr.DataTree, ratings: Ratings) -> Ratings:
    """Give ratings as they entered a fit: without gold labels if these did not.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        If there is no system, or if raters, categories, items or populations are not those of the
        fit.
    """
    if ratings.system is None:
        remedy = "fit ratings with a system, and give the same ratings here"
        raise InputError("there is no system", remedy)
    posterior = read_group(tree, "posterior")
    populations = posterior["population"] if "population" in posterior.coords else ()
    pairs = [
        (posterior["rater"], ratings.all_raters),
        (posterior["category"], ratings.categories),
        (read_group(tree, "truth")["item"], ratings.items),
        (populations, ratings.populations),
    ]
    if not all(np.array_equal(np.asarray(a, str), np.asarray(b, str)) for a, b in pairs):
        problem = "raters, categories, items or populations are not those of the fit"
        raise InputError(problem, "give the ratings of the fit")
    return ratings if tree.attrs.get("known_truths", 0) else ratings.with_truth(None)
