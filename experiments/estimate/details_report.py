"""The system in detail for people: tables on the terminal and in LaTeX."""

from collections.abc import Sequence
from functools import partial
from math import floor, log10

from rich.text import Text

from experiments.estimate.details import Details
from experiments.reporting.latex import latex_table
from experiments.reporting.method_style import method_label
from experiments.reporting.terminal import line
from experiments.reporting.text_table import bold_blocks
from lehner import IntervalEstimate, SystemPerformance
from lehner.core.number_format import percent, short, with_interval
from lehner.performance.measures import BY_CATEGORY, OF_ALL_CATEGORIES

NAMES = {
    "recall": "recall",
    "precision": "precision",
    "specificity": "specificity",
    "f1": "F1",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "kappa_with_truth": "kappa with the truth",
    "expected_cost": "expected cost",
}
MOST_WITH_INTERVALS = 4


def render_details(details: Details, width: int = 80) -> list[Text]:
    """Lay out each method's confusion matrix and measures for the terminal.

    Parameters
    ----------
    details : sequence of SystemPerformance or None
    width : int
        Into which the tables fit.

    Returns
    -------
    list of rich.text.Text
    """
    parts: list[Text] = []
    for one in details:
        if one is not None:
            parts += [*_of_method(one, width), line()]
    return parts


def _of_method(details: SystemPerformance, width: int) -> list[Text]:
    level = "" if details.level is None else f" [{percent(details.level)} interval]"
    categories = details.arrays["recall"].names["category"]
    title = f"{details.method}: {details.system} in detail{level}"
    lines = [
        line(title, style="bold"),
        *bold_blocks(_matrix(details, "truth \\ answer"), width=width),
    ]
    by_category = [["", *(NAMES[name] for name in BY_CATEGORY)]]
    for category in categories:
        values = (_cell(details.value(name, category)) for name in BY_CATEGORY)
        by_category.append([str(category), *values])
    lines += bold_blocks(by_category, width=width)
    for name in _of_all(details):
        lines.append(line(f"{NAMES[name]}  {_overall(details, name)}"))
    return [*lines, *(line(f"note: {text}") for text in details.notes)]


def _of_all(details: SystemPerformance) -> list[str]:
    return [name for name in (*OF_ALL_CATEGORIES, "expected_cost") if name in details.arrays]


def _matrix(
    details: SystemPerformance, corner: str, most: int | None = MOST_WITH_INTERVALS
) -> list[list[str]]:
    categories = details.arrays["recall"].names["category"]
    intervals = most is None or len(categories) <= most
    rows = [[corner, *map(str, categories)]]
    for truth in categories:
        values = (details.value("confusion", truth, answer) for answer in categories)
        shown = (_cell(one) if intervals else _number(one.estimate) for one in values)
        rows.append([str(truth), *shown])
    return rows


def _overall(details: SystemPerformance, name: str) -> str:
    value = details.value(name)
    return _cell(value, cost_decimals(value.estimate) if name == "expected_cost" else 2)


def cost_decimals(cost: float | None) -> int:
    """Give the decimals with which a cost is shown: two, or more where it is less than .1.

    Examples
    --------
    >>> cost_decimals(10.25), cost_decimals(0.5), cost_decimals(-0.0042)
    (2, 2, 4)
    """
    return 2 if not cost else max(2, 1 - floor(log10(abs(cost))))


def _cell(value: IntervalEstimate, decimals: int = 2) -> str:
    write = partial(short, digits=decimals)
    return with_interval(value.estimate, value.lower, value.upper, write)


def _number(value: float | None) -> str:
    return short(value, 2)


def details_latex(details: Details) -> str:
    """Give the measures of all methods side by side in LaTeX, for the booktabs package.

    Parameters
    ----------
    details : sequence of SystemPerformance or None

    Returns
    -------
    str
    """
    known = [one for one in details if one is not None]
    rows: list[list[str]] = []
    for name in BY_CATEGORY:
        categories = known[0].arrays["recall"].names["category"] if known else []
        rows.append([NAMES[name], *("" for _ in known)])
        for category in categories:
            rows.append([f"  {category}", *(_cell(one.value(name, category)) for one in known)])
    for name in _of_all(known[0]) if known else ():
        rows.append([NAMES[name], *(_overall(one, name) for one in known)])
    return latex_table(["", *(method_label(one.method) for one in known)], rows)


def confusion_latex(details: Details) -> str:
    """Give the confusion matrices of all methods, one below the other, in LaTeX."""
    rows: list[Sequence[str]] = []
    head = [""]
    for one in details:
        if one is not None:
            head, *matrix = _matrix(one, "", most=None)
            rows += [[method_label(one.method), *("" for _ in matrix)]]
            rows += [[f"  {name}", *cells] for name, *cells in matrix]
    return latex_table(head, rows)
