"""Tables of methods side by side: accuracies, raters, predictions, K-properties, disagreements."""

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from experiments.estimate.details import recall_and_precision
from experiments.estimate.layout import (
    MOST_SHOWN,
    Names,
    Row,
    method_columns,
    rows_under,
    side_by_side,
)
from experiments.reporting.table import Cell, Column, Table
from lehner.core.estimate import Estimate
from lehner.core.text import counted, decimal, percent, probability
from lehner.estimation.known_truths import uses_truths
from lehner.estimation.methods import INDEPENDENT
from lehner.estimation.result import SystemResult

if TYPE_CHECKING:
    from bayes_models import KPropertyParameter
    from bayes_models.posterior.predictions import Prediction

MOST_COLUMNS = 5
MOST_PAIRS_OF_METHODS = 6
ORDER = ("", INDEPENDENT, "the majority is right")
"""The order of assumptions in a table of accuracies."""
OF_SYSTEM = {
    "like": "where the system was like its raters (--system-is like)",
    "better": "where the system was mostly better than its raters (--system-is better)",
    "unknown": "where the system was like its raters or better (if known, say it by --system-is)",
}
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


def level_title(estimates: Sequence[Estimate], otherwise: str) -> str:
    """Say the probability of the intervals, if there are any."""
    levels = (one.system_accuracy.level for one in estimates)
    level = next(filter(None, levels), None)
    return otherwise if level is None else f"[{percent(level)} interval]"


def accuracy_table(system: SystemResult, names: Names = str, *, truths: bool = True) -> Table:
    """Accuracy of the system by each method, expected and in this sample.

    Methods stand below what they assume; first those whose estimate rests on no such thing.
    Without `truths`, methods whose estimate known truths entered are left out.
    """
    columns = [
        Column("assumes", ""),
        Column("method", "" if truths else "without the known truths", names=names),
        Column("system_accuracy", "system accuracy"),
        Column("system_accuracy_in_sample", "in this sample"),
    ]
    if len(system.results) > MOST_COLUMNS:
        columns.append(Column("mean_rater_accuracy"))
    rows: list[list[Cell]] = []
    for one in sorted(system.results, key=lambda one: ORDER.index(one.assumes)):
        if not truths and uses_truths(one.estimate):
            continue
        estimate = one.estimate if truths else one.without_truths.estimate
        both = estimate.system_accuracy, estimate.system_accuracy_in_sample
        cells: list[Cell] = [one.assumes and f"if {one.assumes}", one.method, *both]
        raters = estimate.arrays.get("rater_accuracy")
        cells.append(None if raters is None else float(raters.values.mean()))
        rows.append(cells[: len(columns)])
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def accuracy_notes(system: SystemResult, width: int) -> list[str]:
    """Say what `calibrated` rests on, if it is there, and what needs no model at all."""
    notes = []
    found = [one.diagnostics for one in system.estimates if "system_is" in one.diagnostics]
    if found:
        notes.append(
            f"calibrated: what agreement with the majority meant in {found[0]['crowds']} crowds of "
            f"{found[0]['families']} families whose truth is known, "
            f"{OF_SYSTEM[found[0]['system_is']]}."
        )
    if system.mistakes_needed is not None:
        notes.append(f"Without any model, {system.mistakes_needed} (lehner bounds).")
    return [text for note in notes for text in wrap(note, width)]


def rater_tables(system: SystemResult, names: Names = str, most: int | None = None) -> list[Table]:
    """Recall and precision of the system, accuracy of raters and base rates, by each method.

    Parameters
    ----------
    system : SystemResult
        What is known of a system.
    names : callable
        From the name of a method to what people read.
    most : int, optional
        How many raters, and categories, are shown at most.

    Returns
    -------
    list of Table
        One with a column for each method that says something of these; none if no method does.
    """
    rows = recall_and_precision([one.details for one in system.results], most)
    for heading, quantity in (("rater accuracy", "rater_accuracy"), ("base rate", "base_rates")):
        values = [one.with_intervals(quantity) for one in system.results]
        rows += rows_under(heading, side_by_side(values), most)
    columns = [Column("quantity", ""), Column("label", "")]
    columns += method_columns([one.method for one in system.results], names)
    filled = [j for j in range(2, len(columns)) if any(row[j] is not None for row in rows)]
    if not filled:
        return []
    shown = [0, 1, *filled]
    rows = [tuple(row[j] for j in shown) for row in rows]
    return [Table(columns=[columns[j] for j in shown], rows=rows, keys=2, headings=True)]


