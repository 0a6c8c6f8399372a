"""A report of agreement: on the terminal, and the tables for a paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group

from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_csv, write_text
from experiments.reporting.renderers import to_latex, to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from lehner import InputError, Ratings, agreement, agreement_of_table, read_table
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, percent, probability
from lehner.core.warning import by_severity
from lehner.interrater.agreement import Agreement, RaterPairs
from lehner.interrater.coefficients import printed_name
from lehner.interrater.weights import WEIGHTS, find_weights

MOST_PAIRS = 15


@dataclass(frozen=True, kw_only=True)
class Report:
    """Agreement, and what it is of.

    Parameters
    ----------
    name : str
        Of the data.
    heading : str
        What they are.
    of : str
        Between whom there is agreement, in a sentence.
    categories : tuple
        All of them, in order.
    agreement : Agreement
        The coefficients, and the pairs of raters.
    notes : tuple of str
        What should be known of the data.
    within : float, optional
        How far intervals are to reach: tables say how many items that takes.
    """

    name: str
    heading: str
    of: str
    categories: tuple[Any, ...]
    agreement: Agreement
    notes: tuple[str, ...] = ()
    within: float | None = None

    @property
    def required_items(self) -> tuple[int | None, ...]:
        """Number of items that each coefficient needs, if it is asked for."""
        return () if self.within is None else self.agreement.required_items(self.within)

    def to_dict(self) -> dict[str, Any]:
        """Report in plain types, ready for JSON."""
        data = {
            "name": self.name,
            "categories": list(self.categories),
            "notes": list(self.notes),
        }
        content = self.agreement.to_dict()
        for one, n_items in zip(content["coefficients"], self.required_items, strict=False):
            one["required_items"] = n_items
        return {"data": data} | content


def report_on_ratings(
    name: str, ratings: Ratings, weights: Sequence[str] | None, **options: Any
) -> Report:
    """Agreement of raters.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
        With or without a system.
    weights : sequence of str, optional
        Names, or one file.
    **options
        Other options of `lehner.agreement`.

    Returns
    -------
    Report
    """
    weights = _read_weights(weights, ratings.categories)
    return Report(
        name=name,
        heading=repr(ratings).removeprefix("Ratings: "),
        of=f"{counted(ratings.n_ratings, 'rating')} by {counted(ratings.n_raters, 'rater')}",
        categories=ratings.categories,
        agreement=agreement(ratings, weights=weights, **options),
        notes=tuple(data_notes(ratings)),
    )


def report_on_table(
    file: str, categories: Sequence[str] | None, weights: Sequence[str] | None, **options: Any
) -> Report:
    """Agreement of two classifications in a file with a square table.

    Parameters
    ----------
    file : str
        As `lehner.read_table` reads it.
    categories : sequence of str, optional
        All of them in order; by default as in the file.
    weights : sequence of str, optional
        Names, or one file.
    **options
        Other options of `lehner.agreement_of_table`.

    Returns
    -------
    Report
    """
    table = read_table(file, categories=categories)
    names = tuple(table.coords["estimated"].values.tolist())
    result = agreement_of_table(table, weights=_read_weights(weights, names), **options)
    total = "probabilities" if result.n_items is None else counted(result.n_items, "item")
    classes = f"{counted(len(names), 'class', 'classes')} ({', '.join(map(str, names))})"
    return Report(
        name=file,
        heading=f"{total}, {classes}, row estimated, column actual",
        of="two classifications",
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


def show(report: Report, *, pairs: bool = True) -> None:
    """Print a report to standard output, with or without the pairs of raters."""
    agreement, width = report.agreement, terminal_width()
    parts = [line(f"{report.name}: {report.heading}")]
    parts += [*map(line, header_lines(report.notes)), line()]
    parts += to_terminal(coefficients_table(report), width)
    if pairs and agreement.rater_pairs is not None:
        parts += [line(), *to_terminal(pairs_table(agreement.rater_pairs, MOST_PAIRS), width)]
    print_wide(Group(*parts, *map(line, map(str, by_severity(agreement.notes)))))


def coefficients_table(report: Report) -> Table:
    """Coefficients under the weights they have, each note once."""
    agreement, required = report.agreement, report.required_items
    noted = {one.note: one.name for one in reversed(agreement.coefficients) if one.note}
    columns = [
        Column("weights", names=_name_weights),
        Column("coefficient", names=printed_name),
        Column("estimate", f"value [{percent(agreement.level)} interval]"),
        Column("standard_error", "SE"),
        Column("p_value", "p", probability),
        Column("chance_agreement", "chance"),
    ]
    rows: list[list[Any]] = [
        [
            one.weights,
            one.name,
            IntervalEstimate(estimate=one.estimate, lower=one.lower, upper=one.upper),
            one.standard_error,
            one.p_value,
            one.chance_agreement,
        ]
        for one in agreement.coefficients
    ]
    if required:
        columns.append(Column("required_items", f"items for ±{report.within:g}", "{:,}".format))
        rows = [[*row, n_items] for row, n_items in zip(rows, required, strict=True)]
    notes = [f"{printed_name(name)}: {note}" for note, name in reversed(noted.items())]
    return Table(columns=columns, rows=rows, keys=2, headings=True, notes=notes)


def _name_weights(weights: str) -> str:
    return f"weights: {weights.replace('_', ' ')}"


def pairs_table(pairs: RaterPairs, most: int | None = None) -> Table:
    """Pairs of raters, all of them or the first ones, below the weights they have."""
    first, second, weights, *columns = (column.tolist() for column in pairs.columns().values())
    rows = list(zip(weights, first, second, *columns, strict=True))
    more = 0 if most is None else len(rows) - most
    return Table(
        columns=[
            Column("weights", names=_name_weights),
            Column("rater"),
            Column("other_rater"),
            Column("n_items", "items", "{:g}".format),
            Column("percent_agreement"),
            Column("cohen_kappa", printed_name("cohen_kappa")),
            Column("standard_error", "SE"),
        ],
        rows=rows[:most],
        keys=3,
        headings=True,
        notes=[f"… and {more} more pairs: see --output"] if more > 0 else [],
    )


def write(report: Report, folder: Path) -> list[Path]:
    """Write a report's tables into a folder.

    Parameters
    ----------
    report : Report
        Of ratings or of a table.
    folder : Path
        Made if it is not there. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        `agreement.csv`, `agreement.tex`; and, where raters are named, `pairs.csv`, `pairs.tex`.
    """
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    agreement = report.agreement
    table = agreement.to_frame()
    if report.required_items:
        table["required_items"] = pd.array(report.required_items, dtype="Int64")
    paths = [
        write_csv(table, folder / "agreement.csv"),
        write_text(to_latex(coefficients_table(report)), folder / "agreement.tex"),
    ]
    if agreement.rater_pairs is not None:
        paths += [
            write_csv(agreement.pairs_frame(), folder / "pairs.csv"),
            write_text(to_latex(pairs_table(agreement.rater_pairs)), folder / "pairs.tex"),
        ]
    return paths
