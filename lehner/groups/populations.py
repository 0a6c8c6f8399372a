"""Groups of items with the same confusion matrices and other base rates, by maximum likelihood."""

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import TINY, Floats, Integers
from lehner.core.checks import check_level, check_whole_number
from lehner.core.class_posterior import class_posterior
from lehner.core.errors import InputError
from lehner.core.estimate import require_estimable
from lehner.core.seeds import Seed, generator
from lehner.data.patterns import Patterns
from lehner.data.ratings import Ratings
from lehner.groups.membership import Groups, count_answers, find_groups
from lehner.groups.result import GroupEstimates, GroupReplicates
from lehner.groups.summary import summarise_groups
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.models import BY_LIKELIHOOD

RESAMPLES = 200
NOTE = (
    "confusion matrices are the same in all groups, and accuracies differ by base rates alone; a "
    "group that is more difficult than others is not seen"
)


def estimate_populations(
    ratings: Ratings,
    groups: ArrayLike,
    model: str = "dawid_skene",
    *,
    level: float = 0.9,
    resamples: int = RESAMPLES,
    seed: Seed = 1,
) -> GroupEstimates:
    """Estimate base rates and accuracies in populations of items, by maximum likelihood.

    Raters and system have the same confusion matrices in every group, and base rates are those of
    the group. Groups with different base rates help to tell the matrices apart: with two of them
    and two categories, two raters are enough.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    groups : array_like, shape (n_rows,)
        The name of each row's group.
    model : str
        Which confusion matrices there are, as of `fit_latent_class`.
    level : float
        Probability of the intervals, between 0 and 1.
    resamples : int
        Number of bootstrap resamples of the items, each fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    GroupEstimates
        The interval of the accuracy in this sample is from truths of these items, drawn from what
        the fit to each resample says of them.

    Raises
    ------
    InputError
        For what `fit_latent_class` refuses, if there is no system, if a row belongs to no group, or
        if the system answered no item of a group.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = simulate(scenario, 1).with_truth(None)
    >>> found = estimate_populations(ratings, np.repeat(["x", "y"], 100), resamples=20)
    >>> [one.group for one in found.groups]
    ['x', 'y']
    """
    level = check_level(level)
    check_whole_number("resamples", resamples, 1)
    require_estimable(ratings)
    found = find_groups(ratings, groups)
    if (found.index < 0).any():
        raise InputError(
            "some rows belong to no group", "name the group of each row, or leave these rows out"
        )
    count_answers(ratings, found)
    rng = generator(seed)
    unknown = ratings.with_truth(None)
    point = _replicate(unknown, found, unknown.weights, model, None)
    shares = unknown.weights / unknown.weights.sum()
    drawn = rng.multinomial(unknown.n_items, shares, size=resamples)
    parts = [_replicate(unknown, found, weights, model, rng) for weights in drawn]
    replicates = GroupReplicates(
        **{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(point)}
    )
    return summarise_groups(
        model + BY_LIKELIHOOD,
        ratings,
        found,
        replicates,
        point,
        level=level,
        kind="percentile bootstrap",
        notes=(NOTE,),
    )


def _replicate(
    ratings: Ratings,
    groups: Groups,
    weights: Integers,
    model: str,
    rng: np.random.Generator | None,
) -> GroupReplicates:
    """Fit to weighted rows, and say what the fit says of each group; NaN for groups without rows.

    The truths of the items at hand are drawn if there is a generator, else their expectation is
    taken.
    """
    rows = np.flatnonzero(weights)
    names = np.array(groups.names)
    sample = ratings.take(rows, weights[rows])
    fit = fit_latent_class(sample, model, groups=names[groups.index[rows]])
    rates = fit.base_rates.reindex(group=list(groups.names)).values
    # Rows that no rating is expected to fall into are of categories that hardly occur.
    confusion = np.nan_to_num(fit.confusion.values)
    accuracy = rates @ np.diagonal(confusion, axis1=1, axis2=2).T
    return GroupReplicates(
        system_accuracy=accuracy[None, :, -1],
        system_accuracy_in_sample=_share_right(ratings, groups, rates, confusion, rng)[None],
        base_rates=rates[None],
        rater_accuracy=accuracy[None, :, :-1],
    )


def _share_right(
    ratings: Ratings,
    groups: Groups,
    rates: Floats,
    confusion: Floats,
    rng: np.random.Generator | None,
) -> Floats:
    """Give the share of the answers in each group that are right, (n_groups,)."""
    patterns: Patterns = ratings.patterns(truth=False)
    by_cell = np.log(np.maximum(confusion, TINY)).transpose(0, 2, 1)
    log = patterns.one_hot() @ by_cell.reshape(-1, confusion.shape[1])
    prior = np.log(np.maximum(np.nan_to_num(rates), TINY))
    truth = class_posterior(log[patterns.inverse] + prior[groups.index])[0]
    system = np.asarray(ratings.system)
    answered = np.flatnonzero(system >= 0)
    n_items = ratings.weights[answered]
    right = np.clip(truth[answered, system[answered]], 0.0, 1.0)
    n_right = n_items * right if rng is None else rng.binomial(n_items, right)
    of_group = groups.index[answered]
    totals = (np.bincount(of_group, one, len(groups)) for one in (n_right, n_items))
    share = np.divide(*totals)
    return np.where(np.isnan(rates).any(axis=1), np.nan, share)
