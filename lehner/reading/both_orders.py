"""Ratings of pairs shown in both orders, read as repeated ratings that name answers."""

from dataclasses import replace
from typing import Any

from lehner.core.errors import InputError
from lehner.core.number_format import percent
from lehner.core.wording import counted
from lehner.data.categories import encode
from lehner.data.options import ReadingOptions
from lehner.judges.position_bias import PositionBias, list_position_bias
from lehner.judges.presentation_order import read_order, swap_back

ONE_OCCASION = "occasion and order"


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
        If the table does not have a row per rating, or orders or answers are not known.
    """
    order, swapped_back = str(roles.order), roles.swapped_back
    if roles.rater is None:
        raise InputError(
            f"{order!r} can be the order of presentation only in a table with a row per rating",
            "give columns item, rater, rating and the order",
            column=order,
        )
    item, rater, rating = str(roles.item), str(roles.rater), str(roles.rating)
    presented = read_order(columns, order, rating, swapped_back=swapped_back)
    bias = list_position_bias(columns, item, rater, presented)
    notes, changed = [str(one) for one in bias], dict(columns)
    if not swapped_back:
        changed[rating] = swap_back(columns, rating, presented)
        first, second = presented.pair
        n_swapped = counted(int(presented.swapped.sum()), "row")
        swapped = (
            f"{first} and {second} are read as positions, and swapped back where the pair was "
            f"swapped according to {order} ({n_swapped})"
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
