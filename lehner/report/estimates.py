"""What the commands `estimate` and `compare` answer: sections made of the table of results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.text import Text

from lehner.core.errors import INTERRUPTED, Warning, list_few
from lehner.core.estimate import ESTIMANDS, to_plain
from lehner.core.lazy import pd
from lehner.core.results import Results, read_value, tabulate
from lehner.core.table import PrintedTable, list_table
from lehner.core.text import pluralise, write_data_lines
from lehner.estimation.estimate import warn_of_stop
from lehner.estimation.methods import get_method
from lehner.estimation.summary import (
    OF_PROPORTIONS,
    describe_sample,
    list_apart,
    tabulate_accuracies,
    tabulate_favours,
    write_sentences,
)
from lehner.estimation.views import ANY, Record, View, order_rows, view_systems
from lehner.known_truths.one_judge import JUDGED_BY
from lehner.report import figures, screen, tables
from lehner.report.answer import Report, Section, list_section
from lehner.report.figures import name_method
from lehner.report.files import name_folders, write_atomically
from lehner.report.tables import REPORT

MOST_NAMED = 4
# The method to report of one judge, and the labels alone.
MOST_OF_JUDGE = 2


@dataclass(frozen=True)
class Outline:
    """A section of a report of estimates: what it is made of.

    Parameters
    ----------
    name : str
        The name of its files, and of its title and text in `report.toml`.
    tables : sequence of callable
        Functions of a view, and of columns as `View.pick` takes them, that return a list of tables.
    warnings : sequence of str
        The questions whose warnings stand above the numbers.
    read : callable, optional
        A function of the view that says how to read the numbers.
    draw : callable, optional
        A function of the view, and of columns, that draws the figure.
    grouping : str
        "group" or "population" if the numbers are of these.
    """

    name: str
    tables: Sequence[Callable[..., list[PrintedTable]]] = ()
    warnings: Sequence[str] = ()
    read: Callable[..., Iterator[str]] | None = None
    draw: Callable[..., Any] | None = None
    grouping: str = ""


SYSTEMS = Outline(
    "systems",
    [tables.SYSTEMS, tables.tabulate_system_ranks, tables.tabulate_pairs],
    ["systems"],
    tables.explain_systems,
    figures.draw_systems,
)
OF_SYSTEM = (
    Outline(
        "estimates",
        [tabulate_accuracies],
        ["", "known_truths", "data"],
        tables.explain_accuracy,
        figures.draw_methods,
    ),
    Outline(
        "raters",
        [tables.tabulate_categories, tables.tabulate_tests, tables.tabulate_prevalence],
        ["raters", "details"],
        tables.explain_positive,
        figures.draw_raters,
    ),
    Outline("details", [tables.CONFUSION, tables.tabulate_measures]),
    *(
        Outline(
            f"{grouping}s",
            [tables.tabulate_compared, *more],
            [f"{grouping}s"],
            partial(tables.explain_groups, grouping=grouping),
            figures.draw_groups,
            grouping,
        )
        for grouping, more in (("group", []), ("population", [tables.GROUP_BASE_RATES]))
    ),
    Outline("reference", [tables.REFERENCE], ["reference"]),
    Outline("earlier_studies", [tables.STUDIES, tables.WITHOUT_STUDIES], ["earlier_studies"]),
    Outline("k_properties", [tables.tabulate_k_properties], ["k_properties"]),
    Outline("annotators", [tables.ANNOTATORS, tables.WINNING_RATES]),
    Outline("correlated_errors", read=tables.explain_correlated_errors),
)
PROPORTIONS = Outline(
    "proportions", OF_PROPORTIONS, ["any"], draw=figures.draw_base_rates, grouping="group"
)
PROPORTIONS_ALIKE = Outline("proportions_alike", OF_PROPORTIONS, grouping="group")
FAVOURS = Outline("favours", [tabulate_favours], grouping="group")
RATERS_COMPARED = Outline("raters_compared", [tables.tabulate_tests], draw=figures.draw_raters)


def answer_estimates(results: Results, *, full: bool = False) -> Report:
    """Answer how accurate systems are.

    Parameters
    ----------
    results : Results
        As `lehner.estimate` returns them.
    full : bool
        Whether all sections are printed: methods are then called as the command calls them.

    Returns
    -------
    Report
    """
    views, plain = view_systems(results, name_method), view_systems(results)
    names = list_few(results.ratings.systems, MOST_NAMED)
    return Report(
        title=f"Accuracy of {names}: {Path(results.name).name}",
        content=results.to_dict,
        heading=partial(tables.describe_data, views[0]),
        sections=partial(list_sections, views),
        sentences=partial(write_sentences, results),
        warnings=results.warnings,
        appendix=partial(_describe_methods, results),
        frames={"results": results.table},
        failed=find_exit_code(results),
        screen=partial(render_all if full else screen.render_screen, plain),
        save=partial(_save_draws, results),
    )


def answer_parts(data: str, parts: Mapping[str, Results | str | BaseException]) -> Report:
    """Answer how accurate systems are in files, or groups of items, that were fitted one by one.

    Parameters
    ----------
    data : str
        What they are parts of, for the title.
    parts : mapping of str to Results, str or exception
        By name. A text, or what ended the fits, says why a part has no numbers.

    Returns
    -------
    Report
        Its table of results has the rows of all parts, and a column `error`.
    """
    table, warnings = _join_parts(parts)
    failed, keys = table["error"] != "", ["part", "system", "method"]
    shown = table[failed | ((table["quantity"] == ESTIMANDS[1]) & (table["grouping"] == ""))]
    # What gold labels correct stands below what they do not.
    shown = shown.drop_duplicates(keys, keep="last")
    cells = [row["error"] or read_value(row) for row in shown.to_dict("records")]
    rows = shown[keys].assign(cell=cells).to_numpy().tolist()
    grave = [warning for warning in warnings if warning.severity == "changes"]
    interrupted = any(isinstance(part, BaseException) for part in parts.values())
    titles, done = (*keys, "accuracy on these items"), len(parts) - sum(failed)
    return Report(
        title=f"Accuracy by part: {data}",
        content={"rows": to_plain(table.to_dict("records")), "warnings": to_plain(warnings)},
        sections=[list_section("Accuracy", titles, rows, name="parts", warnings=grave)],
        sentences=[f"Estimated: {done} of {pluralise(len(parts), 'part')}."],
        warnings=warnings,
        frames={"results": table},
        failed=INTERRUPTED if interrupted else any(failed),
    )


def _join_parts(
    parts: Mapping[str, Results | str | BaseException],
) -> "tuple[pd.DataFrame, list[Warning]]":
    """Join tables, in which a part without numbers has a row that says why, and warnings."""
    tables, warnings = {}, list[Warning]()
    for name, part in parts.items():
        if isinstance(part, Results):
            tables[name] = part.table.assign(error="")
            warnings += [replace(x, method=f"{x.method} in {name}".strip()) for x in part.warnings]
        else:
            text = part if isinstance(part, str) else str(warn_of_stop(part))
            tables[name] = tabulate([{}]).assign(error=text)
    return pd.concat(tables, names=["part", "row"]).reset_index("part"), warnings


def render_all(views: Sequence[View], width: int) -> list[Text]:
    """Lay all sections out for the terminal; of several systems without each rater's measures."""
    if len(views) > 1:
        table = views[0].results.table
        tested = table["quantity"].str.startswith(("pair_agreement", "advantage"))
        results = replace(views[0].results, table=table[tested | (table["rater"] == "")])
        views = [replace(view, results=results) for view in views]
    heading = tables.describe_data(views[0])
    return Report(title="", heading=heading, sections=list_sections(views)).render(width)


