"""A comparison for people: the table on the terminal, and the files for a paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

from experiments.cli.load import data_notes, header_lines
from experiments.estimate.comparison import (
    Comparison,
    Disagreement,
    KnownTruth,
    uses_truths,
    with_intervals,
)
from experiments.estimate.details import details_frame, recall_and_precision
from experiments.estimate.details_report import confusion_latex, details_latex, render_details
from experiments.estimate.predictions import Prediction
from experiments.estimate.sensitivity import curves, sensitivity_lines, widened_rows
from experiments.reporting.files import write_atomically, write_csv, write_figure, write_text
from experiments.reporting.latex import latex_table
from experiments.reporting.text_table import bold_table
from lehner import Estimate
from lehner.core.estimate import number
from lehner.core.wording import counted, counted_categories, first_few

if TYPE_CHECKING:
    from bayes_models import Dial

MOST_SHOWN = 12
MOST_COLUMNS = 4
WIDTH = 160


def render(comparison: Comparison, *, details: bool = False) -> Group:
    """Lay a comparison out for the terminal.

    Parameters
    ----------
    comparison : Comparison
    details : bool
        Whether to show confusion matrices and all measures of the system.

    Returns
    -------
    rich.console.Group
    """
    parts = [Text(line) for line in _heading(comparison)]
    wide = len(comparison.estimates) > MOST_COLUMNS
    parts += [Text(), *(_long_table(comparison) if wide else _table(comparison)), Text()]
    if details:
        parts += render_details(comparison.details)
    if comparison.corrections:
        parts += [*_corrections(comparison), Text()]
    if comparison.predictions:
        parts += [*_predictions(comparison.predictions), Text()]
    if comparison.dials:
        parts += [*_dials(comparison.dials), Text()]
    if not wide:
        parts += [Text(line) for d in comparison.disagreements for line in _disagreement(d)]
    parts += [
        Text(line)
        for line in sensitivity_lines(
            comparison.estimates, comparison.sensitivities, comparison.slopes
        )
    ]
    parts += [Text(line) for line in _dependence(comparison)]
    said = comparison.dependence.warnings() if comparison.dependence is not None else ()
    for estimate in comparison.estimates:
        parts += [
            Text(f"{estimate.method}: {w}", style="yellow")
            for w in estimate.warnings
            if w not in said
        ]
    return Group(*parts)


def _dependence(comparison: Comparison) -> list[str]:
    found = comparison.dependence
    return [] if found is None else [f"shared mistakes: {line}" for line in found.lines()]


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
        `shared_mistakes.csv`, `shared_mistakes.pdf`, `shared_mistakes.png`, and `METHOD.nc` for
        each method with draws.
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
    for estimate in comparison.estimates:
        if estimate.draws is not None:
            path = folder / f"{estimate.method}.nc"
            paths.append(write_atomically(path, estimate.draws.to_netcdf))
    return paths


def latex(comparison: Comparison) -> str:
    """Give the side-by-side table in LaTeX, for the booktabs package.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    return latex_table(
        ["", *(e.method for e in comparison.estimates)], _body(comparison, limit=None)
    )


def _heading(comparison: Comparison) -> list[str]:
    ratings, agreement = comparison.ratings, comparison.agreement
    lines = [
        f"{comparison.name}: {counted(ratings.n_items, 'item')}, "
        f"{counted(ratings.n_raters, 'rater')}, "
        f"{counted_categories(ratings.n_categories, ordered=ratings.ordered)} "
        f"({first_few(ratings.categories, MOST_SHOWN)}), {counted(ratings.n_ratings, 'rating')}",
        f"Raters agree on {agreement.agreement:.3f} of {counted(agreement.n_pairs, 'pair')}, "
        f"kappa {agreement.kappa:.3f} (chance 1/{ratings.n_categories})",
    ]
    lines[1:1] = header_lines(data_notes(ratings))
    if comparison.known_truth is not None:
        truth = comparison.known_truth
        lines.append(
            f"On the {counted(truth.n_items, 'item')} with known truth the system is right in "
            f"{share_right(truth)}; "
            + (_use(comparison) if truth.used else "they are all, and models do not use them")
        )
    return lines


def share_right(truth: KnownTruth) -> str:
    """Say on which share of the known items the system is right, with its interval."""
    if truth.level is None:
        return f"{truth.system_accuracy:.3f}, exact for this sample"
    return (
        f"{truth.system_accuracy:.3f} [{truth.lower:.3f}, {truth.upper:.3f}] ({truth.level:.0%} "
        "interval for all these items, Wilson's)"
    )


def _use(comparison: Comparison) -> str:
    in_models = any(map(uses_truths, comparison.estimates))
    return "models use them" if in_models else "they correct the estimates"


