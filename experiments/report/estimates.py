"""What the commands `estimate` and `compare` answer: sections made of the table of results."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Group

from experiments.report import sentences
from experiments.report.answer import Answer, Section
from experiments.report.files import name_folders, write_atomically
from experiments.report.screen import MOST_LINES, WIDTH, choose_cautions, render_screen
from experiments.report.style import method_label
from experiments.report.table import Table, simple_table
from experiments.report.terminal import cut, line, wrapped
from experiments.report.views import (
    ANY,
    REPORT,
    View,
    make_tables,
    tabulate_base_rates,
    tabulate_tests,
    view_systems,
)
from experiments.report.words import data_notes, header_lines
from lehner.core.lazy import load
from lehner.core.text import counted, counted_categories, first_few
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results

figures: Any = load("experiments.report.figures")

MOST_NAMED = 4
MOST_METHODS, MOST_ROWS, LONGEST_NAME = 2, 4, 16


def answer_estimates(
    results: Results, *, in_detail: bool = False, full: bool = False, checklist: str = ""
) -> Answer:
    """Answer how accurate systems are.

    Parameters
    ----------
    results : Results
        As `lehner.estimate` returns them.
    in_detail : bool
        Whether confusion matrices and all measures are printed; they are always written.
    full : bool
        Whether all sections are printed: methods are then called as the command calls them.
    checklist : str
        The command, if the STARD-BLCM checklist is to be written, too.

    Returns
    -------
    Answer
    """
    names = first_few(results.ratings.systems, MOST_NAMED)
    return Answer(
        title=f"Accuracy of {names}: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=partial(sentences.describe_data, results),
        sections=partial(list_sections, results),
        sentences=partial(sentences.write_sentences, results),
        warnings=results.warnings,
        about=[_describe_methods(results)],
        frames={"results": results.table},
        screen=partial(render_all if full else render_screen, results, in_detail=in_detail),
        save=partial(_save, results, checklist),
    )


def render_all(results: Results, width: int, *, in_detail: bool = False) -> Group:
    """Lay all sections out for the terminal, methods called as the command calls them."""
    sections = list_sections(results, names=str, in_detail=in_detail)
    heading = sentences.describe_data(results)
    return Answer(title="", content={}, heading=heading, sections=sections).render(width)


def _describe_methods(results: Results) -> Table:
    """Say what each method does, and what must hold for it."""
    rows = []
    for name in dict.fromkeys(method for _, method in results.fits):
        known = get_method(name)
        summary = "a function of yours" if known is None else known.summary
        rows.append((name, method_label(name), summary, known.assumes if known else ""))
    return simple_table(("name", "method", "what it does", "right if"), rows)


def failed(results: Results) -> bool:
    """Tell whether a method gave no estimate."""
    table = results.table[~results.table["corrected"]]
    own = table[(table["quantity"] == "system_accuracy") & (table["grouping"] == "")]
    rates = table[(table["quantity"] == "base_rates") & table["grouping"].isin(["", "group"])]
    return bool((own if len(own) else rates)["estimate"].isna().any())


def _save(results: Results, checklist: str, folder: Path) -> Iterator[Path]:
    """Write the posterior draws, and the checklist."""
    folders = _folders(results)
    for (system, method), estimate in results.fits.items():
        if estimate.draws is not None:
            path = folder / folders.get(system, "") / f"{method}.nc"
            yield write_atomically(path, partial(estimate.draws.to_netcdf, engine="h5netcdf"))
    if checklist:
        from experiments.report.checklist import write_checklist

        yield write_checklist(results, folder, checklist)


def _folders(results: Results) -> dict[str, str]:
    """Name the folder of each system, if there are several."""
    names = [str(name) for name in results.ratings.systems]
    return name_folders(names) if len(names) > 1 else {}


def list_sections(
    results: Results, *, names: Any = method_label, in_detail: bool = True
) -> list[Section]:
    """List the sections of a report, as `report.toml` says.

    Parameters
    ----------
    results : Results
    names : callable
        From the name of a method to what people read.
    in_detail : bool
        Whether the confusion matrix and further measures are shown.

    Returns
    -------
    list of Section
        Those that have a table: of several systems first how they compare.
    """
    each = view_systems(results, names)
    folders = _folders(results)
    sections = []
    if len(each) > 1:
        every = [row for view in each for row in view.rows]
        tables = ("systems", "ranks", "system_differences")
        sections.append(
            Section(
                name="systems",
                title="Systems compared",
                warnings=[one for one in results.warnings if one.about == "systems"],
                text=sentences.on_systems(results),
                tables=[one for name in tables for one in make_tables(each[0], name, rows=every)],
                figure=lambda: figures.plot_systems(each),
            )
        )
    for view in each:
        told = (one for one in REPORT["section"] if in_detail or not one.get("in_detail"))
        sections += [_make_section(view, one, folders.get(view.system, "")) for one in told]
    return [one for one in sections if one.tables]


def _make_section(view: View, told: dict[str, Any], folder: str) -> Section:
    """Make a section of one system, whose name stands in the title if there are several."""
    grouping = told.get("grouping")
    of = {"grouping": grouping, "group": ANY} if grouping else {}
    about = [grouping] if grouping else []
    tables = [table for name in told["tables"] for table in make_tables(view, name, **of)]
    text = [told["text"]] if "text" in told else []
    if "say" in told and tables:
        text += getattr(sentences, told["say"])(view, *about)
    column = view.column_of(grouping) if grouping else None
    title = told["title"] if column is None else f"{told['title']} by {column.column}"
    draw = getattr(figures, told["figure"]) if "figure" in told else lambda *given: None
    return Section(
        name=told["name"],
        title=f"{view.system}: {title}" if folder else title,
        warnings=view.warnings(*told.get("warnings", ())),
        text=text,
        tables=tables,
        figure=partial(draw, view, *about),
        folder=folder,
    )


def answer_comparison(results: Results, *, full: bool = False, in_detail: bool = False) -> Answer:
    """Answer which group of items has more of a category.

    Parameters
    ----------
    results : Results
        As `lehner.compare` returns them.
    full : bool
        Whether all rows and warnings are printed.
    in_detail : bool
        Whether the sensitivity and specificity of each rater are printed; they are always written.

    Returns
    -------
    Answer
    """
    view = View(results=results, names=method_label)
    proportions = Section(
        name="proportions",
        title="Proportions, differences, and the raters",
        warnings=results.warnings,
        text=[REPORT["text"]["comparison"]],
        tables=tabulate_base_rates(view),
        figure=lambda: figures.plot_base_rates(view),
    )
    tests = Section(
        name="tests",
        title="Every rater as a test",
        tables=tabulate_tests(view),
        figure=lambda: figures.plot_raters(view),
    )
    heading = [_describe_comparison(results), *header_lines(data_notes(results.ratings))]

    def show_shortly(width: int) -> Group:
        """Print a few rows of each table, by the first methods as the command calls them."""
        shorten = partial(cut, most=LONGEST_NAME)
        first = results.table["method"].isin(["", *view.methods[:MOST_METHODS]])
        short = View(results=replace(results, table=results.table[first]), names=shorten)
        tables = [*tabulate_base_rates(short, shorten), *(tests.tables if in_detail else ())]
        own = Section(name="", title="", tables=tables, most=MOST_ROWS)
        head = wrapped(heading[0], WIDTH, 2)
        shown = Answer(title="", content={}, heading=head, sections=[own])
        # Heads are bold: without blank lines all fits a screen.
        lines = [one for one in shown.render(min(width, WIDTH)).renderables if str(one)]
        cautions, _ = choose_cautions(results)
        said = [*(f"Caution: {text}" for text in cautions), *heading[1:]]
        left = 3 if in_detail else MOST_LINES - 1 - len(lines)
        lines += [line(part) for text in said[: max(1, left)] for part in wrapped(text, WIDTH, 1)]
        return Group(*lines, line("Next: --full, --report FILE, --output FOLDER"))

    return Answer(
        title=f"Groups compared: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=heading,
        sections=[proportions, tests],
        sentences=partial(sentences.on_proportions, view),
        warnings=results.warnings,
        frames={"results": results.table},
        screen=None if full else show_shortly,
    )


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