def _describe_methods(results: Results) -> list[PrintedTable]:
    """Say what each method does, and what must hold for it."""
    rows = []
    for name in dict.fromkeys(method for _, method in results.fits):
        method = get_method(name)
        rows.append((name, name_method(name), method.summary, method.assumes or ""))
    return [list_table(("name", "method", "what it does", "right if"), rows)]


def find_exit_code(results: Results) -> int:
    """Give the exit code: 1 if a method gave no estimate, and another if Ctrl-C ended the fits."""
    if any(warning.code == "interrupted" for warning in results.warnings):
        return INTERRUPTED
    table = results.table[~results.table["corrected"]]
    accuracies = table[(table["quantity"] == "system_accuracy") & (table["grouping"] == "")]
    rates = table[(table["quantity"] == "base_rates") & table["grouping"].isin(["", "group"])]
    return int((accuracies if len(accuracies) else rates)["estimate"].isna().any())


def _save_draws(results: Results, folder: Path) -> Iterator[Path]:
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


def list_sections(views: Sequence[View]) -> list[Section]:
    """List the sections about systems that have something in them: how several compare comes first.

    Parameters
    ----------
    views : sequence of View
        Of each system.

    Returns
    -------
    list of Section
    """
    sections, folders = [], _name_folders(views[0].results)
    if len(views) > 1:
        sections.append(_make_section(views[0], SYSTEMS, order_rows(views)))
    for view in views:
        folder = folders.get(view.system, "")
        sections += [_make_section(view, part, folder=folder) for part in OF_SYSTEM]
    return [section for section in sections if section.tables or section.text]


