"""The report of estimates, of one or of several systems: on the terminal, and files for a paper."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from rich.console import Group

from experiments.estimate import (
    dependent_pair,
    details,
    earlier_studies,
    groups,
    known_truths,
    methods,
    sensitivity,
    systems,
)
from experiments.estimate.layout import MOST_SHOWN, titled
from experiments.estimate.parts import Part, parts_of_one, parts_of_several
from experiments.estimate.screen import screen
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_atomically, write_csv, write_figure, write_text
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_latex, to_terminal
from experiments.reporting.safe_names import safe_names
from experiments.reporting.terminal import line, print_wide, terminal_width
from experiments.reporting.warning_lines import warning_lines
from lehner import Comparison, InputError
from lehner.core.text import counted, counted_categories, decimal, first_few
from lehner.core.warning import Warning
from lehner.estimation.result import SystemResult

if TYPE_CHECKING:
    from rich.text import Text

FILES = (
    *(f"{name}.{kind}" for name in ("estimates", "differences") for kind in ("csv", "tex")),
    *("systems.pdf", "systems.png"),
)
MANIFEST = "manifest.json"
UNFINISHED = "unfinished"
"""Folder of what a run that was stopped had finished."""


def report_dict(comparison: Comparison) -> dict[str, Any]:
    """Write everything in plain types, with options where messages of Python name arguments."""
    found = comparison.to_dict()
    found["data"]["notes"] = data_notes(comparison.ratings)
    for one in found["estimates"]:
        for warning in one.get("warnings", ()):
            warning["text"] = as_options(warning["text"])
    return found


def show(comparison: Comparison, *, in_detail: bool = False, full: bool = False) -> None:
    """Print one screen, or all tables, to standard output; with the system in detail if asked."""
    shown = render if full else screen
    print_wide(shown(comparison, in_detail=in_detail, width=terminal_width()))


def render(comparison: Comparison, *, in_detail: bool = False, width: int = 100) -> Group:
    """Lay all tables of a comparison out for the terminal.

    Parameters
    ----------
    comparison : Comparison
        As `lehner.estimate` returns it.
    in_detail : bool
        Whether to show confusion matrices and all measures of each system.
    width : int
        Into which the tables fit.

    Returns
    -------
    rich.console.Group
    """
    layout = _of_one if len(comparison.systems) == 1 else _of_several
    heading = [line(text) for text in _heading(comparison)]
    return Group(*heading, *layout(comparison, in_detail, width), *_warnings(comparison))


def _of_one(comparison: Comparison, in_detail: bool, width: int) -> "list[Text]":
    (system,) = comparison.systems
    results = system.results
    parts: list[Text] = []
    corrected = any(one.correction is not None for one in results)
    if corrected:
        parts += titled(known_truths.CORRECTED, [known_truths.correction_table(results)], width)
    heading = known_truths.NOT_SEEN if corrected else ""
    parts += titled(heading, [methods.accuracy_table(system, truths=not corrected)], width)
    parts += map(line, methods.accuracy_notes(system, width))
    if len(results) <= methods.MOST_COLUMNS:
        parts += titled("", methods.rater_tables(system, most=MOST_SHOWN), width)
    if in_detail:
        parts += [line(), *details.render_details([one.details for one in results], width)]
    parts += _groups(system, width)
    if corrected:
        parts += titled("", [known_truths.uncorrected_table(results)], width)
    if system.predictions:
        found = methods.prediction_table(system.predictions)
        parts += titled(methods.PREDICTIONS, [found], width)
    if system.k_properties:
        found = methods.k_property_table(system.k_properties)
        parts += titled(methods.K_PROPERTIES, [found], width)
        parts += map(line, wrap(methods.BAYES_FACTORS, width))
    parts += titled(*methods.disagreement_tables(system), width)
    parts += titled(sensitivity.misled_heading(system), sensitivity.misled_tables(system), width)
    sentences = [*methods.disagreement_lines(system), *sensitivity.sensitivity_lines(system)]
    if system.dependence is not None:
        sentences += [f"shared mistakes: {text}" for text in system.dependence.lines()]
    return [*parts, line(), *map(line, sentences)]


def _of_several(comparison: Comparison, in_detail: bool, width: int) -> "list[Text]":
    parts: list[Text] = []
    for table in systems.systems_tables(comparison):
        parts += [line(), *to_terminal(table, width)]
    if in_detail:
        shown = details.render_details([one.details for one in comparison.results], width)
        parts += [line(), *shown[:-1]]
    for one in comparison.systems:
        parts += _groups(one, width)
    return [*parts, line(), *map(line, systems.systems_lines(comparison))]


def _groups(system: SystemResult, width: int) -> "list[Text]":
    """Lay out earlier studies, a dependent pair, groups and populations, where there are any."""
    parts = titled(earlier_studies.TITLE, earlier_studies.study_tables(system), width)
    parts += titled(dependent_pair.TITLE, dependent_pair.pair_tables(system), width)
    if system.group_column is not None:
        by_group = [one.groups for one in system.results]
        parts += [line(), *groups.render_groups(system.group_column, by_group, width)]
    if system.population_column is not None:
        found = groups.render_populations(system.population_column, system.results, width)
        parts += [line(), *found]
    if system.ratings.rater_group:
        parts += [line(), *groups.render_rater_groups(system, width)]
    return parts


def _heading(comparison: Comparison) -> list[str]:
    ratings, agreement = comparison.ratings, comparison.systems[0].agreement
    several = len(comparison.systems) > 1
    named = f"{counted(len(ratings.systems), 'system')} ({first_few(ratings.systems, MOST_SHOWN)})"
    others = ", the other systems among them," if comparison.systems_rate else ""
    lines = [
        f"{comparison.name}: {counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)} "
        f"({first_few(ratings.categories, MOST_SHOWN)}), {counted(ratings.n_ratings, 'rating')}"
        f"{f', {named}' if several else ''}",
        *header_lines(data_notes(ratings)),
        f"Raters{others} agree on {decimal(agreement.agreement)} of "
        f"{counted(agreement.n_pairs, 'pair')} of ratings; beyond the chance of "
        f"1/{ratings.n_categories} that is kappa {decimal(agreement.kappa)}",
    ]
    for one in comparison.systems:
        if one.known_truth is not None and several:
            lines.append(
                f"On the {counted(one.known_truth.n_items, 'item')} with known truth the accuracy "
                f"of {one.system} is {known_truths.proportion_right(one.known_truth)}"
            )
        elif one.known_truth is not None:
            lines.append(known_truths.known_truth_line(one))
    return lines


def _warnings(comparison: Comparison) -> "list[Text]":
    """Lay out each warning once, with the systems that it is about, unless these are all."""
    about: dict[tuple[str, Warning], list[str]] = {}
    for one in comparison.estimates:
        for warning in one.warnings:
            about.setdefault((one.method, warning), []).append(one.system)
    said = (
        (systems.whom(comparison, method, names), warning)
        for (method, warning), names in about.items()
    )
    return [line(as_options(text), style="yellow") for text in warning_lines(said)]


def failed(comparison: Comparison) -> bool:
    """Tell whether a method gave no estimate."""
    return any(one.system_accuracy.estimate is None for one in comparison.estimates)


def write(comparison: Comparison, folder: Path) -> list[Path]:
    """Write tables, figures and draws into a folder.

    Parameters
    ----------
    comparison : Comparison
        As `lehner.estimate` returns it.
    folder : Path
        Made if it is not there. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        Of each part of `experiments.estimate.parts` its numbers as CSV, its tables as LaTeX and
        its figure as PDF and PNG, and `METHOD.nc` for each method with draws. Of several systems
        also a folder for each, and `manifest.json`, which says which folder is that of which
        system.
    """
    if len(comparison.systems) == 1:
        return _write_one(comparison, comparison.systems[0], folder)
    _refuse_other_manifest(folder / MANIFEST)
    folders = safe_names(comparison.ratings.systems, taken=(*FILES, MANIFEST, UNFINISHED))
    for name in folders.values():
        (folder / name).mkdir(parents=True, exist_ok=True)
    paths = [path for part in parts_of_several(comparison) for path in _write_part(part, folder)]
    for one in comparison.systems:
        paths += _write_one(comparison, one, folder / folders[one.system])
    files = [path.relative_to(folder).as_posix() for path in paths]
    manifest = json.dumps({"systems": folders, "files": files}, indent=2)
    return [*paths, write_text(manifest + "\n", folder / MANIFEST)]


def _write_one(comparison: Comparison, system: SystemResult, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    parts = parts_of_one(system, comparison.name)
    paths = [path for part in parts for path in _write_part(part, folder)]
    for estimate in system.estimates:
        if estimate.draws is not None:
            path = folder / f"{estimate.method}.nc"
            write = partial(estimate.draws.to_netcdf, engine="h5netcdf")
            paths.append(write_atomically(path, write))
    return paths


def _write_part(part: Part, folder: Path) -> Iterator[Path]:
    if part.frame is not None:
        yield write_csv(part.frame, folder / f"{part.name}.csv")
    if part.tables:
        yield write_text(to_latex(*part.tables), folder / f"{part.name}.tex")
    if part.figure is not None:
        yield from write_figure(part.figure, folder, part.name)


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
