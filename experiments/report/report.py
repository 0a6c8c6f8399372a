"""The report of results: on the terminal, as files for a paper, and as one page to send."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap

from rich.console import Group

from experiments.report import views
from experiments.report.answer import name_warnings, write_page, write_section
from experiments.report.screen import screen
from experiments.report.sections import list_sections
from experiments.report.sentences import on_data, write_sentences
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.document import Block
from experiments.reporting.files import write_atomically, write_csv, write_text
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_terminal
from experiments.reporting.safe_names import safe_names
from experiments.reporting.table import Column, Table
from experiments.reporting.terminal import line, print_wide, terminal_width
from lehner.core.errors import InputError
from lehner.core.text import counted, counted_categories, first_few
from lehner.estimation.methods import get_method
from lehner.estimation.results import Results

UNFINISHED = "unfinished"
"""Folder of what a run that was stopped had finished."""
MANIFEST = "manifest.json"
MOST_NAMED = 4


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
        results.warnings,
        [*heading(results), *_methods(results)],
        command,
        files,
    )


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
