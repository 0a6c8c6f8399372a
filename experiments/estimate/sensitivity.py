"""Shared mistakes and the system's slope on difficulty: tables and sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.reporting.table import Column, Table
from lehner import Estimate, Sensitivity, sensitivity_curve
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import decimal
from lehner.estimation.result import SystemResult
from lehner.estimation.sensitivity import SLOPED

if TYPE_CHECKING:
    import pandas as pd

ABOUT = "≈"


def misled_tables(system: SystemResult) -> list[Table]:
    """Estimates as they become where items mislead the raters; no table without estimates."""
    columns = [
        Column("method"),
        Column("nobody_misled"),
        Column("system_too"),
        Column("raters_alone", format=_about, fields=("raters_alone",)),
    ]
    rows = [
        (
            one.method,
            _number(one.without_truths.estimate.system_accuracy),
            _number(one.sensitivity.system_accuracy),
            (_number(one.sensitivity.raters_alone), _is_approximate(one.sensitivity)),
        )
        for one in system.results
        if one.estimate.system_accuracy.estimate is not None and not one.allows_shared_mistakes
    ]
    return [Table(columns=columns, rows=rows)] if rows else []


def misled_heading(system: SystemResult) -> str:
    """Say what the table of `misled_tables` is about."""
    misleading = system.results[0].sensitivity.misleading_share
    return (
        f"What the system's accuracy would be if {100 * misleading:.3g}% of the items misled the "
        "raters, with the system or alone (ratings without known truths cannot tell):"
    )


def _about(value: float, approximate: bool) -> str:
    return f"{ABOUT if approximate else ''}{decimal(value)}"


def _number(value: IntervalEstimate | None) -> float:
    return float("nan") if value is None or value.estimate is None else value.estimate


def _is_approximate(moved: Sensitivity) -> bool:
    alone = moved.raters_alone
    return alone is not None and alone.estimate is not None and not moved.raters_alone_exact


def sensitivity_lines(system: SystemResult) -> list[str]:
    """Say what is approximate, and what the system's slope does."""
    each = [one.sensitivity for one in system.results if not one.allows_shared_mistakes]
    lines: list[str] = []
    if any(map(_is_approximate, each)):
        lines.append(
            f"{ABOUT} is an approximation unless all categories are equally frequent, because the "
            "method does not estimate how accurate the system is in each category."
        )
    if system.slopes:
        values = [f"{one.system_accuracy} at slope {s:g}" for s, one in system.slopes.items()]
        lines.append(
            f"{SLOPED}: the system's accuracy is {', '.join(values)}; at slope 0 items that are "
            "difficult for the raters are no more difficult for the system, at slope 1 as "
            "difficult as for them."
        )
    return lines


def curves(estimates: Sequence[Estimate], n_categories: int) -> "pd.DataFrame":
    """Make a table of each estimate for proportions of misleading items from none to half.

    Returns
    -------
    pandas.DataFrame
        Columns `method`, `misleading_share`, `estimate`, `lower`, `upper`.
    """
    import pandas as pd

    return pd.concat(
        [
            sensitivity_curve(estimate, n_categories)
            .to_dataframe()
            .reset_index()
            .assign(method=estimate.method)
            for estimate in estimates
        ]
    )[["method", "misleading_share", "estimate", "lower", "upper"]]
