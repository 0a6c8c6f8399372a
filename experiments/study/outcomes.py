"""What became of the samples: estimates that are missing, fits that did not converge, and why."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from experiments.study.document import Block, Paragraph, Table
from experiments.study.findings import Findings, entry
from experiments.study.performance import measure, of_main_estimand

if TYPE_CHECKING:
    import pandas as pd

TROUBLE = ("undefined", "failed", "unconverged")
MOST_REASONS = 20
WITHOUT = ("bias", "rmse", "coverage")


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
    once = results.drop_duplicates(["scenario", "method", "replicate"])
    by = [once["scenario"], once["method"]]
    counts = {name: (once["status"] == name).groupby(by, sort=False).sum() for name in TROUBLE}
    samples = once.groupby(by, sort=False).size()
    return samples.to_frame("samples").assign(**counts).reset_index()


def _count_reasons(results: "pd.DataFrame") -> "pd.DataFrame":
    """Count why methods failed.

    Parameters
    ----------
    results : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        Columns `method`, `reason` and `samples`, the commonest first.
    """
    failed = results[results["status"] == "failed"]
    once = failed.drop_duplicates(["scenario", "method", "replicate"])
    return (
        once.groupby(["method", "reason"])
        .size()
        .to_frame("samples")
        .reset_index()
        .sort_values("samples", ascending=False, ignore_index=True)
    )


def _without_unconverged(results: "pd.DataFrame", level: float) -> "pd.DataFrame":
    """Measure methods with and without the fits that did not converge, where there are some.

    Parameters
    ----------
    results : pandas.DataFrame
    level : float
        Probability of the intervals.

    Returns
    -------
    pandas.DataFrame
        Of the expected accuracy: columns `scenario`, `method`, `measure` ("bias", "rmse" or
        "coverage"), and `value`, `standard_error`, `lower`, `upper` and `n` with ending `_all` and
        `_converged`.
    """
    expected = of_main_estimand(results)
    pairs = expected.groupby(["scenario", "method"], sort=False)["status"]
    some = expected[pairs.transform(lambda status: (status == "unconverged").any())]
    converged = some[some["status"] != "unconverged"]
    key = ["scenario", "method", "measure"]
    both = [measure(rows, key[:2], level) for rows in (some, converged)]
    whole, part = (one[one["measure"].isin(WITHOUT)] for one in both)
    return whole.merge(part, how="left", on=key, suffixes=("_all", "_converged"))


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
    rows = troubled.astype(str).itertuples(index=False)
    yield Table(tuple(troubled.columns), tuple(tuple(row) for row in rows))
    reasons = _count_reasons(findings.results)
    if len(reasons):
        rows = reasons.head(MOST_REASONS).astype(str).itertuples(index=False)
        yield Table(("failed method", "reason", "samples"), tuple(tuple(row) for row in rows))
    if troubled["unconverged"].any():
        yield Paragraph("Measures of the expected accuracy with and without unconverged fits:")
        yield _with_and_without(findings)


def _with_and_without(findings: Findings) -> Table:
    rows = [
        (
            row.scenario,
            row.method,
            row.measure,
            entry(row.measure, row.value_all, row.standard_error_all, row.lower_all, row.upper_all),
            entry(
                row.measure,
                row.value_converged,
                row.standard_error_converged,
                row.lower_converged,
                row.upper_converged,
            ),
        )
        for row in _without_unconverged(findings.results, findings.study.level).itertuples()
    ]
    return Table(("scenario", "method", "measure", "all fits", "converged fits"), tuple(rows))
