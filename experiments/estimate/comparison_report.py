"""A comparison for people: the table on the terminal, and the files for a paper."""

from pathlib import Path
from textwrap import wrap

from rich.console import Group
from rich.text import Text

from experiments.estimate.comparison import Comparison
from experiments.estimate.comparison_latex import latex
from experiments.estimate.details import details_frame
from experiments.estimate.details_report import confusion_latex, details_latex, render_details
from experiments.estimate.disagreement_lines import estimate_lines, item_heading, item_rows
from experiments.estimate.group_column import GroupColumn
from experiments.estimate.groups import Groups, groups_frame
from experiments.estimate.groups_report import groups_latex, render_groups, render_populations
from experiments.estimate.known_truth import KnownTruth
from experiments.estimate.method_tables import (
    MOST_COLUMNS,
    accuracy_rows,
    correction_rows,
    k_property_rows,
    prediction_rows,
    rater_rows,
)
from experiments.estimate.part_corrections import NOT_CORRECTED, part_rows
from experiments.estimate.populations import methods_without
from experiments.estimate.rater_groups import (
    rater_groups_latex,
    render_rater_groups,
)
from experiments.estimate.sensitivity import (
    curves,
    misled_heading,
    misled_rows,
    sensitivity_lines,
)
from experiments.estimate.truth_corrections import uses_truths
from experiments.reporting.data_notes import data_notes, header_lines
from experiments.reporting.files import write_atomically, write_csv, write_figure, write_text
from experiments.reporting.terminal import line, print_wide, terminal_width
from experiments.reporting.text_table import bold_blocks, bold_table
from experiments.reporting.warning_lines import warning_lines
from lehner import Estimate
from lehner.core.number_format import decimal, percent, with_interval
from lehner.core.wording import counted, counted_categories, first_few

MOST_SHOWN = 12
CORRECTED = "The same accuracies, corrected by the known truths:"
CORRECTED_PARTS = "In parts of this sample, corrected by the known truths there:"
PREDICTIONS = (
    "How well models predict the ratings of items left out of the fit (elpd is the expected log "
    "predictive density: the higher, the better):"
)
K_PROPERTIES = (
    "What the ratings say about the K-properties, the assumptions of the algebra, by relaxed_k. "
    "Each parameter is 0 where its property holds; the spreads are standard deviations:"
)
BAYES_FACTORS = (
    "The Bayes factor is the evidence against a property: 3 is moderate, 10 strong (rejected); "
    "1/3 is moderate evidence for it, 1/10 strong (supported); in between the ratings say little. "
    "With a probability of 90% the exact factor differs by less than the number after ±. No "
    "verdict is given that this error may change."
)


def render(comparison: Comparison, *, details: bool = False, width: int = 100) -> Group:
    """Lay a comparison out for the terminal.

    Parameters
    ----------
    comparison : Comparison
    details : bool
        Whether to show confusion matrices and all measures of the system.
    width : int
        Into which the tables fit.

    Returns
    -------
    rich.console.Group
    """
    estimates = comparison.estimates
    parts = [line(text) for text in _heading(comparison)]
    parts += [line(), *bold_blocks(accuracy_rows(comparison), width=width)]
    if len(estimates) <= MOST_COLUMNS:
        parts += _titled("", rater_rows(comparison, limit=MOST_SHOWN), width)
    if details:
        parts += [line(), *render_details(comparison.details, width)]
    if comparison.group_column is not None:
        parts += [line(), *render_groups(comparison.group_column, comparison.groups, width)]
    parts += population_lines(comparison, width)
    parts += rater_group_lines(comparison, width)
    if comparison.corrections:
        parts += _titled(CORRECTED, correction_rows(comparison), width)
        parts += _corrected_parts(comparison, width)
    if comparison.predictions:
        rows = prediction_rows(comparison.predictions)
        parts += [*_title(PREDICTIONS, width), *bold_table(rows, left=(4,), width=width)]
    if comparison.dials:
        rows = k_property_rows(comparison.dials)
        parts += [*_title(K_PROPERTIES, width), *bold_table(rows)]
        parts += map(line, wrap(BAYES_FACTORS, width))
    parts += _titled(item_heading(comparison), item_rows(comparison), width)
    misled = misled_rows(estimates, comparison.sensitivities)
    parts += _titled(misled_heading(comparison.sensitivities) if misled else "", misled, width)
    sentences = [
        *estimate_lines(comparison),
        *sensitivity_lines(comparison.sensitivities, comparison.slopes),
        *_dependence(comparison),
    ]
    return Group(*parts, line(), *map(line, sentences), *_warnings(comparison))


def population_lines(comparison: Comparison, width: int) -> list[Text]:
    """Lay out what is known of populations of items; nothing if they were not asked for."""
    if comparison.population_column is None:
        return []
    without = methods_without(comparison.estimates, comparison.populations)
    return [
        line(),
        *render_populations(comparison.population_column, comparison.populations, without, width),
    ]


def rater_group_lines(comparison: Comparison, width: int) -> list[Text]:
    """Lay out what is known of groups of raters; nothing if they were not asked for."""
    if not comparison.ratings.rater_group:
        return []
    found = comparison.rater_groups
    return [line(), *render_rater_groups(comparison.ratings, comparison.estimates, found, width)]


def _corrected_parts(comparison: Comparison, width: int) -> list[Text]:
    column = comparison.group_column
    name = "" if column is None else column.column
    rows = part_rows(comparison.part_corrections, name, limit=MOST_SHOWN)
    return [*_titled(CORRECTED_PARTS, rows, width), *map(line, wrap(NOT_CORRECTED, width))]


