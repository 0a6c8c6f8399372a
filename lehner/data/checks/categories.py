"""Checks of the categories that were found in a table."""

from collections.abc import Mapping

import numpy as np

from lehner.core.errors import InputError
from lehner.core.wording import counted
from lehner.data.categories import Column, Label
from lehner.data.checks.placeholders import likely_placeholders, sure_placeholders
from lehner.data.checks.scores import many_numbers, no_categories
from lehner.data.checks.spellings import same_spelling
from lehner.data.spelling import fold


def check_found_categories(
    columns: Mapping[str, Column], names: Mapping[object, Label], *, refuse: bool
) -> tuple[str, ...]:
    """Raise an InputError if categories are probably a mistake, and name those that look odd.

    Parameters
    ----------
    columns : mapping of str to Column
        The columns of raters, system and truth.
    names : mapping
        From label as found to category.
    refuse : bool
        Whether to raise errors; else there are only warnings, for example if the categories of all
        columns were declared (a pandas categorical).

    Returns
    -------
    tuple of str
        What looks odd, one sentence for each point.

    Raises
    ------
    InputError
        Naming row and column.
    """
    cells = _count_cells(columns, names)
    problem = _problem(cells)
    sentences = []
    if problem is not None:
        label, what, remedy = problem
        if refuse:
            name, row = _first_cell(columns, names, label)
            raise InputError(what, remedy, row=row, column=name)
        sentences.append(f"{what}; {remedy}")
    sentences += [_say_placeholder(cells, label) for label in likely_placeholders(cells)]
    if many_numbers(cells):
        sentences.append(
            f"there are {len(cells)} categories, which are numbers; if they are scores, cut them "
            "into few categories"
        )
    return tuple(sentences)


def _count_cells(columns: Mapping[str, Column], names: Mapping[object, Label]) -> dict[Label, int]:
    cells: dict[Label, int] = {}
    for column in columns.values():
        uses = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
        for label, n in zip(column.labels, uses.tolist(), strict=True):
            cells[names[label]] = cells.get(names[label], 0) + n
    return {label: n for label, n in cells.items() if n}


def _problem(cells: Mapping[Label, int]) -> tuple[Label, str, str] | None:
    same = same_spelling(cells)
    if same:
        spellings = ["/".join(f"{str(one)!r}" for one in labels) for labels in same]
        counts = ["/".join(str(cells[one]) for one in labels) for labels in same]
        one = " read them as one (fold_case=True)," if _are_folded(same) else ""
        return (
            same[0][0],
            f"the categories {', '.join(spellings)} (in {', '.join(counts)} cells) differ only "
            "in how they are written",
            f"write them alike,{one} or, if they are several, name all categories (categories=…)",
        )
    sure = sure_placeholders(cells)
    if sure:
        return (
            sure[0],
            f"{str(sure[0])!r} ({counted(cells[sure[0]], 'cell')}) would count as a category",
            f"read it as no rating (missing=[{str(sure[0])!r}]) or, if it is one, name all "
            "categories (categories=…)",
        )
    what = no_categories(cells)
    if what:
        return (
            next(iter(cells)),
            f"the ratings are {what}, not categories",
            "cut them into few categories, or name all categories (categories=…)",
        )
    return None


def _are_folded(same: list[list[Label]]) -> bool:
    """Whether folding makes one category of some spellings, as it does not of numbers."""
    return any(len({fold(label) for label in labels}) < len(labels) for labels in same)


def _say_placeholder(cells: Mapping[Label, int], label: Label) -> str:
    return (
        f"{str(label)!r} ({counted(cells[label], 'cell')}) counts as a category; if it means a "
        f"missing rating, read it as one (missing=[{str(label)!r}])"
    )


def _first_cell(
    columns: Mapping[str, Column], names: Mapping[object, Label], label: Label
) -> tuple[str, int]:
    for name, column in columns.items():
        mine = np.array([names[one] == label for one in column.labels] + [False])
        rows = np.flatnonzero(mine[column.codes])
        if rows.size:
            return name, int(rows[0])
    raise KeyError(label)
