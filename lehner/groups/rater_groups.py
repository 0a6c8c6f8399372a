"""The accuracy of groups of raters, such as experts, a crowd and language models."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lehner.algebra.algebraic import ALGEBRAIC_METHODS
from lehner.algebra.steps import rater_accuracy
from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError, check_level, check_whole_number
from lehner.core.estimate import Estimate
from lehner.core.resampling import draw_counts
from lehner.core.seeds import Seed, generator
from lehner.core.warning import Warning, warn
from lehner.data.clusters import count_items
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings
from lehner.data.votes import count_pairs
from lehner.groups.result import GroupDifference, GroupEstimates, RaterGroupEstimate
from lehner.groups.summary import proportion_higher, replicate_interval
from lehner.performance.replicates import replicates_of

BY_AGREEMENT = warn(
    "rater-group-accuracy",
    "the accuracy of a group of raters follows from how often they agree with one another; it is "
    "undefined for a group whose raters have no items in common",
)
MEAN = (
    "the accuracy of a group of raters is the mean of its raters' accuracies, weighted by their "
    "numbers of ratings; "
)
ALONE = warn("rater-group-accuracy", MEAN + "the model itself ignores the groups")
POOLED = warn(
    "groups-pooled", MEAN + "the model draws each rater toward the raters of the same group"
)


type Members = Mapping[str, Integers]
"""The indices of the raters of each group, by its name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Accuracies:
    """Accuracies of groups, (n_groups,), and their replicates, (n_replicates, n_groups)."""

    point: Floats
    drawn: Floats
    kind: str
    note: Warning


def estimate_rater_groups(
    ratings: Ratings,
    estimate: Estimate,
    groups: Mapping[str, str] | None = None,
    *,
    level: float | None = None,
    resamples: int = 2000,
    seed: Seed = 1,
) -> GroupEstimates:
    """Estimate the accuracy of groups of raters, and the differences between groups.

    The accuracy of a group is the probability that one of its ratings is right: the mean over its
    raters, weighted by their numbers of ratings. Differences are computed in joint posterior draws,
    or in bootstrap resamples of the items.

    The algebra has one accuracy for all raters. Here it is applied to each group separately: raters
    who agree more with one another are more accurate (Eq. 1 and 2), if their errors are
    independent.

    Parameters
    ----------
    ratings : Ratings
        The ratings that were estimated.
    estimate : Estimate
        An estimate by the algebra, a Bayesian model or maximum likelihood.
    groups : mapping, optional
        The name of the group by the name of the rater; by default the groups of the ratings, see
        `Ratings.with_rater_groups`. Raters that are not named belong to no group.
    level : float, optional
        Probability of the intervals, by default that of the estimate, or .9.
    resamples : int
        Number of bootstrap resamples for the algebra; a model by maximum likelihood is fitted to at
        most 300.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    GroupEstimates

    Raises
    ------
    InputError
        If the method has one accuracy for all raters, as "one_coin", or none; if there is no such
        rater; or if raters are anonymous.

    References
    ----------
    Lehner (2015), Eq. 1-2, https://doi.org/10.22237/jmasm/1430453520

    Examples
    --------
    >>> from lehner import Scenario, estimate_latent_class, simulate
    >>> scenario = Scenario(n_categories=3, initial_rater_accuracy=(0.9, 0.9, 0.6, 0.6))
    >>> ratings = simulate(scenario, 1).with_truth(None)
    >>> estimate = estimate_latent_class(ratings, interval=None)
    >>> expert = dict.fromkeys(ratings.raters[:2], "expert")
    >>> groups = expert | dict.fromkeys(ratings.raters[2:], "crowd")
    >>> found = estimate_rater_groups(ratings, estimate, groups)
    >>> [(one.group, round(one.accuracy.estimate, 1)) for one in found.groups]
    [('crowd', 0.6), ('expert', 0.9)]
    """
    level = check_level(level or estimate.system_accuracy.level or 0.9)
    check_whole_number("resamples", resamples, 1)
    if groups is not None:
        ratings = ratings.with_rater_groups(groups)
    found = pool_raters(ratings, estimate, level=level, resamples=resamples, seed=seed)
    if found is None:
        raise InputError(
            f"{estimate.method} does not tell how accurate each rater is",
            "use a method in which raters differ, such as dawid_skene",
        )
    return found


def pool_raters(
    ratings: Ratings, estimate: Estimate, *, level: float, resamples: int, seed: Seed
) -> GroupEstimates | None:
    """Compute the result of `estimate_rater_groups`; None for methods with one accuracy."""
    if not ratings.rater_group:
        raise InputError("no rater belongs to a group", "name the groups of raters")
    if estimate.system_accuracy.estimate is None:
        return None
    own = np.array(ratings.rater_group)
    groups = {name: np.flatnonzero(own == name) for name in ratings.rater_groups}
    found: _Accuracies | None
    if estimate.method in ALGEBRAIC_METHODS:
        found = _by_agreement(ratings, groups, resamples, seed)
    else:
        found = _by_rater(ratings, estimate, groups, resamples, seed)
    return None if found is None else _summarise(ratings, estimate.method, groups, found, level)


