"""Ratings of pairs shown in both orders, read as repeated ratings that name answers."""

from dataclasses import replace
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few, percent
from lehner.data.checks.columns import refuse_other_columns, refuse_stray_columns
from lehner.data.columns import Table, require_columns
from lehner.data.reading import Reading
from lehner.judges.position_bias import PositionBias, list_position_bias
from lehner.judges.presentation_order import read_order, swap_back

ONE_OCCASION = "occasion and order"
ORDERS = ("original", "swapped")
SEPARATORS = " _-.:/"
MOST_SHOWN = 8


def join_orders(table: Table, roles: Reading) -> tuple[Table, Reading]:
    """Swap answers to swapped pairs back, and treat each order as an occasion.

    Parameters
    ----------
    table : Table
        With a row per rating.
    roles : Reading
        With `order`, and with `swapped_back` if the file has swapped answers back.

    Returns
    -------
    table : Table
        With a column of occasions, and notes of what was done and of the position bias of each
        rater who saw items in both orders.
    roles : Reading
        With that column.

    Raises
    ------
    InputError
        If orders or answers are not known.
    """
    order, rating = str(roles.order), str(roles.rating)
    presented = read_order(table, order, rating, swapped_back=roles.swapped_back)
    bias = list_position_bias(table, str(roles.item[0]), str(roles.rater), presented)
    notes, changed = [str(one) for one in bias], dict[str, Any]()
    if not presented.swapped_back:
        changed[rating] = swap_back(table, rating, presented)
        first, second = presented.pair
        n_swapped = counted(int(presented.swapped.sum()), "row")
        swapped = (
            f"{first} and {second} are read as the first and the second position, and swapped back "
            f"where the pair was swapped according to {order} ({n_swapped})"
        )
        notes = [swapped, *notes, *_doubt_positions(bias)]
    occasion = order
    if roles.occasion is not None:
        occasion = ONE_OCCASION
        earlier, later = table[roles.occasion].codes, presented.swapped
        changed[occasion] = [f"{a} {b}" for a, b in zip(earlier, later, strict=True)]
    return table.having(changed, *notes), replace(roles, occasion=occasion)


def _doubt_positions(bias: list[PositionBias]) -> list[str]:
    """Warn if ratings may name answers, because so few would be the same in both orders."""
    judged = sum(one.n_items for one in bias)
    same = sum(one.n_items * (one.consistent.estimate or 0) for one in bias)
    if same >= judged / 2:
        return []
    return [
        f"swapped back, {percent(same / judged, 0)} of the answers are the same in both orders: "
        "if the file names the answers, whatever their position, say so (swapped_back=True)"
    ]


def stack_orders(table: Table, roles: Reading) -> tuple[Table, Reading]:
    """Make a table with a row per rating of one with a column for each judge.

    Either the order is a column, and a row an item in an order; or it is the two endings of the
    columns' names, as in "AB,BA" for `gpt_AB` and `gpt_BA`, and a row an item. Columns without such
    an ending are then read if they are named as raters or systems: who saw one order only.

    Parameters
    ----------
    table : Table
        Without a column of raters.
    roles : Reading
        With `order`.

    Returns
    -------
    table : Table
        Items, `rater`, `rating` and order, and what each item has: the rows of the table once for
        each column of ratings.
    roles : Reading
        With these columns.

    Raises
    ------
    InputError
        If there are no such columns, or if one is not a rater's.
    """
    order = str(roles.order)
    item = roles.item[0] if roles.item else "item"
    of_items = (roles.truth, roles.truth_probability, roles.cluster, order)
    others = [name for name in table if name not in (item, *of_items)]
    judges = {} if order in table else _by_ending(others, order)
    raters = [name for name in roles.raters or judges or others if name not in roles.system]
    require_columns(dict.fromkeys([*judges, *others]), [*raters, *roles.system])
    if not judges and not roles.raters:
        refuse_other_columns(raters, roles.system)
        refuse_stray_columns({name: table[name] for name in raters}, raters)
    cells = [
        (name, one_order, column)
        for name in (*raters, *roles.system)
        for one_order, column in judges.get(name, {ORDERS[0]: name}).items()
    ]
    once: dict[str, Any] = {str(name): table[str(name)] for name in of_items if name in table}
    once[item] = table[item] if roles.item else np.arange(1, table.n_rows + 1)
    sources = [column for *_, column in cells]
    stacked = table.stack(sources, once, "column", "rating")
    changed: dict[str, Any] = {"rater": _repeat([name for name, _, _ in cells], table.n_rows)}
    if judges:
        order = "order"
        changed[order] = _repeat([one for _, one, _ in cells], table.n_rows)
    left = [name for name in table if name not in {item, *of_items, order, *sources}]
    notes = [f"each column is a rater's ratings in an order: {first_few(sources, MOST_SHOWN)}"]
    notes += [f"ignored: {first_few(left, MOST_SHOWN)}"] if left else []
    roles = replace(roles, item=(item,), rater="rater", rating="rating", order=order, raters=())
    return stacked.without(["column"]).having(changed, *notes), roles


def _repeat(names: list[str], n_rows: int) -> Any:
    return np.repeat(np.array(names, dtype=object), n_rows)


def _by_ending(names: list[str], order: str) -> dict[str, dict[str, str]]:
    """Find the columns of each judge by the order that they end in."""
    endings = [part.strip() for part in order.split(",")]
    found: dict[str, dict[str, str]] = {}
    for name in names:
        for ending, one_order in zip(endings, ORDERS, strict=False):
            judge = name.removesuffix(ending).rstrip(SEPARATORS)
            if ending and judge and name.endswith(ending):
                found.setdefault(judge, {})[one_order] = name
    if not found or len(endings) != len(ORDERS):
        raise InputError(
            f"there is no column {order!r}, and no columns end in the names of two orders",
            "name the column of the order, or give each judge a column for each order, as gpt_AB "
            "and gpt_BA, and name their endings (order='AB,BA')",
        )
    for judge, columns in found.items():
        if len(columns) < len(ORDERS):
            raise InputError(
                f"{judge} has answers in one order only",
                f"give a column that ends in {endings[0]} and one that ends in {endings[1]}",
                column=next(iter(columns.values())),
            )
    return found
