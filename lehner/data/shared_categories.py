"""The categories that columns of labels share, and the labels as codes of them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.core.text import first_few
from lehner.data.categories import Label, as_numbers, check_categories, fold, plain_label, unify
from lehner.data.checks import check_labels, list_of
from lehner.data.columns import Column, number_or_nan, refuse_first
from lehner.data.reading import Reading

MEANING = ("missing", "labels", "only", "sets", "cut", "decimal", "fold_case")
"""Options that give labels another meaning than themselves."""
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """Columns of labels as codes of the same categories.

    Parameters
    ----------
    codes : mapping of str to ndarray of int
        Codes by column, -1 if missing.
    categories : tuple of str or int
        All categories, in order.
    ordered : bool
        Whether their order is meaningful.
    odd : sequence of str
        What looks odd about the categories.
    fixed : bool
        Whether the categories were named by the user or by the type of a column.
    """

    codes: Mapping[str, Integers]
    categories: tuple[Label, ...]
    ordered: bool
    odd: Sequence[str]
    fixed: bool


def code_labels(columns: Mapping[str, Column], reading: Reading) -> Coded:
    """Find the categories of several columns of labels, and code these.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns of raters, systems and gold labels, by name.
    reading : Reading
        What labels mean.

    Returns
    -------
    Coded

    Raises
    ------
    InputError
        Naming row and column, if a label is none of the categories, or if the categories are
        probably an error.
    """
    fixed, odd = are_fixed(columns, reading), _say_unused_missing(columns, reading)
    if any(getattr(reading, name) for name in MEANING):
        meaning = _make_meaning(reading)
        columns = {name: _give_meaning(column, meaning) for name, column in columns.items()}
    categories, names, ordered = _choose_categories(columns, reading)
    if not (reading.categories or reading.cut or reading.sets):
        odd += check_labels(columns, names, refuse=not fixed)
    position = {category: k for k, category in enumerate(categories)}
    problem = f"{{value}} is not one of the categories {', '.join(map(str, categories))}"
    remedy = "correct it, leave it blank, or add it to the categories"
    codes = {}
    for name, column in columns.items():
        places = np.array([*(position.get(names[label], -2) for label in column.labels), -1])
        codes[name] = places[column.codes]
        if (places == -2).any():
            refuse_first(codes[name] == -2, column, problem, remedy)
    return Coded(codes=codes, categories=categories, ordered=ordered, odd=odd, fixed=fixed)


def are_fixed(columns: Mapping[str, Column], reading: Reading) -> bool:
    """Whether the categories were named by the user or by the type of a column."""
    return bool(reading.categories) or reading.sets or _declared_column(columns) is not None


def _declared_column(columns: Mapping[str, Column]) -> Column | None:
    """First column whose labels the user fixed, if they include those of all."""
    declared = next((column for column in columns.values() if column.declared), None)
    if declared is None or not all(set(c.labels) <= set(declared.labels) for c in columns.values()):
        return None
    return declared


def _choose_categories(
    columns: Mapping[str, Column], reading: Reading
) -> tuple[tuple[Label, ...], Mapping[Any, Label], bool]:
    """Categories in order, the category of each label, and whether the order is meaningful."""
    labels = [label for column in columns.values() for label in column.labels]
    named = cut_names(reading.cut) if reading.cut else reading.categories
    if named:
        plain = list(map(plain_label, named))
        names = unify(label for label in (*plain, *labels) if label is not None)
        return check_categories([names.get(label) for label in plain]), names, reading.ordered
    names, declared = unify(labels), _declared_column(columns)
    if declared is not None:
        order = tuple(dict.fromkeys(names[label] for label in declared.labels))
        return order, names, reading.ordered or declared.ordered
    in_order = sorted(set(names.values()))
    if as_numbers(in_order) is not None:
        in_order.sort(key=float)
    return tuple(in_order), names, reading.ordered


def _say_unused_missing(columns: Mapping[str, Column], reading: Reading) -> list[str]:
    """Say which labels of missing ratings do not occur."""
    labels = [label for column in columns.values() for label in column.labels if reading.missing]
    written = {_text(label, reading) for label in labels}
    return [
        f"no cell has the value {str(text)!r}, which was given as a label for missing ratings"
        for text in reading.missing
        if plain_label(text) is not None and _text(text, reading) not in written
    ]


def _give_meaning(column: Column, meaning: Callable[[Any], Any]) -> Column:
    """Give labels their meaning; several may have the same."""
    labels: dict[Any, int] = {}
    places = []
    for code, label in enumerate(column.labels):
        try:
            value = meaning(label)
        except InputError as error:
            error.row, error.column = int(np.argmax(column.codes == code)), column.name
            raise
        places.append(-1 if value is None else labels.setdefault(value, len(labels)))
    return replace(column, codes=np.array([*places, -1])[column.codes], labels=tuple(labels))


def _make_meaning(reading: Reading) -> Callable[[Any], Any]:
    """Make the function from a label as it is written to what it means, None if missing."""
    missing = {_text(text, reading) for text in reading.missing if plain_label(text) is not None}
    mapped = dict(str(pair).rpartition("=")[::2] for pair in reading.labels)
    spelled = {fold(label): label for label in reading.categories}

    def meaning(label: Any) -> Any:
        if missing and _text(label, reading) in missing:
            return None
        if str(label) in mapped:
            return plain_label(mapped[str(label)])
        if reading.only:
            listed = first_few(mapped, 8)
            remedy = f"add it to the labels ({listed}), or leave it blank"
            raise InputError(f"{str(label)!r} is not among the labels that are listed", remedy)
        if reading.decimal == "," and DECIMAL_COMMA.fullmatch(str(label)):
            label = plain_label(float(str(label).replace(",", ".")))
        if reading.cut:
            return _cut(label, reading.cut)
        if reading.sets:
            return json.dumps(sorted(set(map(str, list_of(label)))), ensure_ascii=False)
        return spelled.get(fold(label), fold(label)) if reading.fold_case else label

    return meaning


def _text(label: Any, reading: Reading) -> str:
    """Label as text, 99.0 as 99."""
    text = str(unify([label])[label])
    return fold(text) if reading.fold_case else text


def _cut(label: Any, cuts: Sequence[float]) -> str:
    value = number_or_nan(str(label))
    if np.isnan(value):
        shown = ", ".join(f"{cut:g}" for cut in cuts)
        raise InputError(f"{str(label)!r} is no number to cut at {shown}", "correct it")
    return cut_names(cuts)[int(np.searchsorted(cuts, value, side="right"))]


def cut_names(cuts: Sequence[float]) -> list[str]:
    """Name the categories that numbers are cut into.

    Examples
    --------
    >>> cut_names([0.5])
    ['below 0.5', '0.5 or more']
    """
    between = [f"{low:g} to below {high:g}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]:g}", *between, f"{cuts[-1]:g} or more"]
