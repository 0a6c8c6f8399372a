"""Which methods are biased, and which have the least error, beyond Monte Carlo noise."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from experiments.study.document import Block, Paragraph, Table
from experiments.study.findings import Findings
from experiments.study.performance import Measured, of_main_estimand
from experiments.study.proportions import Z
from lehner.core.estimate import ESTIMANDS
from lehner.core.number_format import decimal

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = "expected accuracy of the system"
IN_SAMPLE = "accuracy of the system in the sample, where its expected accuracy is not known"


def beyond_noise(findings: Findings) -> Iterator[Block]:
    """Name for each scenario the biased methods, and those with the least error."""
    of_main = of_main_estimand(findings.measures)
    differences = of_main_estimand(findings.differences)
    expected = (of_main["estimand"] == ESTIMANDS[0]).all()
    yield Paragraph(
        f"For the {EXPECTED if expected else IN_SAMPLE}. A bias is listed if it is more than "
        f"{Z:g} standard errors from zero. Methods are compared in pairs, on the samples for which "
        "both have an estimate. `least error` is the method with the least mean squared error, "
        "and `not told from it` lists those that are not worse by more than Monte Carlo noise; the "
        "others are worse. A number in brackets counts the samples for which a listed method has "
        "no estimate."
    )
    rows = []
    for cell in findings.study.cells:
        measures = of_main[of_main["scenario"] == cell.name]
        bias = measures[measures["measure"] == "bias"].set_index("method")
        biased = bias[bias["value"].abs() > Z * bias["standard_error"]]
        mse = measures[measures["measure"] == "mse"].set_index("method")["value"].dropna()
        if mse.empty:
            continue
        failures = measures[measures["measure"] == "failure_rate"].set_index("method")
        more = _more_error(differences, cell.name)
        best = _least_error([str(name) for name in mse.index], more)
        tied = [name for name in mse.index if name != best and not _worse(more, name, best)]
        values = biased["value"].items()
        named = ", ".join(f"{name} {decimal(value, sign=True)}" for name, value in values)
        first, *others = (_with_failures(name, failures) for name in (best, *tied))
        rows.append((cell.name, named or "none", first, ", ".join(others) or "none"))
    yield Table(("scenario", "biased", "least error", "not told from it"), tuple(rows))


def _more_error(differences: "pd.DataFrame", scenario: str) -> dict[tuple[str, str], Measured]:
    """Give by how much more a method's squared errors are than another's, where both have some."""
    of_scenario = differences["scenario"] == scenario
    rows = differences[of_scenario & (differences["measure"] == "mse")]
    more = {}
    for row in rows.itertuples():
        more[row.method, row.other_method] = (row.difference, row.standard_error)
        more[row.other_method, row.method] = (-row.difference, row.standard_error)
    return more


def _least_error(methods: list[str], more: dict[tuple[str, str], Measured]) -> str:
    """Choose the method that no other beats, or that is beaten by least if all are."""

    def most_beaten(method: str) -> float:
        margins = [more[method, other][0] for other in methods if other != method]
        return max((margin for margin in margins if margin == margin), default=0.0)

    return min(methods, key=most_beaten)


def _worse(more: dict[tuple[str, str], Measured], method: str, best: str) -> bool:
    """Whether a method's squared errors are larger than another's, beyond noise."""
    difference, error = more[method, best]
    return difference > Z * error


def _with_failures(method: str, failures: "pd.DataFrame") -> str:
    share, n = failures.loc[method, ["value", "n"]]
    without = round(share * n)
    return f"{method} (without in {without} of {n:.0f})" if without else method
