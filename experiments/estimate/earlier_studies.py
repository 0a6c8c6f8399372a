"""What earlier studies do to an estimate: prior beside posterior, and other weights."""

from collections.abc import Iterator
from typing import Any

from experiments.reporting.table import Column, Table
from lehner.core.text import decimal
from lehner.estimation.result import SystemResult

TITLE = (
    "Earlier studies as prior (other methods ignore them): how often each rater that one is about "
    "is right; and the system's accuracy by the weight of the studies' items:"
)


def _found(system: SystemResult) -> dict[str, dict[str, Any]]:
    """What each method with earlier studies found."""
    known = {one.method: one.estimate.diagnostics.get("earlier_studies") for one in system.results}
    return {method: found for method, found in known.items() if found}


def _corrected(system: SystemResult) -> bool:
    return any(one.correction is not None for one in system.results)


def study_tables(system: SystemResult) -> list[Table]:
    """Lay out prior and posterior of what earlier studies are about, and the estimate by weight.

    There is none if no method has earlier studies.
    """
    found = _found(system)
    if not found:
        return []
    raters = [
        (
            method,
            row["rater"],
            row["category"] or "any",
            (row["right"], row["items"]),
            row["prior"],
            row["posterior"],
        )
        for method, told in found.items()
        for row in told["raters"]
    ]
    columns = [
        Column("method"),
        Column("rater", "study of"),
        Column("category"),
        Column("right", "right", lambda right, items: f"{right:.4g}/{items:.4g}"),
        *map(Column, ("prior", "posterior")),
    ]
    names = ("weight", "system_accuracy", "system_accuracy_in_sample")
    title = "without the known truths, weight" if _corrected(system) else "weight"
    heads = [Column("method"), Column("weight", title, _weight)]
    heads += [Column(names[1]), Column(names[2], "in this sample")]
    by_weight = [
        (method, *(row[name] for name in names))
        for method, told in found.items()
        for row in told["by_weight"]
    ]
    return [
        Table(columns=columns, rows=raters, keys=3),
        Table(columns=heads, rows=by_weight, keys=2),
    ]


def _weight(weight: float) -> str:
    return f"{weight:g}"


def study_lines(system: SystemResult) -> Iterator[str]:
    """Say whose earlier studies entered, and what their weight does to the accuracy."""
    truths = ", without the known truths" if _corrected(system) else ""
    for method, told in _found(system).items():
        names = ", ".join(dict.fromkeys(row["rater"] for row in told["raters"]))
        accuracies = ", ".join(
            f"{decimal(row['system_accuracy_in_sample'].estimate)} at {row['weight']:g}"
            for row in told["by_weight"]
        )
        yield f"{method} by the weight of earlier studies{truths}: {accuracies} (of {names})"
