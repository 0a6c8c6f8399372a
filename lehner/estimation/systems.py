"""Differences and ranks of systems by one method, on the items that they have in common."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from lehner.contrasts.contrast import rank
from lehner.contrasts.systems import (
    JointDraws,
    compare_systems,
    first_alike,
    n_common_items,
    pairs_by_items,
)
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, uses_truths
from lehner.core.progress import DoAll
from lehner.core.rows import Row
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.empirical_prior.differences import draw_calibrated
from lehner.estimation.methods import Method
from lehner.estimation.question import Options

NO_COMMON_ITEMS = "{} and {}: no item was answered by both systems, so that there is no difference"


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
        With gold labels that correct the method, which has not seen them.
    """

    ratings: Ratings
    estimates: Mapping[str, Estimate]
    again: Callable[[Ratings], Estimate]
    method: Method
    do_all: DoAll
    known: Ratings | None = None


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
    by_pair: dict[tuple[str, str], list[JointDraws]] = {}
    for group in pairs_by_items(systems.ratings):
        together = [name for name in names if any(name in pair for pair in group)]
        judged = of_all if len(together) == len(names) else _judge(systems, together, options)
        by_pair |= dict.fromkeys(group, judged)
    for pair in pairs:
        draws, n_items = by_pair[pair], n_common_items(systems.ratings, pair)
        if not draws:
            for name in ESTIMANDS:
                nothing: Row = {"quantity": f"{name}_difference", "n_items": n_items}
                yield nothing | {"system": pair[0], "versus": pair[1]}
            yield warn("no-common-items", NO_COMMON_ITEMS.format(*pair))
        for one in draws:
            columns: dict[str, Any] = {
                "corrected": one.corrected,
                "n_items": n_items,
                "level": options.level,
            }
            yield from compare_systems(one, pairs=[pair], **columns)
    if of_all and of_all[-1].expected:
        expected, points = of_all[-1].expected, of_all[-1].points or ({}, {})
        n_items = n_common_items(systems.ratings, names)
        columns = {"corrected": of_all[-1].corrected, "n_items": n_items, "level": options.level}
        yield from rank("system_accuracy", "system", points[0], expected, **columns)


def _judge(systems: Systems, names: Sequence[str], options: Options) -> list[JointDraws]:
    """Estimate systems from the items that all of them answered.

    Returns
    -------
    list of JointDraws
        Empty if there are no such items. The last of two is corrected by gold labels. Of a method
        without joint draws there are only the estimates.
    """
    method, ratings = systems.method, systems.ratings.on_common_items(*names)
    if not n_common_items(ratings, names):
        return []
    alike = first_alike(ratings, names)
    estimates = _estimates(systems, ratings, list(dict.fromkeys(alike.values())), options)
    draws = None
    if method.joint_draws is not None:
        draws = method.joint_draws(
            {name: estimates[same] for name, same in alike.items()},
            ratings,
            systems_rate=options.systems_rate,
            level=options.level,
            seed=options.seed,
            do_all=systems.do_all,
        )
    draws = draws or JointDraws(kind="", expected={}, in_sample={})
    if draws.points is None:
        expected, in_sample = (
            {name: _number(getattr(estimates[same], of)) for name, same in alike.items()}
            for of in ESTIMANDS
        )
        draws = replace(draws, points=(expected, in_sample))
    if draws.corrected is None:
        draws = replace(draws, corrected=any(map(uses_truths, estimates.values())))
    if systems.known is None or len(estimates) < 2:
        return [draws]
    by_truths = draw_calibrated(
        systems.known, systems=tuple(names), level=options.level, seed=options.seed
    )
    return [draws, by_truths] if by_truths.corrected else [draws]


def _number(value: IntervalEstimate) -> float:
    return np.nan if value.estimate is None else value.estimate


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