def prediction_table(predictions: "Sequence[Prediction]") -> Table:
    """Predictive density of each model for items left out."""
    columns = [
        Column("method", "model"),
        Column("elpd", "elpd", _plus_minus, fields=("elpd", "se")),
        Column("difference", "below the best", _plus_minus, fields=("difference", "difference_se")),
        Column("weight", "weight", lambda weight: decimal(weight, 2)),
        Column("warning", "caution"),
    ]
    rows: list[Row] = []
    for one in predictions:
        below = (one.difference, one.difference_se) if one.difference else None
        rows.append((one.method, (one.elpd, one.se), below, one.weight, one.warning))
    return Table(columns=columns, rows=rows)


def _plus_minus(value: float, error: float) -> str:
    return f"{decimal(value, 1)} ± {decimal(error, 1)}"


def k_property_table(found: "Sequence[KPropertyParameter]") -> Table:
    """Evidence in a fit of `relaxed_k` on each K-property: its name in a line above its numbers."""
    columns = [
        Column("k_property", ""),
        Column("parameter", "K-property, parameter"),
        Column("estimate"),
        Column("probability_of_direction", "P(sign)", probability),
        # What is no single number stands at the right, as numbers do.
        Column("bayes_factor", "Bayes factor", str, fields=("bayes_factor",)),
        Column("verdict", "verdict", str, fields=("verdict",)),
    ]
    rows: list[Row] = [
        (
            one.k_property,
            one.name,
            one.value,
            one.probability_of_direction,
            (one.evidence(),),
            (one.verdict(),),
        )
        for one in found
    ]
    if all(one.probability_of_direction is None for one in found):
        del columns[3]
        rows = [(*row[:3], *row[4:]) for row in rows]
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def disagreement_lines(system: SystemResult) -> list[str]:
    """Say by how much the estimates of the methods differ, and which contradict one another."""
    numbers = {
        one.method: one.system_accuracy.estimate
        for one in _with_truth(system)
        if one.system_accuracy.estimate is not None
    }
    if len(numbers) < 2:
        return []
    low, high = (choose(numbers, key=numbers.__getitem__) for choose in (min, max))
    spread = (
        f"Estimates of the system's accuracy go from {decimal(numbers[low])} ({low}) to "
        f"{decimal(numbers[high])} ({high})"
    )
    apart = [" and ".join(one.methods) for one in system.disagreements if one.inside is False]
    if not apart:
        return [f"{spread}; no method's estimate lies outside another's interval."]
    more = len(apart) - MOST_PAIRS_OF_METHODS
    shown = [*apart[:MOST_PAIRS_OF_METHODS], *([f"{more} more"] if more > 0 else [])]
    return [f"{spread}; outside one another's intervals: {'; '.join(shown)}."]


def disagreement_tables(system: SystemResult) -> tuple[str, list[Table]]:
    """Heading and table of items whose most probable category differs, the first twelve."""
    names = {item for found in system.disagreements for item in found.items}
    if not names:
        return "", []
    ratings, estimates = system.ratings, _with_truth(system)
    some = f", of which these are the first {MOST_SHOWN}" if len(names) > MOST_SHOWN else ""
    heading = (
        "Methods differ in the most probable category of "
        f"{counted(len(names), 'row' if ratings.grouped else 'item')}{some} (a|b: these tie):"
    )
    places = [place for place, item in enumerate(ratings.items) if str(item) in names]
    # A tuple of one text stands at the right, as numbers do.
    rows: list[Row] = [
        (
            str(ratings.items[place]),
            *((_most_probable(one, place, ratings.categories),) for one in estimates),
        )
        for place in places[:MOST_SHOWN]
    ]
    columns = [Column("item"), *method_columns([one.method for one in estimates], write=str)]
    return heading, [Table(columns=columns, rows=rows)]


def _with_truth(system: SystemResult) -> list[Estimate]:
    compared = {name for found in system.disagreements for name in found.methods}
    return [one for one in system.estimates if one.method in compared]


def _most_probable(estimate: Estimate, row: int, categories: Sequence[object]) -> str:
    probabilities = estimate.arrays["truth_probabilities"].values[row]
    best = np.isclose(probabilities, probabilities.max())
    return "|".join(str(name) for name, is_best in zip(categories, best, strict=True) if is_best)
