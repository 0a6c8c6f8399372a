"""Known truths: tables of the estimates that they correct."""

from collections.abc import Sequence

from experiments.estimate.layout import Row, method_columns, rows_under, side_by_side
from experiments.reporting.table import Column, Table
from lehner.core.number_format import decimal, percent, with_interval
from lehner.core.wording import counted
from lehner.estimation.known_truths import KnownTruth, PartCorrection, uses_truths
from lehner.estimation.result import MethodResult, SystemResult

CORRECTED = "Accuracy of the system, corrected by the known truths:"
NOT_SEEN = "The same without the known truths:"
CORRECTED_PARTS = "In parts of this sample, corrected by the known truths there:"
BY_PPI = (
    "PPI++: with 20 known truths its intervals that should hold in 90% held in 83% of real systems."
)
NOT_RANDOM = (
    "† rests on a random choice of the known items, which they probably are not; the others depend "
    "on it less."
)
NOT_CORRECTED = (
    "Recall, the confusion matrix and the other measures of the system are without the known "
    "truths: too few known items have one given truth."
)


def correction_table(results: Sequence[MethodResult]) -> Table:
    """Estimates that known truths correct, of one method at least, and those made with them.

    If the known items are no random sample, those that rest on one are marked.
    """
    warned = {warning.code for one in results for warning in one.estimate.warnings}
    mark = " †" if "truths-not-random" in warned else ""
    corrections = {one.method: one.correction for one in results if one.correction is not None}
    first = next(iter(corrections.values()))
    columns = [
        Column("method", counted(first.n_known, "known truth")),
        Column("system_accuracy_in_sample", "in this sample"),
        Column("prediction_powered", f"the same by PPI++{mark}"),
        Column("system_accuracy", "system accuracy"),
    ]
    rows: list[Row] = [
        (f"{one.method}{mark}", accuracy.system_accuracy_in_sample, None, accuracy.system_accuracy)
        for one in results
        if one.correction is None and uses_truths(accuracy := one.estimate)
    ]
    rows += [
        (method, one.system_accuracy_in_sample, one.prediction_powered, one.system_accuracy)
        for method, one in corrections.items()
    ]
    rows.append((f"known items alone{mark}", first.known_items_alone, None, None))
    notes = (BY_PPI, NOT_RANDOM) if mark else (BY_PPI,)
    return Table(columns=columns, rows=rows, notes=notes)


def part_tables(
    results: Sequence[MethodResult], group_column: str = "", most: int | None = None
) -> list[Table]:
    """Accuracies in parts of the items that known truths correct, a column for each method.

    Parameters
    ----------
    results : sequence of MethodResult
        Of one system.
    group_column : str
        By which there are groups.
    most : int, optional
        How many answers of the system, and groups, are shown at most.

    Returns
    -------
    list of Table
        None if there are no parts with known truths.
    """
    corrected = {one.method: one.corrected.parts for one in results if one.corrected is not None}
    corrected = {method: parts for method, parts in corrected.items() if parts}
    if not corrected:
        return []
    rows: list[Row] = []
    for part, heading in (("precision", "precision"), ("groups", f"accuracy by {group_column}")):
        own = [
            {_name(one): one.accuracy for one in parts if one.part == part}
            for parts in corrected.values()
        ]
        rows += rows_under(heading, side_by_side(own), most)
    columns = [Column("part", ""), Column("label", ""), *method_columns(list(corrected))]
    return [Table(columns=columns, rows=rows, keys=2, headings=True)]


def _name(one: PartCorrection) -> str:
    return f"{one.label} ({one.n_known} of {one.n_items} known)"


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
    return (
        f"{with_interval(truth.system_accuracy, truth.lower, truth.upper)} ({percent(truth.level)} "
        "interval by Wilson for all these items)"
    )
