"""What the commands `estimate` and `compare` answer: sections made of the table of results."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lehner.contrasts.one_judge import METHODS
from lehner.core.lazy import load
from lehner.core.results import Results
from lehner.core.text import list_few
from lehner.estimation.methods import get_method
from lehner.report import screen, sentences
from lehner.report.answer import Answer, Section
from lehner.report.files import name_folders, write_atomically
from lehner.report.style import name_method
from lehner.report.table import Table, make_table
from lehner.report.terminal import write_data_lines
from lehner.report.views import ANY, REPORT, Record, View, order_rows, tabulate, view_systems

if TYPE_CHECKING:
    from rich.text import Text

figures = load("lehner.report.figures")

MOST_NAMED = 4
# The method to report of one judge, and the labels alone.
MOST_OF_JUDGE = 2
ALIKE = [name for name, method in METHODS.items() if method.alike]


def answer_estimates(results: Results, *, full: bool = False) -> Answer:
    """Answer how accurate systems are.

    Parameters
    ----------
    results : Results
        As `lehner.estimate` returns them.
    full : bool
        Whether all sections are printed: methods are then called as the command calls them.

    Returns
    -------
    Answer
    """
    each, plain = view_systems(results, name_method), view_systems(results)
    names = list_few(results.ratings.systems, MOST_NAMED)
    return Answer(
        title=f"Accuracy of {names}: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=partial(sentences.describe_data, each[0]),
        sections=partial(list_sections, each),
        sentences=lambda: map(sentences.write_sentence, each),
        warnings=results.warnings,
        about=partial(_describe_methods, results),
        frames={"results": results.table},
        failed=has_failed(results),
        screen=partial(render_all if full else screen.render_screen, plain),
        save=partial(_save, results),
    )


def render_all(each: Sequence[View], width: int) -> "list[Text]":
    """Lay all sections out for the terminal."""
    heading = sentences.describe_data(each[0])
    return Answer(title="", heading=heading, sections=list_sections(each)).render(width)


def _describe_methods(results: Results) -> list[Table]:
    """Say what each method does, and what must hold for it."""
    rows = []
    for name in dict.fromkeys(method for _, method in results.fits):
        method = get_method(name)
        rows.append((name, method.label, method.summary, method.assumes))
    return [make_table(("name", "method", "what it does", "right if"), rows)]


def has_failed(results: Results) -> bool:
    """Tell whether a method gave no estimate."""
    table = results.table[~results.table["corrected"]]
    own = table[(table["quantity"] == "system_accuracy") & (table["grouping"] == "")]
    rates = table[(table["quantity"] == "base_rates") & table["grouping"].isin(["", "group"])]
    return bool((own if len(own) else rates)["estimate"].isna().any())


def _save(results: Results, folder: Path) -> Iterator[Path]:
    """Write the posterior draws."""
    folders = _name_folders(results)
    for (system, method), estimate in results.fits.items():
        if estimate.draws is not None:
            path = folder / folders.get(system, "") / f"{method}.nc"
            yield write_atomically(path, partial(estimate.draws.to_netcdf, engine="h5netcdf"))


def _name_folders(results: Results) -> dict[str, str]:
    """Name the folder of each system, if there are several."""
    names = [str(name) for name in results.ratings.systems]
    return name_folders(names) if len(names) > 1 else {}


def list_sections(each: Sequence[View], command: str = "estimate") -> list[Section]:
    """List the sections of a report, as `report.toml` says.

    Parameters
    ----------
    each : sequence of View
        Of each system.
    command : {"estimate", "compare"}

    Returns
    -------
    list of Section
        Those that have a table: of several systems first how they compare.
    """
    sections, folders = [], _name_folders(each[0].results)
    if len(each) > 1:
        rows = order_rows(each)
        sections = [_make_section(each[0], asked, rows) for asked in REPORT["systems"]]
    for view in each:
        folder = folders.get(view.system, "")
        for asked in REPORT[command]:
            alike = asked.get("alike", False)
            rows = [row for row in view.rows if (row["method"] in ALIKE) == alike]
            of = rows if command == "compare" else None
            sections.append(_make_section(view, asked, of, folder))
    return [section for section in sections if section.tables]


def _make_section(
    view: View, asked: dict[str, Any], rows: list[Record] | None = None, folder: str = ""
) -> Section:
    """Make a section of one system, whose name stands in the title if there are several."""
    grouping = asked.get("grouping")
    of = {"grouping": grouping, "group": ANY} if grouping else {}
    about = [grouping] if grouping else []
    tables = [table for name in asked["tables"] for table in tabulate(view, name, rows, **of)]
    text = [asked["text"]] if "text" in asked else []
    if "say" in asked and tables:
        text += sentences.SAY[asked["say"]](view, *about)
    column = view.find_column(grouping) if grouping else None
    title = asked["title"] if column is None else f"{asked['title']} by {column.column}"
    draw = partial(figures.draw, view, asked["figure"], rows, **of) if "figure" in asked else None
    return Section(
        name=asked["name"],
        title=f"{view.system}: {title}" if folder else title,
        warnings=view.list_warnings(*asked.get("warnings", ())),
        text=text,
        tables=tables,
        figure=draw or (lambda: None),
        folder=folder,
    )


def answer_comparison(results: Results, *, full: bool = False) -> Answer:
    """Answer which group of items has more of a category.

    Parameters
    ----------
    results : Results
        As `lehner.compare` returns them.
    full : bool
        Whether all rows and warnings are printed.

    Returns
    -------
    Answer
    """
    view = View(results=results, names=name_method)
    return Answer(
        title=f"Groups compared: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=[sentences.describe_briefly(view), *write_data_lines(results.ratings)],
        sections=partial(list_sections, [view], "compare"),
        sentences=partial(sentences.report_proportions, view),
        warnings=results.warnings,
        frames={"results": results.table},
        failed=has_failed(results),
        screen=None if full else partial(screen.render_screen, [_limit_methods(results)]),
    )


def _limit_methods(results: Results) -> View:
    """Take the first methods, of as many as there is room for, and of all of one judge two."""
    every = View(results=results).methods
    most = screen.MOST_ROWS // max(1, len(results.ratings.populations))
    if set(every) == set(METHODS):
        most = min(most, MOST_OF_JUDGE)
    shown = ["", *every[: max(1, most)]]
    table = results.table[results.table["method"].isin(shown)]
    warnings = tuple(warning for warning in results.warnings if warning.method in shown)
    return View(results=replace(results, table=table, warnings=warnings))
