"""Several systems for people: the tables on the terminal, and the files for a paper."""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from rich.console import Group

from experiments.estimate import comparison_report
from experiments.estimate.comparison_report import MOST_SHOWN, share_right
from experiments.estimate.details_report import render_details
from experiments.estimate.estimate import FEW_SYSTEMS
from experiments.estimate.groups_report import render_groups
from experiments.estimate.systems import SystemsComparison
from experiments.estimate.systems_items import all_items_are_common, lines_on_items
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_csv, write_figure, write_text
from experiments.reporting.latex import latex_table
from experiments.reporting.method_style import method_label
from experiments.reporting.safe_names import safe_names
from experiments.reporting.terminal import line, print_wide, terminal_width
from experiments.reporting.text_table import bold_blocks
from experiments.reporting.warning_lines import warning_lines
from lehner import Estimate, InputError, IntervalEstimate, SystemDifference
from lehner.core.number_format import decimal, percent, probability, with_interval
from lehner.core.warning import Warning
from lehner.core.wording import counted, counted_categories, first_few

MOST_PAIRS_OF_SYSTEMS = 6
ESTIMANDS = {
    "system accuracy": "system_accuracy",
    "in this sample": "system_accuracy_in_sample",
}


FILES = ("estimates.csv", "differences.csv", "estimates.tex", "systems.pdf", "systems.png")
MANIFEST = "manifest.json"


def render(comparison: SystemsComparison, *, details: bool = False, width: int = 100) -> Group:
    """Lay a comparison of systems out for the terminal.

    Parameters
    ----------
    comparison : SystemsComparison
    details : bool
        Whether to show confusion matrices and all measures of each system.
    width : int
        Into which the tables fit.

    Returns
    -------
    rich.console.Group
    """
    parts = [line(text) for text in _heading(comparison)]
    for rows in (_accuracy_rows(comparison), _rank_rows(comparison), _difference_rows(comparison)):
        parts += [line(), *bold_blocks(rows, width=width)] if rows else []
    parts.append(line())
    if details:
        for one in comparison.comparisons:
            parts += render_details(one.details, width)
    for one in comparison.comparisons:
        if one.group_column is not None:
            parts += [*render_groups(one.group_column, one.groups, width), line()]
        parts += comparison_report.population_lines(one, width)
        parts += comparison_report.rater_group_lines(one, width)
    parts += [line(text) for text in _notes(comparison)]
    parts += [line(text, style="yellow") for text in _warnings(comparison.estimates)]
    return Group(*parts)


def show(comparison: SystemsComparison, *, details: bool = False) -> None:
    """Print a comparison of systems to standard output, each in detail if asked for."""
    print_wide(render(comparison, details=details, width=terminal_width()))


def write(comparison: SystemsComparison, folder: Path) -> list[Path]:
    """Write tables, the figure and draws into a folder.

    Parameters
    ----------
    comparison : SystemsComparison
    folder : Path
        Made if it is not there. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        `estimates.csv`, `differences.csv`, `estimates.tex`, `systems.pdf`, `systems.png`, a folder
        for each system with what `lehner estimate` writes of one system, and `manifest.json`, which
        says which folder is that of which system.
    """
    from experiments.estimate.systems_figure import plot_systems

    _refuse_other_manifest(folder / MANIFEST)
    folders = safe_names(comparison.ratings.systems, taken=(*FILES, MANIFEST))
    for name in folders.values():
        (folder / name).mkdir(parents=True, exist_ok=True)
    figure = plot_systems(comparison).get_figure(root=True)
    assert figure is not None
    paths = [
        write_csv(comparison.to_frame(), folder / "estimates.csv"),
        write_csv(comparison.differences_frame(), folder / "differences.csv"),
        write_text(latex(comparison), folder / "estimates.tex"),
        *write_figure(figure, folder, "systems"),
    ]
    for one in comparison.comparisons:
        paths += comparison_report.write(one, folder / folders[one.ratings.systems[0]])
    files = [path.relative_to(folder).as_posix() for path in paths]
    manifest = json.dumps({"systems": folders, "files": files}, indent=2)
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


def latex(comparison: SystemsComparison) -> str:
    """Give the accuracies of all systems in LaTeX, for the booktabs package."""
    head, *rows = _accuracy_rows(comparison)
    return latex_table([head[0], *map(method_label, head[1:])], rows)


def _methods(comparison: SystemsComparison) -> list[str]:
    return [one.method for one in comparison.comparisons[0].estimates]


def _heading(comparison: SystemsComparison) -> list[str]:
    ratings, agreement = comparison.ratings, comparison.comparisons[0].agreement
    others = ", the other systems among them," if comparison.systems_rate else ""
    lines = [
        f"{comparison.name}: {counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)} "
        f"({first_few(ratings.categories, MOST_SHOWN)}), {counted(ratings.n_ratings, 'rating')}, "
        f"{counted(len(ratings.systems), 'system')} ({first_few(ratings.systems, MOST_SHOWN)})",
        *header_lines(data_notes(ratings)),
        f"Raters{others} agree on {decimal(agreement.agreement)} of "
        f"{counted(agreement.n_pairs, 'pair')} of ratings; beyond the chance of "
        f"1/{ratings.n_categories} that is kappa {decimal(agreement.kappa)}",
    ]
    for one in comparison.comparisons:
        if one.known_truth is not None:
            lines.append(
                f"On the {counted(one.known_truth.n_items, 'item')} with known truth "
                f"the accuracy of {one.ratings.systems[0]} is {share_right(one.known_truth)}"
            )
    return lines


