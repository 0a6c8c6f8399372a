"""The report of a study: what was asked, how, and what came out beyond Monte Carlo noise."""

import logging
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from lehner import __version__
from lehner.core.errors import find
from lehner.core.lazy import load, pd, plt
from lehner.core.results import REFERENCE, Look, plot_forest
from lehner.core.table import PrintedTable, TableColumn, list_table, to_latex
from lehner.core.text import DASH, pluralise, to_decimal, to_percent, with_interval
from lehner.estimation.methods import find_method, get_look
from lehner.report import figures, files
from lehner.report.answer import Report, Section, list_section
from lehner.simulation.scenario import Scenario
from lehner.study import performance
from lehner.study.definition import MethodChoice, write_value
from lehner.study.performance import Z, describe_main_estimand, select_main_estimand

logger = logging.getLogger(__name__)
mpl_figure = load("matplotlib.figure")
# Columns that differ between machines.
MACHINE: tuple[str, ...] = ("seconds", "versions")
TROUBLE = ("undefined", "failed", "unconverged")
MOST_REASONS = 20
NUMBERS = ["value", "standard_error", "lower", "upper", "n"]
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
# The width of a label in a figure in letters; inches of its lines, of a point and between rows.
LABEL_LETTERS, LINE, POINT, ROW_GAP = 44, 0.14, 0.1, 0.08


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyResults:
    """The results of a study, as far as it is finished.

    Parameters
    ----------
    study : Study
        As it was run.
    table : pandas.DataFrame
        A row for each scenario, replicate, method and estimand, in the order of the study:
        `scenario`, what its grid or sweep varies, `replicate`, `method`, `estimand`, `seed`
        (`lehner.simulate(scenario, seed)` makes the data again), `truth`, `estimate`, `lower`,
        `upper`, `standard_error` (that the method states), `status` ("ok", "undefined",
        "unconverged" or "failed"), `reason`, diagnostics, `seconds` and `versions`. Of an
        experiment the columns after `scenario` are the fields of its scenarios, `replicate` and its
        own.
    folder : Path
        Where they are.
    missing : str
        How many results are missing and why, if some are.
    """

    # A `lehner.Study`: the module that defines it needs this one.
    study: Any
    table: "pd.DataFrame"
    folder: Path = Path()
    missing: str = ""

    @cached_property
    def measures(self) -> "pd.DataFrame":
        """Performance measures of each method in each scenario, a row each."""
        return performance.measure(self.table, level=self.study.level)

    def performance(self, estimand: str | None = None) -> "pd.DataFrame":
        """Measure how well each method does in each scenario.

        Parameters
        ----------
        estimand : str, optional
            One of those in the table. By default the expected accuracy of the system or, where it
            is not known, its accuracy in the sample.

        Returns
        -------
        pandas.DataFrame
            Indexed by scenario and method: `n`, the samples that have an estimate; each measure of
            `lehner.study.measure`, and in `…_mcse` its Monte Carlo standard error. Of an
            experiment the measures of its rows by all their other columns.

        Raises
        ------
        InputError
            If there is no such estimand.
        """
        if self.study.experiment is not None:
            return performance.measure_rows(self.table)
        if estimand is None:
            rows = select_main_estimand(self.table)
        else:
            find("estimand", estimand, dict.fromkeys(self.table["estimand"]))
            rows = self.table[self.table["estimand"] == estimand]
        by = ("scenario", "method")
        return performance.measure_wide(rows, by, suffix="_mcse", level=self.study.level)

    @cached_property
    def differences(self) -> "pd.DataFrame":
        """Differences of methods on the same samples, by `lehner.study.compare_methods`."""
        return performance.compare_methods(self.table)

    def plot(self, measure: str = "bias") -> "plt.Figure | None":
        """Draw a measure of all scenarios with 95% Monte Carlo intervals.

        Parameters
        ----------
        measure : {"bias", "rmse", "coverage"}
            Name of the measure.

        Returns
        -------
        matplotlib.figure.Figure
            A row for each scenario, and in it a point for each method, with n beside it if the
            measure rests on fewer samples than there are. Methods without values are left out, and
            the caption names them; if no method has some, it is None.
        """
        return plot_measure(self, measure)

    def to_latex(self, *measures: str, estimand: str | None = None) -> str:
        """Write measures as a LaTeX table, for the package booktabs.

        Parameters
        ----------
        *measures : str
            Their names; by default bias, RMSE, coverage, width of the interval and failure rate.
        estimand : str, optional
            As of `performance`.

        Returns
        -------
        str
            A float with a caption, a label of the study's name, and a note. Monte Carlo standard
            errors stand after ±, and n where a method failed.
        """
        if estimand is None:
            estimand = select_main_estimand(self.measures)["estimand"].iloc[0]
        study, replicates = self.study, pluralise(self.study.replicates, "replicate")
        return to_latex(
            _tabulate(self, estimand, measures or tuple(TEXTS["measures"])),
            caption=f"{study.name}: how well methods estimate the {estimand.replace('_', ' ')}",
            label=name_file(study.name),
            note=f"Intervals of {to_percent(study.level)}; {replicates}; lehner {__version__}",
        )

    def report(self, folder: str | Path | None = None) -> list[Path]:
        """Write the report of the study: no code of the user's is run.

        Parameters
        ----------
        folder : str or Path, optional
            By default `report` in the folder of results.

        Returns
        -------
        list of Path
            `report.html` (with its figures in it), a LaTeX table for each estimand,
            `performance.csv`, `differences.csv`, `outcomes.csv`, and each figure as PDF and PNG. Of
            an experiment its measures; the tables of a function of its own were written when it was
            run.
        """
        study, target = self.study, Path(folder or self.folder / "report")
        if self.missing:
            logger.warning(self.missing)
        if study.table is not None:
            made = "made the tables in `report` when the study was run; a report runs no code"
            logger.warning(f"{study.table.text} {made}")
            return []
        target.mkdir(parents=True, exist_ok=True)
        if study.experiment is not None:
            return write_tables(study.name, self.performance(), target)
        answer = answer_study(self)
        command = shlex.join(["lehner", "study", "report", str(self.folder)])
        page = answer.write_page(command, [self.folder / "study.toml"])
        return [files.write_text(page, target / "report.html"), *answer.write(target)]

    def export(self, file: str | Path) -> Path:
        """Write the table as CSV, without what differs between machines: seconds and versions.

        Parameters
        ----------
        file : str or Path
            Its folder is made if it is not there.

        Returns
        -------
        Path
        """
        file = Path(file)
        if self.missing:
            logger.warning(self.missing)
        file.parent.mkdir(parents=True, exist_ok=True)
        return files.write_csv(self.table.drop(columns=list(MACHINE), errors="ignore"), file)

    def __repr__(self) -> str:
        lines = [f"Results of the study {self.study.name}: {len(self.table)} rows in results.table"]
        return "\n".join([*lines, *([self.missing] if self.missing else [])])


