"""Joint draws of several systems' accuracies, from a fit of each.

Each system has a fit of its own, to the raters' ratings and its answers, so that systems are no
raters of one another. What two fits say is correlated all the same: they rest on the same raters
and items. How much follows from the influence of each item on the posterior means: the posterior
covariance of the accuracy with the item's log likelihood (the infinitesimal jackknife). Draws of
the fits are put side by side with that correlation, and items get their true categories from the
same random numbers in all fits.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from bayes_models.likelihood.observations import Observations, observe
from bayes_models.posterior.truth import log_joint, states
from lehner import JointDraws, Ratings
from lehner.core.arrays import Floats, Integers
from lehner.core.class_posterior import class_posterior
from lehner.core.errors import InputError
from lehner.core.seeds import Seed, child_seeds

CHUNK = 2_000_000


def joint_draws(
    trees: Mapping[str, xr.DataTree],
    ratings: Ratings,
    *,
    systems_rate: bool = False,
    seed: Seed = 1,
) -> JointDraws:
    """Put draws of several systems' accuracies side by side.

    Parameters
    ----------
    trees : mapping of str to xarray.DataTree
        By the name of the system, its fit by `fit`; all by the same model.
    ratings : Ratings
        With these systems. The fits are of `ratings.for_system(name, systems_rate=...)`.
    systems_rate : bool
        As the fits had it.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Returns
    -------
    JointDraws
        The draws of each system are those of its fit in another order; those in the sample are
        drawn anew.

    Raises
    ------
    InputError
        If a fit is of another model or of other ratings.

    References
    ----------
    Giordano & Broderick (2023), The Bayesian infinitesimal jackknife for variance,
    https://arxiv.org/abs/2305.06466

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> ratings = lehner.load_dataset("anesthesia", system=["2", "3"])
    >>> trees = {
    ...     name: fit("pooled", ratings.for_system(name), engine="gibbs", checks=False)
    ...     for name in ratings.systems
    ... }
    >>> draws = joint_draws(trees, ratings)
    >>> sorted(draws.expected)
    ['2', '3']
    """
    models = {str(tree.attrs["model"]) for tree in trees.values()}
    if len(models) != 1:
        raise InputError(f"the fits are of {len(models)} models", "give fits of one model")
    observed = {
        name: observe(ratings.for_system(name, systems_rate=systems_rate)) for name in trees
    }
    posteriors = {name: _checked(tree, observed[name]) for name, tree in trees.items()}
    influence = np.stack([_influence(posteriors[name], observed[name]) for name in trees])
    copula_seed, truth_seed = child_seeds(seed, 2)
    chosen = _couple(
        [_accuracy(posterior) for posterior in posteriors.values()],
        _correlation(influence, ratings.weights),
        np.random.default_rng(copula_seed),
    )
    start = _starts(trees)
    expected, in_sample = {}, {}
    for (name, posterior), draws in zip(posteriors.items(), chosen, strict=True):
        expected[name] = _accuracy(posterior)[draws]
        in_sample[name] = _in_sample(posterior, observed[name], draws, start, ratings, truth_seed)
    return JointDraws(
        method=models.pop(),
        kind="equal-tailed credible",
        expected=expected,
        in_sample=in_sample,
    )


def _checked(tree: xr.DataTree, observed: Observations) -> xr.Dataset:
    posterior = tree["posterior"].to_dataset()
    if posterior.coords["rater"].values.tolist() != list(observed.patterns.raters):
        raise InputError(
            f"a fit is of the raters {', '.join(map(str, posterior.coords['rater'].values))}",
            f"fit the ratings by {', '.join(observed.patterns.raters)}",
        )
    return posterior


def _accuracy(posterior: xr.Dataset) -> Floats:
    return posterior["system_accuracy"].transpose("chain", "draw").values.ravel()


def _influence(posterior: xr.Dataset, observed: Observations) -> Floats:
    """Give the influence of each row on the mean accuracy, up to a factor, shape (n_rows,)."""
    deviation = _accuracy(posterior) - _accuracy(posterior).mean()
    total = np.zeros(len(observed.counts))
    everything = np.arange(len(deviation))
    for draws, _, log_likelihood in _posteriors(posterior, observed, everything, 0):
        total += deviation[draws] @ log_likelihood
    return total[observed.patterns.inverse]


def _posteriors(
    posterior: xr.Dataset, observed: Observations, draws: Integers, n_items: int
) -> Iterator[tuple[Integers, Floats, Floats]]:
    """Give truth probabilities and log likelihoods of the patterns, some draws at a time."""
    rates, confusion = states(posterior)
    size = max(1, CHUNK // max(n_items, len(observed.counts) * rates.shape[1]))
    for start in range(0, len(draws), size):
        part = draws[start : start + size]
        yield part, *class_posterior(log_joint(observed, rates[part], confusion[part]))


def _correlation(influence: Floats, weights: Integers) -> Floats:
    centred = influence - (influence @ weights / weights.sum())[:, None]
    covariance = (centred * weights) @ centred.T
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _couple(draws: list[Floats], correlation: Floats, rng: np.random.Generator) -> list[Integers]:
    """Choose draws of each so that their ranks are those of correlated normal numbers."""
    n_draws = max(map(len, draws))
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = root @ rng.standard_normal((len(draws), n_draws))
    # Draws that are the same in all fits, as of one system under two names, shall stay so.
    ranks = normal.round(9).argsort(axis=1, kind="stable").argsort(axis=1)
    return [
        np.argsort(one, kind="stable")[rank * len(one) // n_draws]
        for one, rank in zip(draws, ranks, strict=True)
    ]


def _starts(trees: Mapping[str, xr.DataTree]) -> Floats:
    """Give each item's categories places on the unit interval, shape (n_rows, n_categories)."""
    by_fit = [tree["truth"].to_dataset()["truth_probabilities"].values for tree in trees.values()]
    truth = np.mean(by_fit, axis=0)
    return np.asarray(np.cumsum(truth, axis=1) - truth)


def _in_sample(
    posterior: xr.Dataset,
    observed: Observations,
    draws: Integers,
    start: Floats,
    ratings: Ratings,
    seed: np.random.SeedSequence,
) -> Floats:
    """Draw the share of its answers that are right.

    An item's random number is the same for all systems, and right is who answers the category in
    whose part of the unit interval it falls: systems that answer alike are right alike.
    """
    rng = np.random.default_rng(seed)
    answers = observed.patterns.system[observed.patterns.inverse]
    rows = np.repeat(np.arange(len(answers)), ratings.weights)
    n_items, answered = len(rows), answers[rows] >= 0
    rows = rows[answered]
    pattern, answer = observed.patterns.inverse[rows], answers[rows]
    from_place = start[rows, answer]
    found = []
    for _, truth, _ in _posteriors(posterior, observed, draws, n_items):
        luck = rng.random((len(truth), n_items), dtype=np.float32)[:, answered]
        place = (luck - from_place) % 1.0
        found.append((place < truth[:, pattern, answer]).mean(axis=1))
    return np.concatenate(found)
