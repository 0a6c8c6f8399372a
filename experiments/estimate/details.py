"""The system in detail: tables of its confusion matrix and measures."""

from collections.abc import Sequence
from functools import partial
from math import floor, log10
from typing import TYPE_CHECKING

from experiments.estimate.layout import (
    MOST_SHOWN,
    Names,
    Row,
    method_columns,
    rows_under,
    side_by_side,
)
from experiments.estimate.raters import rater_tables
from experiments.reporting.method_style import method_label
from experiments.reporting.options import as_options
from experiments.reporting.renderers import to_terminal
from experiments.reporting.table import Cell, Column, Table
from experiments.reporting.terminal import line
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import percent, short
from lehner.performance.measures import BY_CATEGORY, OF_ALL_CATEGORIES
from lehner.performance.result import SystemPerformance

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

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
TWO_DIGITS = partial(short, digits=2)

type Details = Sequence[SystemPerformance | None]


def details_frame(details: Details) -> "pd.DataFrame":
    """Make a table with a row for each method and number.

    Returns
    -------
    pandas.DataFrame
        Columns `method`, `system`, `quantity`, `label` (category, rater, or the true category of
        the confusion matrix), `response` (of the confusion matrix), `estimate`, `lower`, `upper`,
        `level`, `kind`, `corrected`.
    """
    import pandas as pd

    columns = ("method", "system", "quantity", "label", "response")
    rows = [
        dict(zip(columns, (one.method, one.system, quantity, *places, "", ""), strict=False))
        | vars(value)
        for one in _known(details)
        for quantity, places, value in one.rows()
    ]
    numbers = ("estimate", "lower", "upper", "level", "kind", "corrected")
    return pd.DataFrame(rows, columns=[*columns, *numbers])


def recall_and_precision(details: Details, most: int | None) -> list[Row]:
    """Rows of recall and precision for the table of methods side by side."""
    rows: list[Row] = []
    for quantity in ("recall", "precision"):
        rows += rows_under(quantity, _by_category(details, quantity), most)
    return rows


def _by_category(details: Details, quantity: str) -> dict[str, list[Cell]]:
    return side_by_side(
        [
            {label: _value(one, quantity, label) for label in _categories(one)} if one else {}
            for one in details
        ]
    )


def render_details(details: Details, width: int = 80) -> "list[Text]":
    """Lay out each method's confusion matrix and measures for the terminal."""
    lines: list[Text] = []
    for one in _known(details):
        level = "" if one.level is None else f" [{percent(one.level)} interval]"
        lines.append(line(f"{one.method}: {one.system} in detail{level}", style="bold"))
        for table in (confusion_table(one), measures_table(one)):
            lines += to_terminal(table, width)
        lines += [line(f"{NAMES[name]}  {_overall(one, name)}") for name in _of_all(one)]
        if one.positive is not None:
            lines.append(line(as_options(str(one.positive))))
        for table in rater_tables([one], MOST_SHOWN):
            lines += to_terminal(table, width)
        notes = (*one.notes, *(one.raters.notes if one.raters else ()))
        lines += [*(line(f"note: {text}") for text in notes), line()]
    return lines


def confusion_table(details: SystemPerformance) -> Table:
    """Confusion matrix by one method, without intervals if there are many categories."""
    categories = _categories(details)
    rows: list[Row] = []
    for truth in categories:
        values = [_value(details, "confusion", truth, answer) for answer in categories]
        if len(categories) > MOST_WITH_INTERVALS:
            values = [IntervalEstimate(estimate=one.estimate) for one in values]
        rows.append((truth, *values))
    columns = [Column("truth", "truth \\ answer"), *method_columns(categories, write=TWO_DIGITS)]
    return Table(columns=columns, rows=rows)


def measures_table(details: SystemPerformance) -> Table:
    """Measures by category by one method."""
    columns = [Column("category", ""), *(Column(n, NAMES[n], TWO_DIGITS) for n in BY_CATEGORY)]
    rows: list[Row] = [
        (label, *(_value(details, name, label) for name in BY_CATEGORY))
        for label in _categories(details)
    ]
    return Table(columns=columns, rows=rows)


def details_table(details: Details) -> Table:
    """Measures by all methods side by side."""
    known, rows = _known(details), list[Row]()
    for name in BY_CATEGORY:
        rows += rows_under(NAMES[name], _by_category(known, name))
    for name in _of_all(known[0]) if known else ():
        rows.append((NAMES[name], None, *((_overall(one, name),) for one in known)))
    return _side_by_side([one.method for one in known], rows, method_label)


def confusion_matrices(details: Details) -> Table:
    """Confusion matrices by all methods, one below the other."""
    known = _known(details)
    categories = _categories(known[0]) if known else []
    rows: list[Row] = []
    for one in known:
        for truth in categories:
            cells = (_value(one, "confusion", truth, answer) for answer in categories)
            rows.append((method_label(one.method), truth, *cells))
    return _side_by_side(categories, rows, str)


def _side_by_side(names: Sequence[str], rows: Sequence[Row], printed: Names) -> Table:
    columns = [Column("quantity", ""), Column("label", "")]
    columns += method_columns(names, printed, _two_digits_or_text)
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def _two_digits_or_text(value: float | str | None) -> str:
    return value if isinstance(value, str) else short(value, 2)


def cost_decimals(cost: float | None) -> int:
    """Count the decimals with which a cost is shown: two, or more where it is less than .1.

    Examples
    --------
    >>> cost_decimals(10.25), cost_decimals(0.5), cost_decimals(-0.0042)
    (2, 2, 4)
    """
    return 2 if not cost else max(2, 1 - floor(log10(abs(cost))))


def _overall(details: SystemPerformance, name: str) -> str:
    value = details.value(name)
    digits = cost_decimals(value.estimate) if name == "expected_cost" else 2
    return Column(name, format=partial(short, digits=digits)).write(value)


def _of_all(details: SystemPerformance) -> list[str]:
    return [name for name in (*OF_ALL_CATEGORIES, "expected_cost") if name in details.arrays]


def _categories(details: SystemPerformance) -> list[str]:
    return [str(name) for name in details.arrays["recall"].names["category"]]


def _value(details: SystemPerformance, quantity: str, *labels: str) -> IntervalEstimate:
    """Look a number up by the names of categories as texts."""
    names = {str(name): name for name in details.arrays["recall"].names["category"]}
    return details.value(quantity, *(names[label] for label in labels))


def _known(details: Details) -> list[SystemPerformance]:
    return [one for one in details if one is not None]