def _by_agreement(ratings: Ratings, groups: Members, resamples: int, seed: Seed) -> _Accuracies:
    parts = [count_pairs(_only(ratings, member)) for member in groups.values()]
    agreeing, pairs = (np.stack(both, axis=1).astype(float) for both in zip(*parts, strict=True))

    def accuracy(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            agreement = (weights @ agreeing) / (weights @ pairs)
        return rater_accuracy(agreement, ratings.n_categories)

    of_rows = count_items(ratings, np.arange(ratings.n_rows), ratings.n_rows)
    samples = draw_counts(of_rows, resamples, generator(seed))
    return _Accuracies(
        point=accuracy(ratings.weights[None].astype(float))[0],
        drawn=np.concatenate([accuracy(weights) for weights in samples]),
        kind="percentile bootstrap",
        note=BY_AGREEMENT,
    )


def _only(ratings: Ratings, member: "np.ndarray") -> Ratings:
    """Keep the ratings by some of the raters."""
    flat = ratings.flat
    mine = np.isin(flat.rater_index, member)
    kept = FlatRatings(
        item_index=flat.item_index[mine],
        rater_index=np.searchsorted(member, flat.rater_index[mine]),
        category_index=flat.category_index[mine],
    )
    names = [ratings.raters[j] for j in member]
    return Ratings(
        kept,
        ratings.categories,
        names,
        ratings.items,
        counts=ratings.weights,
        independent_repeats=ratings.independent_repeats,
    )


def _by_rater(
    ratings: Ratings, estimate: Estimate, groups: Members, resamples: int, seed: Seed
) -> _Accuracies | None:
    found = replicates_of(ratings, estimate, resamples=resamples, seed=seed)
    if found is None or found.drawn is None:
        return None
    drawn = found.drawn.rater_accuracy
    if np.isnan(drawn).all() or (drawn.shape[1] > 1 and np.allclose(drawn, drawn[:, :1])):
        return None
    n_ratings = _count_ratings(ratings)
    weights = np.zeros((ratings.n_raters, len(groups)))
    for g, member in enumerate(groups.values()):
        with np.errstate(invalid="ignore"):
            weights[member, g] = n_ratings[member] / n_ratings[member].sum()
    return _Accuracies(
        point=_mean(found.point.rater_accuracy, weights),
        drawn=_mean(drawn, weights),
        kind=found.kind,
        note=POOLED if _pools(estimate, groups) else ALONE,
    )


def _pools(estimate: Estimate, groups: Members) -> bool:
    """Tell whether the estimate is by a model that draws raters toward these groups."""
    if estimate.draws is None or "rater_groups" not in estimate.draws.attrs:
        return False
    own = np.array(list(json.loads(estimate.draws.attrs["rater_groups"]).values()))
    return all((own[members] == name).all() for name, members in groups.items())


def _mean(accuracy: Floats, weights: Floats) -> Floats:
    """Give means over the raters of each group; a rater of another group may have none."""
    defined = np.nan_to_num(accuracy) @ weights
    return np.where(np.isnan(accuracy) @ (weights > 0), np.nan, defined)


def _count_ratings(ratings: Ratings) -> Floats:
    weights = ratings.weights[ratings.flat.item_index].astype(float)
    return np.bincount(ratings.flat.rater_index, weights, ratings.n_raters)


def _summarise(
    ratings: Ratings, method: str, groups: Members, found: _Accuracies, level: float
) -> GroupEstimates:
    n_ratings = _count_ratings(ratings)
    point, drawn, names = found.point, found.drawn, list(groups)
    return GroupEstimates(
        method=method,
        level=level,
        groups=tuple(
            RaterGroupEstimate(
                group=name,
                raters=tuple(ratings.raters[j] for j in members),
                n_ratings=int(n_ratings[members].sum()),
                accuracy=replicate_interval(drawn[:, g], point[g], 0.0, level, found.kind),
            )
            for g, (name, members) in enumerate(groups.items())
        ),
        differences=tuple(
            GroupDifference(
                groups=(names[a], names[b]),
                difference=replicate_interval(
                    drawn[:, a] - drawn[:, b], point[a] - point[b], -1.0, level, found.kind
                ),
                probability_higher=proportion_higher(drawn, a, b),
            )
            for a, b in combinations(range(len(names)), 2)
        ),
        notes=(found.note,),
    )
