"""Joint draws of accuracies after a fit: of populations of items, and of systems.

Each system has a fit of its own, to the raters' ratings and its answers, so that one system's
answers do not influence the estimate of another. The estimates are correlated all the same, because
they depend on the same raters and items. The correlation is computed from the influence of each
item on the posterior means, which is the posterior covariance of the accuracy with the item's log
likelihood (the infinitesimal jackknife). Accuracies in the sample are correlated, besides, because
two systems that give an item the same answer are both right or both wrong, and of two different
answers at most one is right. The draws of the fits are reordered so that they have these
correlations.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_models.models.assemble import observe
from bayes_models.models.spec import BY_POPULATION
from bayes_models.posterior.draws import draw_right, infer_truths, read_group, take_fitted
from lehner import InputError, Patterns, Ratings
from lehner.contrasts import systems
from lehner.contrasts.groups import count_answers
from lehner.core.arrays import Floats, Integers, Seed, make_rng
from lehner.core.errors import warn
from lehner.core.estimate import CREDIBLE, ESTIMANDS, Draws, stack_draws
from lehner.data.estimable import name_coords

SAME_MATRICES = warn(
    "groups-alike",
    "raters and system are assumed to have the same confusion matrices in all populations, so "
    "that accuracies differ by base rates alone",
)


def draw_by_population(tree: xr.DataTree, ratings: Ratings, *, seed: Seed = 1) -> Draws:
    """Estimate base rates and accuracies in each population of the items of a fit.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system and with populations, see
        `Ratings.with_populations`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the truths that are drawn: the same seed gives the same numbers.

    Returns
    -------
    Draws
        By group, one for each population.

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
    >>> draw_by_population(tree, ratings).coords["group"]
    ('x', 'y')
    """
    fitted = take_fitted(tree, ratings)
    if ratings.population is None:
        raise InputError("items are from no populations", "name them by with_populations")
    posterior = read_group(tree, "posterior")
    rates = stack_draws(posterior, BY_POPULATION, "population", ...)
    matrices = stack_draws(posterior, "confusion", "rater", "category", "response")
    accuracy = np.einsum("dpk,djk->dpj", rates, np.diagonal(matrices, axis1=2, axis2=3))
    drawn = {
        "system_accuracy": accuracy[..., -1],
        "system_accuracy_in_sample": _draw_right(posterior, fitted, seed),
        "base_rates": rates,
        "rater_accuracy": accuracy[..., :-1],
    }
    return Draws(
        # Where some draws are undefined, so is their mean.
        point={name: values.mean(axis=0) for name, values in drawn.items()}
        | count_answers(ratings),
        drawn=drawn,
        coords=name_coords(ratings),
        kind=CREDIBLE,
        posterior=True,
        warnings=(SAME_MATRICES,),
    )


def _draw_right(posterior: xr.Dataset, ratings: Ratings, seed: Seed) -> Floats:
    """Draw the proportion of right answers in each population, (n_draws, n_populations)."""
    patterns, rng = observe(ratings), make_rng(seed)
    member = patterns.population[:, None] == np.arange(len(patterns.populations))
    member = member[patterns.system >= 0]
    right = [
        draw_right(probability, patterns, rng) @ member
        for probability, _ in infer_truths(posterior, patterns)
    ]
    return np.asarray(np.concatenate(right) / (patterns.counts[patterns.system >= 0] @ member))


@dataclass(frozen=True, kw_only=True, eq=False)
class Influence:
    """The accuracy of a system in a fit, and the influence of each item on it.

    Parameters
    ----------
    in_sample : ndarray, shape (n_draws,)
        Expected proportion of right answers in the sample, given the parameters of each draw.
    of_rows, of_rows_in_sample : ndarray, shape (n_rows,)
        Influence of an item of each row on the means of the expected accuracy and of this, up to a
        constant factor.
    right : ndarray, shape (n_rows,)
        Probability that the system's answer is right, 0 where there is no answer.
    """

    in_sample: Floats
    of_rows: Floats
    of_rows_in_sample: Floats
    right: Floats


def join_draws(trees: Mapping[str, xr.DataTree], ratings: Ratings, *, seed: Seed = 1) -> Draws:
    """Put draws of several systems' accuracies side by side.

    Systems with the same answers have the same draws, those of the first of them.

    Parameters
    ----------
    trees : mapping of str to xarray.DataTree
        The fit of each system, by its name, as returned by `fit`; all fits of the same model.
    ratings : Ratings
        Ratings with these systems. The fits are of `ratings.select_system(name)`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Returns
    -------
    Draws
        By system, without estimates. The draws of each system are those of its fit in another
        order.

    Raises
    ------
    InputError
        If a fit is of another model or of other ratings, or if systems answered different items.

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
    ...     name: fit("dawid_skene", ratings.select_system(name), engine="gibbs", checks=False)
    ...     for name in ratings.systems
    ... }
    >>> draws = join_draws(trees, ratings)
    >>> draws.coords["system"]
    ('2', '3')
    """
    models = {str(tree.attrs["model"]) for tree in trees.values()}
    if len(models) != 1:
        raise InputError(f"the fits are of {len(models)} models", "give fits of one model")
    if not systems.have_same_items(ratings, list(trees)):
        remedy = "fit each to ratings.select_common_items()"
        raise InputError("the systems answered different items", remedy)
    alike = systems.find_first_alike(ratings, list(trees))
    posteriors, influences = {}, {}
    for name in dict.fromkeys(alike.values()):
        fitted = take_fitted(trees[name], ratings.select_system(name))
        patterns = observe(fitted)
        posteriors[name] = trees[name]["posterior"].to_dataset()
        influences[name] = find_influence(posteriors[name], patterns)
    of_rows = [influence.of_rows for influence in influences.values()]
    correlations = _correlate(of_rows, ratings.weights), _correlate_in_sample(influences, ratings)
    rng, drawn = make_rng(seed), {}
    for estimand, correlation in zip(ESTIMANDS, correlations, strict=True):
        values = [stack_draws(posterior, estimand) for posterior in posteriors.values()]
        coupled = dict(zip(posteriors, _couple(values, correlation, rng), strict=True))
        drawn[estimand] = np.stack([coupled[same] for same in alike.values()], axis=1)
    names = tuple(alike)
    return Draws(point={}, drawn=drawn, coords={"system": names}, kind=CREDIBLE, posterior=True)


def find_influence(posterior: xr.Dataset, patterns: Patterns) -> Influence:
    """Find the influence of each row of the ratings on the system's accuracies."""
    expected = stack_draws(posterior, "system_accuracy")
    answered = np.flatnonzero(patterns.system >= 0)
    weights = patterns.counts[answered] / patterns.counts[answered].sum()
    in_sample, right = [], np.zeros(len(patterns.counts))
    sums, done = np.zeros((3, len(patterns.counts))), 0
    for truth, log_likelihood in infer_truths(posterior, patterns):
        chance = truth[:, answered, patterns.system[answered]]
        in_sample.append(chance @ weights)
        right[answered] += chance.sum(axis=0)
        part = expected[done : done + len(chance)]
        sums += np.stack([np.ones(len(chance)), part, in_sample[-1]]) @ log_likelihood
        done += len(chance)
    on_average = np.concatenate(in_sample)
    mean, with_expected, with_in_sample = sums / len(expected)
    return Influence(
        in_sample=on_average,
        of_rows=(with_expected - expected.mean() * mean)[patterns.inverse],
        of_rows_in_sample=(with_in_sample - on_average.mean() * mean)[patterns.inverse],
        right=right[patterns.inverse] / len(expected),
    )


