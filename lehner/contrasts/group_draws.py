"""Accuracies in groups of items: joint draws of all groups, and the rows that follow from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.contrasts.contrast import TIED, by_name, contrast
from lehner.contrasts.membership import Groups
from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import ESTIMANDS
from lehner.core.resampling import interval_of_draws
from lehner.core.rows import Row, rows_of
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

    def estimates(self, quantity: str) -> Floats:
        """Give the estimates of a quantity, (n_groups, ...), NaN where some draws are undefined."""
        if self.point is None:
            return np.asarray(getattr(self.drawn, quantity).mean(axis=0))
        return np.asarray(getattr(self.point, quantity)[0])


def group_rows(
    by_group: GroupDraws, ratings: Ratings, *, grouping: str, level: float
) -> Iterator[Row | Warning]:
    """Give accuracies and base rates of each group, and the differences of accuracies.

    Parameters
    ----------
    by_group : GroupDraws
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
    yield by_group.note
    names = by_group.groups.names
    made: dict[str, Any] = {"level": level, "kind": by_group.kind}
    n_items, n_answered = by_group.sizes
    labels: dict[str, dict[str, Sequence[Any]]] = {
        **{name: {} for name in ESTIMANDS},
        "base_rates": {"category": ratings.categories},
        "rater_accuracy": {"rater": ratings.raters},
    }
    for g, name in enumerate(names):
        for quantity, places in labels.items():
            drawn = getattr(by_group.drawn, quantity)[:, g]
            values = interval_of_draws(drawn, by_group.estimates(quantity)[g], level)
            n = int(n_items[g] if places else n_answered[g])
            group: Row = {"grouping": grouping, "group": name, "n_items": n}
            yield from rows_of(quantity, values, places, **made, **group)
    several = by_group.drawn.system_accuracy
    same = len(names) > 1 and bool((np.abs(several - several[:, :1]) < TIED).all())
    for quantity in ESTIMANDS:
        points = by_group.estimates(quantity)
        if same and quantity == ESTIMANDS[0]:
            points = np.full(len(names), np.nan)
            yield SAME_ACCURACY
        drawn = by_name(names, getattr(by_group.drawn, quantity))
        yield from contrast(
            quantity, "group", by_name(names, points), drawn, **made, grouping=grouping
        )
