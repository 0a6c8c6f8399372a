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
from lehner.data.checks.labels import check_labels, list_of
from lehner.data.columns import Column, number_or_nan, refuse_first
from lehner.data.reading import Reading

DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+")
MOST_SHOWN = 8


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
    odd : tuple of str
        What looks odd about the categories.
    fixed : bool
        Whether the categories were named by the user or by the type of a column.
    """

    codes: Mapping[str, Integers]
    categories: tuple[Label, ...]
    ordered: bool
    odd: tuple[str, ...]
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
    fixed = are_fixed(columns, reading)
    columns, odd = _give_meaning(columns, reading)
    categories, names, ordered = _choose_categories(columns, reading)
    if not (reading.categories or reading.cut or reading.sets):
        odd += check_labels(columns, names, refuse=not fixed)
    position = {category: k for k, category in enumerate(categories)}
    problem = f"{{value}} is not one of the categories {', '.join(map(str, categories))}"
    remedy = "correct it, leave it blank, or add it to the categories"
    codes = {}
    for name, column in columns.items():
        places = [position.get(names[label], -2) for label in column.labels]
        codes[name] = np.array([*places, -1])[column.codes]
        refuse_first(codes[name] == -2, column, problem, remedy)
    return Coded(codes=codes, categories=categories, ordered=ordered, odd=tuple(odd), fixed=fixed)


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


def _give_meaning(
    columns: Mapping[str, Column], reading: Reading
) -> tuple[Mapping[str, Column], list[str]]:
    """Give labels their meaning, and say which labels of missing ratings do not occur."""
    meaning, written = _meaning(reading), set[str]()
    meant = {}
    for name, column in columns.items():
        values = []
        for code, label in enumerate(column.labels):
            try:
                values.append(meaning(label))
            except InputError as error:
                error.row, error.column = int(np.argmax(column.codes == code)), name
                raise
        written |= {_text(label, reading) for label in column.labels if reading.missing}
        meant[name] = replace(column, raw_codes=column.codes, raw=values)
    return meant, [
        f"no cell has the value {str(text)!r}, which was given as a label for missing ratings"
        for text in reading.missing
        if plain_label(text) is not None and _text(text, reading) not in written
    ]


def _meaning(reading: Reading) -> Callable[[Any], Any]:
    """Make the function from a label as it is written to what it means, None if missing."""
    missing = {_text(text, reading) for text in reading.missing if plain_label(text) is not None}
    mapped = dict(str(pair).rpartition("=")[::2] for pair in reading.labels)
    spelled = {fold(label): label for label in reading.categories}

    def meaning(label: Any) -> Any:
        if missing and _text(label, reading) in missing:
            return None
        if str(label) in mapped:
            return mapped[str(label)] or None
        if reading.only:
            listed = first_few(mapped, MOST_SHOWN)
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
