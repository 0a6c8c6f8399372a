"""Differences and ranks of systems by one method, on the items that they have in common."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, zip_longest

from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate
from lehner.core.progress import DoAll
from lehner.data.ratings import Ratings
from lehner.estimation.known_truths import uses_truths
from lehner.estimation.methods import JointDrawer, Posterior
from lehner.systems.bootstrap import bootstrap_methods, bootstrap_systems
from lehner.systems.common_items import (
    answered_the_same,
    first_alike,
    n_common_items,
    pairs_by_items,
)
from lehner.systems.comparison import (
    OTHER_ITEMS,
    JointDraws,
    SystemDifference,
    SystemRank,
    compare_systems,
    rank_systems,
)
from lehner.systems.corrected import correct_systems

NO_COMMON_ITEMS = "no item was answered by both systems"

type Points = Mapping[str, tuple[IntervalEstimate, ...]]
"""Of each system the expected accuracy and that in the sample."""


@dataclass(frozen=True, kw_only=True)
class SystemsByMethod:
    """Estimates of several systems by one method, and how to estimate them on fewer items.

    Parameters
    ----------
    ratings : Ratings
        With all systems, as the method sees them.
    estimates : mapping of str to Estimate
        Of each system, from its own items.
    again : callable
        From ratings with one system to its estimate.
    posterior : Posterior, optional
        What the draws of a Bayesian method can say.
    level : float
        Probability of the intervals.
    seed : int
        Of the resamples, or of the order of draws.
    systems_rate : bool
        Whether the other systems serve as raters of each.
    common_items : bool
        Whether systems are compared on the items that they have in common.
    do_all : callable
        Has independent fits done.
    known : Ratings, optional
        With known truths that correct the method, which has not seen them.
    jointly : callable, optional
        As the `joint_draws` of a Method.
    """

    ratings: Ratings
    estimates: Mapping[str, Estimate]
    again: Callable[[Ratings], Estimate]
    posterior: Posterior | None
    level: float
    seed: int
    systems_rate: bool
    common_items: bool
    do_all: DoAll
    known: Ratings | None = None
    jointly: JointDrawer | None = None

    @property
    def method(self) -> str:
        """Name of the method."""
        return next(iter(self.estimates.values())).method


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """Estimates of systems from the same items, and joint draws if the method has them."""

    points: Points
    draws: JointDraws | None
    same_items: bool
    uncorrected: "_Judged | None" = None
    """The same without the known truths, where they correct it."""


def compare_by_method(found: SystemsByMethod) -> tuple[list[SystemDifference], list[SystemRank]]:
    """Give the difference of each two systems, and the ranks of all.

    Parameters
    ----------
    found : SystemsByMethod

    Returns
    -------
    differences : list of SystemDifference
        On the items that both systems answered; None where there are no such items.
    ranks : list of SystemRank
        On the items that all systems answered; empty where there are none, or if the method has no
        intervals.
    """
    systems = found.ratings.systems
    of_all = _judge(found, systems)
    pairs = list(combinations(systems, 2))
    groups = pairs_by_items(found.ratings) if found.common_items else [pairs]
    by_pair: dict[tuple[str, ...], SystemDifference] = {}
    for group in groups:
        together = [name for name in systems if any(name in pair for pair in group)]
        judged = of_all if len(together) == len(systems) else _judge(found, together)
        differences = _differences(found, judged, together)
        by_pair |= {one.systems: one for one in differences if one.systems in group}
    ranks: tuple[SystemRank, ...] = ()
    if of_all is not None and of_all.draws is not None:
        accuracies = {system: both[0].estimate for system, both in of_all.points.items()}
        ranks = rank_systems(accuracies, of_all.draws, level=found.level)
    return [by_pair[pair] for pair in pairs], list(ranks)


def _judge(found: SystemsByMethod, systems: Sequence[str]) -> _Judged | None:
    """Estimate systems from the items that all of them answered; None if there are none."""
    ratings = found.ratings
    if found.common_items:
        ratings = ratings.on_common_items(*systems)
        if not n_common_items(ratings, systems):
            return None
    alike = first_alike(ratings, systems)
    estimates = _estimates(found, ratings, list(dict.fromkeys(alike.values())))
    with_truths = any(map(uses_truths, estimates.values()))
    both = {
        name: tuple(replace(getattr(one, of), corrected=with_truths) for of in ESTIMANDS)
        for name, one in estimates.items()
    }
    if found.jointly is not None and all(one[0].estimate is not None for one in both.values()):
        return _judge_jointly(found.jointly, found, ratings, systems)
    draws = _joint_draws(found, ratings, {name: estimates[one] for name, one in alike.items()})
    judged = _Judged(
        points={name: both[same] for name, same in alike.items()},
        draws=draws and replace(draws, corrected=with_truths),
        same_items=answered_the_same(ratings, systems),
    )
    if found.known is None or len(estimates) == 1 or not judged.same_items:
        return judged
    known = found.known.on_common_items(*systems)
    points, draws = correct_systems(known, estimates, level=found.level, seed=found.seed)
    expected, in_sample = (
        {name: several[same] for name, same in alike.items()}
        for several in (draws.expected, draws.in_sample)
    )
    return _Judged(
        points={name: points[same] for name, same in alike.items()},
        draws=replace(draws, expected=expected, in_sample=in_sample),
        same_items=True,
        uncorrected=judged,
    )


def _judge_jointly(
    draw: JointDrawer, found: SystemsByMethod, ratings: Ratings, systems: Sequence[str]
) -> _Judged:
    """Judge systems by the means of joint draws, which need not be those of each system alone."""
    draws = draw(ratings, systems=tuple(systems), level=found.level, seed=found.seed)
    points = {
        name: tuple(
            IntervalEstimate(estimate=float(values[name].mean()), corrected=draws.corrected)
            for values in (draws.expected, draws.in_sample)
        )
        for name in systems
    }
    return _Judged(points=points, draws=draws, same_items=answered_the_same(ratings, systems))


def _estimates(
    found: SystemsByMethod, ratings: Ratings, systems: Sequence[str]
) -> dict[str, Estimate]:
    """Estimate systems from these ratings, anew where they are fewer than the system has."""
    fewer = [
        name
        for name in systems
        if n_common_items(ratings, [name]) != n_common_items(found.ratings, [name])
    ]
    pieces = [
        partial(found.again, ratings.for_system(name, systems_rate=found.systems_rate))
        for name in fewer
    ]
    anew = dict(zip(fewer, found.do_all(pieces), strict=True))
    return {name: anew.get(name, found.estimates[name]) for name in systems}


def _joint_draws(
    found: SystemsByMethod, ratings: Ratings, estimates: Mapping[str, Estimate]
) -> JointDraws | None:
    if found.method in bootstrap_methods():
        return bootstrap_systems(
            found.method,
            ratings,
            systems=list(estimates),
            systems_rate=found.systems_rate,
            common_items=found.common_items,
            seed=found.seed,
            do_all=found.do_all,
        )
    if found.posterior is None or any(one.draws is None for one in estimates.values()):
        return None
    return found.posterior.joint_draws(
        estimates,
        ratings,
        systems_rate=found.systems_rate,
        common_items=found.common_items,
        seed=found.seed,
    )


def _differences(
    found: SystemsByMethod, judged: _Judged | None, systems: Sequence[str]
) -> Iterator[SystemDifference]:
    if judged is not None and judged.draws is not None:
        differences = compare_systems(judged.points, judged.draws, level=found.level)
    else:
        differences = tuple(
            _without_draws(found.method, judged, pair) for pair in combinations(systems, 2)
        )
    before: list[SystemDifference] = []
    if judged is not None and judged.uncorrected is not None:
        before = list(_differences(found, judged.uncorrected, systems))
    for one, uncorrected in zip_longest(differences, before):
        n_common = n_common_items(found.ratings, one.systems)
        yield replace(one, n_common_items=n_common, uncorrected=uncorrected)


def _without_draws(method: str, judged: _Judged | None, pair: tuple[str, str]) -> SystemDifference:
    """Give a difference without interval, as of a method that has no joint draws."""
    expected = in_sample = IntervalEstimate(estimate=None)
    reason = NO_COMMON_ITEMS
    if judged is not None:
        expected, in_sample = (
            _subtract(judged.points[pair[0]][place], judged.points[pair[1]][place])
            for place in (0, 1)
        )
        reason = ""
        if not judged.same_items:
            in_sample, reason = IntervalEstimate(estimate=None), OTHER_ITEMS
    return SystemDifference(
        method=method,
        systems=pair,
        difference=expected,
        probability_better=None,
        difference_in_sample=in_sample,
        probability_better_in_sample=None,
        reason=reason,
    )


def _subtract(first: IntervalEstimate, second: IntervalEstimate) -> IntervalEstimate:
    if first.estimate is None or second.estimate is None:
        return IntervalEstimate(estimate=None)
    return IntervalEstimate(
        estimate=first.estimate - second.estimate, corrected=first.corrected or second.corrected
    )
