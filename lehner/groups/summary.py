"""Estimates, intervals and differences of groups, from replicates."""

from itertools import combinations

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate, number
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.groups.membership import Groups, count_answers
from lehner.groups.result import GroupDifference, GroupEstimate, GroupEstimates, GroupReplicates

SAME_ACCURACY = warn(
    "groups-alike",
    "the model assumes that the system is equally accurate in all groups, so that there is no "
    "difference to estimate",
)
ROUNDING = 1e-9


def summarise_groups(
    method: str,
    ratings: Ratings,
    groups: Groups,
    replicates: GroupReplicates,
    point: GroupReplicates | None = None,
    *,
    level: float,
    kind: str,
    notes: tuple[Warning, ...],
) -> GroupEstimates:
    """Give estimates and intervals for each group and for each difference.

    Parameters
    ----------
    method : str
    ratings : Ratings
    groups : Groups
    replicates : GroupReplicates
    point : GroupReplicates, optional
        The estimates, as one replicate; by default the means of the replicates.
    level : float
    kind : str
        How the intervals were made.
    notes : tuple of Warning

    Returns
    -------
    GroupEstimates
    """

    def interval(quantity: str, *place: int, less: int | None = None) -> IntervalEstimate:
        values = getattr(replicates, quantity)
        drawn, least = values[(slice(None), *place)], 0.0
        if less is not None:
            drawn, least = drawn - values[:, less], -1.0
        if point is None:
            return replicate_interval(drawn, None, least, level, kind)
        estimate = getattr(point, quantity)[0]
        change = estimate[place] - (0.0 if less is None else estimate[less])
        return replicate_interval(drawn, float(change), least, level, kind)

    n_items, n_answered = count_answers(ratings, groups)
    names = groups.names
    same = len(names) > 1 and _all_same(replicates.system_accuracy)
    return GroupEstimates(
        method=method,
        system=ratings.all_raters[-1],
        level=level,
        groups=tuple(
            GroupEstimate(
                group=name,
                n_items=int(n_items[g]),
                n_answered=int(n_answered[g]),
                system_accuracy=interval("system_accuracy", g),
                system_accuracy_in_sample=interval("system_accuracy_in_sample", g),
                base_rates={
                    str(c): interval("base_rates", g, k) for k, c in enumerate(ratings.categories)
                },
                rater_accuracy={
                    rater: interval("rater_accuracy", g, j)
                    for j, rater in enumerate(ratings.raters)
                },
            )
            for g, name in enumerate(names)
        ),
        differences=tuple(
            GroupDifference(
                groups=(names[a], names[b]),
                difference=(
                    IntervalEstimate(estimate=None)
                    if same
                    else interval("system_accuracy", a, less=b)
                ),
                difference_in_sample=interval("system_accuracy_in_sample", a, less=b),
                probability_higher=(
                    None if same else proportion_higher(replicates.system_accuracy, a, b)
                ),
            )
            for a, b in combinations(range(len(names)), 2)
        ),
        notes=(*notes, SAME_ACCURACY) if same else notes,
    )


def _all_same(values: Floats) -> bool:
    """Tell whether all groups have the same value in each replicate, but for rounding."""
    return bool((np.abs(values - values[:, :1]) < ROUNDING).all())


def replicate_interval(
    drawn: Floats, estimate: float | None, least: float, level: float, kind: str
) -> IntervalEstimate:
    """Give an estimate with the interval of its replicates.

    Undefined replicates count as the least value and as 1 at the two ends. If the estimate is
    beyond the replicates, the interval reaches to it.

    Parameters
    ----------
    drawn : ndarray, shape (n_replicates,)
        NaN where undefined.
    estimate : float, optional
        By default the mean of the replicates; NaN for none.
    least : float
        The least value that the quantity can have; the greatest is 1.
    level : float
    kind : str
        Of the interval.

    Returns
    -------
    IntervalEstimate
    """
    undefined = np.isnan(drawn)
    if estimate is None:
        estimate = np.nan if undefined.any() else drawn.mean()
    if np.isnan(estimate):
        return IntervalEstimate(estimate=None)
    lower = np.quantile(np.where(undefined, least, drawn), (1 - level) / 2)
    upper = np.quantile(np.where(undefined, 1.0, drawn), (1 + level) / 2)
    return IntervalEstimate(
        estimate=number(estimate),
        lower=float(min(lower, estimate)),
        upper=float(max(upper, estimate)),
        level=level,
        kind=kind,
    )


def proportion_higher(values: Floats, a: int, b: int) -> float | None:
    """Give the proportion of replicates, (n_replicates, n_groups), in which a is higher than b."""
    difference = values[:, a] - values[:, b]
    if np.isnan(difference).any():
        return None
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())
