"""The categories that columns of labels share, and the labels as codes of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError, wrong
from lehner.data.categories import (
    Column,
    Label,
    as_numbers,
    check_categories,
    encode,
    fold,
    merge_labels,
    plain_label,
    unify,
)
from lehner.data.checks.labels import check_found_categories
from lehner.data.options import ReadingOptions


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


def encode_labels(
    columns: Mapping[str, Any], names: Sequence[str], options: ReadingOptions
) -> tuple[dict[str, Column], list[str]]:
    """Encode columns, without labels of missing ratings, and with spellings merged if asked for.

    Parameters
    ----------
    columns : mapping of str to column
        All columns of the table.
    names : sequence of str
        The columns of raters, systems and truths.
    options : ReadingOptions
        If labels that `fold` makes equal are one category, it is that among `categories`, else the
        folded text.

    Returns
    -------
    columns : dict of str to Column
        The columns that are named.
    unused : list of str
        A sentence for each text in `missing` that does not occur.
    """
    named = () if options.categories is None else options.categories
    fold_case = options.fold_case
    encoded = {name: encode(columns[name], name) for name in names}
    if isinstance(named, str):
        raise wrong("categories", named, "give a list of names, as in ['no', 'yes']")
    missing: Any = options.missing
    if isinstance(missing, str) or not isinstance(missing, Iterable):
        missing = [missing]
    given = [text for text in missing if plain_label(text) is not None]
    if not given and not fold_case:
        return encoded, []
    absent = {_plain_text(text, fold_case=fold_case): str(text) for text in given}
    spelled = {fold(label): label for label in named} if fold_case else {}
    kept: dict[Any, Any] = {}
    seen: set[str] = set()
    for label in {label for column in encoded.values() for label in column.labels}:
        text, folded = _plain_text(label, fold_case=fold_case), fold(label) if fold_case else label
        kept[label] = None if text in absent else spelled.get(folded, folded)
        seen.add(text)
    for name, column in encoded.items():
        codes, labels = merge_labels(column.codes, [kept[label] for label in column.labels])
        encoded[name] = replace(column, codes=codes, labels=labels)
    return encoded, [
        f"no cell has the value {shown!r}, which was given as a label for missing ratings"
        for text, shown in absent.items()
        if text not in seen
    ]


def _plain_text(label: Any, *, fold_case: bool) -> str:
    """Label as text, 99.0 as 99."""
    text = str(unify([label])[label])
    return fold(text) if fold_case else text


def are_fixed(columns: Mapping[str, Column], options: ReadingOptions) -> bool:
    """Whether the categories were named by the user or by the type of a column."""
    return options.categories is not None or _declared_column(columns) is not None


def code_labels(columns: Mapping[str, Column], options: ReadingOptions) -> Coded:
    """Find the categories of several columns of labels, and code these."""
    fixed = are_fixed(columns, options)
    chosen, names, ordered = _choose_categories(columns, options)
    odd: tuple[str, ...] = ()
    if options.categories is None:
        odd = check_found_categories(columns, names, refuse=not fixed)
    codes = {name: _recode(column, name, chosen, names) for name, column in columns.items()}
    return Coded(codes=codes, categories=chosen, ordered=ordered, odd=odd, fixed=fixed)


def _choose_categories(
    columns: Mapping[str, Column], options: ReadingOptions
) -> tuple[tuple[Label, ...], dict[Any, Label], bool]:
    """Categories in order, the category of each label, and whether the order is meaningful."""
    labels = [label for column in columns.values() for label in column.labels]
    if options.categories is not None:
        given = [plain_label(label) for label in options.categories]
        names = unify(label for label in (*given, *labels) if label is not None)
        return check_categories([names.get(label) for label in given]), names, options.ordered
    names = unify(labels)
    declared = _declared_column(columns)
    if declared is not None:
        chosen = tuple(names[label] for label in declared.labels)
        return chosen, names, options.ordered or declared.ordered
    in_order = sorted(set(names.values()))
    if as_numbers(in_order) is not None:
        in_order.sort(key=float)
    return tuple(in_order), names, options.ordered


def _declared_column(columns: Mapping[str, Column]) -> Column | None:
    """First column whose labels the user fixed, if they include those of all."""
    declared = next((column for column in columns.values() if column.declared), None)
    if declared is None or not all(set(c.labels) <= set(declared.labels) for c in columns.values()):
        return None
    return declared


def _recode(
    column: Column, name: str, categories: Sequence[Label], names: Mapping[Any, Label]
) -> Integers:
    """Code a column, or raise an InputError where a label is not among the categories."""
    position = {category: k for k, category in enumerate(categories)}
    lookup = np.array([position.get(names[label], -2) for label in column.labels] + [-1])
    codes = lookup[column.codes]
    unknown = np.flatnonzero(codes == -2)
    if unknown.size:
        label = column.labels[column.codes[unknown[0]]]
        raise InputError(
            f"{label!r} is not one of the categories {', '.join(map(str, categories))}",
            "correct it, leave it blank, or add it to the categories",
            row=int(unknown[0]),
            column=name,
        )
    return codes
