"""A plan for people, as JSON and as files."""

from collections.abc import Iterator, Sequence
from math import isnan, nan
from pathlib import Path

from experiments.planning.plan import SIZE, Plan, Question, curves, plain_size, trade_off
from experiments.report.files import write_csv, write_text
from experiments.report.table import Cell, Column, Table, to_csv, to_terminal
from experiments.report.terminal import json_text, terminal_width
from lehner.core.text import DASH
from lehner.planning.sample_size import SampleSize

MOST_RATERS_SHOWN = 4
VIOLATION = (
    "Violation 0: the K-properties hold. 1: raters, items and errors differ as in the paper's "
    "Figures 8-14."
)


def heading(question: Question) -> str:
    """Say what is asked, whatever the violation."""
    truth = {
        "system_accuracy": "the system's expected accuracy",
        "system_accuracy_in_sample": "the proportion of these items that the system gets right",
    }[question.estimand]
    return (
        f"{question.n_categories} categories, {question.n_raters} raters who agree with kappa "
        f"{question.kappa:g}; method {question.method}.\n"
        f"Items needed to be within {question.within:g} of {truth} with probability "
        f"{question.confidence:g}, ± Monte Carlo standard error:\n{clusters(question)}"
    )


def clusters(question: Question) -> str:
    """Say how items are clustered, if they are."""
    effect = question.design_effect
    if effect == 1:
        return ""
    return (
        f"(items are in clusters of {question.cluster_size:g} with an intraclass correlation of "
        f"{question.icc:g}: {effect:.3g} times as many as of independent items)\n"
    )


def show(plans: Sequence[Plan]) -> str:
    """Lay plans that differ in their violation out for the terminal, below their heading."""
    return "\n".join(map(str, to_terminal(table(plans), terminal_width())))


def table(plans: Sequence[Plan]) -> Table:
    """Items needed with each accuracy of the system, a column for each plan."""
    titles = [f"violation {plan.question.violation:g}" for plan in plans]
    rows: list[tuple[Cell, ...]] = [
        ("rater accuracy", *(_raters(plan.rater_accuracy) for plan in plans))
    ]
    for accuracy in plans[0].by_accuracy:
        rows.append((_named(accuracy), *(_size(plan.by_accuracy[accuracy]) for plan in plans)))
    means = [_size(plan.mean) for plan in plans]
    if plans[0].worst:
        rows.append(("on average over these", *means))
        rows.append(("worst of these", *(_size(plan.worst[1]) for plan in plans if plan.worst)))
    else:
        rows.append((_named(*plans[0].question.system_accuracies), *means))
    return Table(
        columns=[Column("", ""), *(Column(one, one, number_of_items) for one in titles)],
        rows=rows,
        notes=[*_notes(plans), VIOLATION],
    )


def _named(accuracy: float) -> str:
    return f"system accuracy {accuracy:g}"


def _raters(accuracy: Sequence[float]) -> str:
    if min(accuracy) == max(accuracy):
        return f"{accuracy[0]:.2f}"
    shown = accuracy if len(accuracy) <= MOST_RATERS_SHOWN else (accuracy[0], accuracy[-1])
    return (" " if shown is accuracy else " … ").join(f"{x:.2f}" for x in shown)


def _size(size: SampleSize) -> tuple[float, float]:
    if size.n_items is None or size.standard_error is None:
        return nan, nan
    return size.n_items, size.standard_error


def number_of_items(n_items: float, error: float) -> str:
    """Write a number of items with its standard error; a dash for NaN."""
    if isnan(n_items) or isnan(error):
        return DASH
    return f"{n_items:,.0f} ± {error:.{0 if error >= 1 else 1}f}"


def _notes(plans: Sequence[Plan]) -> Iterator[str]:
    for plan in plans:
        sizes = {"on average": plan.mean} | {_named(a): s for a, s in plan.by_accuracy.items()}
        for name, size in sizes.items():
            if size.note:
                where = f", {name}" if plan.by_accuracy else ""
                yield f"Violation {plan.question.violation:g}{where}: {size.note}."


def to_json(plans: Sequence[Plan]) -> str:
    """Plans as one JSON object."""
    return json_text({"plans": [plan.to_dict() for plan in plans]})


def answers(plans: Sequence[Plan]) -> Table:
    """Numbers of items with a row for each violation and accuracy of the system, and their mean."""
    rows = []
    for plan in plans:
        sizes = {f"{accuracy:g}": size for accuracy, size in plan.by_accuracy.items()}
        sizes["mean" if sizes else f"{plan.question.system_accuracies[0]:g}"] = plan.mean
        for accuracy, size in sizes.items():
            rows.append((plan.question.violation, accuracy, *plain_size(size).values()))
    columns = [Column(name) for name in ("violation", "system_accuracy", *SIZE)]
    return Table(columns=columns, rows=rows, keys=2)


def write(plans: Sequence[Plan], folder: Path, seed: int) -> Iterator[Path]:
    """Write plans that differ in their violation, and the items needed with other raters.

    Parameters
    ----------
    plans : sequence of Plan
    folder : Path
        Made if it is not there. Each file appears whole or not at all.
    seed : int
        Of the plans for other numbers of raters.

    Yields
    ------
    Path
        `plan.json`, `plan.csv`, `probability.csv`, and, if categories are not too many for it,
        `raters_and_items.csv`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    question = plans[0].question
    yield write_text(to_json(plans) + "\n", folder / "plan.json")
    yield write_text(to_csv(answers(plans)), folder / "plan.csv")
    yield write_csv(curves(plans), folder / "probability.csv")
    table = trade_off(question, [plan.question.violation for plan in plans], seed)
    if not table.empty:
        yield write_csv(table, folder / "raters_and_items.csv")
