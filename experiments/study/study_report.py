"""The report of a study: what was asked, how, and what came out beyond Monte Carlo noise."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reporting.document import (
    Block,
    Heading,
    Paragraph,
    Picture,
    to_html,
    to_markdown,
)
from experiments.reporting.files import figure_bytes, write_bytes, write_csv, write_figure
from experiments.reporting.origin import origin
from experiments.reporting.renderers import to_latex
from experiments.reporting.table import Column, Table, simple_table
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
ONE_SAMPLE = ["scenario", "method", "replicate"]
MOST_REASONS = 20
OF_UNCONVERGED = ("bias", "rmse", "coverage")
NUMBERS = ["value", "standard_error", "lower", "upper"]


MEANING = {
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
    "model_se": "root of the mean squared standard error that the method states, where it does",
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
    study, results = stored_study(folder), read_results(folder)
    warn_if_unfinished(study, results)
    if study.experiment is not None:
        return _write_experiment(study, results, Path(folder) / "report")
    measures = measure(results, level=study.level, null=study.null)
    findings = Findings(study, results, measures, compare_methods(results))
    target = Path(folder) / "report"
    target.mkdir(exist_ok=True)
    figures = _figures(findings)
    blocks = list(_blocks(findings, {name: str(one.get_label()) for name, one in figures.items()}))
    command = shlex.join(["lehner", "study", "report", str(folder)])
    blocks += origin(command, [Path(folder) / "study.toml"])
    pictures = {name: figure_bytes(figure, "svg") for name, figure in figures.items()}
    texts = {
        "report.html": to_html(study.name, blocks, pictures),
        "report.md": to_markdown(study.name, blocks),
        "performance.csv": findings.measures.to_csv(index=False, float_format="%.6g"),
        "differences.csv": findings.differences.to_csv(index=False, float_format="%.6g"),
        "outcomes.csv": count_outcomes(results).to_csv(index=False),
    }
    for estimand in MEANING:
        texts[f"{estimand}.tex"] = to_latex(_measures(findings, estimand, MEASURES))
    content = {name: text.encode() for name, text in texts.items()}
    for name, figure in figures.items():
        content |= {f"{name}.{kind}": figure_bytes(figure, kind) for kind in ("png", "pdf")}
    return [write_bytes(data, target / name) for name, data in content.items()]


def _write_experiment(study: Study, results: "pd.DataFrame", target: Path) -> list[Path]:
    target.mkdir(exist_ok=True)
    summarise = measure_rows if study.table is None else user_function(study.table)
    summary = summarise(results.drop(columns=["scenario", "table"]))
    tables = summary if isinstance(summary, dict) else {study.name: summary}
    written = [write_csv(one.round(4), target / f"{name}.csv") for name, one in tables.items()]
    if study.figure is not None:
        for name, figure in user_function(study.figure)(summary).items():
            written += write_figure(figure, target, name)
    return written


def _figures(findings: Findings) -> "dict[str, Figure]":
    study = findings.study
    return {
        "bias": plot_measure(study, findings.measures),
        "coverage": plot_measure(study, findings.measures, "coverage"),
        "rmse": plot_measure(study, findings.measures, "rmse"),
    }


def _blocks(findings: Findings, alt_texts: Mapping[str, str]) -> Iterator[Block]:
    study = findings.study
    yield from _plan(findings)
    yield Heading("What came out")
    yield from beyond_noise(findings)
    main = describe_main_estimand(of_main_estimand(findings.measures))
    bias, *others = (
        Picture(name, caption.format(main=main), alt_texts[name])
        for name, caption in PICTURES.items()
    )
    yield bias
    yield Heading("Samples without a proper estimate")
    yield from describe_outcomes(findings)
    yield Heading("Performance")
    for estimand in MEANING:
        yield Paragraph(
            f"{estimand}: {MEANING[estimand]}. Monte Carlo standard errors after ±, Wilson's 95% "
            "intervals of proportions in brackets."
        )
        yield _measures(findings, estimand, MEASURES)
        yield Paragraph(f"{estimand}: standard errors, and precision.")
        yield _measures(findings, estimand, _precision_measures(study))
    yield from others


def _plan(findings: Findings) -> Iterator[Block]:
    """Say what was done in the order of Morris, White & Crowther (2019)."""
    study = findings.study
    versions = "; ".join(findings.results["versions"].unique())
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
    for name, meaning in MEANING.items():
        yield Paragraph(f"{name}: {meaning}.")
    yield Heading("Methods")
    options = (", ".join(f"{name} {x}" for name, x in method.options) for method in study.methods)
    methods = [
        (method.label, _what_it_is(method), told)
        for method, told in zip(study.methods, options, strict=True)
    ]
    yield simple_table(("method", "what it is", "options"), methods)
    yield Heading("Performance measures")
    for name, meaning in (MEASURES | _precision_measures(study)).items():
        yield Paragraph(f"{name.replace('_', ' ')}: {meaning}.")
    yield Paragraph(f"Intervals of {percent(study.level)}. Study {study.hash}. {versions}.")


def _what_it_is(method: MethodChoice) -> str:
    if method.code is None:
        return find_method(method.method).summary
    return f"{method.code.text}, a file with SHA-256 {method.code.hash[:12]}…"


def _scenarios(study: Study) -> Table:
    """List scenarios with the fields that are not as `Scenario` has them by default."""
    plain = asdict(Scenario())
    names = [
        name
        for name in dict.fromkeys(name for cell in study.cells for name in cell.settings)
        if any(cell.settings.get(name, plain.get(name)) != plain.get(name) for cell in study.cells)
    ]
    rows = [
        (cell.name, *(shown(cell.settings.get(name, "")) for name in names)) for cell in study.cells
    ]
    return simple_table(("scenario", *names), rows)


def _precision_measures(study: Study) -> dict[str, str]:
    """Measures of precision that a study has."""
    if study.null is None:
        return {name: meaning for name, meaning in PRECISION.items() if name != "power"}
    return PRECISION | {"power": f"{PRECISION['power']}, {study.null:g}"}


def _measures(findings: Findings, estimand: str, names: Mapping[str, str]) -> Table:
    """Lay out measures by scenario and method; precision is relative to the first method."""
    study = findings.study
    found = _by_place(findings.measures, estimand)
    relative = findings.differences.rename(columns={"difference": "value"})
    of_first = relative["other_method"] == study.methods[0].label
    found |= _by_place(relative[of_first & (relative["measure"] == "relative_precision")], estimand)
    places = [(cell.name, method.label) for cell in study.cells for method in study.methods]
    rows: list[tuple[Any, ...]] = [
        (*place, *(found.get((*place, name), (np.nan,) * len(NUMBERS)) for name in names))
        for place in places
        if (*place, "bias") in found
    ]
    columns = [Column("scenario"), Column("method"), *map(measure_column, names)]
    return Table(columns=columns, rows=rows, keys=2, headings=True)


def _by_place(measures: "pd.DataFrame", estimand: str) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Value, standard error and interval by scenario, method and measure."""
    columns = ["scenario", "method", "measure", *NUMBERS]
    rows = measures[measures["estimand"] == estimand].reindex(columns=columns)
    return {row[:3]: row[3:] for row in rows.itertuples(index=False, name=None)}


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
