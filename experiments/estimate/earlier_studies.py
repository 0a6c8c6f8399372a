"""What earlier studies do to an estimate: prior beside posterior, and other weights."""

from collections.abc import Iterator
from typing import Any

from experiments.reporting.table import Column, Table
from lehner.core.number_format import decimal
from lehner.estimation.result import SystemResult

TITLE = (
    "Earlier studies as prior of dawid_skene, of the recall of each rater that one is about; and "
    "the system's accuracy by the weight of their items:"
)


def _found(system: SystemResult) -> dict[str, Any]:
    """Look up what earlier studies did; empty if no method has any."""
    known = (one.estimate.diagnostics.get("earlier_studies") for one in system.results)
    return next(filter(None, known), {})


def _corrected(system: SystemResult) -> bool:
    return any(one.correction is not None for one in system.results)


def study_tables(system: SystemResult) -> list[Table]:
    """Lay out prior and posterior of what earlier studies are about, and the estimate by weight.

    There is none if no method has earlier studies.
    """
    found = _found(system)
    if not found:
        return []
    recall = [
        (
            row["rater"],
            row["category"],
            (row["right"], row["items"]),
            row["prior"],
            row["posterior"],
        )
        for row in found["recall"]
    ]
    columns = [
        Column("rater", "earlier study of"),
        Column("category", "recall of"),
        Column("right", "right", lambda right, items: f"{right:.4g}/{items:.4g}"),
        *map(Column, ("prior", "posterior")),
    ]
    names = ("weight", "system_accuracy", "system_accuracy_in_sample")
    title = "without the known truths, weight" if _corrected(system) else "weight"
    heads = [Column("weight", title, _weight)]
    heads += [Column(names[1]), Column(names[2], "in this sample")]
    by_weight = [tuple(row[name] for name in names) for row in found["by_weight"]]
    return [Table(columns=columns, rows=recall, keys=2), Table(columns=heads, rows=by_weight)]


def _weight(weight: float) -> str:
    return f"{weight:g}"


def study_lines(system: SystemResult) -> Iterator[str]:
    """Say whose earlier studies entered, and what their weight does to the accuracy."""
    found = _found(system)
    if found:
        names = ", ".join(dict.fromkeys(row["rater"] for row in found["recall"]))
        accuracies = ", ".join(
            f"{decimal(row['system_accuracy_in_sample'].estimate)} at {row['weight']:g}"
            for row in found["by_weight"]
        )
        truths = ", without the known truths" if _corrected(system) else ""
        yield f"Accuracy by the weight of earlier studies{truths}: {accuracies} (of {names})"
