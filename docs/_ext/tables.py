"""Tables of the documentation, made from the committed results and never typed."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from typer.testing import CliRunner

from experiments.cli.main import app
from experiments.reporting.markdown import markdown_table
from lehner.core.number_format import DASH, short
from lehner.core.warning import CODES
from lehner.estimation.methods import list_methods

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "experiments"
SIMULATIONS = EXPERIMENTS / "simulations"
METHODS = (
    "majority_agreement",
    "mean_posterior",
    "algebraic_paper",
    "algebraic",
    "one_coin",
    "dawid_skene",
    "hierarchical_dawid_skene",
    "relaxed_k",
)
COMMANDS = (
    "estimate",
    "agreement",
    "check",
    "ask",
    "label",
    "plan",
    "datasets",
    "study run",
    "study report",
    "study export",
    "paper",
    "atlas",
    "calibrate",
)
TWO_COLUMNS = 1400
"""Pixels of a figure over two columns of a journal."""

WAYS = {
    "alone": "no known truth",
    "known items alone": "known items alone",
    "PPI++": "PPI++",
    "recalibrated": "corrected (`correct_by_truth`)",
}


def write_tables(folder: Path) -> None:
    """Write each table as Markdown, to be included by a page."""
    folder.mkdir(exist_ok=True)
    for name, table in _tables():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != table:
            path.write_text(table, encoding="utf-8")


def _tables() -> Iterator[tuple[str, str]]:
    codes = [[f"`{code}`", severity, text] for code, (severity, text) in CODES.items()]
    yield "warnings", markdown_table(["code", "severity", "what it means, what to do"], codes)
    yield "command", "".join(map(_help, COMMANDS))
    methods = [[f"`{name}`", method.summary] for name, method in list_methods().items()]
    yield "methods", markdown_table(["method", "what it is"], methods)
    yield (
        "gallery",
        _gallery(tomllib.loads((ROOT / "docs/figures/gallery.toml").read_text("utf-8"))),
    )
    study = pd.read_csv(EXPERIMENTS / "studies/k_violations/performance.csv")
    for system in ("good", "poor"):
        for measure in ("bias", "rmse", "coverage"):
            yield f"k_violations_{measure}_{system}", _k_violations(study, measure, system)
    yield "known_truths", _known_truths(pd.read_csv(SIMULATIONS / "known_truths.csv"))
    yield (
        "known_truth_parts",
        _parts(pd.read_csv(SIMULATIONS / "known_truths_in_parts.csv")),
    )
    yield "systems", _systems(_with_relaxed_k("system_differences"))
    yield "better", _better(_with_relaxed_k("better_system"))
    intervals = pd.read_csv(SIMULATIONS / "likelihood_intervals.csv")
    yield "likelihood_intervals", _likelihood_intervals(intervals)
    repeated = pd.read_csv(SIMULATIONS / "repeated_ratings.csv")
    for method in ("algebraic", "dawid_skene_ml"):
        yield f"repeated_ratings_{method}", _repeated_ratings(repeated[repeated.method == method])
    yield "rater_groups", _rater_groups(pd.read_csv(SIMULATIONS / "rater_groups.csv"))
    yield "power", _power(pd.read_csv(SIMULATIONS / "power.csv"))
    yield "calibration", _calibration(pd.read_csv(EXPERIMENTS / "calibration/calibration.csv"))
    yield "atlas", _atlas(pd.read_csv(ROOT / "docs/results/atlas.csv"))


def _help(command: str) -> str:
    said = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="lehner")
    return f"## lehner {command}\n\n```text\n{said.output.strip()}\n```\n\n"


def _k_violations(study: pd.DataFrame, measure: str, system: str) -> str:
    chosen = study[
        (study.measure == measure)
        & (study.estimand == "system_accuracy")
        & study.scenario.str.contains(f"{system} system")
    ]
    rows = []
    for scenario, group in chosen.groupby("scenario", sort=False):
        found = group.set_index("method")
        name = scenario.replace("one fails, ", "").replace(f"{system} system, ", "")
        name = name.replace(f", {system} system", "").replace("_", " ")
        cells = [_with_error(found, method) for method in METHODS]
        rows.append([name, *cells])
    return markdown_table(["what fails", *map(_breakable, METHODS)], rows)


def _with_error(found: pd.DataFrame, method: str) -> str:
    if method not in found.index or pd.isna(found.value[method]):
        return DASH
    return f"{short(found.value[method])} ({short(found.standard_error[method])})"


def _with_relaxed_k(name: str) -> pd.DataFrame:
    """Read a table and that of `relaxed_k`, which has a simulation of its own."""
    files = (SIMULATIONS / f"{name}{ending}.csv" for ending in ("", "_relaxed_k"))
    return pd.concat(map(pd.read_csv, files), ignore_index=True)


def _systems(table: pd.DataFrame) -> str:
    rows = [
        [
            one.process,
            str(one.n_items),
            f"`{one.method}`",
            str(one.n),
            "in the sample" if one.estimand.endswith("sample") else "expected",
            f"{short(one.rmse)} ± {short(one.rmse_se)}",
            f"{short(one.coverage, 2)} ± {short(one.coverage_se, 2)}",
            short(one.interval_width, 2),
        ]
        for one in table.itertuples()
    ]
    head = ["process", "items", "method", "data sets", "difference", "RMSE", "coverage", "width"]
    return markdown_table(head, rows)


def _better(table: pd.DataFrame) -> str:
    table = table[table["estimand"] == "system_accuracy"]
    bins = [name for name in dict.fromkeys(table["bin"]) if name != "all"]
    rows = []
    for method, group in table.groupby("method", sort=False):
        by_bin = group.set_index("bin")
        cells = [
            f"{short(by_bin.share_better[name], 2)} ± {short(by_bin.standard_error[name], 2)} "
            f"({by_bin.n[name]})"
            if name in by_bin.index
            else DASH
            for name in bins
        ]
        score = f"{short(by_bin.brier['all'])} ± {short(by_bin.brier_se['all'])}"
        rows.append([f"`{method}`", *cells, score])
    return markdown_table(["method", *(f"P {name}" for name in bins), "Brier score"], rows)


def _rater_groups(table: pd.DataFrame) -> str:
    quantities = list(dict.fromkeys(table["quantity"]))
    rows = []
    for (size, method, told), group in table.groupby(
        ["ratings_of_a_rater", "method", "with_groups"], sort=False
    ):
        cells = [
            f"{short(one.rmse)} ± {short(one.rmse_se)}, {short(one.coverage, 2)} ± "
            f"{short(one.coverage_se, 2)}"
            for one in group.set_index("quantity").loc[quantities].itertuples()
        ]
        rows.append([str(size), f"`{method}`", "yes" if told else "no", *cells])
    return markdown_table(["ratings of a rater", "method", "groups", *quantities], rows)


def _repeated_ratings(table: pd.DataFrame) -> str:
    """Give bias and root mean squared error, and coverage where there are intervals."""
    rules = list(dict.fromkeys(table.rule))
    rows = []
    for (k, process), group in table.groupby(["n_categories", "process"], sort=False):
        cells = [
            f"{short(one.bias)} / {short(one.rmse)}"
            + ("" if pd.isna(one.coverage) else f" ({short(one.coverage, 2)})")
            for one in group.set_index("rule").loc[rules].itertuples()
        ]
        rows.append([str(k), process, *cells])
    return markdown_table(["categories", "what is simulated", *rules], rows)


def _likelihood_intervals(table: pd.DataFrame) -> str:
    quantities = list(dict.fromkeys(table["quantity"]))
    rows = []
    for (cell, method), group in table.groupby(["cell", "method"], sort=False):
        measured = group.set_index("quantity")
        cells = [
            f"{short(measured.coverage[name], 2)} ± {short(measured.coverage_se[name], 2)} "
            f"({short(measured.interval_width[name], 2)})"
            for name in quantities
        ]
        rows.append([cell, f"`{method}`", *cells])
    return markdown_table(["what is simulated", "method", *quantities], rows)


def _parts(table: pd.DataFrame) -> str:
    rows = []
    for keys, group in table.groupby(["misleading", "items", "known", "part"], sort=False):
        misleading, items, known, part = keys
        by_method = group.set_index("method")
        corrected, without = by_method.loc["corrected"], by_method.loc["without them"]
        rows.append(
            [
                f"{misleading:.0%}",
                f"{known} of {items}",
                part,
                f"{short(without.rmse)} ± {short(without.rmse_se)}",
                f"{short(corrected.rmse)} ± {short(corrected.rmse_se)}",
                f"{short(corrected.coverage, 2)} ± {short(corrected.coverage_se, 2)}",
                short(corrected.interval_width, 2),
            ]
        )
    head = ["items that mislead all", "known", "part", "RMSE without", "RMSE corrected"]
    return markdown_table([*head, "coverage", "width"], rows)


def _known_truths(table: pd.DataFrame) -> str:
    table = table[(table.probabilities == "algebra") & table.method.isin(WAYS)]
    rows = []
    for (cell, known), group in table.groupby(["cell", "known"], sort=False):
        found = group.set_index("method")
        cells = [
            f"{short(found.rmse[way])} ± {short(found.rmse_se[way])} "
            f"({short(found.coverage[way], 2)})"
            if way in found.index
            else DASH
            for way in WAYS
        ]
        rows.append([cell, str(known), *cells])
    return markdown_table(["what is simulated", "known", *WAYS.values()], rows)


def _power(table: pd.DataFrame) -> str:
    tests = list(dict.fromkeys(table.test))
    rows = []
    for (cell, items), group in table.groupby(["cell", "items"], sort=False):
        found = group.set_index("test")
        cells = [
            f"{short(found.rejected[test])} ({short(found.se[test])})"
            if test in found.index
            else DASH
            for test in tests
        ]
        rows.append([cell, str(items), *cells])
    return markdown_table(["what is simulated", "items", *map(_breakable, tests)], rows)


def _calibration(table: pd.DataFrame) -> str:
    rows = [
        [
            row.model,
            row.design,
            row.quantity,
            str(row.simulations),
            short(row.mean_rank),
            short(row.p_value),
            f"{short(row.coverage_90)} ({short(row.coverage_se)})",
        ]
        for row in table.itertuples()
    ]
    head = ["model", "design", "quantity", "simulations", "mean rank", "p", "coverage of 90%"]
    return markdown_table(head, rows)


def _atlas(table: pd.DataFrame) -> str:
    """Give a table for each violation, with a row for each accuracy of raters and system."""
    methods = list(dict.fromkeys(table.method))
    parts = []
    for (violation, strength), group in table.groupby(["violation", "strength"], sort=False):
        rows = []
        for (raters, system), cell in group.groupby(["rater_accuracy", "system_accuracy"]):
            found = cell.set_index("method").bias
            cells = [short(found[m]) if m in found.index else DASH for m in methods]
            rows.append([f"{raters:g}", f"{system:g}", *cells])
        head = ["raters", "system", *map(_breakable, methods)]
        title = f"{violation.replace('_', ' ').capitalize()} {strength:g}"
        parts.append(f"### {title}\n\n{markdown_table(head, rows)}\n")
    return "\n".join(parts)


def _breakable(name: str) -> str:
    """Let a long name break in the head of a table."""
    return name.replace("_", "_<wbr>")


def _gallery(table: dict) -> str:
    """Give each figure of `gallery.toml` a heading, its command and its picture."""
    return "\n".join(
        f"## {one['title']}\n\n```sh\n{one['command'].replace(' && ', chr(10))}\n```\n\n"
        f"```{{image}} figures/{one['name']}.png\n:alt: {one['alt']}\n"
        f":width: {_width(ROOT / 'docs/figures' / one['name'])}\n```\n"
        for one in table["figure"]
    )


def _width(figure: Path) -> str:
    """Give the share of the page that a picture takes, so that letters of all are of one size."""
    pixels = int.from_bytes(figure.with_suffix(".png").read_bytes()[16:20])
    return f"{100 * pixels / TWO_COLUMNS:.0f}%"