def write_tables(study: str, tables: Any, folder: Path) -> list[Path]:
    """Write a table, or tables by name, as CSV into a folder."""
    folder.mkdir(exist_ok=True)
    named = tables if isinstance(tables, dict) else {name_file(study): tables}
    return [
        files.write_csv(table.round(4), folder / f"{name}.csv") for name, table in named.items()
    ]


def name_file(text: str) -> str:
    """Make a name of a file in the same folder, whatever somebody wrote into a study file."""
    return "_".join(re.findall(r"[\w.]+", text))


def answer_study(results: StudyResults) -> Report:
    """Report a study in the order of Morris, White & Crowther (2019).

    Parameters
    ----------
    results : StudyResults

    Returns
    -------
    Report
    """
    study, precision = results.study, TEXTS["precision"]
    measures = (TEXTS["measures"], precision)
    main = describe_main_estimand(select_main_estimand(results.measures))
    pictures = [
        Section(
            name=name,
            title=caption.format(main=main),
            text=["With 95% Monte Carlo intervals."],
            figure=partial(plot_measure, results, name),
        )
        for name, caption in TEXTS["pictures"].items()
    ]
    tables = [
        Section(
            name=estimand,
            title=f"Performance: {meaning}",
            text=[TEXTS["paragraphs"]["performance"]],
            tables=[_tabulate(results, estimand, names) for names in measures],
        )
        for estimand, meaning in TEXTS["estimands"].items()
    ]
    return Report(
        title=study.name,
        sections=[
            *describe_plan(results, precision),
            describe_best(results),
            pictures[0],
            describe_outcomes(results),
            *tables,
            *pictures[1:],
        ],
        frames={
            "performance": results.measures,
            "differences": results.differences,
            "outcomes": count_outcomes(results.table),
        },
    )


