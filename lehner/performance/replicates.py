"""Parameters of the system and the raters by each kind of method, from which measures are made."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.algebraic import credit_majority
from lehner.algebra.steps import (
    find_sparse_votes,
    regress_on_truth,
    solve_regression,
    take_first_steps,
)
from lehner.core.arrays import Floats, Seed, make_rng
from lehner.core.draws import Draws, join_parts
from lehner.core.errors import warn
from lehner.core.estimate import CREDIBLE, Estimate
from lehner.core.lazy import xr
from lehner.core.resampling import draw_counts
from lehner.data.estimable import count_rated, name_coords
from lehner.data.ratings import Ratings


def take_parameters(
    ratings: Ratings, estimate: Estimate, *, resamples: int, seed: Seed
) -> Draws | None:
    """Give the parameters from which measures are computed, as far as an estimate has them.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    estimate : Estimate
        Of these ratings.
    resamples, seed
        Not used: an estimate has its draws, or none.

    Returns
    -------
    Draws or None
        None if the method says nothing of base rates and confusion matrices.
    """
    coords = name_coords(ratings)
    if estimate.draws is not None:
        if estimate.system_accuracy.estimate is not None:
            return take_posterior(estimate.draws, coords)
        nothing = np.full((ratings.n_categories, ratings.n_categories), np.nan)
        return Draws(point=tabulate_parameters(nothing, ratings.n_raters), coords=coords)
    if estimate.resamples is not None or not {"base_rates", "confusion"} <= set(estimate.arrays):
        return estimate.resamples
    point = {name: array.values for name, array in estimate.arrays.items()}
    point.setdefault("rater_accuracy", np.full(ratings.n_raters, np.nan))
    point["rater_recall"] = np.diagonal(point["confusion"][:-1], axis1=1, axis2=2)
    point["confusion"] = point["confusion"][-1]
    return Draws(point=point, coords=coords)


def take_posterior(tree: "xr.DataTree", coords: Mapping[str, Any]) -> Draws:
    """Take base rates, the system's confusion matrix, and the raters' accuracy and recall.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `bayes_models.fit`, of ratings with a system, which is the last rater.
    coords : mapping of str to sequence
        As `Draws` has them.

    Returns
    -------
    Draws
        Their point estimate is the posterior mean.
    """
    posterior = tree["posterior"].to_dataset()

    def take(name: str, *dims: Any) -> Floats:
        values = posterior[name].transpose("chain", "draw", *dims).values
        return values.reshape(-1, *values.shape[2:])

    matrices = take("confusion", "rater", "category", "response")
    drawn = {
        "base_rates": take("base_rates", ...),
        "confusion": matrices[:, -1],
        "rater_accuracy": take("accuracy", "rater")[:, :-1],
        "rater_recall": np.diagonal(matrices[:, :-1], axis1=-2, axis2=-1),
    }
    point = {name: np.asarray(values, order="C").mean(axis=0) for name, values in drawn.items()}
    return Draws(point=point, drawn=drawn, coords=coords, kind=CREDIBLE, posterior=True)


def resample_algebra(
    ratings: Ratings, estimate: Estimate | None = None, *, resamples: int = 2000, seed: Seed = 1
) -> Draws:
    """Estimate base rates, rater accuracy and the system's confusion matrix, with resamples.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    estimate : Estimate, optional
        Not used.
    resamples : int
        Number of bootstrap resamples of the items. In each of them two answers in each category are
        drawn from the matrix toward which the ridge shrinks, that is the ridge has this weight and
        its matrix has a Dirichlet distribution, so that intervals are wide for categories with few
        items, of which resamples would otherwise be too alike.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Draws
        The estimates and their resamples; NaN if raters agree at or below chance.
    """
    collapsed = count_rated(ratings).collapsed_votes
    sparse, rng = find_sparse_votes(collapsed), make_rng(seed)

    def replicate(weights: Floats, rng: np.random.Generator | None) -> dict[str, Floats]:
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
        of_raters = np.repeat(accuracy[:, None], ratings.n_raters, axis=1)
        return {"base_rates": rates, "confusion": confusion, "rater_accuracy": of_raters}

    point = replicate(collapsed.weights[None, :].astype(float), None)
    n_cells = len(collapsed.votes) * (ratings.n_categories + 1)
    many = draw_counts(collapsed.sampled, resamples, rng, n_cells)
    return Draws(
        point={name: values[0] for name, values in point.items()},
        drawn=join_parts(map(partial(replicate, rng=rng), many), resamples),
        coords=name_coords(ratings),
        kind="percentile bootstrap",
    )


def count_by_majority(
    ratings: Ratings, estimate: Estimate | None = None, *, resamples: int = 0, seed: Seed = 1
) -> Draws:
    """Take the majority for the truth; tied categories share the item. There are no resamples."""
    truth = credit_majority(ratings.count_votes())
    answers = np.asarray(ratings.system)[:, None] == np.arange(ratings.n_categories)
    text = "compared with the majority, as if it were always right"
    table = truth.T @ (answers * ratings.weights[:, None])
    return Draws(
        point=tabulate_parameters(table, ratings.n_raters),
        coords=name_coords(ratings),
        warnings=(warn("reference-imperfect", text),),
    )


def tabulate_parameters(table: Floats, n_raters: int) -> dict[str, Floats]:
    """Give base rates and confusion matrix of tables of truths and answers (last)."""
    true = table.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        confusion, rates = table / true[..., None], true / true.sum(axis=-1, keepdims=True)
    unknown = np.full((*true.shape[:-1], n_raters), np.nan)
    return {"base_rates": rates, "confusion": confusion, "rater_accuracy": unknown}
