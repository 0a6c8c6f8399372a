"""Known truths: tables of the estimates that they correct."""

from collections.abc import Sequence
from dataclasses import replace

from experiments.estimate.details import recall_and_precision
from experiments.estimate.layout import MOST_SHOWN, Row, method_columns
from experiments.reporting.table import Column, Table
from lehner.core.estimate import ESTIMANDS
from lehner.core.text import counted, decimal, percent, with_interval
from lehner.estimation.known_truths import KnownTruth, uses_truths
from lehner.estimation.result import MethodResult, SystemResult
from lehner.known_truths.posterior import WEIGHTED

ALONE = "without the known truths"
CORRECTED = "Accuracy of the system, corrected by the known truths:"
NOT_SEEN = "The same without the known truths:"
BY_PPI = (
    "PPI++: with 20 known truths its intervals that should hold in 90% held in 83% of real systems."
)
NOT_RANDOM = (
    "† rests on a random choice of the known items, which they probably are not; the others depend "
    "on it less."
)


def correction_table(results: Sequence[MethodResult]) -> Table:
    """Estimates that known truths correct, of one method at least, and those made with them.

    If the known items are no random sample, those that rest on one are marked.
    """
    warned = {warning.code for one in results for warning in one.estimate.warnings}
    corrections = {one.method: one.correction for one in results if one.correction is not None}
    first = next(iter(corrections.values()))
    # With weights, all rows rest on the choice alike.
    weighted = first.known_items_alone.kind == WEIGHTED
    mark = " †" if "truths-not-random" in warned and not weighted else ""
    columns = [
        Column("method", counted(first.n_known, "known truth")),
        Column("system_accuracy_in_sample", "in this sample"),
        Column("prediction_powered", f"the same by PPI++{mark}"),
        Column("system_accuracy", "system accuracy"),
    ]
    rows: list[Row] = [
        (f"{one.method}{mark}", in_sample, None, expected)
        for one in results
        if one.correction is None and uses_truths(one.estimate)
        for expected, in_sample in [
            (replace(getattr(one.estimate, name), corrected=False) for name in ESTIMANDS)
        ]
    ]
    rows += [
        (method, one.system_accuracy_in_sample, one.prediction_powered, one.system_accuracy)
        for method, one in corrections.items()
    ]
    rows.append((f"known items alone{mark}", first.known_items_alone, None, None))
    notes = (BY_PPI, NOT_RANDOM) if mark else (BY_PPI,)
    return Table(columns=columns, rows=rows, notes=notes)


def uncorrected_table(results: Sequence[MethodResult]) -> Table:
    """Recall and precision without the known truths, where these correct a method."""
    found = [one.uncorrected for one in results if one.uncorrected is not None]
    columns = [Column("quantity", ""), Column("label", ALONE)]
    columns += method_columns([one.method for one in found])
    rows = recall_and_precision([one.details for one in found], MOST_SHOWN)
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def known_truth_line(system: SystemResult) -> str:
    """Say how the system does on the items whose truth is known, and what they are used for."""
    truth = system.known_truth
    assert truth is not None
    use = "these truths correct the estimates"
    if not truth.used:
        use = "all truths are known, and the methods do not use them"
    elif any(
        uses_truths(one.estimate) and not one.allows_shared_mistakes for one in system.results
    ):
        use = "the models use these truths"
    return (
        f"On the {counted(truth.n_items, 'item')} with known truth the system's accuracy is "
        f"{proportion_right(truth)}; {use}"
    )


def proportion_right(truth: KnownTruth) -> str:
    """Say on which proportion of the known items the system is right, with its interval."""
    if truth.level is None:
        return f"{decimal(truth.system_accuracy)}, exact for this sample"
    by = "with weights" if truth.weighted else "by Wilson"
    return (
        f"{with_interval(truth.system_accuracy, truth.lower, truth.upper)} ({percent(truth.level)} "
        f"interval {by} for all these items)"
    )