def describe_plan(results: StudyResults, precision: Mapping[str, str]) -> Iterator[Section]:
    """Say what was done: aims, mechanisms, estimands, methods and measures."""
    study = results.study
    aims = filter(None, [results.missing, study.aims or "None are stated."])
    yield Section(title="Aims", text=list(aims))
    # Fields that are not as `Scenario` has them by default.
    settings = pd.DataFrame([entry.settings for entry in study.scenarios])
    plain = asdict(Scenario())
    names = [name for name in settings if any(x != plain.get(name) for x in settings[name])]
    rows: list[tuple[Any, ...]] = [
        (entry.name, *(write_value(entry.settings.get(name, "")) for name in names))
        for entry in study.scenarios
    ]
    size = f"{pluralise(len(rows), 'scenario')}, {pluralise(study.replicates, 'replicate')}"
    text = f"{size}, seed {study.seed}; every method sees the same samples."
    yield list_section("Data-generating mechanisms", ("scenario", *names), rows, text)
    meanings = list(TEXTS["estimands"].items())
    yield list_section("Estimands", ("estimand", "what it is"), meanings)
    rows = [
        (method.label, _describe(method), ", ".join(f"{name} {x}" for name, x in method.options))
        for method in study.methods
    ]
    yield list_section("Methods", ("method", "what it is", "options"), rows)
    measures = TEXTS["measures"] | precision
    meanings = [(name.replace("_", " "), text) for name, text in measures.items()]
    versions = "; ".join(results.table["versions"].unique())
    text = f"Intervals of {to_percent(study.level)}. {versions}."
    yield list_section("Performance measures", ("measure", "what it is"), meanings, text)


def _describe(method: MethodChoice) -> str:
    if method.code is None:
        return find_method(method.method).summary
    return f"{method.code.text}, a file with SHA-256 {method.code.hash[:12]}…"


def _tabulate(results: StudyResults, estimand: str, names: Iterable[str]) -> PrintedTable:
    """Lay out measures by scenario and method."""
    table = results.measures[results.measures["estimand"] == estimand]
    names = [name for name in names if name in set(table["measure"])]
    keys = ["scenario", "method", "measure"]
    numbers = table.set_index(keys)[NUMBERS].apply(tuple, axis="columns").to_dict()
    rows: list[tuple[Any, ...]] = []
    for entry, method in product(results.study.scenarios, results.study.methods):
        key = entry.name, method.label
        if (*key, "bias") in numbers:
            n = numbers[*key, "failure_rate"][-1]
            rows.append((*key, *((*numbers[*key, name], n) for name in names)))
    columns = [TableColumn(name, format=partial(_write_measure, name)) for name in names]
    return PrintedTable(
        columns=[TableColumn("scenario"), TableColumn("method"), *columns], rows=rows, keys=2
    )


def _write_measure(
    measure: str, value: float, error: float, lower: float, upper: float, n: float, n_all: float
) -> str:
    """Write a proportion with its 95% interval, anything else with its standard error.

    If it rests on fewer samples than there are, their number follows.
    """
    if np.isnan(value):
        return DASH
    shown_n = _write_n(n, n_all)
    if measure in performance.PROPORTIONS:
        return with_interval(value, lower, upper) + shown_n
    return f"{to_decimal(value)} ± {to_decimal(error)}{shown_n}"


def _write_n(n: float, n_all: float) -> str:
    return f" (n {n:.0f})" if n < n_all else ""


def describe_best(results: StudyResults) -> Section:
    """Name for each scenario the biased methods, and those with the smallest error."""
    measures = select_main_estimand(results.measures)
    mse = select_main_estimand(results.differences).query("measure == 'mse'")
    swapped = {"method": mse["other_method"], "other_method": mse["method"]}
    more = pd.concat([mse, mse.assign(**swapped, difference=-mse["difference"])])
    more["worse"] = more["difference"] > Z * more["standard_error"]
    rows = []
    for scenario, group in measures.groupby("scenario", sort=False):
        by_measure = dict(iter(group.set_index("method").groupby("measure")))
        bias, errors = by_measure["bias"], by_measure["mse"]["value"].dropna()
        if errors.empty:
            continue
        bias = bias.assign(samples=by_measure["failure_rate"]["n"])
        biased = bias[bias["value"].abs() > Z * bias["standard_error"]]
        named = ", ".join(
            f"{row.method} {to_decimal(row.value, sign=True)}{_write_n(row.n, row.samples)}"
            for row in biased.reset_index().itertuples()
        )
        pairs = more[more["scenario"] == scenario].set_index(["method", "other_method"])
        # The method that no other beats, or that is beaten by least if all are.
        beaten_by = pairs["difference"].astype(float).groupby("method").max()
        best = beaten_by.reindex(errors.index).fillna(0.0).idxmin()
        rivals = (name for name in errors.index if name != best)
        tied = ", ".join(name for name in rivals if not pairs.loc[(name, best), "worse"])
        rows.append((scenario, named or "none", best, tied or "none"))
    text = TEXTS["paragraphs"]["noise"].format(main=describe_main_estimand(measures), z=Z)
    names = ("scenario", "biased", "smallest error", "not worse")
    return list_section("What came out", names, rows, text)


