"""Groups of items compared without a system: the screen, and files for a paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group

from experiments.estimate.layout import Names, Row, difference, method_columns, side_by_side
from experiments.estimate.screen import LINES_OF_CAUTION, MOST_LINES
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_csv, write_figure, write_text
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_latex, to_terminal
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, wrapped
from experiments.reporting.warning_lines import warning_lines
from lehner import MethodProportions, Proportions
from lehner.core.text import counted, counted_categories, probability
from lehner.core.warning import by_severity

PAIRS = "difference, P(higher)"
BEFORE = (Column("n_items", "items"), Column("known", None, "{}/{}".format))
AFTER = (Column("rank", None, "{} [{}, {}]".format), Column("best", "P(best)", probability))
MOST_ROWS, MOST_METHODS, MOST_CAUTIONS = 5, 2, 3
LONGEST_NAME = 18
"""Of a group or method on the first screen, so that its tables fit into 100 characters."""


def report_dict(found: Proportions) -> dict[str, Any]:
    """Write everything in plain types, with what is to be known of the data."""
    return found.to_dict() | {"data_notes": data_notes(found.ratings)}


def render(found: Proportions, width: int, *, full: bool = False) -> Group:
    """Lay the comparison out for the terminal.

    Parameters
    ----------
    found : Proportions
    width : int
        Of the terminal.
    full : bool
        Whether to show all rows, methods and warnings, and not only what fits into 24 lines.

    Returns
    -------
    rich.console.Group
    """
    notes = header_lines(data_notes(found.ratings))
    if full:
        said = [("data", one) for one in found.warnings]
        said += [(one.method, warning) for one in found.results for warning in one.warnings]
        parts = [part for one in _tables(found) for part in (line(), *to_terminal(one, width))]
        texts = ["", *map(as_options, warning_lines(said))]
        return Group(*map(line, (_heading(found), *notes)), *parts, *map(line, texts))
    parts = [part for one in _tables(found, _cut, brief=True) for part in to_terminal(one, width)]
    warnings = by_severity([*found.warnings, *found.results[0].warnings])
    cautions = [f"Caution: {as_options(str(one))}" for one in warnings if one.severity != "note"]
    heading, texts = wrapped(_heading(found), width, 2), [*cautions, *notes][:MOST_CAUTIONS]
    room = MOST_LINES - 1 - len(heading) - len(parts)
    each = max(1, min(LINES_OF_CAUTION, room // max(len(texts), 1)))
    last = [part for text in texts for part in wrapped(text, width, each)]
    last.append("Next: --full, --output FOLDER")
    return Group(*map(line, heading), *parts, *map(line, last))


def _heading(found: Proportions) -> str:
    ratings, n = found.ratings, len(found.ratings.populations)
    grouped = f" in {counted(n, 'group')} by {found.grouped_by}" if found.grouped_by else ""
    corrected = ", corrected by known truths" if found.results[0].corrected else ""
    return (
        f"{found.name}: {counted(ratings.n_items, 'item')}{grouped}, "
        f"{counted(ratings.n_raters, 'rater')}, {counted_categories(ratings.n_categories)}; "
        f"{f'proportion of {found.good}' if found.good else 'base rates'}{corrected}"
    )


def _tables(found: Proportions, names: Names = str, *, brief: bool = False) -> list[Table]:
    """Lay out proportions and ranks, differences, and the raters' accuracy."""
    results, cut = (found.results[:MOST_METHODS], _cut) if brief else (found.results, str)
    methods = [one.method for one in results]
    accuracy = side_by_side([one.rater_accuracy for one in results])
    # Differences by two methods, side by side, would be too wide for a screen.
    compared = results[:1] if brief else results
    columns = method_columns(methods, names)
    parts: list[tuple[str, list[Column], list[Row]]] = [
        (cut(found.grouped_by), [*BEFORE, *columns, *AFTER], _rows(found, results, cut)),
        (PAIRS, method_columns(methods[: len(compared)], names, difference), _pairs(compared, cut)),
        ("accuracy of raters", columns, [(cut(rater), *row) for rater, row in accuracy.items()]),
    ]
    return [
        _table([Column("name", title), *columns], rows, MOST_ROWS if brief else len(rows))
        for title, columns, rows in parts
        if rows
    ]


def _rows(found: Proportions, results: Sequence[MethodProportions], cut: Names) -> list[Row]:
    """List items, known truths, proportions, ranks and P(best), the best group first."""
    told = [{one.group: one for one in result.groups} for result in results]
    rows: list[Row] = []
    for group, one in sorted(told[0].items(), key=lambda pair: pair[1].rank or 0):
        for label in one.proportions:
            name = found.name_of(group, label)
            known = (one.n_known_of[label], one.n_known) if one.n_known else None
            values = (groups[group].proportions[label] for groups in told)
            rank = (one.rank, *one.rank_interval) if one.rank_interval else None
            rows.append((cut(name), one.n_items, known, *values, rank, one.probability_best))
    return rows


def _pairs(results: Sequence[MethodProportions], cut: Names) -> list[Row]:
    """List differences, each with the probability that the first group is higher."""
    cells = ([(d.difference, d.probability_higher) for d in one.differences] for one in results)
    pairs = [" – ".join(map(cut, one.groups)) for one in results[0].differences]
    return list(zip(pairs, *cells, strict=True))


def _table(columns: Sequence[Column], rows: Sequence[Row], most: int) -> Table:
    """Make a table without empty columns, and with so many rows."""
    used = [j for j in range(len(columns)) if any(row[j] is not None for row in rows)]
    shown: list[Row] = [tuple(row[j] for j in used) for row in rows]
    if len(shown) > most:
        shown[most - 1 :] = [(f"… and {len(rows) - most + 1} more", *[None] * (len(used) - 1))]
    return Table(columns=[columns[j] for j in used], rows=shown)


def _cut(name: str) -> str:
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[1 - half :]}"


def write(found: Proportions, folder: Path) -> list[Path]:
    """Write `proportions.csv`, `.tex`, `.pdf` and `.png` into a folder, made if it is not there."""
    from experiments.estimate.rows_figure import plot_proportions

    folder.mkdir(parents=True, exist_ok=True)
    return [
        write_csv(found.to_frame(), folder / "proportions.csv"),
        write_text(to_latex(*_tables(found, method_label)), folder / "proportions.tex"),
        *write_figure(plot_proportions(found), folder, "proportions"),
    ]


def failed(found: Proportions) -> bool:
    """Tell whether a method gave no estimate."""
    groups = (group for result in found.results for group in result.groups)
    return any(one.estimate is None for group in groups for one in group.proportions.values())
