"""A report of agreement: on the terminal, and the files for a paper."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text

from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_csv, write_figure, write_text
from experiments.reporting.latex import latex_table
from experiments.reporting.terminal import line, print_wide, terminal_width
from experiments.reporting.text_table import bold_blocks, bold_table
from lehner import (
    Agreement,
    Coefficient,
    InputError,
    Ratings,
    agreement,
    agreement_of_table,
    read_table,
)
from lehner.coefficients.rater_pairs import RaterPairs
from lehner.coefficients.weights import WEIGHTS, find_weights
from lehner.core.number_format import decimal, percent, probability
from lehner.core.wording import counted

MOST_PAIRS = 15
WITH_LABELS = 92
"""Columns of a terminal that has room for the labels of Landis and Koch."""

HEAD = (
    "coefficient",
    "weights",
    "estimate",
    "interval",
    "SE",
    "p",
    "chance",
    "Landis–Koch",
    "note",
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Agreement, and what it is of.

    Parameters
    ----------
    name : str
        Of the data.
    heading : str
        What they are.
    categories : tuple
    agreement : Agreement
    notes : tuple of str
        What should be known of the data.
    """

    name: str
    heading: str
    categories: tuple[Any, ...]
    agreement: Agreement
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the report in plain types, ready for JSON."""
        data = {
            "name": self.name,
            "categories": list(self.categories),
            "notes": list(self.notes),
        }
        return {"data": data} | self.agreement.to_dict()


def report_on_ratings(
    name: str,
    ratings: Ratings,
    weights: Sequence[str] | None,
    level: float,
    population_size: float | None = None,
) -> Report:
    """Measure the agreement of the raters.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
    weights : sequence of str, optional
        Names, or one file.
    level : float
        Probability of the intervals.
    population_size : float, optional
        How many items there are, of which these are a random sample.

    Returns
    -------
    Report
    """
    chosen = _read_weights(weights, ratings.categories)
    return Report(
        name=name,
        heading=repr(ratings).removeprefix("Ratings: "),
        categories=ratings.categories,
        agreement=agreement(ratings, weights=chosen, level=level, population_size=population_size),
        notes=tuple(data_notes(ratings)),
    )


def report_on_table(
    data: str,
    categories: Sequence[str] | None,
    weights: Sequence[str] | None,
    level: float,
    *,
    ordered: bool,
    n_items: float | None,
    population_size: float | None = None,
) -> Report:
    """Measure the agreement of two classifications in a file with a square table.

    Parameters
    ----------
    data : str
        The file.
    categories : sequence of str, optional
        All of them in order; by default as in the file.
    weights : sequence of str, optional
        Names, or one file.
    level : float
        Probability of the intervals.
    ordered : bool
        Whether the order of the categories means something.
    n_items : float, optional
        How many items the table stands for.
    population_size : float, optional
        How many items there are, of which these are a random sample.

    Returns
    -------
    Report
    """
    table = read_table(data, categories=categories)
    names = tuple(table.coords["estimated"].values.tolist())
    result = agreement_of_table(
        table,
        weights=_read_weights(weights, names),
        ordered=ordered,
        n_items=n_items,
        population_size=population_size,
        level=level,
    )
    total = "probabilities" if result.n_items is None else counted(result.n_items, "item")
    return Report(
        name=data,
        heading=f"{total}, {counted(len(names), 'class', 'classes')} "
        f"({', '.join(map(str, names))}), "
        "row estimated, column actual",
        categories=names,
        agreement=result,
    )


def _read_weights(weights: Sequence[str] | None, categories: Sequence[Any]) -> Any:
    files = [one for one in weights or () if one not in WEIGHTS and Path(one).is_file()]
    if not files:
        return weights
    if len(weights or ()) > 1:
        raise InputError(f"{files[0]} is not the only --weights", "give a file of weights alone")
    matrix = read_table(files[0], categories=categories).values
    try:
        find_weights(matrix, categories, ordered=True)
    except InputError as error:
        raise InputError(error.problem, error.remedy, file=files[0]) from None
    return matrix


def show(report: Report) -> None:
    """Print a report to standard output."""
    agreement = report.agreement
    parts = [line(f"{report.name}: {report.heading}")]
    parts += [*map(line, header_lines(report.notes)), line()]
    parts += _coefficients(agreement)
    if agreement.rater_pairs is not None:
        parts += [line(), *_pairs(agreement.rater_pairs)]
    parts += [line(note) for note in agreement.notes]
    print_wide(Group(*parts))


def _coefficients(agreement: Agreement) -> list[Text]:
    """Give the coefficients, those of each weights under a line, and their notes once."""
    weights = list(dict.fromkeys(one.weights for one in agreement.coefficients))
    rows: list[list[str]] = [_without_weights(_head(agreement)[:-1])]
    for name in weights:
        rows.append([f"weights: {name}"])
        rows += [
            _without_weights(_cells(one)) for one in agreement.coefficients if one.weights == name
        ]
    noted = {one.note: one.name for one in reversed(agreement.coefficients) if one.note}
    notes = [line(f"{name}: {note}") for note, name in reversed(noted.items())]
    width = terminal_width()
    if width < WITH_LABELS:
        rows = [row[:-1] or row for row in rows]
        notes.append(line("The labels of Landis and Koch need a wider terminal, or --output."))
    table = bold_table(rows, left=(6,), width=width)
    return [*table, *([line(), *notes] if notes else [])]


def _without_weights(cells: list[str]) -> list[str]:
    return [cells[0], *cells[2:]]


def _head(agreement: Agreement) -> list[str]:
    return [f"{percent(agreement.level)} interval" if name == "interval" else name for name in HEAD]


def _cells(coefficient: Coefficient) -> list[str]:
    ends = (coefficient.lower, coefficient.upper)
    interval = "" if None in ends else f"[{', '.join(map(decimal, ends))}]"
    return [
        coefficient.name,
        coefficient.weights,
        decimal(coefficient.estimate),
        interval,
        _if_known(coefficient.standard_error, decimal),
        _if_known(coefficient.p_value, probability),
        _if_known(coefficient.chance_agreement, decimal),
        coefficient.label.strip("()"),
    ]


def _if_known(value: float | None, write: Callable[[float], str]) -> str:
    return "" if value is None or np.isnan(value) else write(value)


def _pairs(pairs: RaterPairs) -> list[Text]:
    rows = [list(_PAIR_HEAD), *_pair_cells(pairs, MOST_PAIRS)]
    lines = bold_blocks(rows, left=(1, 2), width=terminal_width())
    n_raters = len(pairs.raters)
    more = len(pairs.weights) * n_raters * (n_raters - 1) // 2 - MOST_PAIRS
    if more > 0:
        lines.append(line(f"… and {more} more pairs: see --output"))
    return lines


_PAIR_HEAD = ("rater", "other rater", "weights", "items", "percent agreement", "cohen_kappa", "SE")


def _pair_cells(pairs: RaterPairs, most: int | None = None) -> list[list[str]]:
    columns = [column[:most].tolist() for column in pairs.columns().values()]
    return [[*row[:3], f"{row[3]:g}", *map(decimal, row[4:])] for row in zip(*columns, strict=True)]


def write(report: Report, folder: Path) -> list[Path]:
    """Write a report's tables and figure into a folder.

    Parameters
    ----------
    report : Report
    folder : Path
        Made if it is not there. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        `agreement.csv`, `agreement.tex`; and, where raters are named, `pairs.csv`, `pairs.tex`,
        and the heat map `pairs.pdf`, `pairs.png`.
    """
    from experiments.agreement.figure import plot_pairs

    folder.mkdir(parents=True, exist_ok=True)
    agreement = report.agreement
    rows = [_cells(one) for one in agreement.coefficients]
    paths = [
        write_csv(agreement.to_frame(), folder / "agreement.csv"),
        write_text(latex_table(_head(agreement)[:-1], rows), folder / "agreement.tex"),
    ]
    pairs = agreement.rater_pairs
    if pairs is not None:
        figure = plot_pairs(pairs.to_xarray(), title=report.name)
        paths += [
            write_csv(agreement.pairs_frame(), folder / "pairs.csv"),
            write_text(latex_table(_PAIR_HEAD, _pair_cells(pairs)), folder / "pairs.tex"),
            *write_figure(figure, folder, "pairs"),
        ]
    return paths