def count_outcomes(results: "pd.DataFrame") -> "pd.DataFrame":
    """Count by scenario and method how samples ended.

    Parameters
    ----------
    results : pandas.DataFrame
        As `StudyResults.table`.

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


def describe_outcomes(results: StudyResults) -> Section:
    """Count what is undefined, failed or did not converge, and say why methods failed."""
    counts = count_outcomes(results.table)
    troubled = counts[counts[list(TROUBLE)].any(axis="columns")]
    title = "Samples without a proper estimate"
    if troubled.empty:
        text = "None: every method has an estimate for each sample, and fits converged."
        return Section(title=title, text=[text])
    tables = [list_table(troubled, troubled.to_numpy().tolist(), keys=2)]
    failed = results.table[results.table["status"] == "failed"]
    reasons = failed.drop_duplicates(["scenario", "method", "replicate"])[["method", "reason"]]
    if len(reasons):
        common = reasons.value_counts().head(MOST_REASONS).reset_index().to_numpy().tolist()
        tables.append(list_table(("failed method", "reason", "samples"), common, keys=2))
    return Section(title=title, text=[TEXTS["paragraphs"]["outcomes"]], tables=tables)


def plot_measure(results: StudyResults, measure: str) -> "plt.Figure | None":
    """Draw a measure of all scenarios, as `StudyResults.plot` says."""
    study, rows = results.study, select_main_estimand(results.measures)
    samples = rows[rows["measure"] == "failure_rate"].set_index(["scenario", "method"])["n"]
    rows = rows[rows["measure"] == measure].rename(columns={"value": "estimate"})
    drawn = rows[rows["estimate"].notna()]
    if drawn.empty:
        return None
    marks = [
        _write_n(row.n, samples[row.scenario, row.method]).strip(" ()") for row in rows.itertuples()
    ]
    rows = rows.assign(mark=marks, corrected=False, quantity="")
    looks = {choice.label: _choose_style(choice) for choice in study.methods}
    shown = [look.label for name, look in looks.items() if name in set(drawn["method"])]
    left_out = [look.label for look in looks.values() if look.label not in shown]
    common, names = _shorten_names([entry.name for entry in study.scenarios])
    labels = [textwrap.fill(names[name], LABEL_LETTERS) for name in rows["scenario"]]
    axis = TEXTS["axes"][measure].format(level=to_percent(study.level))
    replicates = pluralise(study.replicates, "sample")
    of_one = f" of {shown[0]}" if len(shown) == 1 else ""
    caption = [
        f"{axis}{of_one}, with 95% Monte Carlo intervals: "
        f"{', '.join([f'{replicates} each', *common])}",
        *(["n stands where not all samples have one"] if any(rows["mark"][drawn.index]) else []),
        *([f"not stated by {', '.join(left_out)}"] if left_out else []),
    ]
    lines = max(label.count("\n") + 1 for label in labels)
    row_height = ROW_GAP + max(LINE * lines, POINT * len(shown))
    with figures.use_style() as width:
        height = 1.2 + row_height * len(names)
        figure = mpl_figure.Figure(figsize=(width, height), layout="constrained")
        ax = plot_forest(rows, figure.subplots(), labels, looks=looks.__getitem__)
        reference = study.level if measure == "coverage" else 0
        ax.axvline(reference, color=REFERENCE, lw=0.8, zorder=1)
        for position in range(1, len(names), 2):
            ax.axhspan(position - 0.5, position + 0.5, color="0.96", lw=0, zorder=0)
        ends = drawn[["estimate", "lower", "upper"]]
        ax.set(xlim=figures.span(ends, reference, within=None), xlabel="")
        figures.set_proportion_ticks(ax.xaxis)
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        figures.add_legend(figure, figures.list_handles(ax), textwrap.fill("; ".join(caption), 100))
    caption.append(f"{len(study.scenarios)} scenarios of the study {study.name}")
    figure.set_label(f"{'; '.join(caption)}; methods: {', '.join(shown)}.")
    return figure


def _shorten_names(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Separate what all names of scenarios have in common from what tells them apart."""
    parts = {name: name.replace("_", " ").split(", ") for name in names}
    first, *others = parts.values()
    common = [part for part in first if others and all(part in other for other in others)]
    apart = {
        name: ", ".join(part for part in of_name if part not in common) or ", ".join(of_name)
        for name, of_name in parts.items()
    }
    return common, apart


def _choose_style(choice: MethodChoice) -> Look:
    look = get_look(choice.method)
    if choice.label == choice.method:
        return look
    return replace(look, name=choice.label, label="")
