"""Ratings of pairs shown in both orders, read as repeated ratings that name answers."""

from dataclasses import replace
from typing import Any

import numpy as np

from lehner.core.errors import InputError
from lehner.core.text import counted, first_few, percent
from lehner.data.categories import encode
from lehner.data.checks.columns import refuse_other_columns, refuse_stray_columns
from lehner.data.columns import require_columns
from lehner.data.options import ReadingOptions
from lehner.judges.position_bias import PositionBias, list_position_bias
from lehner.judges.presentation_order import read_order, swap_back

ONE_OCCASION = "occasion and order"
ORDERS = ("original", "swapped")
SEPARATORS = " _-.:/"
MOST_SHOWN = 8


def join_orders(
    columns: dict[str, Any], roles: ReadingOptions
) -> tuple[dict[str, Any], ReadingOptions, list[str]]:
    """Swap answers to swapped pairs back, and treat each order as an occasion.

    Parameters
    ----------
    columns : dict of str to column
        Columns of a table with a row per rating.
    roles : ReadingOptions
        With `order`, and with `swapped_back` if the file has swapped answers back.

    Returns
    -------
    columns : dict of str to column
        With a column of occasions.
    roles : ReadingOptions
        With that column.
    notes : list of str
        What was done, and the position bias of each rater who saw items in both orders.

    Raises
    ------
    InputError
        If orders or answers are not known.
    """
    order = str(roles.order)
    item, rater, rating = str(roles.item), str(roles.rater), str(roles.rating)
    presented = read_order(columns, order, rating, swapped_back=roles.swapped_back)
    bias = list_position_bias(columns, item, rater, presented)
    notes, changed = [str(one) for one in bias], dict(columns)
    if not presented.swapped_back:
        changed[rating] = swap_back(columns, rating, presented)
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
        earlier, later = encode(columns[roles.occasion]).codes, presented.swapped
        changed[occasion] = [f"{a} {b}" for a, b in zip(earlier, later, strict=True)]
    return changed, replace(roles, occasion=occasion), notes


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


def stack_orders(
    columns: dict[str, Any], roles: ReadingOptions
) -> tuple[dict[str, Any], ReadingOptions, list[str], list[str]]:
    """Make a table with a row per rating of one with a column for each judge.

    Either the order is a column, and a row an item in an order; or it is the two endings of the
    columns' names, as in "AB,BA" for `gpt_AB` and `gpt_BA`, and a row an item. Columns without such
    an ending are then read if they are named as raters or systems: who saw one order only.

    Parameters
    ----------
    columns : dict of str to column
        Columns of a table without a column of raters.
    roles : ReadingOptions
        With `order`.

    Returns
    -------
    columns : dict of str to column
        Items, `rater`, `rating` and order, and truths if there are any: the rows of the table once
        for each column of ratings.
    roles : ReadingOptions
        With these columns.
    sources : list of str
        The columns of ratings.
    notes : list of str
        Which columns were read.

    Raises
    ------
    InputError
        If there are no such columns, or if one is not a rater's.
    """
    order = str(roles.order)
    of_items = (roles.truth, roles.truth_probability, roles.cluster, order)
    others = [name for name in columns if name not in (roles.item, *of_items)]
    judges = {} if order in columns else _by_ending(others, order)
    raters = [name for name in roles.raters or judges or others if name not in roles.system]
    require_columns(dict.fromkeys([*judges, *others]), [*raters, *roles.system])
    if not judges and roles.raters is None:
        refuse_other_columns(raters, roles.system)
        refuse_stray_columns({name: encode(columns[name], name) for name in raters}, raters)
    cells = [
        (name, one_order, column)
        for name in (*raters, *roles.system)
        for one_order, column in judges.get(name, {ORDERS[0]: name}).items()
    ]
    n_rows = len(next(iter(columns.values())))
    item = roles.item or "item"
    once = {item: columns[item] if roles.item else range(1, n_rows + 1)}
    once |= {name: columns[name] for name in of_items if name in columns}
    stacked = {name: _labels(values, name) * len(cells) for name, values in once.items()}
    stacked["rater"] = [name for name, _, _ in cells for _ in range(n_rows)]
    stacked["rating"] = [label for *_, name in cells for label in _labels(columns[name], name)]
    if judges:
        order = "order"
        stacked[order] = [one for _, one, _ in cells for _ in range(n_rows)]
    used = {item, *of_items, order, *(column for *_, column in cells)}
    left = [name for name in columns if name not in used]
    sources = [column for *_, column in cells]
    roles = replace(roles, item=item, rater="rater", rating="rating", order=order, raters=None)
    notes = [f"each column is a rater's ratings in an order: {first_few(sources, MOST_SHOWN)}"]
    notes += [f"ignored: {first_few(left, MOST_SHOWN)}"] if left else []
    return stacked, roles, sources, notes


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


def _labels(values: Any, name: str) -> list[Any]:
    column = encode(values, name)
    return np.array([*column.labels, None], dtype=object)[column.codes].tolist()
