"""Choices between two answers that were shown in both orders, and how to swap them back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner.core.arrays import Booleans, Integers
from lehner.core.errors import InputError
from lehner.data.categories import Label, plain_label
from lehner.data.columns import encode, require_columns

ORDERS = (
    ("ab", "ba"),
    ("original", "swapped"),
    ("false", "true"),
    ("no", "yes"),
    ("0", "1"),
    ("1", "2"),
    ("first", "second"),
)
"""Values of a column of orders, the swapped order last."""
PAIRS = (
    ("a", "b"),
    ("1", "2"),
    ("first", "second"),
    ("left", "right"),
    ("model_a", "model_b"),
    ("model_1", "model_2"),
    ("0", "1"),
)
"""Labels that judges give the answer shown first, and the one shown second."""


TIE = re.compile(r"(tied?|draw|equal|neither|both|same|none|no)(?![a-z])|both", re.IGNORECASE)
"""Labels that are neither of the two answers, where these are found by what is left."""
NEITHER, BLANK = -1, -2
"""Codes of answers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Presented:
    """Which ratings are of a swapped pair, and the labels of the two answers.

    Parameters
    ----------
    swapped : ndarray of bool, shape (n_ratings,)
    pair : tuple of two labels
        The labels of the answer shown first and of the one shown second.
    answer : ndarray of int, shape (n_ratings,)
        0 if the answer shown first was chosen, 1 if the second, -1 if neither, -2 if the choice is
        blank.
    swapped_back : bool
        Whether ratings name the answer itself.
    """

    swapped: Booleans
    pair: tuple[Any, Any]
    answer: Integers
    swapped_back: bool


def read_order(
    columns: Mapping[str, Any],
    order: str,
    rating: str,
    pair: Sequence[Label] | None = None,
    *,
    swapped_back: bool = False,
) -> Presented:
    """Find the ratings of swapped pairs.

    Parameters
    ----------
    columns : mapping of str to column
    order : str
        Column of the order in which the pair was shown, with values as in `ORDERS`, upper or lower
        case, or the labels of the two answers: then it names the one shown first, and ratings name
        answers, too.
    rating : str
        Column of the judge's choices.
    pair : sequence of two labels, optional
        The labels of the answer shown first and the one shown second; by default one of `PAIRS`,
        else the two labels that there are besides ties, in alphabetical order. All other labels
        mean neither.
    swapped_back : bool
        Whether ratings name the answer itself; else they name its position.

    Returns
    -------
    Presented

    Raises
    ------
    InputError
        If the orders are not one of `ORDERS`, or the labels of the two answers are not found.
    """
    require_columns(columns, [order])
    answers = encode(columns[rating], rating)
    chosen = _find_pair(answers.labels, pair, rating)
    orders = encode(columns[order], order).refuse_blank()
    by_answer = set(orders.labels) <= set(chosen) and tuple(map(_plain, chosen)) not in PAIRS
    if by_answer:
        swapped_back, swapped = True, np.array([x == chosen[1] for x in orders.labels])
    else:
        swapped = _find_swapped(orders.labels, order)
    swapped = swapped[orders.codes]
    place = {label: position for position, label in enumerate(chosen)}
    by_label = np.array([*(place.get(label, NEITHER) for label in answers.labels), BLANK])
    answer = by_label[answers.codes]
    if swapped_back:
        answer = np.where(swapped & (answer >= 0), 1 - answer, answer)
    return Presented(swapped=swapped, pair=chosen, answer=answer, swapped_back=swapped_back)


def swap_back(columns: Mapping[str, Any], rating: str, presented: Presented) -> list[Any]:
    """Make ratings name the answer itself, whatever the position in which it was shown.

    Parameters
    ----------
    columns : mapping of str to column
    rating : str
    presented : Presented

    Returns
    -------
    list of labels
        None where a rating is missing.

    Examples
    --------
    >>> columns = {"order": ["AB", "BA", "BA", "BA"], "rating": ["A", "A", "tie", "B"]}
    >>> swap_back(columns, "rating", read_order(columns, "order", "rating"))
    ['A', 'B', 'tie', 'A']
    """
    answers = encode(columns[rating], rating)
    labels = np.array([*answers.labels, None], dtype=object)[answers.codes]
    back = presented.swapped & (presented.answer >= 0)
    labels[back] = np.array(presented.pair, dtype=object)[1 - presented.answer[back]]
    return labels.tolist()


def _find_swapped(labels: Sequence[Any], name: str) -> Booleans:
    plain_orders = list(map(_plain, labels))
    for original, swapped in ORDERS:
        if set(plain_orders) <= {original, swapped}:
            return np.array([text == swapped for text in plain_orders])
    raise InputError(
        f"{name!r} has the values {', '.join(map(str, labels[:4]))}",
        f"name the orders as one of {', '.join('/'.join(orders) for orders in ORDERS)}, or by the "
        "answer that was shown first",
        column=name,
    )


def _plain(label: Any) -> str:
    return str(label).casefold().replace(" ", "")


def _find_pair(labels: Sequence[Any], pair: Sequence[Label] | None, rating: str) -> tuple[Any, Any]:
    by_text = {str(label).casefold(): label for label in labels}
    if pair is not None:
        given = [by_text.get(str(plain_label(name)).casefold(), name) for name in pair]
        if len(given) != 2:
            raise InputError(f"pair is {list(pair)}", "give two labels, as in ['A', 'B']")
        return given[0], given[1]
    for first, second in PAIRS:
        if first in by_text and second in by_text:
            return by_text[first], by_text[second]
    answers = sorted((label for label in labels if not TIE.match(str(label))), key=str)
    if len(answers) == 2:
        return answers[0], answers[1]
    raise InputError(
        f"the ratings {', '.join(map(str, labels[:6]))} are not two answers, and ties",
        f"call the answers one of {', '.join('/'.join(names) for names in PAIRS)}, and ties tie",
        column=rating,
    )
