"""What the report of a study is written from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.study.definition import Study
from experiments.study.performance import PROPORTIONS

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
        return "–"
    if measure in PROPORTIONS:
        return f"{value:.3f} [{lower:.3f}, {upper:.3f}]"
    return f"{value:.3f} ± {error:.3f}"