def _table(comparison: Comparison) -> list[Text]:
    levels = {e.system_accuracy.level for e in comparison.estimates} - {None}
    title = f"[{levels.pop():.0%} interval]" if levels else ""
    head = [title, *(estimate.method for estimate in comparison.estimates)]
    # The system's accuracy is the first row.
    return bold_table([head, *_body(comparison, limit=MOST_SHOWN)], n_bold=2)


def _long_table(comparison: Comparison) -> list[Text]:
    widened = widened_rows(comparison.sensitivities)
    head = ["method", "system accuracy", "in this sample", "mean rater accuracy"]
    rows = [head + [row[0].strip() for row in widened]]
    for number_of, estimate in enumerate(comparison.estimates, start=1):
        raters = estimate.rater_accuracy
        mean = "" if raters is None else _cell(number(raters.mean()))
        both = (estimate.system_accuracy, estimate.system_accuracy_in_sample)
        rows.append([estimate.method, *map(str, both), mean, *(row[number_of] for row in widened)])
    return bold_table(rows)


def _corrections(comparison: Comparison) -> list[Text]:
    first = next(iter(comparison.corrections.values()))
    rows = [
        [
            f"in this sample, {counted(first.n_known, 'known truth')}",
            "without them",
            "corrected by them",
            "PPI++",
            "expected accuracy, corrected",
        ],
        ["known items alone", "", str(first.known_items_alone), "", ""],
    ]
    for estimate in comparison.estimates:
        found = comparison.corrections.get(estimate.method)
        if found is not None:
            shown = (
                estimate.system_accuracy_in_sample,
                found.system_accuracy_in_sample,
                found.prediction_powered,
                found.system_accuracy,
            )
            rows.append([estimate.method, *map(str, shown)])
    return bold_table(rows)


def _predictions(predictions: Sequence[Prediction]) -> list[Text]:
    rows = [["prediction of items left out", "elpd", "below the best", "weight", ""]]
    rows += [
        [
            one.method,
            f"{one.elpd:.1f} ± {one.se:.1f}",
            f"{one.difference:.1f} ± {one.difference_se:.1f}" if one.difference else "",
            f"{one.weight:.2f}",
            one.warning,
        ]
        for one in predictions
    ]
    return bold_table(rows, left=(4,), width=WIDTH)


def _dials(dials: "Sequence[Dial]") -> list[Text]:
    rows = [["relaxed_k: dial", "posterior", "direction", "Bayes factor", "K-property"]]
    for dial in dials:
        direction = dial.probability_of_direction
        rows.append(
            [
                dial.name,
                str(dial.value),
                "" if direction is None else f"{direction:.3f}",
                dial.evidence(),
                f"{dial.k_property}: {dial.verdict()}",
            ]
        )
    return bold_table(rows, left=(4,), width=WIDTH)


def _body(comparison: Comparison, limit: int | None) -> list[list[str]]:
    estimates = comparison.estimates
    rows = [
        ["system accuracy", *(str(e.system_accuracy) for e in estimates)],
        ["  in this sample", *(str(e.system_accuracy_in_sample) for e in estimates)],
        *widened_rows(comparison.sensitivities),
    ]
    rows += recall_and_precision(comparison.details, limit)
    for title, quantity in (("rater accuracy", "rater_accuracy"), ("base rate", "base_rates")):
        values = [
            with_intervals(estimate, details, quantity)
            for estimate, details in zip(estimates, comparison.details, strict=True)
        ]
        labels = list(dict.fromkeys(label for v in values for label in v))
        if labels:
            rows.append([title, *("" for _ in estimates)])
        for label in labels[:limit]:
            rows.append([f"  {label}", *(str(v[label]) if label in v else "" for v in values)])
        if limit is not None and len(labels) > limit:
            rows.append([f"  … and {len(labels) - limit} more", *("" for _ in estimates)])
    return rows


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _disagreement(found: Disagreement) -> list[str]:
    one, two = found.methods
    lines = []
    if found.difference is not None:
        where = {
            True: "each within the other's interval",
            False: "outside one another's intervals",
            None: "without intervals to compare",
        }[found.inside]
        more = "higher" if found.difference >= 0 else "lower"
        lines.append(
            f"{two} puts system accuracy {abs(found.difference):.3f} {more} than {one}, {where}"
        )
    if found.items:
        shown = first_few(found.items, MOST_SHOWN)
        lines.append(
            f"{one} and {two} hold different categories for the most probable truth of "
            f"{counted(found.n_items, 'item')}: {shown}"
        )
    return lines


def failed(estimates: tuple[Estimate, ...]) -> bool:
    """Whether a method gave no estimate."""
    return any(estimate.system_accuracy.estimate is None for estimate in estimates)


def show(comparison: Comparison, *, details: bool = False) -> None:
    """Print a comparison to standard output, the system in detail if asked for."""
    Console(highlight=False, soft_wrap=True).print(render(comparison, details=details))
