r"""What a fit found of a dependent pair: its shares of common answers, and the evidence for them.

Without dependence all shares are zero. The Bayes factor for dependence is the prior density of the
shares at zero divided by their posterior density there (Dickey 1971). Given the other parameters
and the true categories, that posterior density is known but for an integral over each share, so
that it is averaged over draws of these (Gelfand & Smith 1990), and no density is estimated.
A pair that is named may be independent: fits with and without dependence are averaged.

References
----------
Dickey (1971), https://doi.org/10.1214/aoms/1177693507; Gelfand & Smith (1990),
https://doi.org/10.1080/01621459.1990.10476213
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.models.observations import answers_after
from bayes_models.models.parameters import SHARE, SHARE_PRIOR
from bayes_models.posterior.diagnostics import ess
from bayes_models.posterior.draws import beta_interval, credible_interval, group
from bayes_models.posterior.truth import LEAST, MOST_NAMED, infer_truth, states
from lehner import Patterns
from lehner.core.arrays import Floats
from lehner.core.errors import Warning, warn
from lehner.core.estimate import ESTIMANDS
from lehner.core.text import first_few

MOST_DRAWS = 4000
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)
COVARIANCE, IF_NOT = "covariance", "_if_independent"
LITTLE = 0.8
"""Standard deviation of a share, as a proportion of the prior's, above which little was learned."""


def average_with_independence(
    tree: xr.DataTree,
    alone: xr.DataTree,
    pair: Sequence[str],
    patterns: Patterns,
    rng: np.random.Generator,
) -> None:
    """Average a fit with a dependent pair and one without it, by their posterior probabilities.

    Before the ratings are seen both are as probable. Each draw is then of one of the two; where it
    is of the fit without, the shares of common answers are zero.

    Parameters
    ----------
    tree, alone : xarray.DataTree
        The fits with and without the pair. Groups `posterior`, `truth` and `log_likelihood` of the
        first are changed in place. It gets the group `pair`: shares, the covariance of being right
        and the system's accuracies if the two are dependent, and these accuracies if not; and the
        attribute `dependent_pair`, with the log of the Bayes factor for dependence.
    pair : sequence of two str
        Names of the two.
    patterns : Patterns
        The ratings that were fitted, with the dependent pair.
    rng : numpy.random.Generator

    References
    ----------
    Hoeting et al. (1999), https://doi.org/10.1214/ss/1009212519
    """
    posterior, other = (fit["posterior"].to_dataset() for fit in (tree, alone))
    log_factor, error = log_bayes_factor(posterior, patterns, rng)
    summary = {"pair": pair, "log_bayes_factor": log_factor, "log_bayes_factor_error": error}
    tree.attrs["dependent_pair"] = json.dumps(summary)
    sizes = {name: posterior.sizes[name] for name in ("chain", "draw")}
    places = np.linspace(0, other.sizes["draw"] - 1, sizes["draw"]).astype(int)
    other = other.isel(draw=places).assign_coords(draw=posterior["draw"])
    right = posterior["confusion"].values.diagonal(axis1=-2, axis2=-1)
    names, share = posterior["rater"].values.tolist(), posterior[SHARE]
    first, second = (right[:, :, names.index(name)] for name in pair)
    kept = {SHARE: share, COVARIANCE: share * (np.minimum(first, second) - first * second)}
    for name in filter(posterior.__contains__, ESTIMANDS):
        kept |= {name: posterior[name], f"{name}{IF_NOT}": other[name]}
    tree["pair"] = xr.DataTree(xr.Dataset(kept))
    other[SHARE] = xr.zeros_like(share)
    probability = 1 / (1 + np.exp(-log_factor))
    dependent = xr.DataArray(rng.random(tuple(sizes.values())) < probability, dims=tuple(sizes))
    tree["posterior"] = xr.DataTree(posterior.where(dependent, other[list(posterior)]))
    truth, without = (fit["truth"].to_dataset() for fit in (tree, alone))
    tree["truth"] = xr.DataTree(probability * truth + (1 - probability) * without)
    if "log_likelihood" in tree:
        density, without = (fit["log_likelihood"].to_dataset() for fit in (tree, alone))
        without = without.isel(draw=places).assign_coords(draw=density["draw"])
        tree["log_likelihood"] = xr.DataTree(density.where(dependent, without))