def _correlate(influence: list[Floats], weights: Integers) -> Floats:
    centred = np.stack(influence)
    centred = centred - (centred @ weights / weights.sum())[:, None]
    return _scale((centred * weights) @ centred.T)


def _correlate_in_sample(influences: Mapping[str, Influence], ratings: Ratings) -> Floats:
    """Add the covariance of right answers given the parameters to that caused by the parameters."""
    several = list(influences.values())
    of_rows = [influence.of_rows_in_sample for influence in several]
    by_parameters = _correlate(of_rows, ratings.weights)
    sd = np.array([influence.in_sample.std() for influence in several])
    covariance = by_parameters * np.outer(sd, sd)
    answers = ratings.answers[:, [ratings.systems.index(name) for name in influences]]
    n_answers = (answers >= 0).T @ ratings.weights
    for i, influence in enumerate(several):
        for j, other in enumerate(several):
            alike = answers[:, i] == answers[:, j]
            most = np.minimum(influence.right, other.right)
            least = np.maximum(influence.right + other.right - 1, 0.0)
            both = np.where(alike, most, least) - influence.right * other.right
            covariance[i, j] += ratings.weights @ both / (n_answers[i] * n_answers[j])
    return _scale(covariance)


def _scale(covariance: Floats) -> Floats:
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = np.clip(covariance / np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def _couple(draws: list[Floats], correlation: Floats, rng: np.random.Generator) -> list[Floats]:
    """Reorder the draws of each so that their ranks are those of correlated normal numbers."""
    n_draws = max(map(len, draws))
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    normal = root @ rng.standard_normal((len(draws), n_draws))
    ranks = normal.argsort(axis=1, kind="stable").argsort(axis=1)
    pairs = zip(draws, ranks, strict=True)
    return [np.sort(values)[rank * len(values) // n_draws] for values, rank in pairs]
