"""The sentence that reports agreement in a paper."""

from experiments.agreement.report import Report
from lehner import __version__
from lehner.core.text import counted, decimal, percent
from lehner.interrater.coefficients import Coefficient, printed_name

USUAL = ("krippendorff_alpha", "cohen_kappa")
PLAIN = ("identity", "nominal")


def sentence(report: Report, *, chosen: bool) -> str:
    """Report agreement: who agreed on how many items by how much, with intervals.

    Parameters
    ----------
    report : Report
    chosen : bool
        Whether its coefficients were chosen, and all are reported; else Krippendorff's alpha, which
        is ordinal for ordered categories, or Cohen's kappa of a table of probabilities.

    Returns
    -------
    str
    """
    agreement = report.agreement
    reported = agreement.coefficients
    if not chosen:
        weights = reported[-1].weights
        usual = {one.name: one for one in reported if one.weights == weights}
        found = [usual[name] for name in USUAL if name in usual]
        reported = (next((one for one in found if one.estimate is not None), found[0]),)
    items = "" if agreement.n_items is None else f" of {counted(agreement.n_items, 'item')}"
    categories = counted(len(report.categories), "category", "categories")
    *values, last = (_value(one, agreement.level) for one in reported)
    listed = f"{', '.join(values)} and {last}" if values else last
    return (
        f"In {report.of}{items} ({categories}), agreement was {listed}, computed with lehner "
        f"{__version__}."
    )


def _value(one: Coefficient, level: float) -> str:
    weights = "" if one.weights in PLAIN else f" with {one.weights.replace('_', ' ')} weights"
    if one.estimate is None:
        return f"{printed_name(one.name)}{weights} ({one.note})"
    interval = ""
    if one.lower is not None and one.upper is not None:
        interval = f" ({percent(level)} interval {decimal(one.lower)} to {decimal(one.upper)})"
    return f"{printed_name(one.name)}{weights} = {decimal(one.estimate)}{interval}"
