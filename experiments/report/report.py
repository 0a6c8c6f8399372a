"""The report of results: on the terminal, as files for a paper, and as one page to send."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Group

from experiments.report import views
from experiments.report.screen import name_warnings, screen
from experiments.report.sections import Section, list_sections
from experiments.report.sentences import on_data, write_sentences
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.document import Block, Heading, Paragraph, Picture, to_html
from experiments.reporting.files import (
    figure_bytes,
    write_atomically,
    write_csv,
    write_figure,
    write_text,
)
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.origin import origin
from experiments.reporting.renderers import to_latex, to_terminal
from experiments.reporting.safe_names import safe_names
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from lehner.core.errors import InputError
from lehner.core.text import counted, counted_categories, first_few
from lehner.core.warning import CODES
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results

if TYPE_CHECKING:
    pass

UNFINISHED = "unfinished"
"""Folder of what a run that was stopped had finished."""
MANIFEST = "manifest.json"
MOST_NAMED = 4
WEIGHT = {
    "changes": "changes the conclusion",
    "limits": "limits the conclusion",
    "note": "good to know",
}


def show(results: Results, *, in_detail: bool = False, full: bool = False) -> None:
    """Print one screen, or all sections, to standard output."""
    if full:
        print_wide(render(results, in_detail=in_detail, width=terminal_width()))
    else:
        print_wide(screen(results, in_detail=in_detail, width=terminal_width()))


def render(results: Results, *, in_detail: bool = False, width: int = 100) -> Group:
    """Lay all sections of results out for the terminal, warnings above the numbers they concern.

    Parameters
    ----------
    results : Results
    in_detail : bool
        Whether confusion matrices and all measures of each system are shown.
    width : int
        Into which the tables fit.

    Returns
    -------
    rich.console.Group
    """
    lines = [*map(line, heading(results))]
    for one in list_sections(results, most=views.MOST_SHOWN, detailed=in_detail):
        lines += [line(), line(one.title, style="bold")]
        lines += [line(as_options(text), style="yellow") for text in name_warnings(one.warnings)]
        lines += [line(text) for said in one.text for text in wrap(as_options(said), width)]
        for place, table in enumerate(one.tables):
            lines += [line()] if place else []
            lines += to_terminal(table, width)
    return Group(*lines)


def heading(results: Results) -> list[str]:
    """Say what the data are, the system first."""
    ratings = results.ratings
    names = [str(name) for name in ratings.systems]
    whom = f"{first_few(names, MOST_NAMED)}; " if names else ""
    return [
        f"{results.options.name}: {whom}{counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)} "
        f"({first_few(ratings.categories, views.MOST_SHOWN)}), "
        f"{counted(ratings.n_ratings, 'rating')}",
        *header_lines(data_notes(ratings)),
        on_data(results),
    ]


def failed(results: Results) -> bool:
    """Tell whether a method gave no estimate."""
    table = results.table
    main = table["quantity"].isin(["system_accuracy", "base_rates"]) & ~table["corrected"]
    here = table[main & table["grouping"].isin(["", "group"])]
    own = here[(here["quantity"] == "system_accuracy") & (here["grouping"] == "")]
    return bool((own if len(own) else here)["estimate"].isna().any())


def write(results: Results, folder: Path) -> list[Path]:
    """Write the results into a folder.

    Parameters
    ----------
    results : Results
    folder : Path
        Made if it is not there. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        `results.csv`, the one table; of each section its tables as LaTeX and its figure as PDF and
        PNG; and `METHOD.nc` for each method with draws. What is about one of several systems
        stands in a folder of its own, and `manifest.json` says which.
    """
    _refuse_other_manifest(folder / MANIFEST)
    folder.mkdir(parents=True, exist_ok=True)
    names = [str(name) for name in results.ratings.systems]
    folders = {"": folder}
    if len(names) > 1:
        own = safe_names(names, taken=("results.csv", MANIFEST, UNFINISHED))
        folders |= {name: folder / own[name] for name in names}
        for one in folders.values():
            one.mkdir(parents=True, exist_ok=True)
    paths = [write_csv(results.table, folder / "results.csv")]
    for section in list_sections(results, names=method_label):
        paths += write_section(section, folders[section.folder])
    for (system, method), estimate in results.fits.items():
        if estimate.draws is not None:
            path = folders[system if len(names) > 1 else ""] / f"{method}.nc"
            save = partial(estimate.draws.to_netcdf, engine="h5netcdf")
            paths.append(write_atomically(path, save))
    if len(names) == 1:
        return paths
    files = [path.relative_to(folder).as_posix() for path in paths]
    made = {name: folders[name].name for name in names}
    manifest = json.dumps({"systems": made, "files": files}, indent=2)
    return [*paths, write_text(manifest + "\n", folder / MANIFEST)]


def write_section(section: Section, folder: Path) -> Iterator[Path]:
    """Write the tables of a section as LaTeX, and its figure as PDF and PNG."""
    if section.tables:
        yield write_text(to_latex(*section.tables), folder / f"{section.name}.tex")
    figure = section.draw()
    if figure is not None:
        yield from write_figure(figure, folder, section.name)


def _refuse_other_manifest(path: Path) -> None:
    """Raise an InputError if a manifest is there that is not of systems, as that of a study."""
    if not path.exists():
        return
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        manifest = None
    if not isinstance(manifest, dict) or "systems" not in manifest:
        raise InputError("this file belongs to something else", "name another folder", file=path)


def page(results: Results, command: str, files: Iterable[Path]) -> str:
    """Write results as one HTML file, which loads nothing and opens with the answer.

    Parameters
    ----------
    results : Results
    command : str
        As a shell takes it.
    files : iterable of Path
        What it read.

    Returns
    -------
    str
    """
    names = first_few(results.ratings.systems, MOST_NAMED)
    title = f"Accuracy of {names}: {Path(results.options.name).name}"
    answer = write_sentences(results)
    return write_page(
        title,
        answer,
        list_sections(results, names=method_label),
        results,
        [*heading(results), *_methods(results)],
        command,
        files,
    )


def write_page(
    title: str,
    answer: Iterable[str],
    sections: Iterable[Section],
    results: Results,
    about: Iterable[Any],
    command: str,
    files: Iterable[Path],
) -> str:
    """Write sections as one HTML file: the answer, what to keep in mind, and the rest."""
    pictures: dict[str, bytes] = {}
    blocks: list[Block] = list(map(Paragraph, answer))
    grave = [one for one in results.warnings if one.severity == "changes"]
    blocks += [Paragraph(f"Caution: {as_options(text)}") for text in name_warnings(grave)]
    for section in sections:
        blocks += _blocks(section, pictures)
    blocks.append(Heading("The data and the methods"))
    blocks += [Paragraph(one) if isinstance(one, str) else one for one in about]
    blocks += [*warning_blocks(results), *origin(command, files)]
    return to_html(title, blocks, pictures)


def _blocks(section: Section, pictures: dict[str, bytes]) -> Iterator[Block]:
    yield Heading(section.title)
    for text in name_warnings(one for one in section.warnings if one.severity == "limits"):
        yield Paragraph(f"Caution: {as_options(text)}")
    yield from (Paragraph(as_options(text)) for text in section.text)
    figure = section.draw()
    if figure is not None:
        name = f"{len(pictures)}"
        pictures[name] = figure_bytes(figure, "svg")
        yield Picture(name, "", str(figure.get_label()))
    yield from section.tables


def _methods(results: Results) -> Iterator[Block]:
    """Say what each method does, and what must hold for it."""
    rows = []
    for name in dict.fromkeys(method for _, method in results.fits):
        known = get_method(name)
        summary = "a function of yours" if known is None else known.summary
        rows.append((name, method_label(name), summary, known.assumes if known else ""))
    columns = [
        Column("name"),
        Column("method"),
        Column("summary", "what it does"),
        Column("assumes", "right if"),
    ]
    yield Table(columns=columns, rows=rows, keys=2)


def warning_blocks(results: Results) -> Iterator[Block]:
    """List each warning with what to do about it, those that change the conclusion first."""
    rows = []
    for one in results.warnings:
        remedy = CODES.get(one.code, ("", ""))[1].replace("`", "")
        whom = " of ".join(part for part in (one.method, one.system) if part)
        rows.append((WEIGHT[one.severity], as_options(one.text), remedy, whom))
    if rows:
        yield Heading("Warnings")
        names = ("weight", "what was found", "what to do", "about")
        yield Table(columns=[Column(name) for name in names], rows=rows)
