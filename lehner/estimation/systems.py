"""Several systems by one method, on the items that they have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from lehner.core.errors import warn
from lehner.core.estimate import ESTIMANDS, Estimate, Row, uses_truths
from lehner.core.progress import DoAll, do_here
from lehner.data.ratings import Ratings
from lehner.empirical_prior.calibrated import draw_calibrated
from lehner.estimation.questions import Answer, Fit, Options

NO_COMMON_ITEMS = "{} and {}: no item was answered by both systems, so that there is no difference"


def ask_systems(
    fits: Mapping[str, Fit],
    ratings: Ratings,
    options: Options,
    *,
    labelled: Ratings | None = None,
    do_all: DoAll = do_here,
) -> Answer:
    """Give the difference of each two systems, and the ranks of all.

    Parameters
    ----------
    fits : mapping of str to Fit
        Of each system, from its own items, by one method.
    ratings : Ratings
        With all systems, as the method sees them.
    options : Options
    labelled : Ratings, optional
        The same with gold labels that correct the method, which has not seen them.
    do_all : callable
        Has independent fits done.

    Yields
    ------
    dict or Warning
        Differences on the items that both systems answered, and ranks on the items that all
        answered, if the method has joint draws.
    """
    names = ratings.systems
    draw = partial(_draw_together, fits, ratings, labelled, options, do_all)
    of_all = draw(names)
    by_pair: dict[tuple[str, str], list[JointDraws]] = {}
    for pairs in pairs_by_items(ratings):
        together = [name for name in names if any(name in pair for pair in pairs)]
        draws = of_all if len(together) == len(names) else draw(together)
        by_pair |= dict.fromkeys(pairs, draws)
    about: Row = {"level": options.level}
    for pair in combinations(names, 2):
        n_items = n_common_items(ratings, pair)
        if not by_pair[pair]:
            for name in ESTIMANDS:
                nothing: Row = {"quantity": f"{name}_difference", "n_items": n_items}
                yield nothing | {"system": pair[0], "versus": pair[1]}
            yield warn("no-common-items", NO_COMMON_ITEMS.format(*pair))
        for joint in by_pair[pair]:
            own = about | {"corrected": joint.corrected, "n_items": n_items}
            yield from compare_systems(joint, pairs=[pair], **own)
    if of_all and of_all[-1].expected:
        last, n_items = of_all[-1], n_common_items(ratings, names)
        points = last.points[0] if last.points else {}
        own = about | {"corrected": last.corrected, "n_items": n_items}
        yield from rank("system_accuracy", "system", points, last.expected, **own)


def _draw_together(
    fits: Mapping[str, Fit],
    ratings: Ratings,
    labelled: Ratings | None,
    options: Options,
    do_all: DoAll,
    names: Sequence[str],
) -> list[JointDraws]:
    """Estimate systems from the items that all of them answered.

    Returns
    -------
    list of JointDraws
        Empty if there are no such items. The last of two is corrected by gold labels. Of a method
        without joint draws there are only the estimates.
    """
    common, method = ratings.on_common_items(*names), fits[names[0]].method
    if not n_common_items(common, names):
        return []
    alike = first_alike(common, names)
    asked: dict[str, Any] = {"level": options.level, "seed": options.seed}
    distinct = list(dict.fromkeys(alike.values()))
    fewer = [
        name
        for name in distinct
        if n_common_items(common, [name]) != n_common_items(ratings, [name])
    ]
    again = do_all([partial(method.estimate, common.for_system(name), **asked) for name in fewer])
    estimates = {name: fits[name].estimate for name in distinct}
    estimates |= dict(zip(fewer, again, strict=True))
    draws = None
    if method.joint_draws is not None:
        draws = method.joint_draws(_for_all(estimates, alike), common, do_all=do_all, **asked)
    draws = draws or JointDraws(kind="", expected={}, in_sample={})
    if draws.points is None:
        expected, in_sample = (
            _for_all({name: _number(made, of) for name, made in estimates.items()}, alike)
            for of in ESTIMANDS
        )
        draws = replace(draws, points=(expected, in_sample))
    if draws.corrected is None:
        draws = replace(draws, corrected=any(map(uses_truths, estimates.values())))
    if labelled is None or len(estimates) < 2:
        return [draws]
    corrected = draw_calibrated(
        labelled, systems=tuple(names), level=options.level, seed=options.seed
    )
    return [draws, corrected] if corrected.corrected else [draws]


def _for_all[T](values: Mapping[str, T], alike: Mapping[str, str]) -> dict[str, T]:
    """Give systems with the same answers what the first of them has."""
    return {name: values[same] for name, same in alike.items()}


def _number(estimate: Estimate, name: str) -> float:
    value = getattr(estimate, name).estimate
    return np.nan if value is None else value