def _make_section(
    view: View, part: Outline, rows: Sequence[Record] | None = None, folder: str = ""
) -> Section:
    """Make a section of one system, whose name stands in the title if there are several."""
    columns: dict[str, Any] = {} if rows is None else {"rows": rows}
    if part.grouping:
        columns |= {"grouping": part.grouping, "group": ANY}
    texts = REPORT["section"][part.name]
    shown = [table for function in part.tables for table in function(view, **columns)]
    text: list[str] = []
    if shown or not part.tables:
        text += [texts["text"]] if "text" in texts else []
        text += part.read(view) if part.read is not None else ()
    column = view.find_column(part.grouping)
    title = texts["title"] if column is None else f"{texts['title']} by {column.column}"
    about = f"{view.system}: {title[:1].lower()}{title[1:]}" if view.system else title
    return Section(
        name=part.name,
        title=f"{view.system}: {title}" if folder else title,
        warnings=view.list_warnings(*part.warnings),
        text=text,
        tables=shown,
        figure=partial(part.draw, view, **columns) if part.draw else lambda: None,
        folder=folder,
        caption=about,
        note=describe_sample(view),
    )


def answer_comparison(results: Results, *, full: bool = False) -> Report:
    """Answer which group of items has more of a category.

    Parameters
    ----------
    results : Results
        As `lehner.compare` returns them.
    full : bool
        Whether all rows and warnings are printed.

    Returns
    -------
    Report
    """
    view = View(results=results, names=name_method)
    return Report(
        title=f"Groups compared: {Path(results.name).name}",
        content=results.to_dict,
        heading=[tables.describe_briefly(view), *write_data_lines(results.ratings.notes)],
        sections=partial(list_comparisons, view),
        sentences=partial(write_sentences, results),
        warnings=results.warnings,
        frames={"results": results.table},
        failed=find_exit_code(results),
        screen=None if full else partial(screen.render_screen, [_limit_methods(results)]),
    )


def list_comparisons(view: View) -> list[Section]:
    """List the sections of a comparison of groups that have a table.

    Parameters
    ----------
    view : View

    Returns
    -------
    list of Section
        The methods by which one judge errs alike in all groups have a section of their own.
    """
    apart = list_apart(view)
    alike = [row for row in view.rows if row not in apart]
    sections = [
        _make_section(view, PROPORTIONS, apart),
        _make_section(view, PROPORTIONS_ALIKE, alike),
        _make_section(view, FAVOURS),
        replace(_make_section(view, RATERS_COMPARED), name="raters"),
    ]
    return [section for section in sections if section.tables]


def _limit_methods(results: Results) -> View:
    """Take the first methods, of as many as there is room for, and of all of one judge two."""
    methods = View(results=results).methods
    most = screen.MOST_ROWS // max(1, len(results.ratings.populations))
    if set(methods) == set(JUDGED_BY):
        most = min(most, MOST_OF_JUDGE)
    shown = ["", *methods[: max(1, most)]]
    table = results.table[results.table["method"].isin(shown)]
    warnings = tuple(warning for warning in results.warnings if warning.method in shown)
    return View(results=replace(results, table=table, warnings=warnings))