def log_bayes_factor(
    posterior: xr.Dataset, patterns: Patterns, rng: np.random.Generator
) -> tuple[float, float]:
    """Estimate the log of the Bayes factor for dependence of the pair.

    The prior of the shares is uniform, as in the model.

    Parameters
    ----------
    posterior : xarray.Dataset
        Draws of a model that takes the pair.
    patterns : Patterns
        The ratings that were fitted, with a dependent pair.
    rng : numpy.random.Generator

    Returns
    -------
    log_bayes_factor : float
        Natural logarithm; above zero it speaks for dependence.
    error : float
        Its Monte Carlo standard error.
    """
    assert patterns.dependent is not None
    k, (first, second) = patterns.n_categories, patterns.dependent
    step = -(-posterior.sizes["chain"] * posterior.sizes["draw"] // MOST_DRAWS)
    some = posterior.isel(draw=slice(None, None, step))
    rates, rows = states(some, patterns.dependent, by_population=True)
    truth, _ = infer_truth(patterns, rates, rows)
    coupled = answers_after(rows[:, first], rows[:, second], np.ones((len(rows), k)), k)
    ratio = coupled / np.maximum(rows[:, None, second], LEAST)
    log_integral = np.zeros(len(rows))
    for true, number in enumerate(_count_answers(patterns, truth, rng)):
        log = np.zeros((len(rows), len(NODES)))
        share = (NODES + 1) / 2
        for i, j in np.ndindex(k, k):
            excess = ratio[:, i, true, j][:, None] - 1
            log += number[:, i, j][:, None] * np.log1p(share * np.maximum(excess, LEAST - 1))
        top = log.max(axis=1)
        log_integral += top + np.log(np.exp(log - top[:, None]) @ WEIGHTS / 2)
    density = np.exp(log_integral.min() - log_integral).reshape(some.sizes["chain"], -1)
    error = density.std() / density.mean() / np.sqrt(ess(density, "mean"))
    return float(log_integral.min() - np.log(density.mean())), float(error)


def _count_answers(patterns: Patterns, truth: Floats, rng: np.random.Generator) -> Floats:
    """Draw true categories, and count the pair's answers, (n_categories, n_draws, i, j)."""
    k, flat = patterns.n_categories, patterns.flat
    answers = np.full((2, len(patterns.counts)), -1)
    for row, member in zip(answers, patterns.dependent or (), strict=True):
        of_member = flat.rater_index == member
        row[flat.item_index[of_member]] = flat.category_index[of_member]
    both = np.flatnonzero((answers >= 0).all(axis=0))
    drawn = rng.multinomial(patterns.counts[both], truth[:, both])
    numbers = np.zeros((k, len(truth), k, k))
    for place, pattern in enumerate(both):
        numbers[:, :, *answers[:, pattern]] += drawn[:, place].T
    return numbers


def describe_pair(tree: xr.DataTree, level: float) -> dict[str, Any]:
    """Summarise what a fit says of a dependent pair.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`, of ratings with a dependent pair and a system.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    dict
        `pair`, `log_bayes_factor` and `log_bayes_factor_error` (a Monte Carlo standard error); the
        accuracies `if_dependent` and `if_independent`; and `categories`: of each true category the
        `prior` and the `posterior` of the share if the two are dependent, and the `covariance` of
        being right, which is Vacek's with two categories.
    """
    drawn = group(tree, "pair")
    prior = beta_interval(np.array(SHARE_PRIOR), 0, level)
    categories = [
        {
            "category": str(category),
            "prior": prior,
            "posterior": credible_interval(drawn[SHARE].sel(category=category), level),
            "covariance": credible_interval(drawn[COVARIANCE].sel(category=category), level),
        }
        for category in drawn["category"].values
    ]
    accuracies = {
        when: {name: credible_interval(drawn[name + ending], level) for name in ESTIMANDS}
        for when, ending in (("if_dependent", ""), ("if_independent", IF_NOT))
    }
    summary: dict[str, Any] = json.loads(tree.attrs["dependent_pair"])
    return summary | accuracies | {"categories": categories}


def warn_of_pair(tree: xr.DataTree) -> tuple[Warning, ...]:
    """Warn of true categories of which the ratings tell little of the share."""
    a, b = SHARE_PRIOR
    of_prior = np.sqrt(a * b / (a + b + 1)) / (a + b)
    spread = group(tree, "pair")[SHARE].std(("chain", "draw"))
    little = spread["category"].values[spread.values > LITTLE * of_prior]
    if not len(little):
        return ()
    first, second = json.loads(tree.attrs["dependent_pair"])["pair"]
    text = (
        f"how often {first} and {second} share answers, if they are dependent, is hardly seen in "
        f"these ratings and rests on its prior where the truth is {first_few(little, MOST_NAMED)}"
    )
    return (warn("pair-rests-on-prior", text),)
