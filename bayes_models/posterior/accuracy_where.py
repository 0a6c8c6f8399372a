"""The accuracy of the system on any chosen items, whose true categories are drawn from a fit."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayes_models.likelihood.observations import observe
from bayes_models.posterior.draws import credible_interval
from bayes_models.posterior.fitted_ratings import fitted_ratings
from bayes_models.posterior.truth import log_joints
from lehner import InputError, IntervalEstimate, Ratings
from lehner.core.checks import check_level
from lehner.core.class_posterior import class_posterior
from lehner.core.seeds import Seed, generator


@dataclass(frozen=True, kw_only=True)
class AccuracyWhere:
    """The accuracy of the system on some of the items.

    Parameters
    ----------
    n_items : int
        How many items were chosen.
    n_answered : int
        How many of them the system answered.
    system_accuracy_in_sample : IntervalEstimate
        Proportion of the answered items that the system got right.
    system_accuracy : IntervalEstimate
        Expected accuracy with the true categories of the chosen items and the system's confusion
        matrix for all items.
    """

    n_items: int
    n_answered: int
    system_accuracy_in_sample: IntervalEstimate
    system_accuracy: IntervalEstimate


def accuracy_where(
    tree: xr.DataTree,
    ratings: Ratings,
    mask: ArrayLike,
    *,
    level: float = 0.9,
    seed: Seed = 1,
) -> AccuracyWhere:
    """Estimate the accuracy of the system on some of the items.

    In each draw of the fit, true categories of the chosen items are drawn given their ratings and
    the system's answers. The items may also be chosen by their ratings or by the system's answers:
    for example the items on which raters disagree, or those that the system answered "yes", on
    which the proportion right is the precision. Base rates and confusion matrices are those of all
    items. If a group may be more difficult than the rest, use `accuracy_by_group`, which shrinks a
    group's accuracy less toward that of all items.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system.
    mask : array_like of bool, shape (n_rows,)
        Which rows are chosen.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    AccuracyWhere
        The accuracy in this sample, and the accuracy expected for items of the same true
        categories.

    Raises
    ------
    InputError
        If these are not the ratings of the fit, if there is no system, if the mask does not consist
        of truth values, or if it chooses no item that the system answered.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=2)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> print(accuracy_where(tree, ratings, ratings.system == 2).system_accuracy_in_sample)
    0.922 [0.883, 0.958]
    >>> float((ratings.truth == ratings.system)[ratings.system == 2].mean().round(3))
    0.933
    """
    level = check_level(level)
    patterns = observe(fitted_ratings(tree, ratings))
    chosen = np.asarray(mask)
    if chosen.dtype != bool or chosen.shape != (ratings.n_rows,):
        raise InputError(
            f"the mask has shape {chosen.shape} and type {chosen.dtype}",
            f"give {ratings.n_rows} truth values, one for each row",
        )
    counts = np.bincount(
        patterns.inverse[chosen], ratings.weights[chosen], len(patterns.counts)
    ).astype(np.int64)
    system = patterns.system
    answered = np.flatnonzero((system >= 0) & (counts > 0))
    if not answered.size:
        raise InputError("the mask chooses no item that the system answered", "choose some")
    rng = generator(seed)
    right, shares = [], []
    posterior = tree["posterior"].to_dataset()
    for joint in log_joints(posterior, patterns):
        probability = class_posterior(joint)[0]
        chance = np.minimum(probability[:, answered, system[answered]], 1.0)
        drawn = rng.binomial(counts[answered], chance).sum(axis=1)
        right.append(drawn / counts[answered].sum())
        shares.append(np.einsum("dpk,p->dk", probability, counts / counts.sum()))
    rows = posterior["confusion"].isel(rater=-1).transpose("chain", "draw", "category", "response")
    recall = np.diagonal(rows.values, axis1=2, axis2=3).reshape(-1, patterns.n_categories)
    return AccuracyWhere(
        n_items=int(counts.sum()),
        n_answered=int(counts[answered].sum()),
        system_accuracy_in_sample=credible_interval(np.concatenate(right), level),
        system_accuracy=credible_interval((np.concatenate(shares) * recall).sum(axis=1), level),
    )
