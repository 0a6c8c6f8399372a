"""The sentence that reports an estimate in a paper."""

from experiments.reporting.method_style import method_label
from lehner import Comparison, __version__
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import counted, decimal, percent
from lehner.estimation.result import MethodResult, SystemResult

OF_SYSTEM = {
    "like": "assuming that the system is like its raters",
    "better": "assuming that the system is mostly better than its raters",
    "unknown": "without assuming that the system is better than its raters",
}


def sentences(comparison: Comparison) -> list[str]:
    """Report each system's accuracy in its items in a sentence, by the result to report.

    Parameters
    ----------
    comparison : Comparison
        As `lehner.estimate` returns it.

    Returns
    -------
    list of str
        One for each system, or why there is no estimate.
    """
    return [_sentence(system) for system in comparison.systems]


def _sentence(system: SystemResult) -> str:
    ratings, name, first = system.ratings, system.ratings.systems[0], system.reported
    if first is None:
        return f"The accuracy of {name} cannot be estimated from these ratings."
    rated = f"{counted(ratings.n_ratings, 'rating')} by {counted(ratings.n_raters, 'rater')}"
    truths = "" if not _n_known(system) else f" and {counted(_n_known(system), 'known truth')}"
    return (
        f"On these {counted(ratings.n_items, 'item')} the accuracy of {name} was estimated at "
        f"{_with_interval(first.estimate.system_accuracy_in_sample)} from {rated}{truths}, "
        f"{_how(first)} (lehner {__version__})."
    )


def _n_known(system: SystemResult) -> int:
    truth = system.known_truth
    return truth.n_items if truth is not None and truth.used else 0


def _with_interval(value: IntervalEstimate) -> str:
    assert value.estimate is not None
    if value.lower is None or value.upper is None or value.level is None:
        return decimal(value.estimate)
    ends = f"{decimal(value.lower)} to {decimal(value.upper)}"
    return f"{decimal(value.estimate)} ({percent(value.level)} interval {ends})"


def _how(one: MethodResult) -> str:
    found = one.estimate.diagnostics
    if "system_is" not in found:
        assumed = f", if {one.assumes}" if one.assumes else ""
        corrected = ", corrected by the known truths" if one.correction is not None else ""
        return f"by the method “{method_label(one.method)}”{corrected}{assumed}"
    return (
        f"given its agreement of {decimal(found['agreement'])} with the majority, by an empirical "
        f"prior learned on {found['crowds']} crowds of {found['families']} families whose truth is "
        f"known, {OF_SYSTEM[found['system_is']]}"
    )
