"""Groups of items with equal confusion matrices and different base rates, by maximum likelihood."""

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts.group_draws import GroupDraws, GroupReplicates
from lehner.contrasts.membership import count_answers, find_groups
from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.core.estimate import join_parts, require_estimable
from lehner.core.seeds import Seed, generator
from lehner.core.warning import warn
from lehner.data.ratings import Ratings
from lehner.data.votes import count_rated
from lehner.latent_class.em import SampledFits
from lehner.latent_class.intervals import (
    KIND,
    FittedModel,
    draw_patterns,
    fit_by_likelihood,
    fit_resamples,
)

GROUP_RESAMPLES = 200
SAME_CONFUSION = warn(
    "groups-alike",
    "confusion matrices are assumed to be the same in all groups, so that accuracies differ by "
    "base rates alone; a group that is more difficult than others is not detected",
)


def group_by_likelihood(
    ratings: Ratings,
    groups: ArrayLike,
    model: str = "dawid_skene",
    *,
    resamples: int = GROUP_RESAMPLES,
    seed: Seed = 1,
) -> GroupDraws:
    """Estimate base rates and accuracies in populations of items, by maximum likelihood.

    Raters and system have the same confusion matrices in every group, but each group has its own
    base rates. Groups with different base rates help to identify the matrices: with two such groups
    and two categories, two raters are enough.

    Parameters
    ----------
    ratings : Ratings
        With a system. If some truths are known they enter as data.
    groups : array_like, shape (n_rows,)
        The name of each row's group.
    model : str
        The model of the confusion matrices, as in `fit_latent_class`.
    resamples : int
        Number of bootstrap resamples of the items, each fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    GroupDraws
        Accuracies and base rates. For the interval of the accuracy in this sample,
        truths of these items are drawn from their probabilities in the fit to each resample.

    Raises
    ------
    InputError
        For the same reasons as in `fit_latent_class`, if there is no system, if a row belongs to no
        group, or if the system answered no item of a group.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = simulate(scenario, 1).with_truth(None)
    >>> found = group_by_likelihood(ratings, np.repeat(["x", "y"], 100), resamples=20)
    >>> found.groups.names
    ('x', 'y')
    """
    require_estimable(ratings)
    ratings = count_rated(ratings)
    membership = find_groups(ratings, groups)
    if (membership.index < 0).any():
        raise InputError(
            "some rows belong to no group", "name the group of each row, or leave these rows out"
        )
    sizes = count_answers(ratings, membership)
    names = np.array(membership.names)[membership.index]
    fitted = fit_by_likelihood(ratings.with_populations(names), model)
    rng = generator(seed)
    refits = fit_resamples(fitted, draw_patterns(fitted, resamples, rng), rng)
    return GroupDraws(
        groups=membership,
        sizes=sizes,
        drawn=join_parts((_replicates(fitted, fits, rng) for fits in refits), resamples),
        point=_point(fitted),
        kind=KIND,
        note=SAME_CONFUSION,
    )


def _point(fitted: FittedModel) -> GroupReplicates:
    """Give the fit to all items; the proportion of right answers is the expected one."""
    # Rows without expected ratings belong to categories that hardly occur.
    confusion = np.nan_to_num(fitted.confusion)[None]
    right = fitted.n_items[:, None] * _chance_right(fitted, fitted.classes[..., None])
    return _by_population(fitted, fitted.maximum.base_rates[None], confusion, right)


def _replicates(
    fitted: FittedModel, fits: SampledFits, rng: np.random.Generator
) -> GroupReplicates:
    """Give fits to resamples, and draw the truths of the original items."""
    right = rng.binomial(fitted.n_items[:, None], _chance_right(fitted, fits.classes)).astype(float)
    return _by_population(fitted, fits.group_rates, fits.confusion, right)


def _chance_right(fitted: FittedModel, classes: Floats) -> Floats:
    """Give the probability that the system's answer is right, (n_patterns, n_samples)."""
    answer = fitted.answers[:, None, None]
    chance = np.take_along_axis(classes, np.maximum(answer, 0), axis=1)[:, 0]
    return np.where(answer[:, 0] < 0, 0.0, np.clip(chance, 0.0, 1.0))


def _by_population(
    fitted: FittedModel, rates: Floats, confusion: Floats, right: Floats
) -> GroupReplicates:
    """Put together what fits say of each population.

    Parameters
    ----------
    fitted : FittedModel
    rates : ndarray, shape (n_samples, n_populations, n_categories)
        NaN in samples without items of a population.
    confusion : ndarray, shape (n_samples, n_raters, n_categories, n_categories)
    right : ndarray, shape (n_patterns, n_samples)
        Number of right answers to the original items.
    """
    n_answered = np.where(fitted.answers < 0, 0, fitted.n_items)
    sum_populations = fitted.maximum.table.sum_groups
    proportion = (sum_populations(right) / sum_populations(n_answered[:, None])).T
    accuracy = np.einsum("spk,sjkk->spj", rates, confusion)
    return GroupReplicates(
        system_accuracy=accuracy[..., -1],
        system_accuracy_in_sample=np.where(np.isnan(rates).any(axis=-1), np.nan, proportion),
        base_rates=rates,
        rater_accuracy=accuracy[..., :-1],
    )
