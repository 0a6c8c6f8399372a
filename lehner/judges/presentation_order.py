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
NEITHER, BLANK = -1, -2
"""Codes of choices."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Presented:
    """Which ratings are of a swapped pair, and which answer each chooses.

    Parameters
    ----------
    swapped : ndarray of bool, shape (n_ratings,)
    pair : tuple of two labels
        The labels of the answer shown first and of the one shown second.
    place : ndarray of int, shape (n_ratings,)
        0 if the answer shown first was chosen, 1 if the second, -1 if neither, -2 if the choice is
        blank.
    ratings : ndarray of labels, shape (n_ratings,)
        The ratings, which name the answer itself, whatever the position in which it was shown; None
        where one is missing.
    by_answer : bool
        Whether they did so in the file.
    """

    swapped: Booleans
    pair: tuple[Any, Any]
    place: Integers
    ratings: Any
    by_answer: bool


def read_order(
    columns: Mapping[str, Any], order: str, rating: str, pair: Sequence[Label] | None = None
) -> Presented:
    """Find the ratings of swapped pairs, and swap them back.

    Parameters
    ----------
    columns : mapping of str to column
    order : str
        Column of the order in which the pair was shown, with values as in `ORDERS`, upper or lower
        case, or the labels of the two answers: then it names the one shown first, and ratings name
        answers, too. Else they name positions.
    rating : str
        Column of the judge's choices.
    pair : sequence of two labels, optional
        The labels of the answer shown first and the one shown second; by default one of `PAIRS`,
        else the two labels that there are besides ties, in alphabetical order. All other labels
        mean neither.

    Returns
    -------
    Presented

    Raises
    ------
    InputError
        If the orders are not one of `ORDERS`, or the labels of the two answers are not found.

    Examples
    --------
    >>> columns = {"order": ["AB", "BA", "BA", "BA"], "rating": ["A", "A", "tie", "B"]}
    >>> read_order(columns, "order", "rating").ratings.tolist()
    ['A', 'B', 'tie', 'A']
    """
    require_columns(columns, [order])
    choices, orders = encode(columns[rating], rating), encode(columns[order], order).refuse_blank()
    answers = _find_answers(choices.labels, pair, rating)
    by_answer = set(orders.labels) <= set(answers) and tuple(map(_plain, answers)) not in ORDERS
    if by_answer:
        is_swapped = [label == answers[1] for label in orders.labels]
    else:
        is_swapped = _find_swapped(orders.labels, order)
    swapped = orders.lookup(is_swapped, False).astype(bool)
    code_of = {label: code for code, label in enumerate(answers)}
    chosen = choices.lookup([code_of.get(label, NEITHER) for label in choices.labels], BLANK)
    chosen = chosen.astype(np.int64)
    other = np.where(swapped & (chosen >= 0), 1 - chosen, chosen)
    place, answer = (other, chosen) if by_answer else (chosen, other)
    ratings = choices.values
    ratings[answer >= 0] = np.array(answers, dtype=object)[answer[answer >= 0]]
    return Presented(
        swapped=swapped, pair=answers, place=place, ratings=ratings, by_answer=by_answer
    )


def _find_swapped(labels: Sequence[Any], name: str) -> list[bool]:
    plain = list(map(_plain, labels))
    for orders in ORDERS:
        if set(plain) <= set(orders):
            return [text == orders[1] for text in plain]
    raise InputError(
        f"{name!r} has the values {', '.join(map(str, labels[:4]))}",
        f"name the orders as one of {', '.join('/'.join(orders) for orders in ORDERS)}, or by the "
        "answer that was shown first",
        column=name,
    )


def _plain(label: Any) -> str:
    return str(label).casefold().replace(" ", "")


def _find_answers(
    labels: Sequence[Any], pair: Sequence[Label] | None, rating: str
) -> tuple[Any, Any]:
    by_text = {str(label).casefold(): label for label in labels}
    if pair is not None:
        if len(pair) != 2:
            raise InputError(f"pair is {list(pair)}", "give two labels, as in ['A', 'B']")
        first, second = (by_text.get(str(plain_label(x)).casefold(), x) for x in pair)
        return first, second
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
