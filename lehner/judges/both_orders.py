"""Ratings of pairs shown in both orders, read as repeated ratings that name answers."""

from dataclasses import replace
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few, percent
from lehner.data.checks.columns import refuse_other_names, refuse_stray_columns
from lehner.data.columns import Table, require_columns
from lehner.data.reading import Reading
from lehner.judges.position_bias import list_position_bias
from lehner.judges.presentation_order import read_order

ONE_OCCASION = "occasion and order"
SEPARATORS = " _-.:/"
MOST_SHOWN = 8


def join_orders(table: Table, roles: Reading) -> tuple[Table, Reading]:
    """Swap answers to swapped pairs back, and treat each order as an occasion.

    Parameters
    ----------
    table : Table
        With a row per rating.
    roles : Reading
        With `order`.

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
    order, rating, occasion = str(roles.order), str(roles.rating), roles.occasion
    presented = read_order(table, order, rating)
    biases = list_position_bias(table, roles.item[0], str(roles.rater), presented)
    changed, notes = {rating: presented.ratings}, list(map(str, biases))
    n_judged = sum(bias.n_items for bias in biases)
    n_same = sum(bias.n_items * (bias.consistent.estimate or 0) for bias in biases)
    if not presented.by_answer:
        first, second = presented.pair
        notes.insert(
            0,
            f"{first} and {second} are read as the first and the second position, and swapped back "
            f"where the pair was swapped according to {order} "
            f"({counted(int(presented.swapped.sum()), 'row')})",
        )
        if 2 * n_same < n_judged:
            notes.append(
                f"swapped back, {percent(n_same / n_judged, 0)} of the answers are the same in "
                "both orders: if the file names the answers, whatever their position, read the "
                f"order as an occasion only (occasion={order!r})"
            )
    if occasion is not None:
        times = zip(table[occasion].codes, presented.swapped, strict=True)
        changed[ONE_OCCASION] = [f"{earlier} {swapped}" for earlier, swapped in times]
    roles = replace(roles, occasion=order if occasion is None else ONE_OCCASION)
    return table.having(changed, *notes), roles


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
    if not roles.item:
        table = table.having({"item": np.arange(1, table.n_rows + 1)})
        roles = replace(roles, item=("item",))
    order = str(roles.order)
    special = (*roles.item, roles.truth, roles.truth_probability, roles.cluster, order)
    of_items = [name for name in table if name in special]
    others = [name for name in table if name not in of_items]
    judges = {} if order in table else _find_by_ending(others, order)
    raters = [name for name in roles.raters or judges or others if name not in roles.system]
    require_columns(dict.fromkeys([*judges, *others]), [*raters, *roles.system])
    if not judges and not roles.raters:
        refuse_other_names(raters, roles.system, columns=True)
        refuse_stray_columns({name: table[name] for name in raters}, raters)
    columns = {
        column: (name, ending)
        for name in (*raters, *roles.system)
        for ending, column in judges.get(name, {"AB": name}).items()
    }
    stacked = table.stack(list(columns), of_items, "column", "rating")
    names, orders = np.repeat(np.array(list(columns.values()), object).T, table.n_rows, axis=1)
    made: dict[str, Any] = {"rater": names} | ({"order": orders} if judges else {})
    left = [name for name in others if name not in columns]
    notes = [f"each column is a rater's ratings in an order: {first_few(columns, MOST_SHOWN)}"]
    notes += [f"ignored: {first_few(left, MOST_SHOWN)}"] if left else []
    order = "order" if judges else order
    roles = replace(roles, rater="rater", rating="rating", order=order, raters=())
    return stacked.without(["column"]).having(made, *notes), roles


def _find_by_ending(names: list[str], order: str) -> dict[str, dict[str, str]]:
    """Find the columns of each judge by the order that they end in."""
    endings = [part.strip() for part in order.split(",")]
    judges: dict[str, dict[str, str]] = {}
    for name in names:
        for ending, kind in zip(endings, ("AB", "BA"), strict=False):
            judge = name.removesuffix(ending).rstrip(SEPARATORS)
            if ending and judge and name.endswith(ending):
                judges.setdefault(judge, {})[kind] = name
    if not judges or len(endings) != 2:
        raise InputError(
            f"there is no column {order!r}, and no columns end in the names of two orders",
            "name the column of the order, or give each judge a column for each order, as gpt_AB "
            "and gpt_BA, and name their endings (order='AB,BA')",
        )
    for judge, columns in judges.items():
        if len(columns) < 2:
            raise InputError(
                f"{judge} has answers in one order only",
                f"give a column that ends in {endings[0]} and one that ends in {endings[1]}",
                column=next(iter(columns.values())),
            )
    return judges
