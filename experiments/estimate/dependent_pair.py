"""What a dependent pair does to an estimate: with it and without, the evidence, the shares."""

import math
from collections.abc import Iterator
from typing import Any

from experiments.reporting.table import Cell, Column, Table
from lehner.core.estimate import IntervalEstimate
from lehner.core.text import decimal
from lehner.estimation.result import SystemResult

TITLE = (
    "The dependent pair (other methods ignore it). The accuracy is an average of that if the two "
    "are dependent and if they are not, which are as probable before the ratings. If dependent, on "
    "a share of the items of each true category their answers are as alike as their accuracies "
    "allow:"
)
LOGS = ("log_bayes_factor", "log_bayes_factor_error")
WITHIN_90, LARGEST = 1.645, 1000
SURE = 3
"""Standard errors by which a Bayes factor is beyond the largest that is printed."""


def _found(system: SystemResult) -> dict[str, dict[str, Any]]:
    """What each method with a dependent pair found."""
    known = {one.method: one.estimate.diagnostics.get("dependent_pair") for one in system.results}
    return {method: found for method, found in known.items() if found}


def bayes_factor(log: float, error: float) -> str:
    """Write a Bayes factor; with a probability of 90% it differs by less than what follows "±".

    Examples
    --------
    >>> bayes_factor(1.0, 0.1), bayes_factor(-2.0, 0.05), bayes_factor(20.0, 0.5)
    ('2.7 ± 0.5', '0.14 ± 0.01', '> 1000')
    """
    if abs(log) - SURE * error > math.log(LARGEST):
        return f"> {LARGEST}" if log > 0 else f"< 1/{LARGEST}"
    value = math.exp(log)
    digits = 0 if value >= 10 else 1 - min(0, math.floor(math.log10(value)))
    return f"{value:.{digits}f} ± {value * math.expm1(WITHIN_90 * error):.{digits}f}"


def pair_tables(system: SystemResult) -> list[Table]:
    """Lay out what was found of a dependent pair; nothing if no method has one."""
    found = _found(system)
    if not found:
        return []
    accuracies: list[tuple[Cell, ...]] = [
        (method, " and ".join(one["pair"]), *_accuracies(one), _factor(one))
        for method, one in found.items()
    ]
    shares: list[tuple[Cell, ...]] = [
        (method, *(row[name] for name in ("category", "prior", "posterior", "covariance")))
        for method, one in found.items()
        for row in one["categories"]
    ]
    heads = [
        Column("method"),
        Column("pair"),
        Column("if_dependent", "accuracy if dependent"),
        Column("if_independent", "if independent"),
        Column("log_bayes_factor", "Bayes factor", bayes_factor, fields=LOGS),
    ]
    columns = [
        Column("method"),
        Column("category", "true category"),
        Column("prior", "share, prior"),
        Column("posterior"),
        Column("covariance", "covariance of being right"),
    ]
    return [
        Table(columns=heads, rows=accuracies, keys=2),
        Table(columns=columns, rows=shares, keys=2),
    ]


def _accuracies(found: dict[str, Any]) -> tuple[IntervalEstimate, IntervalEstimate]:
    name = "system_accuracy_in_sample"
    return found["if_dependent"][name], found["if_independent"][name]


def _factor(found: dict[str, Any]) -> tuple[float, float]:
    return found["log_bayes_factor"], found["log_bayes_factor_error"]


def pair_lines(system: SystemResult) -> Iterator[str]:
    """Say in a line what each method found of the pair."""
    for method, found in _found(system).items():
        dependent, independent = (decimal(one.estimate) for one in _accuracies(found))
        yield (
            f"{' and '.join(found['pair'])} ({method}): {dependent} if dependent, {independent} if "
            f"not; Bayes factor for dependence {bayes_factor(*_factor(found))}"
        )
