"""The report of a study: what was asked, how, and what came out beyond Monte Carlo noise."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.document import (
    Block,
    Heading,
    Paragraph,
    Picture,
    origin,
    to_html,
    to_markdown,
)
from experiments.report.files import figure_bytes, write_bytes, write_csv, write_figure
from experiments.report.table import Column, Table, simple_table, to_latex
from experiments.study.definition import Study, shown
from experiments.study.measure_figure import plot_measure
from experiments.study.options import MethodChoice
from experiments.study.performance import (
    PROPORTIONS,
    Z,
    compare_methods,
    describe_main_estimand,
    measure,
    measure_rows,
    of_main_estimand,
)
from experiments.study.store import (
    count_replicates,
    read_results,
    stored_study,
    warn_if_unfinished,
)
from experiments.study.user_code import user_function
from lehner import Scenario
from lehner.core.lazy import pd
from lehner.core.text import DASH, counted, decimal, percent, with_interval
from lehner.estimation.methods import find_method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TROUBLE = ("undefined", "failed", "unconverged")
MOST_REASONS = 20
NUMBERS = ["value", "standard_error", "lower", "upper", "n"]

ESTIMANDS = {
    "system_accuracy": "expected accuracy of the system: the sum over categories of base rate "
    "times the probability that it is right",
    "system_accuracy_in_sample": "proportion of the items of a sample that the system got right",
}
MEASURES = {
    "bias": "mean of estimate minus truth",
    "rmse": "root of the mean squared error; standard error by jackknife",
    "coverage": "proportion of the intervals that contain the truth",
    "interval_width": "mean width of the intervals",
    "failure_rate": "proportion of the samples without an estimate, undefined or failed",
}
PRECISION = {
    "empirical_se": "standard deviation of estimate minus truth",
    "model_se": "root of the mean squared standard error that the method states, where it does so "
    "for half of the samples or more",
    "model_se_relative_error": "the model SE over the empirical one of the same samples, less 1",
    "relative_precision": "the variance of the study's first method over that of this one, on "
    "the samples that both have, less 1",
    "power": "proportion of the intervals that do not contain the null value",
}
PICTURES = {
    "bias": "Bias for the {main}, with 95% Monte Carlo intervals.",
    "coverage": "Coverage of the intervals, with 95% Monte Carlo intervals.",
    "rmse": "Root mean squared error, with 95% Monte Carlo intervals.",
}


@dataclass(frozen=True, eq=False)
class Findings:
    """A study, its results and what is computed from them."""

    study: Study
    results: "pd.DataFrame"
    measures: "pd.DataFrame"
    differences: "pd.DataFrame"


def write_report(folder: str | Path) -> list[Path]:
    """Write the report of a study into its folder.

    Parameters
    ----------
    folder : str or Path
        As given to `run_study`.

    Returns
    -------
    list of Path
        In folder `report`: `report.html` (with its figures in it), `report.md`, a LaTeX table for
        each estimand, `performance.csv`, `differences.csv`, `outcomes.csv`, and each figure as PDF
        and PNG. Of an experiment the table, named as the study, and the figures that the study file
        names.
    """
    study, results, target = stored_study(folder), read_results(folder), Path(folder) / "report"
    warn_if_unfinished(study, results)
    target.mkdir(exist_ok=True)
    if study.experiment is not None:
        return _write_experiment(study, results, target)
    measures = measure(results, level=study.level, null=study.null)
    findings = Findings(study, results, measures, compare_methods(results))
    figures = {name: plot_measure(study, measures, name) for name in PICTURES}
    command = shlex.join(["lehner", "study", "report", str(folder)])
    blocks = [*_blocks(findings, figures), *origin(command, [Path(folder) / "study.toml"])]
    pictures = {name: figure_bytes(figure, "svg") for name, figure in figures.items()}
    texts = {
        "report.html": to_html(study.name, blocks, pictures),
        "report.md": to_markdown(study.name, blocks),
        "performance.csv": measures.to_csv(index=False, float_format="%.6g"),
        "differences.csv": findings.differences.to_csv(index=False, float_format="%.6g"),
        "outcomes.csv": count_outcomes(results).to_csv(index=False),
    }
    for estimand in ESTIMANDS:
        texts[f"{estimand}.tex"] = to_latex(_measures(findings, estimand, MEASURES))
    content = {name: text.encode() for name, text in texts.items()}
    for name, figure in figures.items():
        content |= {f"{name}.{kind}": figure_bytes(figure, kind) for kind in ("png", "pdf")}
    return [write_bytes(data, target / name) for name, data in content.items()]


def _write_experiment(study: Study, results: "pd.DataFrame", target: Path) -> list[Path]:
    summarise = measure_rows if study.table is None else user_function(study.table)
    summary = summarise(results.drop(columns="scenario"))
    tables = summary if isinstance(summary, dict) else {study.name: summary}
    written = [write_csv(table.round(4), target / f"{name}.csv") for name, table in tables.items()]
    if study.figure is not None:
        for name, figure in user_function(study.figure)(summary).items():
            written += write_figure(figure, target, name)
    return written


def _blocks(findings: Findings, figures: "Mapping[str, Figure]") -> Iterator[Block]:
    precision = PRECISION if findings.study.null is not None else dict([*PRECISION.items()][:-1])
    main = describe_main_estimand(of_main_estimand(findings.measures))
    bias, *others = (
        Picture(name, caption.format(main=main), str(figures[name].get_label()))
        for name, caption in PICTURES.items()
    )
    yield from describe_plan(findings, precision)
    yield Heading("What came out")
    yield from beyond_noise(findings)
    yield bias
    yield Heading("Samples without a proper estimate")
    yield from describe_outcomes(findings)
    yield Heading("Performance")
    for estimand, meaning in ESTIMANDS.items():
        yield Paragraph(
            f"{estimand}: {meaning}. Monte Carlo standard errors after ±, Wilson's 95% intervals "
            "of proportions in brackets, and n where a measure does not rest on all samples that "
            "have an estimate."
        )
        yield _measures(findings, estimand, MEASURES)
        yield Paragraph(f"{estimand}: standard errors, and precision.")
        yield _measures(findings, estimand, precision)
    yield from others


def describe_plan(findings: Findings, precision: dict[str, str] = PRECISION) -> Iterator[Block]:
    """Say what was done in the order of Morris, White & Crowther (2019)."""
    study = findings.study
    replicates, unfinished = count_replicates(study, findings.results)
    if unfinished:
        yield Paragraph(f"This study has {replicates}; `lehner study run` goes on.")
    yield Heading("Aims")
    yield Paragraph(study.aims or "None are stated.")
    yield Heading("Data-generating mechanisms")
    yield Paragraph(
        f"{counted(len(study.cells), 'scenario')}, {replicates}, seed {study.seed}; every method "
        "sees the same samples."
    )
    yield _scenarios(study)
    yield Heading("Estimands")
    yield simple_table(("estimand", "what it is"), list(ESTIMANDS.items()))
    yield Heading("Methods")
    methods = [
        (method.label, _what_it_is(method), ", ".join(f"{name} {x}" for name, x in method.options))
        for method in study.methods
    ]
    yield simple_table(("method", "what it is", "options"), methods)
    yield Heading("Performance measures")
    meanings = [(name.replace("_", " "), text) for name, text in (MEASURES | precision).items()]
    yield simple_table(("measure", "what it is"), meanings)
    null = "" if study.null is None else f" Null value {study.null:g}."
    versions = "; ".join(findings.results["versions"].unique())
    level = percent(study.level)
    yield Paragraph(f"Intervals of {level}.{null} Study {study.hash}. {versions}.")


def _what_it_is(method: MethodChoice) -> str:
    if method.code is None:
        return find_method(method.method).summary
    return f"{method.code.text}, a file with SHA-256 {method.code.hash[:12]}…"


def _scenarios(study: Study) -> Table:
    """List scenarios with the fields that are not as `Scenario` has them by default."""
    settings = pd.DataFrame([cell.settings for cell in study.cells])
    plain = asdict(Scenario())
    names = [name for name in settings if any(x != plain.get(name) for x in settings[name])]
    written = [[shown(cell.settings.get(name, "")) for name in names] for cell in study.cells]
    rows = [(cell.name, *values) for cell, values in zip(study.cells, written, strict=True)]
    return simple_table(("scenario", *names), rows)


def _measures(findings: Findings, estimand: str, names: Mapping[str, str]) -> Table:
    """Lay out measures by scenario and method; precision is relative to the first method."""
    study, differences = findings.study, findings.differences
    precision = differences[
        (differences["measure"] == "relative_precision")
        & (differences["other_method"] == study.methods[0].label)
    ].rename(columns={"difference": "value"})
    table = pd.concat([findings.measures, precision])
    table = table[table["estimand"] == estimand]
    keys = ["scenario", "method", "measure"]
    numbers = table.set_index(keys)[NUMBERS].apply(tuple, axis="columns").to_dict()
    unknown = (np.nan,) * len(NUMBERS)
    rows: list[tuple[Any, ...]] = []
    for cell in study.cells:
        for method in study.methods:
            place = cell.name, method.label
            if (*place, "bias") in numbers:
                n = numbers[*place, "bias"][-1]
                entries = (numbers.get((*place, name), unknown) for name in names)
                rows.append((*place, *((*entry, n) for entry in entries)))
    columns = [Column(name, format=partial(_entry, name)) for name in names]
    both = [Column("scenario"), Column("method")]
    return Table(columns=[*both, *columns], rows=rows, keys=2)


def _entry(
    measure: str, value: float, error: float, lower: float, upper: float, n: float, n_all: float
) -> str:
    """Write a proportion with its 95% interval, anything else with its standard error.

    If it rests on fewer samples than have an estimate, their number follows.
    """
    if np.isnan(value):
        return DASH
    shown_n = f" (n {n:.0f})" if n < n_all else ""
    if measure in PROPORTIONS:
        return with_interval(value, lower, upper) + shown_n
    return f"{decimal(value)} ± {decimal(error)}{shown_n}"


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
    for scenario, of_cell in measures.groupby("scenario", sort=False):
        by_measure = dict(iter(of_cell.set_index("method").groupby("measure")))
        bias, mse = by_measure["bias"], by_measure["mse"]["value"].dropna()
        if mse.empty:
            continue
        biased = bias.loc[bias["value"].abs() > Z * bias["standard_error"], "value"]
        more = worse_by[worse_by["scenario"] == scenario].set_index(["method", "other_method"])
        # The method that no other beats, or that is beaten by least if all are.
        beaten_by = more["difference"].astype(float).groupby("method").max()
        best = beaten_by.reindex(mse.index).fillna(0.0).idxmin()
        tied = [name for name in mse.index if name != best and not more.loc[(name, best), "worse"]]
        named = ", ".join(f"{name} {decimal(value, sign=True)}" for name, value in biased.items())
        failures = by_measure["failure_rate"]
        first, *others = (_with_failures(name, failures) for name in (best, *tied))
        rows.append((scenario, named or "none", first, ", ".join(others) or "none"))
    yield simple_table(("scenario", "biased", "least error", "not told from it"), rows)


def _more_error(differences: "pd.DataFrame") -> "pd.DataFrame":
    """By how much more a method's squared errors are than another's, where both have some."""
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
    by = ["scenario", "method"]
    once = results.drop_duplicates([*by, "replicate"])
    counts = {name: once["status"] == name for name in TROUBLE}
    groups = once[by].assign(samples=1, **counts).groupby(by, sort=False)
    return groups.sum().reset_index()


def describe_outcomes(findings: Findings) -> Iterator[Block]:
    """Count what is undefined, failed or did not converge, and say why methods failed."""
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
    reasons = failed.drop_duplicates(["scenario", "method", "replicate"])[["method", "reason"]]
    if len(reasons):
        common = reasons.value_counts().head(MOST_REASONS).reset_index().to_numpy().tolist()
        yield simple_table(("failed method", "reason", "samples"), common, keys=2)
