"""Differences and ranks of systems by one method, on the items that they have in common."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from lehner.contrasts.common_items import (
    answered_the_same,
    first_alike,
    n_common_items,
    pairs_by_items,
)
from lehner.contrasts.contrast import Points, rank
from lehner.contrasts.system_draws import JointDraws, compare_systems
from lehner.contrasts.systems_corrected import correct_systems
from lehner.core.estimate import ESTIMANDS, Estimate, uses_truths
from lehner.core.progress import DoAll
from lehner.core.rows import Row, row
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.estimation.methods import Method
from lehner.estimation.question import Options

NO_COMMON_ITEMS = "{} and {}: no item was answered by both systems, so that there is no difference"
OTHER_ITEMS = (
    "{} and {} are judged by different items, so that there is no difference in the sample"
)


@dataclass(frozen=True, kw_only=True)
class Systems:
    """Estimates of several systems by one method, and how to estimate them on fewer items.

    Parameters
    ----------
    ratings : Ratings
        With all systems, as the method sees them.
    estimates : mapping of str to Estimate
        Of each system, from its own items.
    again : callable
        From ratings with one system to its estimate.
    method : Method
    do_all : callable
        Has independent fits done.
    known : Ratings, optional
        With known truths that correct the method, which has not seen them.
    """

    ratings: Ratings
    estimates: Mapping[str, Estimate]
    again: Callable[[Ratings], Estimate]
    method: Method
    do_all: DoAll
    known: Ratings | None = None


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """Estimates of systems from the same items, and joint draws if the method has them."""

    points: tuple[Points, Points]
    draws: JointDraws | None
    same_items: bool
    corrected: bool
    by_truths: JointDraws | None = None


def ask_systems(systems: Systems, options: Options) -> Iterator[Row | Warning]:
    """Give the difference of each two systems, and the ranks of all.

    Parameters
    ----------
    systems : Systems
    options : Options

    Yields
    ------
    dict or Warning
        Differences on the items that both systems answered, and ranks on the items that all
        answered, if the method has joint draws.
    """
    names = systems.ratings.systems
    of_all = _judge(systems, names, options)
    pairs = list(combinations(names, 2))
    groups = pairs_by_items(systems.ratings) if options.common_items else [pairs]
    by_pair: dict[tuple[str, str], _Judged | None] = {}
    for group in groups:
        together = [name for name in names if any(name in pair for pair in group)]
        whole = len(together) == len(names)
        judged = of_all if whole else _judge(systems, together, options)
        by_pair |= dict.fromkeys(group, judged)
    for pair in pairs:
        yield from _difference(systems, by_pair[pair], pair, options)
    if of_all is not None and of_all.draws is not None:
        yield from _ranks(systems, of_all, options)


def _ranks(systems: Systems, judged: _Judged, options: Options) -> Iterator[Row]:
    draws = judged.by_truths or judged.draws
    assert draws is not None
    n_items = n_common_items(systems.ratings, list(draws.expected))
    points, _ = draws.points or judged.points
    corrected = judged.corrected if draws.corrected is None else draws.corrected
    yield from rank(
        "system_accuracy",
        "system",
        points,
        draws.expected,
        level=options.level,
        corrected=corrected,
        n_items=n_items,
    )


def _difference(
    systems: Systems, judged: _Judged | None, pair: tuple[str, str], options: Options
) -> Iterator[Row | Warning]:
    n_items = n_common_items(systems.ratings, pair)
    if judged is None:
        for name in ESTIMANDS:
            yield row(f"{name}_difference", system=pair[0], versus=pair[1], n_items=n_items)
        yield warn("no-common-items", NO_COMMON_ITEMS.format(*pair))
        return
    each = [judged.draws, *([judged.by_truths] if judged.by_truths is not None else [])]
    if not judged.same_items:
        yield warn("no-common-items", OTHER_ITEMS.format(*pair))
    for draws in each:
        columns: Row = {"corrected": judged.corrected, "n_items": n_items}
        if draws is not None and draws.corrected is not None:
            columns["corrected"] = draws.corrected
        if draws is None:
            yield from _without_draws(judged, pair, columns)
            continue
        yield from compare_systems(
            judged.points, draws, level=options.level, pairs=[pair], **columns
        )


def _without_draws(judged: _Judged, pair: tuple[str, str], columns: Row) -> Iterator[Row]:
    """Give differences without intervals, as of a method that has no joint draws."""
    for name, points in zip(ESTIMANDS, judged.points, strict=True):
        one, other = points[pair[0]], points[pair[1]]
        difference = None if one is None or other is None else one - other
        if name == ESTIMANDS[1] and not judged.same_items:
            difference = None
        names = {"system": pair[0], "versus": pair[1]}
        yield row(f"{name}_difference", **names, estimate=difference, **columns)


def _judge(systems: Systems, names: Sequence[str], options: Options) -> _Judged | None:
    """Estimate systems from the items that all of them answered; None if there are none."""
    ratings = systems.ratings
    if options.common_items:
        ratings = ratings.on_common_items(*names)
        if not n_common_items(ratings, names):
            return None
    alike = first_alike(ratings, names)
    estimates = _estimates(systems, ratings, list(dict.fromkeys(alike.values())), options)
    same_items = answered_the_same(ratings, names)
    draws = None
    if systems.method.joint_draws is not None:
        draws = systems.method.joint_draws(
            {name: estimates[one] for name, one in alike.items()},
            ratings,
            systems_rate=options.systems_rate,
            common_items=options.common_items,
            level=options.level,
            seed=options.seed,
            do_all=systems.do_all,
        )
    by_truths = None
    if systems.known is not None and len(estimates) > 1 and same_items:
        known = systems.known.on_common_items(*names)
        found = correct_systems(known, estimates, level=options.level, seed=options.seed)
        by_truths = _for_all(found, alike)
    expected, in_sample = (
        {name: getattr(estimates[one], of).estimate for name, one in alike.items()}
        for of in ESTIMANDS
    )
    return _Judged(
        points=(expected, in_sample),
        draws=draws,
        same_items=same_items,
        corrected=any(map(uses_truths, estimates.values())),
        by_truths=by_truths,
    )


def _for_all(draws: JointDraws, alike: Mapping[str, str]) -> JointDraws:
    """Give systems with the same answers the same draws."""
    assert draws.points is not None
    points = {name: draws.points[0][one] for name, one in alike.items()}
    return JointDraws(
        kind=draws.kind,
        expected={name: draws.expected[one] for name, one in alike.items()},
        in_sample={name: draws.in_sample[one] for name, one in alike.items()},
        points=(points, points),
        corrected=True,
    )


def _estimates(
    systems: Systems, ratings: Ratings, names: Sequence[str], options: Options
) -> dict[str, Estimate]:
    """Estimate systems from these ratings, anew where they are fewer than the system has."""
    fewer = [
        name
        for name in names
        if n_common_items(ratings, [name]) != n_common_items(systems.ratings, [name])
    ]
    pieces = [
        partial(systems.again, ratings.for_system(name, systems_rate=options.systems_rate))
        for name in fewer
    ]
    anew = dict(zip(fewer, systems.do_all(pieces), strict=True))
    return {name: anew.get(name, systems.estimates[name]) for name in names}
