"""Pairs of answers that judges saw in both orders: position bias, and what the judges prefer."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import InputError, check_level
from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import special
from lehner.core.resampling import wilson_interval
from lehner.core.text import counted, first_few, percent
from lehner.data.columns import Column, Table, join_columns, require_columns, table_of
from lehner.data.reading import Reading

INTERVAL_LEVEL = 0.9
ORDERS = (
    *(("ab", "ba"), ("original", "swapped"), ("false", "true"), ("no", "yes")),
    *(("0", "1"), ("1", "2"), ("first", "second")),
)
"""Values of a column of orders, the swapped order last."""
PAIRS = (
    *(("a", "b"), ("1", "2"), ("first", "second"), ("left", "right")),
    *(("model_a", "model_b"), ("model_1", "model_2"), ("0", "1")),
)
"""Labels that judges give the answer shown first, and the one shown second."""
TIE = re.compile(r"(tied?|draw|equal|neither|both|same|none|no)(?![a-z])|both", re.IGNORECASE)
"""Labels that are neither of the two answers, where these are found by what is left."""
FIRST, SECOND, NEITHER, BLANK = 0, 1, -1, -2


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
    level: float = INTERVAL_LEVEL,
) -> list[PositionBias]:
    """Estimate the position bias of judges who saw pairs of answers in both orders.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table or mapping of columns
        A row per rating.
    item, rater : str
        Names of the columns.
    rating : str
        Column of the position that the judge chose, as A and B, 1 and 2, or first and second; else
        there are two labels besides ties. All other labels mean neither.
    order : str
        Column of the order in which the pair was shown: AB or BA, original or swapped, and the
        like.
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
    >>> (bias,) = position_bias(data | {"rating": ["A", "A", "B", "A"]})
    >>> bias.chooses_first.estimate, bias.consistent.estimate
    (0.75, 0.5)
    """
    check_level(level)
    table = table_of(data)
    require_columns(table, [item, rater, rating, order])
    z = float(special.ndtri(0.5 + level / 2))
    swapped, (places, _) = _read_swapped(table[order]), _read_places(table[rating])
    items, raters = table[item].items[0], table[rater].refuse_blank()
    biases = []
    for code, name in enumerate(raters.labels):
        own = (raters.codes == code) & (places != BLANK)
        first, same = _pair_up(items[own], swapped[own], places[own])
        if not len(first):
            continue
        consistent = wilson_interval(same.mean(), len(same), z=z)
        intervals = {
            "chooses_first": (first.mean(), *_matched_interval(first, z), "Agresti and Min"),
            "consistent": (same.mean(), *consistent, "Wilson"),
        }
        estimates: dict[str, Any] = {
            name: IntervalEstimate(
                estimate=float(mean), lower=float(low), upper=float(high), level=level, kind=kind
            )
            for name, (mean, low, high, kind) in intervals.items()
        }
        biases.append(PositionBias(rater=str(name), n_items=len(first), **estimates))
    return biases


def _read_swapped(order: Column) -> Booleans:
    """Tell which rows are of a swapped pair."""
    labels = [_simplify(label) for label in order.refuse_blank().labels]
    for original, swapped in ORDERS:
        if set(labels) <= {original, swapped}:
            return order.lookup([label == swapped for label in labels], False).astype(bool)
    raise InputError(
        f"{order.name!r} has the values {first_few(order.labels, 4)}",
        f"name the orders as one of {', '.join(map('/'.join, ORDERS))}",
        column=order.name,
    )


def _read_places(rating: Column) -> tuple[Integers, tuple[Any, Any]]:
    """Tell which position each row chooses, and what the two positions are called."""
    by_name = {_simplify(label): label for label in rating.labels}
    pairs = [(by_name[a], by_name[b]) for a, b in PAIRS if {a, b} <= by_name.keys()]
    answers = sorted((x for x in rating.labels if not TIE.match(str(x))), key=str)
    if not pairs and len(answers) != 2:
        raise InputError(
            f"the ratings {first_few(rating.labels, 6)} are not two answers, and ties",
            f"call the answers one of {', '.join(map('/'.join, PAIRS))}, and ties tie",
            column=rating.name,
        )
    first, second = pairs[0] if pairs else answers
    places = {first: FIRST, second: SECOND}
    of_labels = [places.get(label, NEITHER) for label in rating.labels]
    return rating.lookup(of_labels, BLANK).astype(np.int64), (first, second)


def _simplify(label: Any) -> str:
    return str(label).casefold().replace(" ", "")


def _pair_up(items: Integers, swapped: Booleans, place: Integers) -> tuple[Floats, Floats]:
    """Count first positions, and equal choices, of items judged once in each order."""
    n_items = items.max(initial=-1) + 1
    times = np.array([np.bincount(items[swapped == order], minlength=n_items) for order in (0, 1)])
    by_order = np.zeros((2, n_items), np.int64)
    by_order[swapped.astype(int), items] = place
    original, other = by_order[:, (times == 1).all(axis=0)]
    share_of_first = np.array([1.0, 0.0, 0.5])
    # In the swapped pair the same answer is in the other position.
    same = np.where(original == NEITHER, other == NEITHER, original == 1 - other)
    return (share_of_first[original] + share_of_first[other]) / 2, same.astype(float)


def _matched_interval(first: Floats, z: float) -> Floats:
    """Agresti and Min's interval of the proportion of first choices."""
    d, n = first - 0.5, len(first) + 2
    middle = d.sum() / n
    error = np.sqrt(((d**2).sum() + 0.25) / n - middle**2) / np.sqrt(n)
    return np.clip(0.5 + middle + np.array([-z * error, z * error]), 0, 1)


def join_orders(table: Table, roles: Reading) -> tuple[Table, Reading]:
    """Name the answer that was chosen in place of its position, and take orders as occasions.

    Parameters
    ----------
    table : Table
        With a row per rating.
    roles : Reading
        With `order`.

    Returns
    -------
    table : Table
        With notes of what was done and of the position bias of each rater who saw items in both
        orders.
    roles : Reading
        With the order as the occasion, or part of it.

    Raises
    ------
    InputError
        If orders or answers are not known.
    """
    order, rating, rater = str(roles.order), str(roles.rating), str(roles.rater)
    require_columns(table, [order])
    swapped = _read_swapped(table[order])
    place, answers = _read_places(table[rating])
    labels, changed = table[rating].values, swapped & (place >= 0)
    labels[changed] = np.array(answers, dtype=object)[1 - place[changed]]
    first, second = answers
    notes = [
        f"{first} and {second} are read as the first and the second position, and swapped back "
        f"where the pair was swapped according to {order} ({counted(int(swapped.sum()), 'row')})"
    ]
    biases = position_bias(table, item=roles.item[0], rater=rater, rating=rating, order=order)
    notes += map(str, biases)
    n_judged = sum(bias.n_items for bias in biases)
    n_same = sum(bias.n_items * (bias.consistent.estimate or 0) for bias in biases)
    if 2 * n_same < n_judged:
        notes.append(
            f"swapped back, {percent(n_same / n_judged, 0)} of the answers are the same in both "
            "orders: if the file names the answers, whatever their position, read the order as an "
            f"occasion only (occasion={order!r})"
        )
    columns: dict[str, Any] = {rating: labels}
    occasion = order
    if roles.occasion is not None:
        occasion = f"{roles.occasion} and {order}"
        columns[occasion] = join_columns([table[roles.occasion], table[order]], occasion)
    return table.having(columns).note(*notes), replace(roles, occasion=occasion)
