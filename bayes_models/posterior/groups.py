"""The accuracy in groups, in populations and on any chosen items, after a fit to all of them."""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayes_models.likelihood.observations import observe
from bayes_models.models.assemble import BY_POPULATION
from bayes_models.posterior.draws import credible_interval, group, values_by_draw
from bayes_models.posterior.group_sampler import sample_groups
from bayes_models.posterior.truth import draw_right, fitted_ratings, infer_truths
from lehner import InputError, IntervalEstimate, Ratings
from lehner.contrasts.groups import GroupDraws, GroupReplicates, Groups, count_answers, find_groups
from lehner.core.arrays import Floats
from lehner.core.errors import check_level
from lehner.core.seeds import Seed, generator
from lehner.core.warning import warn

CREDIBLE = "equal-tailed credible"
POOLED_ACCURACY = warn(
    "groups-pooled",
    "base rates and accuracies of groups are partially pooled, so that differences between small "
    "groups are too small; all raters shift alike",
)
SAME_MATRICES = warn(
    "groups-alike",
    "raters and system are assumed to have the same confusion matrices in all populations, so "
    "that accuracies differ by base rates alone",
)


def accuracy_by_group(
    tree: xr.DataTree, ratings: Ratings, groups: ArrayLike, *, seed: Seed = 1
) -> GroupDraws:
    """Estimate the accuracy of system and raters in groups of items.

    Nothing is fitted again. Each draw of the fit keeps its confusion matrices, but each group has
    its own base rates, one shift of the raters' log odds of a right answer that is common to all
    raters, and another shift for the system; true categories are drawn again. Base rates and shifts
    are partially pooled: they are shrunk toward those of all items, most in small groups and if
    groups differ little. It is assumed that a group makes all raters better or worse by the same
    shift, and that the proportions of their errors are the same in all groups.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system.
    groups : array_like, shape (n_rows,)
        The name of each row's group; None, NaN or "" for rows that belong to none.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    GroupDraws
        Draws of accuracies and base rates, joint for all groups. A single group has no shifts: its
        accuracies are those of the fit. `lehner.estimate(groups=...)` gives their means, intervals
        and differences.

    Raises
    ------
    InputError
        If these are not the ratings of the fit, if there is no system, or if it answered no item of
        a group.

    Notes
    -----
    Groups must be defined by what is known before the items are rated, as domains and lengths are.
    For items chosen by their ratings or by the system's answers, see `accuracy_where`.

    In a simulation (`experiments/simulations/item_groups.csv`, `dawid_skene`, 60 data sets; a
    third of the items are in a group in which the system's accuracy is .75 instead of .95) the
    estimated difference is .09 too small with 50 items, .06 with 200 and .02 with 1,000. Its 90%
    intervals contain the true difference in .78, .83 and .80 (± .05) of the data sets; if the
    raters, too, are less accurate in that group, in .88, .88 and .90; and if there is no
    difference, zero in 1.00, 1.00 and .85. The partial pooling and the priors of the confusion
    matrices draw groups toward one another. The algebra does not, and has wider intervals: use it
    where groups are small and may differ much.

    Confusion matrices are those of a fit that ignored the groups, and the groups do not change them
    (this is called a cut posterior). If groups differ much and are large, fit them one by one.

    Examples
    --------
    >>> import lehner
    >>> import numpy as np
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=2).with_truth(None)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> domain = np.where(np.arange(200) < 120, "law", "sport")
    >>> accuracy_by_group(tree, ratings, domain).groups.names
    ('law', 'sport')
    """
    posterior = group(tree, "posterior")
    patterns = observe(fitted_ratings(tree, ratings))
    membership = find_groups(ratings, groups)
    sizes = count_answers(ratings, membership)
    replicates = sample_groups(
        posterior, patterns, ratings.weights, membership.index, len(membership), seed
    )
    return GroupDraws(
        groups=membership, sizes=sizes, drawn=replicates, kind=CREDIBLE, note=POOLED_ACCURACY
    )


def accuracy_by_population(tree: xr.DataTree, ratings: Ratings, *, seed: Seed = 1) -> GroupDraws:
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
    GroupDraws
        With a group for each population.

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
    >>> accuracy_by_population(tree, ratings).groups.names
    ('x', 'y')
    """
    fitted = fitted_ratings(tree, ratings)
    if ratings.population is None:
        raise InputError("items are from no populations", "name them by with_populations")
    groups = Groups(names=ratings.populations, index=ratings.population)
    sizes = count_answers(ratings, groups)
    posterior = group(tree, "posterior")
    rates = values_by_draw(posterior, BY_POPULATION, "population", "category")
    matrices = values_by_draw(posterior, "confusion", "rater", "category", "response")
    accuracy = np.einsum("dpk,djk->dpj", rates, np.diagonal(matrices, axis1=2, axis2=3))
    replicates = GroupReplicates(
        system_accuracy=accuracy[..., -1],
        system_accuracy_in_sample=_proportions_right(posterior, fitted, seed),
        base_rates=rates,
        rater_accuracy=accuracy[..., :-1],
    )
    return GroupDraws(
        groups=groups, sizes=sizes, drawn=replicates, kind=CREDIBLE, note=SAME_MATRICES
    )


def _proportions_right(posterior: xr.Dataset, ratings: Ratings, seed: Seed) -> Floats:
    """Draw the proportion of right answers in each population, (n_draws, n_populations)."""
    patterns, rng = observe(ratings), generator(seed)
    member = patterns.population[:, None] == np.arange(len(patterns.populations))
    member = member[patterns.system >= 0]
    right = [
        draw_right(probability, patterns, patterns.counts, rng) @ member
        for probability, _ in infer_truths(posterior, patterns)
    ]
    return np.asarray(np.concatenate(right) / (patterns.counts[patterns.system >= 0] @ member))


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
    tree: xr.DataTree, ratings: Ratings, mask: ArrayLike, *, level: float = 0.9, seed: Seed = 1
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
    selected = np.asarray(mask)
    if selected.dtype != bool or selected.shape != (ratings.n_rows,):
        raise InputError(
            f"the mask has shape {selected.shape} and type {selected.dtype}",
            f"give {ratings.n_rows} truth values, one for each row",
        )
    counts = np.zeros_like(patterns.counts)
    np.add.at(counts, patterns.inverse[selected], ratings.weights[selected])
    n_answered = int(counts[patterns.system >= 0].sum())
    if not n_answered:
        raise InputError("the mask chooses no item that the system answered", "choose some")
    rng = generator(seed)
    right, proportions = [], []
    posterior = group(tree, "posterior")
    for probability, _ in infer_truths(posterior, patterns):
        right.append(draw_right(probability, patterns, counts, rng).sum(axis=1))
        proportions.append(np.einsum("dpk,p->dk", probability, counts / counts.sum()))
    matrices = values_by_draw(posterior, "confusion", "rater", "category", "response")
    recall = np.diagonal(matrices[:, -1], axis1=1, axis2=2)
    expected = (np.concatenate(proportions) * recall).sum(axis=1)
    return AccuracyWhere(
        n_items=int(counts.sum()),
        n_answered=n_answered,
        system_accuracy_in_sample=credible_interval(np.concatenate(right) / n_answered, level),
        system_accuracy=credible_interval(expected, level),
    )