def _titled(title: str, rows: list[list[str]], width: int) -> list[Text]:
    """Give a blank line, a title and a table; nothing if it has no rows."""
    if not rows:
        return []
    return [*_title(title, width), *bold_blocks(rows, width=width)]


def _title(text: str, width: int) -> list[Text]:
    return [line(), *map(line, wrap(text, width))]


def _warnings(comparison: Comparison) -> list[Text]:
    said = (
        (estimate.method, one) for estimate in comparison.estimates for one in estimate.warnings
    )
    return [line(text, style="yellow") for text in warning_lines(said)]


def _dependence(comparison: Comparison) -> list[str]:
    dependence = comparison.dependence
    return [] if dependence is None else [f"shared mistakes: {line}" for line in dependence.lines()]


def write(comparison: Comparison, folder: Path) -> list[Path]:
    """Write a comparison's table, figure and draws into a folder.

    Parameters
    ----------
    comparison : Comparison
    folder : Path
        Made if it is not there. Each file appears whole or not at all.

    Returns
    -------
    list of Path
        `estimates.csv`, `estimates.tex`, `intervals.pdf`, `intervals.png`,
        `details.csv`, `details.tex`, `confusion.tex`, `confusion.pdf`, `confusion.png`,
        `shared_mistakes.csv`, `shared_mistakes.pdf`, `shared_mistakes.png`, with groups
        `groups.csv`, `groups.tex`, `groups.pdf` and `groups.png`, with populations the like as
        `populations.…`, with groups of raters `rater_groups.csv` and `rater_groups.tex`, and
        `METHOD.nc` for each method with draws.
    """
    from experiments.estimate.comparison_figure import plot_intervals
    from experiments.estimate.details_figure import plot_confusion
    from experiments.estimate.sensitivity_figure import plot_sensitivity

    folder.mkdir(parents=True, exist_ok=True)
    figure = plot_intervals(comparison).get_figure(root=True)
    table = curves(comparison.estimates, comparison.ratings.n_categories)
    curve = plot_sensitivity(table, comparison.name).get_figure(root=True)
    assert figure is not None and curve is not None
    paths = [
        write_csv(comparison.to_frame(), folder / "estimates.csv"),
        write_text(latex(comparison), folder / "estimates.tex"),
        *write_figure(figure, folder, "intervals"),
        write_csv(details_frame(comparison.details), folder / "details.csv"),
        write_text(details_latex(comparison.details), folder / "details.tex"),
        write_text(confusion_latex(comparison.details), folder / "confusion.tex"),
        *write_figure(plot_confusion(comparison.details), folder, "confusion"),
        write_csv(table, folder / "shared_mistakes.csv"),
        *write_figure(curve, folder, "shared_mistakes"),
    ]
    paths += _write_groups(comparison.group_column, comparison.groups, folder, "groups")
    paths += _write_groups(
        comparison.population_column, comparison.populations, folder, "populations"
    )
    if any(comparison.rater_groups):
        found = comparison.rater_groups
        paths.append(write_csv(groups_frame(found), folder / "rater_groups.csv"))
        paths.append(write_text(rater_groups_latex(found), folder / "rater_groups.tex"))
    for estimate in comparison.estimates:
        if estimate.draws is not None:
            path = folder / f"{estimate.method}.nc"
            paths.append(write_atomically(path, estimate.draws.to_netcdf))
    return paths


def _write_groups(
    column: GroupColumn | None, groups: Groups, folder: Path, name: str
) -> list[Path]:
    if column is None or not any(groups):
        return []
    from experiments.estimate.groups_figure import plot_groups

    return [
        write_csv(groups_frame(groups), folder / f"{name}.csv"),
        write_text(groups_latex(column, groups), folder / f"{name}.tex"),
        *write_figure(plot_groups(column, groups), folder, name),
    ]


def _heading(comparison: Comparison) -> list[str]:
    ratings, agreement = comparison.ratings, comparison.agreement
    lines = [
        f"{comparison.name}: {counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)} "
        f"({first_few(ratings.categories, MOST_SHOWN)}), {counted(ratings.n_ratings, 'rating')}",
        f"Raters agree on {decimal(agreement.agreement)} of {counted(agreement.n_pairs, 'pair')} "
        f"of ratings; beyond the chance of 1/{ratings.n_categories} that is kappa "
        f"{decimal(agreement.kappa)}",
    ]
    lines[1:1] = header_lines(data_notes(ratings))
    if comparison.known_truth is not None:
        truth = comparison.known_truth
        lines.append(
            f"On the {counted(truth.n_items, 'item')} with known truth the system's accuracy is "
            f"{share_right(truth)}; {_use(comparison, truth)}"
        )
    return lines


def share_right(truth: KnownTruth) -> str:
    """Say on which share of the known items the system is right, with its interval."""
    if truth.level is None:
        return f"{decimal(truth.system_accuracy)}, exact for this sample"
    return (
        f"{with_interval(truth.system_accuracy, truth.lower, truth.upper)} ({percent(truth.level)} "
        "interval by Wilson for all these items)"
    )


def _use(comparison: Comparison, truth: KnownTruth) -> str:
    if not truth.used:
        return "all truths are known, and the methods do not use them"
    in_models = any(map(uses_truths, comparison.estimates))
    return "the models use these truths" if in_models else "these truths correct the estimates"


def failed(estimates: tuple[Estimate, ...]) -> bool:
    """Whether a method gave no estimate."""
    return any(estimate.system_accuracy.estimate is None for estimate in estimates)


def show(comparison: Comparison, *, details: bool = False) -> None:
    """Print a comparison to standard output, the system in detail if asked for."""
    print_wide(render(comparison, details=details, width=terminal_width()))
