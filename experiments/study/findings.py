"""What came out of a study beyond Monte Carlo noise, and which samples have no proper estimate."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from experiments.reporting.document import Block, Paragraph
from experiments.reporting.table import Column, Table, simple_table
from experiments.study.definition import Study
from experiments.study.performance import (
    PROPORTIONS,
    describe_main_estimand,
    measure,
    of_main_estimand,
)
from experiments.study.proportions import Z
from lehner.core.text import DASH, decimal, with_interval

if TYPE_CHECKING:
    import pandas as pd

TROUBLE = ("undefined", "failed", "unconverged")
ONE_SAMPLE = ["scenario", "method", "replicate"]
MOST_REASONS = 20
OF_UNCONVERGED = ("bias", "rmse", "coverage")
NUMBERS = ["value", "standard_error", "lower", "upper"]


@dataclass(frozen=True, eq=False)
class Findings:
    """A study, its results and what is computed from them."""

    study: Study
    results: "pd.DataFrame"
    measures: "pd.DataFrame"
    differences: "pd.DataFrame"


def measure_column(measure: str, name: str = "") -> Column:
    """Make a column of a measure, whose cells are value, standard error, lower and upper end."""
    return Column(name or measure, format=partial(_entry, measure))


def _entry(measure: str, value: float, error: float, lower: float, upper: float) -> str:
    """Write a proportion with its 95% interval, anything else with its standard error."""
    if value != value:
        return DASH
    if measure in PROPORTIONS:
        return with_interval(value, lower, upper)
    return f"{decimal(value)} ± {decimal(error)}"


def beyond_noise(findings: Findings) -> Iterator[Block]:
    """Name for each scenario the biased methods, and those with the least error."""
    measures = of_main_estimand(findings.measures)
    yield Paragraph(
        f"For the {describe_main_estimand(measures)}. A bias is listed if it is more than "
        f"{Z:g} standard errors from zero. Methods are compared in pairs, on the samples for which "
        "both have an estimate. `least error` is the method with the least mean squared error, "
        "and `not told from it` lists those that are not worse by more than Monte Carlo noise; the "
        "others are worse. A number in brackets counts the samples for which a listed method has "
        "no estimate."
    )
    rows = []
    worse_by = _more_error(of_main_estimand(findings.differences))
    for cell in findings.study.cells:
        of_cell = measures[measures["scenario"] == cell.name].set_index("method")
        bias, mse, failures = (
            of_cell[of_cell["measure"] == name] for name in ("bias", "mse", "failure_rate")
        )
        biased = bias.loc[bias["value"].abs() > Z * bias["standard_error"], "value"]
        methods = list(mse["value"].dropna().index)
        if not methods:
            continue
        more = worse_by[worse_by["scenario"] == cell.name].set_index(["method", "other_method"])
        # The method that no other beats, or that is beaten by least if all are.
        beaten_by = more["difference"].astype(float).groupby("method").max()
        best = beaten_by.reindex(methods).fillna(0.0).idxmin()
        tied = [one for one in methods if one != best and not more.loc[(one, best), "worse"]]
        named = ", ".join(f"{name} {decimal(value, sign=True)}" for name, value in biased.items())
        first, *others = (_with_failures(name, failures) for name in (best, *tied))
        rows.append((cell.name, named or "none", first, ", ".join(others) or "none"))
    yield simple_table(("scenario", "biased", "least error", "not told from it"), rows)


def _more_error(differences: "pd.DataFrame") -> "pd.DataFrame":
    """By how much more a method's squared errors are than another's, where both have some."""
    import pandas as pd

    mse = differences[differences["measure"] == "mse"]
    swapped = {"method": mse["other_method"], "other_method": mse["method"]}
    both = pd.concat([mse, mse.assign(**swapped, difference=-mse["difference"])])
    return both.assign(worse=both["difference"] > Z * both["standard_error"])


def _with_failures(method: str, failures: "pd.DataFrame") -> str:
    rate, n = failures.loc[method, ["value", "n"]]
    without = round(rate * n)
    return f"{method} (without in {without} of {n:.0f})" if without else method


def count_outcomes(results: "pd.DataFrame") -> "pd.DataFrame":
    """Count by scenario and method how samples ended.

    Parameters
    ----------
    results : pandas.DataFrame
        As `read_results` gives it.

    Returns
    -------
    pandas.DataFrame
        Columns `scenario`, `method`, `samples`, `undefined` (the data support no estimate),
        `failed` (the method broke off) and `unconverged` (an estimate from draws whose diagnostics
        fail).
    """
    once = results.drop_duplicates(ONE_SAMPLE)
    by = [once["scenario"], once["method"]]
    counts = {name: (once["status"] == name).groupby(by, sort=False).sum() for name in TROUBLE}
    samples = once.groupby(by, sort=False).size()
    return samples.to_frame("samples").assign(**counts).reset_index()


def describe_outcomes(findings: Findings) -> Iterator[Block]:
    """Count what is undefined, failed or did not converge, and say what the last changes."""
    counts = count_outcomes(findings.results)
    troubled = counts[counts[list(TROUBLE)].any(axis="columns")]
    if troubled.empty:
        yield Paragraph("None: every method has an estimate for each sample, and fits converged.")
        return
    yield Paragraph(
        "Undefined: the data support no estimate. Failed: the method broke off with an error, and "
        "can be tried again with --retry-failed. Unconverged: there is an estimate, but the "
        "diagnostics of its draws fail; it counts in all measures. Other methods and scenarios "
        "have none of these."
    )
    yield simple_table(troubled, troubled.to_numpy().tolist(), keys=2)
    failed = findings.results[findings.results["status"] == "failed"]
    reasons = failed.drop_duplicates(ONE_SAMPLE)[["method", "reason"]].value_counts()
    if len(reasons):
        common = reasons.head(MOST_REASONS).rename("samples").reset_index()
        rows = common.to_numpy().tolist()
        yield simple_table(("failed method", "reason", "samples"), rows, keys=2)
    if troubled["unconverged"].any():
        main = describe_main_estimand(of_main_estimand(findings.measures))
        yield Paragraph(f"Measures of the {main}, with and without unconverged fits:")
        yield _without_unconverged(findings)


def _without_unconverged(findings: Findings) -> Table:
    """Measure methods with and without the fits that did not converge, where there are some."""
    results = of_main_estimand(findings.results)
    pairs = results.groupby(["scenario", "method"], sort=False)["status"]
    some = results[pairs.transform(lambda status: (status == "unconverged").any())]
    key = ["scenario", "method", "measure"]
    whole, part = (
        measure(rows, key[:2], findings.study.level).set_index(key)[NUMBERS]
        for rows in (some, some[some["status"] != "unconverged"])
    )
    rows = [
        (*place, _entry(place[2], *numbers), _entry(place[2], *part.reindex([place]).iloc[0]))
        for place, numbers in zip(whole.index, whole.to_numpy(), strict=True)
        if place[2] in OF_UNCONVERGED
    ]
    return simple_table((*key, "all fits", "converged fits"), rows)
