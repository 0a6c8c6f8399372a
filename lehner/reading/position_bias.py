"""Pairs of answers that judges saw in both orders: answers swapped back, and position bias."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Integers
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.core.text import counted, first_few, percent
from lehner.data.columns import Column, Table, join_columns, require_columns
from lehner.data.reading import Reading

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
        With notes of what was done and of the position bias of each judge: the proportion of
        choices of the answer shown first, "neither" as a half, and of equal choices, among items
        that the judge saw once in each order.
    roles : Reading
        With the order as the occasion, or part of it.

    Raises
    ------
    InputError
        If orders or answers are not known.
    """
    order, rating = str(roles.order), str(roles.rating)
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
    pairs = _find_both_orders(table, roles, swapped, place)
    for judge, own in pairs.groupby(level="judge"):
        notes.append(
            f"position bias of {judge}: chooses the answer shown first in "
            f"{percent(own['first'].mean(), 0)} of the choices (50% without bias), and the same "
            f"answer in both orders in {percent(own['same'].mean(), 0)} of "
            f"{counted(len(own), 'item')}"
        )
    if len(pairs) and pairs["same"].mean() < 0.5:
        notes.append(
            f"swapped back, {percent(pairs['same'].mean(), 0)} of the answers are the same in both "
            "orders: if the file names the answers, whatever their position, read the order as an "
            f"occasion only (occasion={order!r})"
        )
    columns: dict[str, Any] = {rating: labels}
    occasion = order
    if roles.occasion is not None:
        occasion = f"{roles.occasion} and {order}"
        columns[occasion] = join_columns([table[roles.occasion], table[order]], occasion)
    return table.having(columns).note(*notes), replace(roles, occasion=occasion)


def _find_both_orders(
    table: Table, roles: Reading, swapped: Booleans, place: Integers
) -> "pd.DataFrame":
    """Find items that a judge saw once in each order: choices of the first, and equal ones."""
    rows = {
        "judge": table[str(roles.rater)].refuse_blank().texts,
        "item": table[roles.item[0]].items[0],
        "swapped": swapped,
    }
    frame = pd.DataFrame(rows | {"place": place})[place != BLANK]
    once = frame.drop_duplicates(list(rows), keep=False).set_index(list(rows))["place"]
    pairs = once.unstack().reindex(columns=[False, True]).dropna()
    original, other = pairs[False], pairs[True]
    share_of_first = {FIRST: 1.0, SECOND: 0.0, NEITHER: 0.5}
    first = (original.map(share_of_first) + other.map(share_of_first)) / 2
    # In the swapped pair the same answer is in the other position.
    same = (original == 1 - other) | ((original == NEITHER) & (other == NEITHER))
    return pd.DataFrame({"first": first, "same": same})


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
