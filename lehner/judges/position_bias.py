"""Position bias: how often a judge chooses the answer that is shown first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import check_level
from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import stats
from lehner.core.resampling import wilson_interval
from lehner.core.text import counted
from lehner.data.categories import Label
from lehner.data.columns import encode, require_columns, table_of
from lehner.judges.presentation_order import BLANK, NEITHER, Presented, read_order

INTERVAL_LEVEL = 0.9


@dataclass(frozen=True, kw_only=True)
class PositionBias:
    """How the order of presentation influences a judge.

    Parameters
    ----------
    rater : str
        Name of the judge.
    n_items : int
        Number of items judged in both orders.
    chooses_first : IntervalEstimate
        Proportion of choices in which the judge chooses the answer shown first; .5 without bias.
        "Neither" counts half. Items with a blank choice are left out.
    consistent : IntervalEstimate
        Proportion of the items in which the judge chooses the same answer in both orders.
    """

    rater: str
    n_items: int
    chooses_first: IntervalEstimate
    consistent: IntervalEstimate

    def __str__(self) -> str:
        return (
            f"position bias of {self.rater}: chooses the answer shown first in "
            f"{self.chooses_first} of the choices (.5 without bias), and the same answer in both "
            f"orders in {self.consistent} of {counted(self.n_items, 'item')}"
        )


def position_bias(
    data: Any,
    *,
    item: str = "item",
    rater: str = "rater",
    rating: str = "rating",
    order: str = "order",
    pair: Sequence[Label] | None = None,
    level: float = INTERVAL_LEVEL,
) -> list[PositionBias]:
    """Estimate the position bias of judges who saw pairs of answers in both orders.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table or mapping of columns
        A row per rating.
    item, rater, rating, order : str
        Names of the columns; for the order see `lehner.judges.presentation_order`.
    pair : sequence of two labels, optional
        The labels of the answer shown first and the one shown second; by default A and B, 1 and 2,
        first and second and the like, else the two labels that there are besides ties.
    level : float
        Probability of the intervals.

    Returns
    -------
    list of PositionBias
        One for each rater with items judged once in each order.

    Raises
    ------
    InputError
        If a column is missing, or orders or answers are not as above.

    References
    ----------
    Agresti & Min (2005), Simple improved confidence intervals for comparing matched proportions,
    https://doi.org/10.1002/sim.1781: the mean over items, to which half an item is added for each
    of the two positions. Consistency: Wilson (1927).

    Examples
    --------
    >>> data = {"item": [1, 1, 2, 2], "rater": ["gpt"] * 4, "order": ["AB", "BA"] * 2}
    >>> (found,) = position_bias(data | {"rating": ["A", "A", "B", "A"]})
    >>> found.chooses_first.estimate, found.consistent.estimate
    (0.75, 0.5)
    """
    check_level(level)
    columns = table_of(data)
    require_columns(columns, [item, rater, rating, order])
    presented = read_order(columns, order, rating, pair)
    return list_position_bias(columns, item, rater, presented, level)


def list_position_bias(
    columns: Mapping[str, Any],
    item: str,
    rater: str,
    presented: Presented,
    level: float = INTERVAL_LEVEL,
) -> list[PositionBias]:
    """Estimate the position bias of each rater from columns that were read.

    Parameters
    ----------
    columns : mapping of str to column
    item, rater : str
    presented : Presented
    level : float

    Returns
    -------
    list of PositionBias
    """
    z = float(stats.norm.ppf(0.5 + level / 2))
    items, _ = encode(columns[item], item).items
    raters = encode(columns[rater], rater).refuse_blank()
    biases = []
    for code, name in enumerate(raters.labels):
        own = (raters.codes == code) & (presented.place != BLANK)
        first, same = _pair_up(items[own], presented.swapped[own], presented.place[own])
        if not len(first):
            continue
        of_first = _matched_interval(first, z)
        of_same = wilson_interval(same.mean(), len(same), z=z)
        biases.append(
            PositionBias(
                rater=str(name),
                n_items=len(first),
                chooses_first=_estimate(first, of_first, level, "Agresti and Min"),
                consistent=_estimate(same, of_same, level, "Wilson"),
            )
        )
    return biases


def _pair_up(items: Integers, swapped: Booleans, place: Integers) -> tuple[Floats, Floats]:
    """Count first positions, and equal choices, of items judged once in each order."""
    n_items = items.max(initial=-1) + 1
    times = np.array([np.bincount(items[swapped == order], minlength=n_items) for order in (0, 1)])
    by_order = np.zeros((2, n_items), np.int64)
    by_order[swapped.astype(int), items] = place
    original, other = by_order[:, (times == 1).all(axis=0)]
    chosen_first = np.array([1.0, 0.0, 0.5])
    # In the swapped pair the same answer is in the other position.
    same = np.where(original == NEITHER, other == NEITHER, original == 1 - other)
    return (chosen_first[original] + chosen_first[other]) / 2, same.astype(float)


def _matched_interval(first: Floats, z: float) -> Floats:
    """Agresti and Min's interval of the proportion of first choices."""
    d, n = first - 0.5, len(first) + 2
    middle = d.sum() / n
    error = np.sqrt(((d**2).sum() + 0.25) / n - middle**2) / np.sqrt(n)
    return np.clip(0.5 + middle + np.array([-z * error, z * error]), 0, 1)


def _estimate(values: Floats, ends: Floats, level: float, kind: str) -> IntervalEstimate:
    estimate, lower, upper = map(float, (values.mean(), *ends))
    return IntervalEstimate(estimate=estimate, lower=lower, upper=upper, level=level, kind=kind)
