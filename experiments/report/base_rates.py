"""The report of `lehner compare`: proportions in groups of items, without a system."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Group

from experiments.report import figures, views
from experiments.report.answer import Section, name_warnings, write_page, write_section
from experiments.report.screen import LINES_OF_CAUTION, MOST_LINES, cut
from experiments.report.sentences import apa
from experiments.report.views import ANY, View
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_csv
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_terminal
from experiments.reporting.terminal import line, wrapped
from lehner.core.text import counted, counted_categories
from lehner.estimation.results import Results, value_of

MOST_ROWS, MOST_CAUTIONS, LONGEST_NAME = 5, 3, 18
READING = (
    "Raters are assumed to be as accurate in one group as in another. P(higher) is the probability "
    "that the first of two groups has the higher proportion."
)


def render(results: Results, width: int, *, full: bool = False) -> Group:
    """Lay the comparison out for the terminal: on one screen, or all rows and warnings."""
    notes = header_lines(data_notes(results.ratings))
    if full:
        (section,) = list_sections(results)
        parts = [text for one in section.tables for text in (line(), *to_terminal(one, width))]
        said = map(as_options, name_warnings(section.warnings))
        lines = [
            *map(line, (heading(results), *notes)),
            *(line(one, style="yellow") for one in said),
        ]
        return Group(*lines, *parts)
    view = View(results=results, names=lambda name: cut(name, LONGEST_NAME))
    tables = views.base_rates(view, most=MOST_ROWS, longest=LONGEST_NAME)
    parts = [part for one in tables for part in to_terminal(one, width)]
    grave = [one for one in results.warnings if one.severity != "note"]
    cautions = [f"Caution: {as_options(text)}" for text in name_warnings(grave)]
    head, texts = wrapped(heading(results), width, 2), [*cautions, *notes][:MOST_CAUTIONS]
    room = MOST_LINES - 1 - len(head) - len(parts)
    each = max(1, min(LINES_OF_CAUTION, room // max(len(texts), 1)))
    last = [part for text in texts for part in wrapped(text, width, each)]
    last.append("Next: --full, --report FILE, --output FOLDER")
    return Group(*map(line, head), *parts, *map(line, last))


def heading(results: Results) -> str:
    """Say what is compared."""
    ratings, options = results.ratings, results.options
    column = options.groups
    n_groups = len(ratings.populations) or 1
    grouped = f" in {counted(n_groups, 'group')} by {column.column}" if column else ""
    return (
        f"{options.name}: {counted(ratings.n_items, 'item')}{grouped}, "
        f"{counted(ratings.n_raters, 'rater')}, {counted_categories(ratings.n_categories)}; "
        f"{_of(results)}{', corrected by known truths' if _is_corrected(results) else ''}"
    )


def _of(results: Results) -> str:
    names = _categories(results)
    return f"proportion of {names[0]}" if len(names) == 1 else "base rates"


def _categories(results: Results) -> list[str]:
    table = results.table
    return table[table["quantity"] == "base_rates"]["category"].drop_duplicates().tolist()


def _is_corrected(results: Results) -> bool:
    table = results.table
    return bool(table["corrected"].any())


def list_sections(results: Results, names: object = str) -> list[Section]:
    """List what is told: one section with all tables and the figure."""
    view = View(results=results, names=names)  # type: ignore[arg-type]
    return [
        Section(
            name="proportions",
            title="Proportions, differences, and the raters",
            warnings=results.warnings,
            text=[READING],
            tables=views.base_rates(view),
            figure=partial(figures.plot_base_rates, results),
        )
    ]


def write(results: Results, folder: Path) -> list[Path]:
    """Write `results.csv`, and `proportions` as LaTeX, PDF and PNG, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [write_csv(results.table, folder / "results.csv")]
    for section in list_sections(results, method_label):
        paths += write_section(section, folder)
    return paths


def page(results: Results, command: str, files: Iterable[Path]) -> str:
    """Write the comparison as one HTML file that opens with the answer."""
    title = f"Groups compared: {Path(results.options.name).name}"
    about = [heading(results), *header_lines(data_notes(results.ratings))]
    sections = list_sections(results, method_label)
    return write_page(title, answers(results), sections, results.warnings, about, command, files)


def answers(results: Results) -> Iterator[str]:
    """Say in sentences which group has the highest proportion, and by how much."""
    view = View(results=results)
    of: Any = {"grouping": "group", "method": view.methods[0]}
    rates = view.pick("base_rates", group=ANY, **of)
    differences = view.pick("base_rates_difference", group=ANY, **of)
    ranks = view.pick("base_rates_rank", group=ANY, **of)
    best = min(ranks, key=lambda one: one["estimate"], default=None)
    for one in rates:
        if best is not None and one["group"] != best["group"]:
            continue
        where = f" in {one['group']}" if results.options.groups is not None else ""
        yield f"{one['category']}{where}: {apa(value_of(one))}, by {method_label(one['method'])}."
    for one in differences[: MOST_ROWS - 1]:
        value = value_of(one)
        yield f"{one['group']} minus {one['versus']}: {apa(value)}."
