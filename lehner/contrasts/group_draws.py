"""Accuracies in groups of items: joint draws of all groups, and the rows that follow from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.contrasts.contrast import (
    TIED,
    Named,
    Points,
    contrast,
    interval_of_draws,
    mean_of_draws,
)
from lehner.contrasts.membership import Groups
from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import ESTIMANDS, number
from lehner.core.rows import Row, row
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings

SAME_ACCURACY = warn(
    "groups-alike",
    "the model assumes that the system is equally accurate in all groups, so that there is no "
    "difference to estimate",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupReplicates:
    """Posterior draws or bootstrap replicates, joint for all groups of items.

    Parameters
    ----------
    system_accuracy, system_accuracy_in_sample : ndarray, shape (n_replicates, n_groups)
    base_rates : ndarray, shape (n_replicates, n_groups, n_categories)
    rater_accuracy : ndarray, shape (n_replicates, n_groups, n_raters)
    """

    system_accuracy: Floats
    system_accuracy_in_sample: Floats
    base_rates: Floats
    rater_accuracy: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupDraws:
    """What a method says of groups of items.

    Parameters
    ----------
    groups : Groups
        Which rows belong to which group.
    sizes : tuple of two ndarray of int, shape (n_groups,)
        Numbers of items, and of items that the system answered.
    drawn : GroupReplicates
    point : GroupReplicates, optional
        The estimates, as one replicate; by default the means of `drawn`.
    kind : str
        How intervals are made.
    note : Warning
        What the user should know of these numbers.
    """

    groups: Groups
    sizes: tuple[Integers, Integers]
    drawn: GroupReplicates
    point: GroupReplicates | None = None
    kind: str
    note: Warning

    def named(self, quantity: str, *place: int) -> tuple[Points, Named]:
        """Give the estimates and the draws of a quantity by the name of the group."""
        values = getattr(self.drawn, quantity)
        drawn = {name: values[:, g, *place] for g, name in enumerate(self.groups.names)}
        if self.point is None:
            return mean_of_draws(drawn), drawn
        estimate = getattr(self.point, quantity)[0]
        points = {name: number(estimate[g, *place]) for g, name in enumerate(self.groups.names)}
        return points, drawn


def group_rows(
    found: GroupDraws, ratings: Ratings, *, grouping: str, level: float
) -> Iterator[Row | Warning]:
    """Give accuracies and base rates of each group, and the differences of accuracies.

    Parameters
    ----------
    found : GroupDraws
    ratings : Ratings
        With a system.
    grouping : {"group", "population"}
    level : float
        Probability of the intervals.

    Yields
    ------
    dict or Warning
        A row of the table of results.
    """
    yield found.note
    n_items, n_answered = found.sizes
    labels: dict[str, tuple[str, Sequence[Any]]] = {
        "base_rates": ("category", ratings.categories),
        "rater_accuracy": ("rater", ratings.raters),
    }
    for g, name in enumerate(found.groups.names):
        names = {"grouping": grouping, "group": name}
        for quantity in ESTIMANDS:
            yield _row(found, quantity, name, (), level) | names | {"n_items": int(n_answered[g])}
        for quantity, (column, each) in labels.items():
            for place, label in enumerate(each):
                own = names | {column: str(label), "n_items": int(n_items[g])}
                yield _row(found, quantity, name, (place,), level) | own
    several = found.drawn.system_accuracy
    same = len(found.groups) > 1 and bool((np.abs(several - several[:, :1]) < TIED).all())
    for quantity in ESTIMANDS:
        points, drawn = found.named(quantity)
        if same and quantity == ESTIMANDS[0]:
            points = dict.fromkeys(points)
            yield SAME_ACCURACY
        yield from contrast(
            quantity, "group", points, drawn, level=level, kind=found.kind, grouping=grouping
        )


def _row(found: GroupDraws, quantity: str, name: str, place: tuple[int, ...], level: float) -> Row:
    points, drawn = found.named(quantity, *place)
    return row(quantity, interval_of_draws(drawn[name], points[name], level=level, kind=found.kind))
