"""Parameters of the system and the raters by each kind of method, from which measures are made."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.algebra.algebraic import credit_majority
from lehner.algebra.steps import (
    find_sparse_votes,
    regress_on_truth,
    solve_regression,
    take_first_steps,
)
from lehner.core.arrays import Floats, Seed, make_rng
from lehner.core.errors import warn
from lehner.core.estimate import Estimate, Parameters, Replicates, join_parts
from lehner.core.resampling import draw_counts
from lehner.data.estimable import count_rated
from lehner.data.ratings import Ratings

if TYPE_CHECKING:
    import xarray as xr

CREDIBLE = "equal-tailed credible"


def own_replicates(
    ratings: Ratings, estimate: Estimate, *, resamples: int, seed: Seed
) -> Replicates | None:
    """Give the parameters from which measures are computed, as far as an estimate has them.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    estimate : Estimate
        Of these ratings.
    resamples : int
        How many there should be, where there are none yet.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    Replicates or None
        None if the method says nothing of base rates and confusion matrices.
    """
    if estimate.draws is not None:
        if estimate.system_accuracy.estimate is not None:
            return replicate_posterior(estimate.draws)
        nothing = np.full((ratings.n_categories, ratings.n_categories), np.nan)
        return Replicates(point=tabulate_parameters(nothing, ratings.n_raters))
    if estimate.replicates is not None:
        return estimate.replicates
    if not {"base_rates", "confusion"} <= set(estimate.arrays):
        return None
    values = {name: array.values for name, array in estimate.arrays.items()}
    unknown = np.full(ratings.n_raters, np.nan)
    point = Parameters(
        base_rates=values["base_rates"],
        confusion=values["confusion"][-1],
        rater_accuracy=values.get("rater_accuracy", unknown),
        rater_recall=np.diagonal(values["confusion"][:-1], axis1=1, axis2=2),
    )
    return Replicates(point=point)


def replicate_posterior(tree: "xr.DataTree") -> Replicates:
    """Take base rates, the system's confusion matrix, and the raters' accuracy and recall.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `bayes_models.fit`, of ratings with a system, which is the last rater.

    Returns
    -------
    Replicates
        The draws; their point estimate is the posterior mean.
    """
    posterior = tree["posterior"].to_dataset()

    def take(name: str, *dims: Any) -> Floats:
        values = posterior[name].transpose("chain", "draw", *dims).values
        return values.reshape(-1, *values.shape[2:])

    matrices = take("confusion", "rater", "category", "response")
    drawn = Parameters(
        base_rates=take("base_rates", ...),
        confusion=matrices[:, -1],
        rater_accuracy=take("accuracy", "rater")[:, :-1],
        rater_recall=np.diagonal(matrices[:, :-1], axis1=-2, axis2=-1),
    )
    mean = Parameters(**{name: values.mean(axis=0) for name, values in vars(drawn).items()})
    return Replicates(point=mean, drawn=drawn, posterior=True, kind=CREDIBLE)


def replicate_algebra(ratings: Ratings, *, resamples: int = 2000, seed: Seed = 1) -> Replicates:
    """Estimate base rates, rater accuracy and the system's confusion matrix, with resamples.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    resamples : int
        Number of bootstrap resamples of the items. In each of them two answers in each category are
        drawn from the matrix toward which the ridge shrinks, that is the ridge has this weight and
        its matrix has a Dirichlet distribution, so that intervals are wide for categories with few
        items, of which resamples would otherwise be too alike.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Replicates
        The estimates and their resamples; NaN if raters agree at or below chance.
    """
    collapsed = count_rated(ratings).collapsed_votes
    sparse, rng = find_sparse_votes(collapsed), make_rng(seed)

    def replicate(weights: Floats, rng: np.random.Generator | None) -> Parameters:
        """Take the steps with these numbers of items by cell, (n_samples, n_cells)."""
        truth = None
        if sparse is not None:
            accuracy, rates, truth = sparse.take_steps(weights)
        if sparse is None or truth is None:
            counts = collapsed.lay_out(weights)
            steps = take_first_steps(collapsed, counts.sum(axis=-1))
            accuracy, rates = steps.accuracy, steps.base_rates
            confusion = regress_on_truth(steps.truth, counts[..., :-1], rng)
        else:
            answers = weights.T[sparse.has_answer]
            of_system = sparse.average(truth, answers)
            confusion = solve_regression(*sparse.multiply(truth, answers), of_system, rng)
        each = np.repeat(accuracy[:, None], ratings.n_raters, axis=1)
        return Parameters(base_rates=rates, confusion=confusion, rater_accuracy=each)

    point = vars(replicate(collapsed.weights[None, :].astype(float), None))
    point = {name: values[0] for name, values in point.items() if values is not None}
    n_cells = len(collapsed.votes) * (ratings.n_categories + 1)
    many = draw_counts(collapsed.sampled, resamples, rng, n_cells)
    drawn = join_parts(map(partial(replicate, rng=rng), many), resamples)
    return Replicates(point=Parameters(**point), drawn=drawn, kind="percentile bootstrap")


def replicate_majority(ratings: Ratings) -> Replicates:
    """Take the majority for the truth; tied categories share the item."""
    truth = credit_majority(ratings.count_votes())
    answers = np.asarray(ratings.system)[:, None] == np.arange(ratings.n_categories)
    point = tabulate_parameters(truth.T @ (answers * ratings.weights[:, None]), ratings.n_raters)
    note = "compared with the majority, as if it were always right"
    return Replicates(point=point, notes=(warn("reference-imperfect", note),))


def tabulate_parameters(table: Floats, n_raters: int) -> Parameters:
    """Give base rates and confusion matrix of tables of truths and answers (last)."""
    true = table.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        confusion, rates = table / true[..., None], true / true.sum(axis=-1, keepdims=True)
    unknown = np.full((*true.shape[:-1], n_raters), np.nan)
    return Parameters(base_rates=rates, confusion=confusion, rater_accuracy=unknown)
