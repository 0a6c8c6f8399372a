"""What the report of a study is written from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.study.definition import Study
from experiments.study.performance import PROPORTIONS
from lehner.core.number_format import DASH, decimal, with_interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Findings:
    """A study, its results and what is computed from them."""

    study: Study
    results: "pd.DataFrame"
    measures: "pd.DataFrame"
    differences: "pd.DataFrame"


def entry(measure: str, value: float, error: float, lower: float, upper: float) -> str:
    """Write a measure: a share with its 95% interval, anything else with its standard error."""
    if value != value:
        return DASH
    if measure in PROPORTIONS:
        return with_interval(value, lower, upper)
    return f"{decimal(value)} ± {decimal(error)}"
