"""Tables of a comparison: the system's accuracy with a row a method, raters with a column each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.estimate.comparison import Comparison
from experiments.estimate.details import recall_and_precision
from experiments.estimate.quantities import with_intervals
from experiments.estimate.sensitivity import widened_columns
from lehner import Estimate
from lehner.core.estimate import number
from lehner.core.number_format import decimal, percent, probability
from lehner.core.wording import counted

if TYPE_CHECKING:
    from bayes_models import KPropertyParameter
    from bayes_models.posterior.predictions import Prediction

type Rows = list[list[str]]
MOST_COLUMNS = 4


def accuracy_rows(comparison: Comparison) -> Rows:
    """Give the system's accuracy by each method, expected and in this sample."""
    estimates = comparison.estimates
    levels = [e.system_accuracy.level for e in estimates if e.system_accuracy.level]
    title = f"[{percent(levels[0])} interval]" if levels else "method"
    rows = [[title, "system accuracy", "in this sample"]]
    for one in estimates:
        rows.append([one.method, str(one.system_accuracy), str(one.system_accuracy_in_sample)])
    columns = widened_columns(comparison.sensitivities)
    if len(estimates) > MOST_COLUMNS:
        columns.append(["mean rater accuracy", *map(_mean_rater_accuracy, estimates)])
    return [row + [column[i] for column in columns] for i, row in enumerate(rows)]


def rater_rows(comparison: Comparison, *, limit: int | None) -> Rows:
    """Give recall and precision of the system, accuracy of raters and base rates.

    Parameters
    ----------
    comparison : Comparison
    limit : int, optional
        How many raters, and categories, are shown at most.

    Returns
    -------
    list of rows
        The head first, then a column for each method that says something of these; empty if none
        does.
    """
    methods = [one.method for one in comparison.estimates]
    rows = [["", *methods], *recall_and_precision(comparison.details, limit)]
    both = list(zip(comparison.estimates, comparison.details, strict=True))
    for title, quantity in (("rater accuracy", "rater_accuracy"), ("base rate", "base_rates")):
        values = [with_intervals(estimate, details, quantity) for estimate, details in both]
        labels = list(dict.fromkeys(label for one in values for label in one))
        if labels:
            rows.append([title, *("" for _ in methods)])
        for label in labels[:limit]:
            rows.append([f"  {label}", *(str(one.get(label, "")) for one in values)])
        if limit is not None and len(labels) > limit:
            rows.append([f"  … and {len(labels) - limit} more", *("" for _ in methods)])
    filled = [j for j in range(1, len(rows[0])) if any(row[j] for row in rows[1:])]
    return [[row[j] for j in (0, *filled)] for row in rows] if filled else []


def correction_rows(comparison: Comparison) -> Rows:
    """Give the estimates that known truths correct."""
    first = next(iter(comparison.corrections.values()))
    rows = [
        [
            f"{counted(first.n_known, 'known truth')}",
            "in this sample",
            "the same by PPI++",
            "system accuracy",
        ],
        ["known items alone", str(first.known_items_alone), "", ""],
    ]
    for estimate in comparison.estimates:
        correction = comparison.corrections.get(estimate.method)
        if correction is not None:
            shown = (
                correction.system_accuracy_in_sample,
                correction.prediction_powered,
                correction.system_accuracy,
            )
            rows.append([estimate.method, *map(str, shown)])
    return rows


def prediction_rows(predictions: "Sequence[Prediction]") -> Rows:
    """Give how well models predict items left out."""
    rows = [["model", "elpd", "below the best", "weight", "caution"]]
    for one in predictions:
        below = _plus_minus(one.difference, one.difference_se) if one.difference else ""
        elpd = _plus_minus(one.elpd, one.se)
        rows.append([one.method, elpd, below, decimal(one.weight, 2), one.warning])
    return rows


def _plus_minus(value: float, error: float) -> str:
    return f"{decimal(value, 1)} ± {decimal(error, 1)}"


def k_property_rows(dials: "Sequence[KPropertyParameter]") -> Rows:
    """Give what `relaxed_k` found of each K-property: its name in a line above its numbers."""
    signed = any(dial.probability_of_direction is not None for dial in dials)
    head = ["K-property, parameter", "estimate", "Bayes factor", "verdict"]
    if signed:
        head.insert(2, "P(sign)")
    rows = [head]
    for dial in dials:
        sign = dial.probability_of_direction
        cells = [f"  {dial.name}", str(dial.value), dial.evidence(), dial.verdict()]
        if signed:
            cells.insert(2, "" if sign is None else probability(sign))
        rows += [[dial.k_property], cells]
    return rows


def _mean_rater_accuracy(estimate: Estimate) -> str:
    raters = estimate.rater_accuracy
    return "" if raters is None else decimal(number(raters.mean()))
