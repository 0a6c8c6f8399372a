"""A plan for people, as JSON and as files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.planning.plan import WHOLE, Plan, Question, curves, plain_size, trade_off
from experiments.reporting.files import write_csv, write_figure, write_text
from experiments.reporting.terminal import json_text
from experiments.reporting.text_table import text_table
from lehner import SampleSize

if TYPE_CHECKING:
    import pandas as pd

MOST_REASONS_SHOWN = 4
NONE = "–"
VIOLATION = (
    "Violation 0: the K-properties hold. 1: raters, items and errors differ as in the paper's "
    "Figures 8-14."
)


def heading(question: Question) -> str:
    """Say what is asked, whatever the violation."""
    truth = {
        "system_accuracy": "the system's expected accuracy",
        "system_accuracy_in_sample": "the share of these items the system gets right",
    }[question.estimand]
    return (
        f"{question.n_categories} categories, {question.n_raters} raters who agree with kappa "
        f"{question.kappa:g}; method {question.method}.\n"
        f"Items needed to be within {question.within:g} of {truth} with probability "
        f"{question.confidence:g}, ± Monte Carlo standard error:\n"
    )


def show(plans: Sequence[Plan]) -> str:
    """Lay plans that differ in their violation out for the terminal, below their heading.

    Parameters
    ----------
    plans : sequence of Plan

    Returns
    -------
    str
    """
    return "\n".join([*text_table(list(_rows(plans))), "", *_notes(plans), VIOLATION])


def _rows(plans: Sequence[Plan]) -> Iterator[list[str]]:
    yield ["", *(f"violation {plan.question.violation:g}" for plan in plans)]
    yield ["rater accuracy", *(_raters(plan.rater_accuracy) for plan in plans)]
    for accuracy in plans[0].by_accuracy:
        yield [_named(accuracy), *(_size(plan.by_accuracy[accuracy]) for plan in plans)]
    if plans[0].worst:
        yield ["on average over these", *(_size(plan.mean) for plan in plans)]
        yield ["worst of these", *(_size(plan.worst[1]) for plan in plans if plan.worst)]
    else:
        (accuracy,) = plans[0].question.system_accuracies
        yield [_named(accuracy), *(_size(plan.mean) for plan in plans)]


def _named(accuracy: float) -> str:
    return f"system accuracy {accuracy:g}"


def _raters(accuracy: Sequence[float]) -> str:
    if min(accuracy) == max(accuracy):
        return f"{accuracy[0]:.2f}"
    shown = accuracy if len(accuracy) <= MOST_REASONS_SHOWN else (accuracy[0], accuracy[-1])
    return (" " if shown is accuracy else " … ").join(f"{x:.2f}" for x in shown)


def _size(size: SampleSize) -> str:
    if size.n_items is None or size.standard_error is None:
        return NONE
    return number_of_items(size.n_items, size.standard_error)


def number_of_items(n_items: int, error: float) -> str:
    """Write a number of items with its standard error."""
    return f"{n_items:,} ± {error:.{0 if error >= 1 else 1}f}"


def _notes(plans: Sequence[Plan]) -> Iterator[str]:
    for plan in plans:
        sizes = {"on average": plan.mean} | {_named(a): s for a, s in plan.by_accuracy.items()}
        for name, size in sizes.items():
            if size.note:
                where = f", {name}" if plan.by_accuracy else ""
                yield f"Violation {plan.question.violation:g}{where}: {size.note}."


def to_json(plans: Sequence[Plan]) -> str:
    """Give plans as one JSON object."""
    return json_text({"plans": [plan.to_dict() for plan in plans]})


def answers(plans: Sequence[Plan]) -> "pd.DataFrame":
    """Give a row for each violation and accuracy of the system, and for their mean."""
    import pandas as pd

    rows = []
    for plan in plans:
        sizes: dict[str, SampleSize] = {f"{a:g}": size for a, size in plan.by_accuracy.items()}
        name = "mean" if sizes else f"{plan.question.system_accuracies[0]:g}"
        for accuracy, size in (sizes | {name: plan.mean}).items():
            violation = plan.question.violation
            rows.append({"violation": violation, "system_accuracy": accuracy, **plain_size(size)})
    return pd.DataFrame(rows).astype(dict.fromkeys(WHOLE, "Int64"))


def write(plans: Sequence[Plan], folder: Path, seed: int) -> Iterator[Path]:
    """Write plans that differ in their violation, and the trade-off with the number of raters.

    Parameters
    ----------
    plans : sequence of Plan
    folder : Path
        Made if it is not there. Each file appears whole or not at all.
    seed : int
        Of the trade-off.

    Yields
    ------
    Path
        `plan.json`, `plan.csv`, `probability.csv`, `raters_and_items.csv`, `.pdf` and `.png`;
        the last three not if categories are too many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    question = plans[0].question
    yield write_text(to_json(plans) + "\n", folder / "plan.json")
    yield write_csv(answers(plans), folder / "plan.csv")
    yield write_csv(curves(plans), folder / "probability.csv")
    table = trade_off(question, [plan.question.violation for plan in plans], seed)
    if table.empty:
        return
    from experiments.planning.plan_figure import plot_trade_off

    yield write_csv(table, folder / "raters_and_items.csv")
    yield from write_figure(plot_trade_off(table, question), folder, "raters_and_items")
