"""Tables of the documentation, made from the committed results and never typed.

`python docs/_ext/tables.py` writes them into the pages, between `<!-- table: NAME -->` and
`<!-- end of table -->`, so that they can be read in the repository too. A test compares them.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from study_fields import study_fields
from typer.testing import CliRunner

from experiments.benchmarks.real.fits import BY_PPI
from experiments.benchmarks.real.report import FEW, MEASURES, average_over_crowds
from experiments.benchmarks.real.sources import EVERY
from lehner.command.main import app
from lehner.core.errors import CODES
from lehner.core.estimate import MEANINGS
from lehner.core.table import PrintedTable, TableColumn, to_markdown
from lehner.core.text import DASH, to_short
from lehner.data.columns import load_words
from lehner.estimation.methods import list_methods
from lehner.report.figures import name_method

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"
SIMULATIONS = EXPERIMENTS / "simulations"
COMMANDS = (
    "doctor",
    "estimate",
    "agreement",
    "check",
    "compare",
    "gate",
    "bounds",
    "ask",
    "label",
    "datasets",
    "study run",
    "study report",
)
TWO_COLUMNS = 1400
"""Pixels of a figure over two columns of a journal."""

WAYS = {
    "alone": "no gold label",
    "gold labels alone": "gold labels alone",
    "PPI++": "PPI++",
    "recalibrated": "corrected (`correct_accuracy`)",
}


BLOCK = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
"""A table in a page, or a Markdown file of the repository, whose name is its path."""

ZERO = re.compile(r"(`[^`]*`)|(?<=[| -])0(?=\.[0-9]+(?:,| (?!s\b|GB)))")
"""A code, or the zero before the point, which numbers on pages do without, as on paper."""


def fill_page(text: str, tables: Mapping[str, str]) -> str:
    """Write each table of a page between the comments that name it."""

    def fill(block: re.Match[str]) -> str:
        opening, name, closing = block.groups()
        if name.endswith(".md"):
            table = (ROOT / name).read_text("utf-8")
        else:
            table = "\n".join(_drop_zeros(line) for line in tables[name].splitlines())
        return f"{opening}\n{table.strip()}\n\n{closing}"

    return BLOCK.sub(fill, text)


def _drop_zeros(line: str) -> str:
    return ZERO.sub(lambda match: match[1] or "", line) if line.startswith("|") else line


def write_pages() -> None:
    """Write the tables into all pages."""
    tables = dict(make_tables())
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        filled = fill_page(text, tables)
        if filled != text:
            page.write_text(filled, encoding="utf-8")


def make_tables() -> Iterator[tuple[str, str]]:
    """Make each table of the documentation as Markdown, with its name."""
    codes = [(code, severity, text) for code, (severity, text) in CODES.items()]
    columns = [
        TableColumn("code", names="`{}`".format),
        TableColumn("severity"),
        TableColumn("text", "what it means, what to do"),
    ]
    yield "warnings", to_markdown(PrintedTable(columns=columns, rows=codes))
    roles = [
        (role, ", ".join(names["of"].split())) for role, names in load_words("names.toml").items()
    ]
    columns = [TableColumn("role"), TableColumn("names", "names of its columns")]
    yield "column_names", to_markdown(PrintedTable(columns=columns, rows=roles))
    yield "command", "".join(map(_help, COMMANDS))
    columns = [
        TableColumn("column", names="`{}`".format),
        TableColumn("type"),
        TableColumn("meaning"),
    ]
    rows = [(name, *about) for name, about in MEANINGS.items()]
    yield "columns", to_markdown(PrintedTable(columns=columns, rows=rows))
    yield from study_fields()
    columns = [TableColumn("method", names="`{}`".format), TableColumn("summary", "what it is")]
    methods = [(name, method.summary) for name, method in list_methods().items()]
    yield "methods", to_markdown(PrintedTable(columns=columns, rows=methods))
    yield (
        "gallery",
        _gallery(tomllib.loads((ROOT / "docs/figures/gallery.toml").read_text("utf-8"))),
    )
    study = pd.read_csv(EXPERIMENTS / "studies/k_violations/performance.csv")
    for system in ("good", "poor"):
        for measure in ("bias", "rmse", "coverage"):
            yield f"k_violations_{measure}_{system}", _k_violations(study, measure, system)
    yield "known_truths", _known_truths(pd.read_csv(SIMULATIONS / "known_truths.csv"))
    yield ("known_truth_parts", _parts(pd.read_csv(SIMULATIONS / "known_truths_in_parts.csv")))
    yield (
        "known_truths_by_category",
        _by_category(pd.read_csv(SIMULATIONS / "known_truths_by_category.csv")),
    )
    yield "sequential_truths", _sequential(pd.read_csv(SIMULATIONS / "sequential_truths.csv"))
    yield (
        "systems",
        _systems(_with_relaxed_k("system_differences"), TableColumn("n_items", "items")),
    )
    yield "better", _better(_with_relaxed_k("better_system"))
    yield "labelled_systems", _labelled(pd.read_csv(SIMULATIONS / "labelled_systems.csv"))
    yield "trend", _trend(pd.read_csv(SIMULATIONS / "trend.csv"))
    yield "trend_anytime", _trend_anytime(pd.read_csv(SIMULATIONS / "trend_anytime.csv"))
    yield "one_judge", _one_judge(pd.read_csv(SIMULATIONS / "one_judge.csv"))
    yield from _gate(pd.read_csv(SIMULATIONS / "gate.csv", keep_default_na=False))
    yield from _anytime(pd.read_csv(SIMULATIONS / "anytime.csv"))
    yield from _until(pd.read_csv(SIMULATIONS / "ask_until.csv"))
    yield "compare", _compare(pd.read_csv(SIMULATIONS / "compare.csv"))
    intervals = pd.read_csv(SIMULATIONS / "likelihood_intervals.csv")
    yield "likelihood_intervals", _likelihood_intervals(intervals)
    yield "clustered_items", _clustered(pd.read_csv(SIMULATIONS / "clustered_items.csv"))
    yield "unequal_truths", _unequal_truths(pd.read_csv(SIMULATIONS / "unequal_truths.csv"))
    yield "chosen_labels", _chosen_labels(pd.read_csv(SIMULATIONS / "chosen_labels.csv"))
    real = pd.read_csv(EXPERIMENTS / "benchmarks/real/unequal_truths.csv")
    yield "unequal_truths_real", _unequal_truths_real(real)
    repeated = pd.read_csv(SIMULATIONS / "repeated_ratings.csv")
    for method in ("algebraic", "dawid_skene_ml"):
        yield f"repeated_ratings_{method}", _repeated_ratings(repeated[repeated.method == method])
    simulated = pd.read_csv(SIMULATIONS / "warning_rates.csv")
    keys = [TableColumn("process", "what is simulated"), TableColumn("items")]
    yield "warning_rates", _warning_rates(simulated, keys)
    real = pd.read_csv(EXPERIMENTS / "benchmarks/real/warning_rates.csv")
    yield "warning_rates_real", _real_warning_rates(real)
    yield "power", _power(pd.read_csv(SIMULATIONS / "power.csv"))
    yield "calibration", _calibration(pd.read_csv(EXPERIMENTS / "calibration/calibration.csv"))
    yield "peers", _peers(pd.read_csv(EXPERIMENTS / "benchmarks/peers.csv"))
    growth = pd.read_csv(EXPERIMENTS / "benchmarks/sizes_by_ratings.csv")
    yield "sizes_by_ratings", _sizes_by_ratings(growth)
    yield "peers_of_one_judge", _judge_peers(pd.read_csv(EXPERIMENTS / "benchmarks/one_judge.csv"))
    yield from _real(EXPERIMENTS / "benchmarks/real")
    yield from _panels(EXPERIMENTS / "benchmarks/real")


def _real(folder: Path) -> Iterator[tuple[str, str]]:
    files = {name: pd.read_csv(folder / f"{name}.csv") for name in ("real", "domains", "halves")}
    for table in files.values():
        table["method"] = table.method.map({n: _label_in_parts(n) for n in table.method.unique()})
    measured = files["real"]
    few = measured[measured.per_item == FEW]
    yield "real_designs", table_of_means(few[few.known == 0], ["design", "method"])
    yield "real_short", _real_short(few[few.known == 0])
    labelled = few[(few.known > 0) & ~few.method.str.startswith("ppi")]
    yield "real_known", table_of_labels(labelled, ["design", "method"])
    yield "real_domains", table_of_means(files["domains"], ["domain", "design", "method"])
    crowds = pd.read_csv(folder / "crowds.csv")
    yield "real_groups", _real_groups(few[few.known == 0].merge(crowds[["crowd", "domain"]]))
    columns = [TableColumn(name, name, "{:,}".format) for name in crowds]
    lines = pd.read_csv(folder / "panel_lines.csv")
    named = [TableColumn(name, name.replace("_", " ")) for name in lines.columns[:3]]
    measured = [TableColumn(name, format=to_short) for name in lines.columns[3:]]
    yield "panel_lines", _table(lines, [*named, *measured])
    weights = pd.read_csv(folder / "model_weights.csv")
    titles: dict[str, str | None] = dict.fromkeys(weights["systems"])
    measures = ("coverage", "width", "rmse")
    column = TableColumn("weight", "weight of models", to_short)
    yield "model_weights", _across(weights, [column], "systems", titles, measures, _write_three)
    yield "real_crowds", _table(crowds, columns)
    yield "real_halves", table_of_means(files["halves"], ["ranked_by", "method"])


def _panels(folder: Path) -> Iterator[tuple[str, str]]:
    """Write the tables of panels of language models, each of them counting once."""
    means = pd.read_csv(folder / "panel_means.csv").rename(columns={"crowds": "panels"})
    means["method"] = means.method.map({n: _label_panel_method(n) for n in means.method.unique()})
    every, without = means[means.source == "all"], means[means.known == 0]
    for split, name in (("exam", "exam"), ("left out", "left_out")):
        of_split = every[every.split == split]
        rows = of_split[of_split.known == 0]
        yield f"panels_{name}", _write_means(rows, ["method", "panels"])
        labelled = of_split[of_split.known.isin([20, 50])]
        yield f"panels_{name}_labels", _write_labels(labelled, ["method"])
    learned = without[without.method.str.startswith(name_method("learned_prior"))]
    learned = learned[learned.source != "all"].sort_values(["split", "source"], kind="stable")
    told = learned[(learned.split == "exam") & learned.method.str.endswith("models")]
    titles = [TableColumn("source"), TableColumn("panels")]
    measured = [
        *(TableColumn("rmse", "RMSE", to_short), TableColumn("coverage", format=to_short)),
        TableColumn("width", format=to_short),
    ]
    yield "panels_exam_by_source", _table(told, [*titles, *measured])
    yield "panels_by_source", _write_means(learned, ["split", "source", "method", "panels"])
    listed = [
        (source.address, source.licence, source.exam, source.name)
        for source in EVERY.values()
        if source.domain == "language models"
    ]
    names = ["address", "licence", "exam", "panel"]
    groups = pd.DataFrame(listed, columns=names).groupby(names[:3], sort=False)["panel"]
    rows = [
        (
            address.removeprefix("https://github.com/"),
            licence.partition(":")[0],
            "exam" if exam else "learned from",
            len(panels),
            ", ".join(panels),
        )
        for (address, licence, exam), panels in groups
    ]
    titles = ("repository on GitHub", "licence", "use", "number", "panels")
    columns = [TableColumn(title) for title in titles]
    yield "panels_list", to_markdown(PrintedTable(columns=columns, rows=rows))


def _write_three(coverage: float, width: float, rmse: float) -> str:
    return f"{to_short(coverage)} ({to_short(width)}, {to_short(rmse)})"


def _label_panel_method(name: str) -> str:
    """Label a method of the study of panels, as "learned_prior, models"."""
    package, is_function, _ = name.partition("@")
    if is_function:
        return package
    corrected = name.removeprefix(BY_PPI)
    return _label_in_parts(corrected) + (" by PPI++" if corrected != name else "")


def table_of_means(measured: pd.DataFrame, keys: Sequence[str]) -> str:
    """Write means over crowds, a row for each value of the keys."""
    return _write_means(average_over_crowds(measured, keys), [*keys, "crowds"])


def _write_means(means: pd.DataFrame, keys: Sequence[str]) -> str:

    def write(value: float, error: float) -> str:
        return to_short(value) if math.isnan(error) else _in_brackets(value, error)

    titles = {name: "RMSE" if name == "rmse" else name for name in MEASURES}
    return _table(
        means,
        [
            *(TableColumn(name) for name in keys),
            TableColumn("accuracy", "mean accuracy", to_short),
            *(
                (TableColumn(title, format=write), (name, f"{name}_se"))
                for name, title in titles.items()
            ),
        ],
    )


def table_of_labels(measured: pd.DataFrame, keys: Sequence[str] = ("method",)) -> str:
    """Write RMSE, coverage and width, a column for each number of gold labels."""
    return _write_labels(average_over_crowds(measured, [*keys, "known"]), keys)


def _write_labels(means: pd.DataFrame, keys: Sequence[str]) -> str:
    def write(rmse: float, *others: float) -> str:
        numbers = [to_short(number, 2) for number in others if not math.isnan(number)]
        return f"{to_short(rmse)} ({', '.join(numbers)})" if numbers else to_short(rmse)

    titles = {number: f"{number} gold labels" for number in dict.fromkeys(means["known"])}
    columns = [TableColumn(name) for name in keys]
    return _across(means, columns, "known", titles, ("rmse", "coverage", "width"), write)


SITUATIONS = {"like": "like its raters", "better": "better", "worse": "worse"}


def _real_short(table: pd.DataFrame) -> str:
    """Give RMSE and coverage of the methods with intervals, and of the majority, by situation."""
    means = table.groupby(["method", "design"])[["rmse", "coverage"]].mean().unstack("design")
    is_majority = means.index == name_method("majority_agreement")
    methods = means.index[means.coverage.notna().any(axis=1) | is_majority]
    rows = [
        "| method | "
        + " | ".join(f"RMSE, {name} | coverage" for name in SITUATIONS.values())
        + " |",
        "| --- |" + " ---: |" * 6,
    ]
    for method in methods:
        values = [
            means.loc[method, (of, design)] for design in SITUATIONS for of in ("rmse", "coverage")
        ]
        rows.append(
            f"| {method} | "
            + " | ".join(DASH if math.isnan(value) else to_short(value, 3) for value in values)
            + " |"
        )
    return "\n".join(rows)


def _real_groups(table: pd.DataFrame) -> str:
    """Give coverage and RMSE by domain and situation, a column for each method."""
    means = average_over_crowds(table, ["domain", "design", "method"])
    means = means.sort_values(["domain", "design"], kind="stable").replace(
        {"design": SITUATIONS, "domain": {"crowd": "crowd workers"}}
    )
    names = [
        "Learned prior, unknown",
        "Majority agreement",
        "Algebraic",
        "Dawid–Skene",
        "Relaxed K",
    ]
    keys = [TableColumn("domain", "raters"), TableColumn("design", "system"), TableColumn("crowds")]

    def write(coverage: float, rmse: float) -> str:
        return f"{DASH if math.isnan(coverage) else to_short(coverage, 2)} ({to_short(rmse, 2)})"

    return _across(means, keys, "method", dict.fromkeys(names), ("coverage", "rmse"), write)


def _label_in_parts(name: str) -> str:
    """Label a method that was varied, as "learned_prior, like"."""
    method, *variation = name.split(", ")
    return ", ".join([name_method(method), *variation])


def _help(command: str) -> str:
    words = [*command.split(), "--help"]
    printed = CliRunner().invoke(app, words, prog_name="lehner", env={"COLUMNS": "80"})
    return f"## lehner {command}\n\n```text\n{printed.output.strip()}\n```\n\n"


def _table(
    table: pd.DataFrame, columns: Sequence[TableColumn | tuple[TableColumn, Sequence[str]]]
) -> str:
    """Write columns of a data frame, some of which have several numbers in a cell."""
    each = [column if isinstance(column, tuple) else (column, ()) for column in columns]
    cells = [
        zip(*(table[name] for name in names), strict=True) if names else table[column.name].tolist()
        for column, names in each
    ]
    rows = list(zip(*cells, strict=True))
    return to_markdown(PrintedTable(columns=[column for column, _ in each], rows=rows))


def _across(
    table: pd.DataFrame,
    keys: Sequence[TableColumn],
    across: str,
    titles: Mapping[str, str | None],
    numbers: Sequence[str],
    write: Callable[..., str],
) -> str:
    """Write a row for each combination of the keys, and a column for each value of another one.

    Parameters
    ----------
    table : pandas.DataFrame
        With all these columns.
    keys : sequence of TableColumn
        What a row is about.
    across : str
        What a column is about.
    titles : mapping of str to str or None
        Heads of the columns by the values of `across`; by default the values.
    numbers : sequence of str
        Of which a cell is made.
    write : callable
        From these numbers to the text of a cell.

    Returns
    -------
    str
    """
    rows = []
    for key, group in table.groupby([column.name for column in keys], sort=False):
        cells = {place: tuple(row) for place, *row in group[[across, *numbers]].values.tolist()}
        rows.append((*key, *(cells.get(place, DASH) for place in titles)))
    columns = [*keys, *(TableColumn(place, title, write) for place, title in titles.items())]
    return to_markdown(PrintedTable(columns=columns, rows=rows, keys=len(keys)))


def _labels(methods: Iterable[str]) -> dict[str, str | None]:
    return {name: name_method(name) for name in methods}


PER_CENT = "{:.0%}".format
METHOD = TableColumn("method", names=name_method)
SIMULATED = TableColumn("cell", "what is simulated")
ERROR = ("rmse", "rmse_se")
COVERAGE = ("coverage", "coverage_se")


def _in_brackets(value: float, error: float) -> str:
    return DASH if math.isnan(value) else f"{to_short(value)} ({to_short(error)})"


def _plus_minus(value: float, error: float, digits: int = 3) -> str:
    return f"{to_short(value, digits)} ± {to_short(error, digits)}"


_coverage = partial(_plus_minus, digits=2)


# The methods that matter come first.
STUDIED = (
    *("relaxed_k", "dawid_skene", "algebraic", "algebraic_paper", "learned_prior"),
    *("majority_agreement", "one_coin"),
)


def _k_violations(study: pd.DataFrame, measure: str, system: str) -> str:
    rows = study[
        (study.measure == measure)
        & (study.estimand == "system_accuracy")
        & study.scenario.str.contains(f"{system} system")
    ]
    what = TableColumn("scenario", "what fails", names=partial(_what_fails, system=system))
    numbers = ("value", "standard_error")
    return _across(rows, [what], "method", _labels(STUDIED), numbers, _in_brackets)


def _what_fails(scenario: str, system: str) -> str:
    for words in ("one fails, ", f"{system} system, ", f", {system} system"):
        scenario = scenario.replace(words, "")
    return scenario.replace("_", " ")


def _with_relaxed_k(name: str) -> pd.DataFrame:
    """Read a table and that of `relaxed_k`, which has a simulation of its own."""
    files = (SIMULATIONS / f"{name}{ending}.csv" for ending in ("", "_relaxed_k"))
    return pd.concat(map(pd.read_csv, files), ignore_index=True)


def _systems(table: pd.DataFrame, size: TableColumn) -> str:
    in_sample = table.estimand.str.endswith("sample")
    table = table.assign(difference=in_sample.map({True: "in the sample", False: "expected"}))
    names = (TableColumn("process"), size, METHOD, TableColumn("n", "data sets"))
    return _table(
        table,
        [
            *names,
            TableColumn("difference"),
            (TableColumn("rmse", "RMSE", _plus_minus), ERROR),
            (TableColumn("coverage", format=_coverage), COVERAGE),
            TableColumn("interval_width", "width", partial(to_short, digits=2)),
        ],
    )


def _better(table: pd.DataFrame) -> str:
    table = table[table["estimand"] == "system_accuracy"]
    table = table.assign(
        value=table.share_better.where(table.bin != "all", table.brier),
        error=table.standard_error.where(table.bin != "all", table.brier_se),
        number=table.n.where(table.bin != "all"),
    )
    titles = {name: f"P {name}" for name in table.bin if name != "all"} | {"all": "Brier score"}

    def write(value: float, error: float, n: float) -> str:
        if math.isnan(n):
            return _plus_minus(value, error)
        return f"{_coverage(value, error)} ({n:.0f})"

    return _across(table, [METHOD], "bin", titles, ("value", "error", "number"), write)


def _repeated_ratings(table: pd.DataFrame) -> str:
    """Write bias and root mean squared error, and coverage where there are intervals."""

    def write(bias: float, rmse: float, coverage: float) -> str:
        shown = f"{to_short(bias)} / {to_short(rmse)}"
        return shown if math.isnan(coverage) else f"{shown} ({to_short(coverage, 2)})"

    keys = [TableColumn("n_categories", "categories"), TableColumn("process", "what is simulated")]
    return _across(
        table, keys, "rule", dict.fromkeys(table.rule), ("bias", "rmse", "coverage"), write
    )


def _one_judge(table: pd.DataFrame) -> str:
    """Write coverage and mean width of intervals by one judge and gold labels."""

    def write(coverage: float, coverage_se: float, width: float) -> str:
        return f"{_coverage(coverage, coverage_se)}, {to_short(width, 2)}"

    rates = {"medium": ".7, .6", "high": ".97, .9", "low": ".03, .1", "equal": ".6, .6"}
    keys = [
        TableColumn("rates", "base rates", names=rates.__getitem__),
        TableColumn("categories"),
        TableColumn("unanswered"),
        TableColumn("epochs"),
        TableColumn("labels", "labels of each"),
        TableColumn("favour"),
        TableColumn("judges"),
        TableColumn("items", "items of each"),
        METHOD,
    ]
    titles: dict[str, str | None] = {"rate": "rate", "difference": "difference"}
    table = table[table.quantity.isin(titles)]
    texts = {name: table[name].map("{:g}".format) for name in ("favour", "unanswered")}
    table = table.assign(**texts, epochs=table.epochs.map({True: "5", False: "1"}))
    return _across(table, keys, "quantity", titles, (*COVERAGE, "interval_width"), write)


def _gate(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Write how often numbers pass and fail at the border, and pass above it, by labels."""
    rates = {"half": 0.5, "most": 0.8, "nearly all": 0.97}
    of_rates = table.rates.isin(rates)
    tested = table.tested.where(table.tested != "difference", "difference of accuracies")
    table = table.assign(
        tested=tested.where(~of_rates | (table.tested == "rate"), "difference of rates"),
        number=table.rates.map(rates).fillna(table.accuracy),
        favour=table.favour.map("{:g}".format).where(of_rates, DASH),
    )
    labels: dict[Any, str | None] = {count: f"{count} labels" for count in (20, 50, 100, 200)}
    what = TableColumn("tested", "what is tested")
    number = TableColumn("number", "rate or accuracy", partial(to_short, digits=2))
    by = ["tested", "number", "favour", "method", "labels", "less"]
    wide = table.pivot(index=by, columns="outcome", values="bias").reset_index()
    main = (wide.method == "post_stratified") | (wide.favour == DASH)
    keys = [what, number, TableColumn("favour", "the judge's favour")]
    border = wide[(wide.less == 0) & main], keys, "labels", labels, ("passes", "fails")
    yield "gate", _across(*border, lambda *shares: " / ".join(map(to_short, shares)))
    above = table[(table.less > 0) & (table.outcome == "passes")]
    above = above.sort_values(["tested", "number", "method"], kind="stable")
    keys, numbers = [what, number, METHOD], ("bias", "bias_se")
    yield "gate_power", _across(above, keys, "labels", labels, numbers, _in_brackets)


