"""What the commands `estimate` and `compare` answer: sections made of the table of results."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.report import screen, sentences
from experiments.report.answer import Answer, Section
from experiments.report.files import name_folders, write_atomically
from experiments.report.style import method_label
from experiments.report.table import Table, simple_table
from experiments.report.terminal import cut, data_lines, line, wrapped
from experiments.report.views import ANY, REPORT, Record, View, tabulate, view_systems
from lehner.core.lazy import load
from lehner.core.text import counted, counted_categories, first_few
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results

if TYPE_CHECKING:
    from rich.text import Text

figures, checklists = load("experiments.report.figures"), load("experiments.report.checklist")

MOST_NAMED = 4
MOST_ROWS, LONGEST_NAME = 6, 16
"""Of what the first screen of a comparison shows."""


def answer_estimates(results: Results, *, full: bool = False, checklist: str = "") -> Answer:
    """Answer how accurate systems are.

    Parameters
    ----------
    results : Results
        As `lehner.estimate` returns them.
    full : bool
        Whether all sections are printed: methods are then called as the command calls them.
    checklist : str
        The command, if the STARD-BLCM checklist is to be written, too.

    Returns
    -------
    Answer
    """
    each = view_systems(results, method_label)
    names = first_few(results.ratings.systems, MOST_NAMED)
    return Answer(
        title=f"Accuracy of {names}: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=lambda: sentences.describe_data(each[0]),
        sections=partial(list_sections, each),
        sentences=lambda: map(sentences.write_sentence, each),
        warnings=results.warnings,
        about=[_describe_methods(results)],
        frames={"results": results.table},
        screen=partial(render_all if full else screen.render_screen, results),
        save=partial(_save, results, checklist),
    )


def render_all(results: Results, width: int) -> "list[Text]":
    """Lay all sections out for the terminal, methods called as the command calls them."""
    each = view_systems(results)
    heading = sentences.describe_data(each[0])
    return Answer(title="", heading=heading, sections=list_sections(each)).render(width)


def _describe_methods(results: Results) -> Table:
    """Say what each method does, and what must hold for it."""
    rows = []
    for name in dict.fromkeys(method for _, method in results.fits):
        method = get_method(name)
        summary = "a function of yours" if method is None else method.summary
        rows.append((name, method_label(name), summary, method.assumes if method else ""))
    return simple_table(("name", "method", "what it does", "right if"), rows)


def failed(results: Results) -> bool:
    """Tell whether a method gave no estimate."""
    table = results.table[~results.table["corrected"]]
    own = table[(table["quantity"] == "system_accuracy") & (table["grouping"] == "")]
    rates = table[(table["quantity"] == "base_rates") & table["grouping"].isin(["", "group"])]
    return bool((own if len(own) else rates)["estimate"].isna().any())


def _save(results: Results, checklist: str, folder: Path) -> Iterator[Path]:
    """Write the posterior draws, and the checklist."""
    folders = _name_folders(results)
    for (system, method), estimate in results.fits.items():
        if estimate.draws is not None:
            path = folder / folders.get(system, "") / f"{method}.nc"
            yield write_atomically(path, partial(estimate.draws.to_netcdf, engine="h5netcdf"))
    if checklist:
        yield checklists.write_checklist(results, folder, checklist)


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
    sections = []
    folders = _name_folders(each[0].results)
    for place, view in enumerate(each):
        for asked in REPORT[command]:
            if not asked.get("of_all"):
                sections.append(_make_section(view, asked, folder=folders.get(view.system, "")))
            elif place == 0 and len(each) > 1:
                order = sorted(each, key=lambda other: other.rank)
                rows = [row for other in order for row in other.rows]
                sections.append(_make_section(view, asked, rows))
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
    column = view.column_of(grouping) if grouping else None
    title = asked["title"] if column is None else f"{asked['title']} by {column.column}"
    draw = partial(figures.draw, view, asked["figure"], rows, **of) if "figure" in asked else None
    return Section(
        name=asked["name"],
        title=f"{view.system}: {title}" if folder else title,
        warnings=view.warnings(*asked.get("warnings", ())),
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
    view = View(results=results, names=method_label)
    return Answer(
        title=f"Groups compared: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=[_describe_comparison(results), *data_lines(results.ratings)],
        sections=partial(list_sections, [view], "compare"),
        sentences=partial(sentences.report_proportions, view),
        warnings=results.warnings,
        frames={"results": results.table},
        screen=None if full else partial(_render_comparison, results),
    )


def _render_comparison(results: Results, width: int) -> "list[Text]":
    """Lay out a few rows of each table, by the first methods as the command calls them."""
    width = min(width, screen.WIDTH)
    n_groups = max(1, len(results.ratings.populations))
    methods = View(results=results).methods[: max(1, MOST_ROWS // n_groups)]
    table = results.table[results.table["method"].isin(["", *methods])]
    view = View(results=replace(results, table=table))
    of: dict[str, Any] = {"grouping": "group", "group": ANY}
    shorten = partial(cut, most=LONGEST_NAME)
    tables = [
        table
        for name in ("proportions", "proportion_differences")
        for table in tabulate(view, name, cut=shorten, **of)
    ]
    heading = wrapped(_describe_comparison(results), width, 2)
    section = Section(title="", tables=tables, most=MOST_ROWS)
    shown = Answer(title="", heading=heading, sections=[section]).render(width)
    # Heads are bold: without blank lines all fits a screen.
    lines = [text for text in shown if text.plain]
    cautions, _ = screen.choose_cautions(results)
    notes = [*(f"Caution: {text}" for text in cautions), *data_lines(results.ratings)]
    notes = [
        *screen.list_raters(view, width),
        *(part for text in notes for part in wrapped(text, width, 2)),
    ]
    lines += map(line, notes[: screen.MOST_LINES - 1 - len(lines)])
    return [*lines, line("Next: --full, --report FILE, --output FOLDER")]


def _describe_comparison(results: Results) -> str:
    ratings, options, table = results.ratings, results.options, results.table
    groups, grouped = options.groups, ""
    if groups is not None:
        grouped = f" in {counted(len(ratings.populations) or 1, 'group')} by {groups.column}"
    rates = table[table["quantity"] == "base_rates"]["category"].drop_duplicates().tolist()
    return (
        f"{options.name}: {counted(ratings.n_items, 'item')}{grouped}, "
        f"{counted(ratings.n_raters, 'rater')}, {counted_categories(ratings.n_categories)}; "
        f"{f'proportion of {rates[0]}' if len(rates) == 1 else 'base rates'}"
        f"{', corrected by gold labels' if table['corrected'].any() else ''}"
    )
