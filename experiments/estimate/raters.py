"""Tables of raters: what each answers in each category, and which of two is less accurate."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from experiments.estimate.layout import Row, method_columns, rows_under
from experiments.reporting.method_style import method_label
from experiments.reporting.table import Cell, Column, Table
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import probability, short
from lehner.performance.positive import NAMES
from lehner.performance.result import SystemPerformance

if TYPE_CHECKING:
    import pandas as pd

TITLES = {
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
    "positive_likelihood_ratio": "LR+",
    "negative_likelihood_ratio": "LR−",
}
LOWER = "Probability that the rater of the row is less accurate than the rater of the column"
LOWEST = "P(least accurate): probability that the rater is less accurate than each other one"


def rater_tables(details: Sequence[SystemPerformance], most: int | None = None) -> list[Table]:
    """Make tables of what raters answer in each category, and of who is less accurate.

    Parameters
    ----------
    details : sequence of SystemPerformance
        By each method; those that tell nothing of single raters are left out. With two categories
        the system stands above its raters.
    most : int, optional
        How many raters are shown at most.

    Returns
    -------
    list of Table
        Two, one, or none.
    """
    measured, compared = list[Row](), list[Row]()
    for one in details:
        heading = method_label(one.method) if len(details) > 1 else ""
        measured += rows_under(heading, dict(_measures(one)), most)
        compared += rows_under(heading, dict(_comparisons(one)), most)
    tables = []
    if measured:
        keys = [Column("method", ""), Column("rater", "")]
        columns = [Column(name, title, _two_digits) for name, title in _titles(details[0])]
        columns.append(Column("probability_lowest", "P(least accurate)", _probability))
        if not compared:
            columns, measured = columns[:-1], [row[:-1] for row in measured]
        tables.append(Table(columns=[*keys, *columns], rows=measured, keys=2, headings=True))
    if compared and (most is None or len(compared[0]) <= most):
        others = next(one.raters.names for one in details if one.raters is not None)
        columns = [Column("method", ""), Column("rater", "")]
        columns += method_columns(others, write=_probability)
        tables.append(
            Table(
                columns=columns,
                rows=compared,
                keys=2,
                headings=True,
                caption=LOWER,
                notes=[LOWEST],
            )
        )
    return tables


def raters_frame(details: Sequence[SystemPerformance]) -> "pd.DataFrame":
    """Make a table with a row for each method, rater and number.

    Parameters
    ----------
    details : sequence of SystemPerformance
        By each method.

    Returns
    -------
    pandas.DataFrame
        Columns `method`, `system`, `rater` (with two categories the system first), `quantity`
        ("accuracy", "recall", those of `SystemPerformance.diagnostic_accuracy`, "probability_lower"
        and "probability_lowest"), `label` (the category of a recall, or the other rater of a
        probability), `estimate`, `lower`, `upper`, `level`, `kind`.
    """
    import pandas as pd

    names = ("method", "system", "rater", "quantity", "label")
    rows = [
        dict(zip(names, (one.method, one.system, *place), strict=True)) | vars(value)
        for one in details
        for *place, value in _numbers(one)
    ]
    return pd.DataFrame(rows, columns=[*names, "estimate", "lower", "upper", "level", "kind"])


def _numbers(details: SystemPerformance) -> Iterator[tuple[str, str, str, IntervalEstimate]]:
    for name, value in details.diagnostic_accuracy().items():
        yield details.system, name, "", value
    raters = details.raters
    if raters is None:
        return
    for rater in raters.names:
        yield rater, "accuracy", "", raters.value("accuracy", rater)
        for category, value in raters.recall(rater).items():
            yield rater, "recall", category, value
        for name, value in raters.diagnostic_accuracy(rater).items():
            yield rater, name, "", value
        for other, probability_lower in raters.less_accurate(rater).items():
            yield rater, "probability_lower", other, IntervalEstimate(estimate=probability_lower)
        if raters.probability_lowest is not None:
            yield rater, "probability_lowest", "", IntervalEstimate(estimate=raters.lowest(rater))


def _titles(details: SystemPerformance) -> list[tuple[str, str]]:
    if details.positive is not None:
        return [(name, TITLES.get(name, name)) for name in NAMES]
    categories = details.arrays["recall"].names["category"]
    return [(f"recall_{name}", f"recall of {name}") for name in categories]


def _measures(details: SystemPerformance) -> Iterator[tuple[str, list[Cell]]]:
    if details.positive is not None:
        yield details.system, [*details.diagnostic_accuracy().values(), None]
    raters = details.raters
    if raters is None or "recall" not in raters.arrays:
        return
    for rater in raters.names:
        measures = raters.diagnostic_accuracy(rater) or raters.recall(rater)
        yield rater, [*measures.values(), raters.lowest(rater)]


def _comparisons(details: SystemPerformance) -> Iterator[tuple[str, list[Cell]]]:
    raters = details.raters
    if raters is None or raters.probability_lower is None:
        return
    for rater in raters.names:
        found = raters.less_accurate(rater)
        yield rater, [found.get(other) for other in raters.names]


def _two_digits(value: float | None) -> str:
    return short(value, 2)


def _probability(value: float | None) -> str:
    return probability(value, 2)
