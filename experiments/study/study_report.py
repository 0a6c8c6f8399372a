"""The report of a study: what was asked, how, and what came out beyond Monte Carlo noise."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
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
from experiments.reporting.files import figure_bytes, write_bytes
from experiments.reporting.origin import origin
from experiments.reporting.renderers import to_latex
from experiments.reporting.table import Column, Table, simple_table
from experiments.study.definition import Study, shown
from experiments.study.findings import (
    NUMBERS,
    Findings,
    beyond_noise,
    count_outcomes,
    describe_outcomes,
    measure_column,
)
from experiments.study.measure_figure import plot_errors, plot_measure
from experiments.study.options import MethodChoice
from experiments.study.performance import (
    compare_methods,
    describe_main_estimand,
    measure,
    of_main_estimand,
)
from experiments.study.store import (
    count_replicates,
    read_results,
    stored_study,
    warn_if_unfinished,
)
from lehner import Scenario
from lehner.core.text import counted, decimal, percent
from lehner.estimation.methods import find_method

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

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
LEFT_TO_THE_AUTHOR = (
    ("Aims", "What is to be decided by the study, and what was known before."),
    ("Data-generating mechanisms", "Why these scenarios, and which real ratings they resemble."),
    ("Estimands", "Which of the two accuracies the aims are about."),
    ("Methods", "Why these, and which others were left out."),
    ("Performance measures", "Which of them decides, and how many replicates that needs."),
    ("Samples without a proper estimate", "What their absence does to the comparison."),
    ("Conclusions", "For whom they hold: what the scenarios do not cover."),
)
"""What the report cannot say of each part of ADEMP."""
PICTURES = {
    "bias": "Bias for the {main}, with 95% Monte Carlo intervals.",
    "coverage": "Coverage of the intervals, with 95% Monte Carlo intervals.",
    "rmse": "Root mean squared error, with 95% Monte Carlo intervals.",
    "errors": "Estimate minus the true {main}, in single samples, at most 200 for each scenario "
    "and method, and their mean.",
}


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
        and PNG.
    """
    study, results = stored_study(folder), read_results(folder)
    warn_if_unfinished(study, results)
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


def _figures(findings: Findings) -> "dict[str, Figure]":
    study = findings.study
    return {
        "bias": plot_measure(study, findings.measures),
        "coverage": plot_measure(study, findings.measures, "coverage"),
        "rmse": plot_measure(study, findings.measures, "rmse"),
        "errors": plot_errors(study, findings.results),
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
    yield from _left_to_the_author(findings)


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


def _left_to_the_author(findings: Findings) -> Iterator[Block]:
    """List what ADEMP asks for beside this report, and how exact its measures are."""
    errors = of_main_estimand(findings.measures).groupby("measure")["standard_error"].max()
    shown = [
        f"of {name.replace('_', ' ')} {decimal(errors[name], 4)}"
        for name in MEASURES
        if name in errors
    ]
    yield Heading("Left to the author")
    yield Paragraph(
        "This report has the parts of ADEMP (Morris, White & Crowther 2019, "
        "https://doi.org/10.1002/sim.8086), the seed, versions, and failures. Its largest Monte "
        f"Carlo standard errors are {', '.join(shown)}. It cannot say:"
    )
    yield simple_table(("part", "to be written"), LEFT_TO_THE_AUTHOR)


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