def _accuracy_rows(comparison: SystemsComparison) -> list[list[str]]:
    methods = _methods(comparison)
    each = (one.system_accuracy.level for one in comparison.estimates)
    levels = [level for level in each if level]
    rows = [[f"[{percent(levels[0])} interval]" if levels else "", *methods]]
    for title, name in ESTIMANDS.items():
        rows.append([title, *("" for _ in methods)])
        for one in comparison.comparisons:
            cells = [str(getattr(estimate, name)) for estimate in one.estimates]
            rows.append([f"  {one.ratings.systems[0]}", *cells])
    if any(one.corrections for one in comparison.comparisons):
        rows.append(["in this sample, corrected by known truths", *("" for _ in methods)])
        for one in comparison.comparisons:
            corrections = [one.corrections.get(method) for method in methods]
            cells = ["" if c is None else str(c.system_accuracy_in_sample) for c in corrections]
            rows.append([f"  {one.ratings.systems[0]}", *cells])
    return rows


def _rank_rows(comparison: SystemsComparison) -> list[list[str]]:
    by_method: dict[str, dict[str, str]] = {}
    for rank in comparison.ranks:
        shown = f"{rank.rank} [{rank.lower}, {rank.upper}], {_if_known(rank.probability_best)}"
        by_method.setdefault(rank.method, {})[rank.system] = shown
    if not by_method:
        return []
    rows = [["rank by expected accuracy, P(best)", *by_method]]
    for system in comparison.ratings.systems:
        rows.append([f"  {system}", *(by_method[m].get(system, "–") for m in by_method)])
    return rows


def _difference_rows(comparison: SystemsComparison) -> list[list[str]]:
    rows = [["", "difference", "P(better)", "in this sample", "items of both"]]
    for method in _methods(comparison):
        shown = _shown_pairs(comparison, method)
        if shown:
            rows.append([method, "", "", "", ""])
        for one in shown:
            rows.append(
                [
                    f"  {one.systems[0]} – {one.systems[1]}",
                    _signed(one.difference),
                    _if_known(one.probability_better),
                    _signed(one.difference_in_sample),
                    str(one.n_common_items),
                ]
            )
    if all_items_are_common(comparison):
        rows = [row[:-1] for row in rows]
    return rows if len(rows) > 1 else []


def _shown_pairs(comparison: SystemsComparison, method: str) -> list[SystemDifference]:
    """Give all pairs of a method if they are few, else the best system with each other one."""
    pairs = [one for one in comparison.differences if one.method == method]
    if len(pairs) <= MOST_PAIRS_OF_SYSTEMS:
        return pairs
    best = next((r.system for r in comparison.ranks if r.method == method and r.rank == 1), None)
    if best is None:
        return pairs[:MOST_PAIRS_OF_SYSTEMS]
    return [one for one in pairs if best in one.systems]


def _notes(comparison: SystemsComparison) -> list[str]:
    lines = []
    n_pairs = len(comparison.ratings.systems) * (len(comparison.ratings.systems) - 1) // 2
    if n_pairs > MOST_PAIRS_OF_SYSTEMS:
        lines.append(
            "The differences shown are those of the best system with the others, or the first ones "
            f"where none is ranked; all {n_pairs} are in differences.csv (--output) and in the "
            "JSON object (--json)."
        )
    fitted = any(one.draws is not None for one in comparison.estimates)
    if fitted and len(comparison.ratings.systems) > FEW_SYSTEMS:
        lines.append(
            "With so many systems the models are sampled for as long as in studies, so that their "
            "numbers may differ in the third decimal from those of a system alone."
        )
    if comparison.systems_rate:
        lines.append(
            "Each system is judged by the raters and by the other systems. This assumes that "
            "systems err independently of one another and of the raters: systems that share "
            "mistakes make one another look better."
        )
    else:
        lines.append(
            "Each system is judged by the raters alone: systems do not rate one another "
            "(--systems-rate lets them)."
        )
    return [*lines, *lines_on_items(comparison)]


def _warnings(estimates: Iterable[Estimate]) -> list[str]:
    """Give each warning once, with the systems that it is about, unless these are all."""
    estimates = tuple(estimates)
    everybody = list(dict.fromkeys(one.system for one in estimates))
    about: dict[tuple[str, Warning], list[str]] = {}
    for one in estimates:
        for warning in one.warnings:
            about.setdefault((one.method, warning), []).append(one.system)
    return warning_lines(
        (
            method if systems == everybody else f"{method} ({first_few(systems, MOST_SHOWN)})",
            warning,
        )
        for (method, warning), systems in about.items()
    )


def _signed(value: IntervalEstimate) -> str:
    return with_interval(value.estimate, value.lower, value.upper, partial(decimal, sign=True))


def _if_known(value: float | None) -> str:
    return "" if value is None else probability(value)