def _anytime(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Write coverage of intervals at which one stops, and widths beside those of usual ones."""
    stops = {"when it excludes the truth": "excluded", "when it is narrow": "narrow"}
    looks = {f"after {n} labels": f"{n} labels" for n in (20, 50, 100, 200)}
    covering, widths = [], []
    for (rate, judge), part in table.groupby(["rate", "judge"]):
        measured = part.set_index(["stop", "method", "order"]).sort_index()
        key, cells, ratios = [to_short(rate, 2), "yes" if judge else "none"], [], []
        for place in product(stops, (USUAL, SEQUENCE, SHUFFLED)):
            where = (place[0], *place[1])
            there = where in measured.index
            cells.append(_coverage(*measured.loc[where, [*COVERAGE]]) if there else DASH)
        for stop in looks:
            usual, often = (measured.loc[(stop, *x), "interval_width"] for x in (USUAL, SEQUENCE))
            ratios.append(f"{to_short(often, 2)} / {to_short(usual, 2)} = {often / usual:.1f}")
        covering.append(key + cells)
        widths.append(key + ratios)
    orders = ("usual", "sequence", "sequence, other order")
    titles = [f"{stop}: {order}" for stop, order in product(stops.values(), orders)]
    parts = {"anytime": (titles, covering), "anytime_width": (looks.values(), widths)}
    for name, (heads, rows) in parts.items():
        columns = [TableColumn(title) for title in ("rate", "judge", *heads)]
        yield name, to_markdown(PrintedTable(columns=columns, rows=rows))


def _until(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Write coverage where one stops, and widths after numbers of labels, of both intervals."""
    table = table.assign(
        misleading=table.misleading.map("{:.0%}".format),
        method=table.method.map({"usual": "Wilson's", "anytime": "confidence sequence"}),
        stop=table.stop.str.removeprefix("when it "),
    )
    after = table.stop.str.startswith("after")
    keys = [
        TableColumn("accuracy", format=partial(to_short, digits=2)),
        TableColumn("misleading", "items that mislead all"),
        TableColumn("method", "interval"),
    ]
    for name, rows, numbers, write in (
        ("ask_until", table[~after], COVERAGE, _coverage),
        ("ask_until_width", table[after], ("interval_width",), partial(to_short, digits=2)),
    ):
        yield name, _across(rows, keys, "stop", dict.fromkeys(rows.stop), numbers, write)


USUAL, SEQUENCE, SHUFFLED = ("usual", "drawn"), ("anytime", "drawn"), ("anytime", "file")


def _labelled(table: pd.DataFrame) -> str:
    """Write coverage and width of differences of two systems."""

    def write(coverage: float, coverage_se: float, width: float) -> str:
        return f"{_coverage(coverage, coverage_se)}, {to_short(width, 2)}"

    keys = [
        TableColumn("accuracy"),
        TableColumn("less", "difference"),
        TableColumn("labels"),
        TableColumn("cluster", "items a cluster"),
    ]
    table = table[table.quantity == "system_accuracy"]
    texts = {name: table[name].map("{:g}".format) for name in ("accuracy", "less")}
    titles: dict[str, str | None] = {"2": "2 categories", "4": "4 categories"}
    table = table.assign(**texts, categories=table.categories.astype(str))
    return _across(table, keys, "categories", titles, (*COVERAGE, "interval_width"), write)


def _trend(table: pd.DataFrame) -> str:
    """Write how often the interval of a trend excludes no change."""
    keys = [
        TableColumn("method"),
        TableColumn("labels", "gold labels"),
        TableColumn("n", "data sets"),
    ]
    titles: dict[str, str | None] = {"steady": "of a steady system", "drifts": "of one that drifts"}
    return _across(table, keys, "system", titles, ("changed", "changed_se"), _coverage)


def _trend_anytime(table: pd.DataFrame) -> str:
    """Write coverage where one stops, and widths and power beside those of the usual interval."""
    titles = ["stopped when it excludes the truth", "stopped when it excludes no change"]
    titles += ["width after 400 labels / usual = ratio", "sees the change / usual"]
    columns = [TableColumn(title) for title in ("true change", "raters", "data sets", *titles)]
    rows = []
    for (change, raters), part in table.groupby(["change", "raters"], sort=False):
        found = part.set_index(["stop", "method"])
        often, usual = (found.loc["after 400 labels", x] for x in ("anytime", "usual"))
        stops = [
            _coverage(*found.loc[(f"when it {stop}", "anytime"), [*COVERAGE]])
            for stop in ("excludes the truth", "excludes no change")
        ]
        widths = [to_short(x.interval_width, 2) for x in (often, usual)]
        ratio = often.interval_width / usual.interval_width
        seen = " / ".join(to_short(x.changed, 2) for x in (often, usual))
        key = [to_short(change, 1) if change else "0", str(raters), f"{often.n:.0f}"]
        rows.append([*key, *stops, f"{' / '.join(widths)} = {ratio:.1f}", seen])
    return to_markdown(PrintedTable(columns=columns, rows=rows))


def _compare(table: pd.DataFrame) -> str:
    """Write bias and coverage of proportions and differences, and how often something happened."""
    titles = {
        "proportion": "proportion",
        "difference": "difference",
        "false best": "false best",
        "raters-differ": "`raters-differ`",
        "agreement-unexplained": "`agreement-unexplained`",
    }

    def write(bias: float, coverage: float) -> str:
        covered = "" if math.isnan(coverage) else f" ({to_short(coverage, 2)})"
        return f"{to_short(bias, 2)}{covered}"

    keys = [
        TableColumn("process", "what is simulated"),
        TableColumn("rates", "base rates"),
        TableColumn("groups"),
        TableColumn("size", "items of each"),
        TableColumn("known", "gold labels of each"),
        METHOD,
    ]
    table = table[table.quantity.isin(titles) & (table.method != "dawid_skene_ml")]
    return _across(table, keys, "quantity", titles, ("bias", "coverage"), write)


def _likelihood_intervals(table: pd.DataFrame) -> str:
    def write(coverage: float, coverage_se: float, width: float) -> str:
        return f"{_coverage(coverage, coverage_se)} ({to_short(width, 2)})"

    keys, numbers = [SIMULATED, METHOD], (*COVERAGE, "interval_width")
    return _across(table, keys, "quantity", dict.fromkeys(table.quantity), numbers, write)


def _clustered(table: pd.DataFrame) -> str:
    titles = {
        f"{size}, {clustered}": f"{size} a cluster, {'with' if clustered else 'without'}"
        for size in table["size"].unique()
        for clustered in (False, True)
    }
    of_cells = table["size"].astype(str) + ", " + table["cluster"].astype(str)
    quantity = table["quantity"].str.replace("_", " ")
    method = table["method"].str.replace("known truths", "gold labels")
    table = table.assign(cell=of_cells, quantity=quantity, method=method)
    table = table.sort_values(["method", "quantity", "correlation"], kind="stable")
    one_digit = partial(to_short, digits=1)
    keys = [METHOD, TableColumn("quantity"), TableColumn("correlation", format=one_digit)]
    return _across(table, keys, "cell", titles, COVERAGE, _coverage)


def _unequal_truths(table: pd.DataFrame) -> str:
    keys = [
        TableColumn("design", "chosen by"),
        TableColumn("known", "gold labels"),
        TableColumn("method", ""),
    ]
    by = [*(column.name for column in keys), "quantity"]
    table = table.groupby(by, sort=False).mean().reset_index()
    numbers = ("bias", "rmse", "coverage", "interval_width")
    return _across(table, keys, "quantity", dict.fromkeys(table.quantity), numbers, _unequal)


def _chosen_labels(table: pd.DataFrame) -> str:
    """Write coverage and mean width of intervals, as means over both systems."""

    def write(coverage: float, width: float) -> str:
        return f"{to_short(coverage, 2)}, {to_short(width, 2)}"

    measured = ["coverage", "interval_width"]
    by = ["quantity", "method", "labels", "misled", "chosen_by", "odds"]
    table = table[(table.method != "gold labels alone") & (table.labels != "not used")]
    table = table.groupby(by, sort=False)[measured].mean().reset_index()
    table["of"] = table.misled.map("{:.0%} misleading".format) + table.odds.map(
        ", odds {:g}".format
    )
    keys = [
        TableColumn("quantity"),
        METHOD,
        TableColumn("labels", "gold labels"),
        TableColumn("of", "items"),
    ]
    titles: dict[str, str | None] = {
        "votes": "by votes",
        "answer": "by the answer",
        "both": "by both",
    }
    return _across(table, keys, "chosen_by", titles, measured, write)


def _unequal_truths_real(table: pd.DataFrame) -> str:
    keys = [TableColumn("design", "chosen by"), TableColumn("method", "")]
    numbers = ("rmse", *COVERAGE, "width")
    titles = {number: f"{number} gold labels" for number in table["known"].unique()}
    return _across(table, keys, "known", titles, numbers, _unequal_real)


def _unequal(bias: float, rmse: float, coverage: float, width: float) -> str:
    shown = [to_short(number, 2) for number in (bias, rmse, coverage, width)]
    return "{}, {} ({}, {})".format(*shown)


def _unequal_real(rmse: float, coverage: float, coverage_se: float, width: float) -> str:
    return f"{to_short(rmse)} ({_coverage(coverage, coverage_se)}, {to_short(width, 2)})"


def _parts(table: pd.DataFrame) -> str:
    keys = ["misleading", "items", "known", "part"]
    by_method = table.pivot(index=keys, columns="method")
    corrected = by_method.xs("corrected", axis=1, level=1)
    without = by_method.xs("without them", axis=1, level=1)
    joined = corrected.join(without.add_suffix("_without")).reset_index()
    joined["of"] = joined.known.astype(str) + " of " + joined["items"].astype(str)
    order = table[keys].drop_duplicates()
    joined = order.merge(joined, on=keys)
    return _table(
        joined,
        [
            TableColumn("misleading", "items that mislead all", PER_CENT),
            TableColumn("of", "gold labels"),
            TableColumn("part"),
            (
                TableColumn("without", "RMSE without", _plus_minus),
                ("rmse_without", "rmse_se_without"),
            ),
            (TableColumn("corrected", "RMSE corrected", _plus_minus), ERROR),
            (TableColumn("coverage", format=_coverage), COVERAGE),
            TableColumn("interval_width", "width", partial(to_short, digits=2)),
        ],
    )


def _known_truths(table: pd.DataFrame) -> str:
    table = table[(table.probabilities == "algebra") & table.method.isin(WAYS)]

    def write(rmse: float, rmse_se: float, coverage: float) -> str:
        return f"{_plus_minus(rmse, rmse_se)} ({to_short(coverage, 2)})"

    keys = [SIMULATED, TableColumn("labels", "gold labels")]
    return _across(table, keys, "method", WAYS, (*ERROR, "coverage"), write)


def _by_category(table: pd.DataFrame) -> str:
    def write(coverage: float, coverage_se: float, rmse: float) -> str:
        return f"{_coverage(coverage, coverage_se)} ({to_short(rmse, 2)})"

    keys = [
        TableColumn("part", "measure"),
        TableColumn("known", "gold labels"),
        TableColumn("method", "by"),
    ]
    table = table.assign(misleading=[f"{share:.0%} mislead all" for share in table.misleading])
    names = dict.fromkeys(table.misleading)
    return _across(table, keys, "misleading", names, (*COVERAGE, "rmse"), write)


def _sequential(table: pd.DataFrame) -> str:
    return _table(
        table,
        [
            TableColumn("misleading", "misleading items", PER_CENT),
            TableColumn("until", "half-width", partial(to_short, digits=2)),
            TableColumn("n", "data sets"),
            TableColumn("mean_known", "gold labels at the end", "{:.0f}".format),
            (TableColumn("rmse", "RMSE", _plus_minus), ERROR),
            (TableColumn("coverage", format=_coverage), COVERAGE),
        ],
    )


def _power(table: pd.DataFrame) -> str:
    keys = [SIMULATED, TableColumn("items")]
    return _across(table, keys, "test", dict.fromkeys(table.test), ("rejected", "se"), _in_brackets)


def _warning_rates(table: pd.DataFrame, keys: Sequence[TableColumn]) -> str:
    """Write means over rows that have these keys in common, with their standard errors."""
    names = [name.removesuffix("_se") for name in table if name.endswith("_se")]
    rows = []
    for place, group in table.groupby([column.name for column in keys], sort=False):
        n = group[names].notna().sum()
        errors = group[[f"{name}_se" for name in names]].set_axis(names, axis=1)
        each = zip(group[names].mean(), (errors**2).sum() ** 0.5 / n, strict=True)
        rows.append((*place, *each))
    columns = [*keys, *(TableColumn(name, name.replace("-", " "), _in_brackets) for name in names)]
    return to_markdown(PrintedTable(columns=columns, rows=rows, keys=len(keys)))


def _real_warning_rates(table: pd.DataFrame) -> str:
    keys = [TableColumn("design", "the system is"), TableColumn("ratings", "ratings of an item")]
    return _table(
        table,
        [
            *keys,
            TableColumn("warning", format=lambda name: name.replace("-", " ")),
            (TableColumn("", "fires", _in_brackets), ("fires", "se")),
            TableColumn("systems", "with how many systems"),
            TableColumn("error", "error of the algebra there", to_short),
            TableColumn("error_elsewhere", "elsewhere", to_short),
        ],
    )


def _calibration(table: pd.DataFrame) -> str:
    names = (
        TableColumn("model", names=name_method),
        TableColumn("design"),
        TableColumn("quantity"),
    )
    return _table(
        table,
        [
            *names,
            TableColumn("simulations"),
            TableColumn("mean_rank", format=to_short),
            TableColumn("p_value", "p", to_short),
            (TableColumn("", "coverage of 90%", _in_brackets), ("coverage_90", "coverage_se")),
        ],
    )


def _peers(table: pd.DataFrame) -> str:
    number = "{:.6f}".format
    columns = [
        TableColumn("quantity"),
        TableColumn("data"),
        TableColumn("lehner", format=number),
        TableColumn("peer"),
    ]
    columns += [
        TableColumn("peers_number", "its number", number),
        TableColumn("difference", format="{:.0e}".format),
    ]
    return _table(table.assign(difference=(table.lehner - table.peers_number).abs()), columns)


def _sizes_by_ratings(table: pd.DataFrame) -> str:
    def write(seconds: float, gigabytes: float, slope: float) -> str:
        return f"{slope:.2f}" if math.isnan(seconds) else f"{seconds:.2f} s, {gigabytes:.2f} GB"

    parts = table["name"].str.extract(r"(?P<work>[a-z_ ]+)[,:] (?P<size>slope|[\d,]+ ratings)")
    parts["work"] = parts["work"].str.replace("_", " ")
    keys = [TableColumn("work", "what is measured")]
    # The first kind of work has every size, and its slope is last.
    sizes = dict.fromkeys(parts["size"])
    return _across(table.join(parts), keys, "size", sizes, ("CPU-s", "GB", "ratio"), write)


def _judge_peers(table: pd.DataFrame) -> str:
    columns = [TableColumn("labels", "gold labels"), METHOD, TableColumn("n", "data sets")]
    columns += [TableColumn("rmse", "RMSE", partial(to_short, digits=3))]
    columns += [(TableColumn("", "coverage of 90%", _in_brackets), COVERAGE)]
    columns += [TableColumn("interval_width", "mean width", partial(to_short, digits=3))]
    columns += [TableColumn("milliseconds", "CPU milliseconds", "{:.1f}".format)]
    return _table(table, columns)


def _gallery(table: dict) -> str:
    """Write each figure of `gallery.toml` a heading, its command and its picture."""
    return "\n".join(
        f"## {row['title']}\n\n```sh\n{row['command'].replace(' && ', chr(10))}\n```\n\n"
        f"```{{figure}} figures/{row['name']}.png\n:alt: {row['alt']}\n"
        f"{_size(ROOT / 'docs/figures' / row['name'])}\n\n{row['caption']}\n```\n"
        for row in table["figure"]
    )


def _size(figure: Path) -> str:
    """Find the width of a picture in the page with which letters of all are of one size."""
    pixels = int.from_bytes(figure.with_suffix(".png").read_bytes()[16:20])
    wide = "\n:class: two-columns" if pixels == TWO_COLUMNS else ""
    return f":width: {100 * pixels / TWO_COLUMNS:.0f}%{wide}"


if __name__ == "__main__":
    write_pages()
