"""What the commands `estimate` and `compare` answer: sections made of the table of results."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group

from experiments.report import details, sentences
from experiments.report.answer import Answer, Section
from experiments.report.files import name_folders, write_atomically
from experiments.report.options import as_options, data_notes, header_lines
from experiments.report.screen import MOST_LINES, choose_cautions, render_screen
from experiments.report.style import method_label
from experiments.report.table import Table, list_notes, simple_table, to_terminal
from experiments.report.terminal import cut, line, wrapped
from experiments.report.views import ANY, REPORT, View, view_systems
from lehner.core.lazy import load
from lehner.core.text import counted, counted_categories, first_few
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results

if TYPE_CHECKING:
    pass

figures: Any = load("experiments.report.figures")

MOST_NAMED = 4
MOST_ROWS, LONGEST_NAME = 5, 18


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
    table = results.table
    main = table["quantity"].isin(["system_accuracy", "base_rates"]) & ~table["corrected"]
    here = table[main & table["grouping"].isin(["", "group"])]
    own = here[(here["quantity"] == "system_accuracy") & (here["grouping"] == "")]
    return bool((own if len(own) else here)["estimate"].isna().any())


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
        sections.append(
            Section(
                name="systems",
                title="Systems compared",
                warnings=[one for one in results.warnings if one.about == "systems"],
                text=sentences.on_systems(results),
                tables=details.tabulate_systems(each),
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
    tables = [table for name in told["tables"] for table in details.make_tables(view, name, of)]
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
    return Answer(
        title=f"Groups compared: {Path(results.options.name).name}",
        content=results.to_dict,
        heading=[_describe_comparison(results), *header_lines(data_notes(results.ratings))],
        sections=[
            Section(
                name="proportions",
                title="Proportions, differences, and the raters",
                warnings=results.warnings,
                text=[REPORT["text"]["comparison"]],
                tables=details.tabulate_base_rates(view),
                figure=lambda: figures.plot_base_rates(view),
            ),
            Section(
                name="tests",
                title="Every rater as a test",
                tables=details.tabulate_tests(view),
                figure=lambda: figures.plot_raters(view),
            ),
        ],
        sentences=partial(sentences.on_proportions, view),
        warnings=results.warnings,
        frames={"results": results.table},
        screen=None if full else partial(_render_comparison, results, in_detail),
    )


def _render_comparison(results: Results, in_detail: bool, width: int) -> Group:
    shorten = partial(cut, most=LONGEST_NAME)
    view = View(results=results, names=shorten)
    parts = []
    tests = details.tabulate_tests(view) if in_detail else []
    tables = [*details.tabulate_base_rates(view, 2, shorten), *tests]
    for table in tables:
        more = len(table.rows) - MOST_ROWS + 1 if len(table.rows) > MOST_ROWS else 0
        shown = replace(table, rows=table.rows[: len(table.rows) - more])
        parts += to_terminal(shown, width, noted=False)
        parts += [line(f"… and {more} more")] if more else []
    parts += list_notes(tables)
    head = wrapped(_describe_comparison(results), width, 2)
    named, _ = choose_cautions(results)
    said: Iterable[str] = [
        *(f"Caution: {one}" for one in named),
        *header_lines(data_notes(results.ratings)),
    ]
    left = max(1, MOST_LINES - 1 - len(head) - len(parts))
    texts = list(said)[: 3 if in_detail else min(3, left)]
    room = max(1, left // max(len(texts), 1))
    last = [part for text in texts for part in wrapped(as_options(text), width, min(3, room))]
    last.append("Next: --full, --report FILE, --output FOLDER")
    return Group(*map(line, head), *parts, *map(line, last))


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
