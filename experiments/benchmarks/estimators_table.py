"""The results of `experiments.benchmarks.estimators` as a page for a reader."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from experiments.benchmarks.processes import SETTINGS, TWO_CATEGORIES
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Cell, Column, Table
from lehner.core.estimate import ESTIMANDS
from lehner.core.text import decimal, short

PEERS = ("algebraic", "one_coin", "dawid_skene")
METHODS = ("algebraic_paper", "algebraic", "algebraic_likelihood", *PEERS[1:], "relaxed_k")
OTHERS = ("one_coin_by_rater", "pooled", "class_conditional", "hierarchical_dawid_skene", "tap")
NEAR = 1.1


def write_page(table: pd.DataFrame) -> str:
    """Fill in `estimators_page.md` with what was measured.

    Parameters
    ----------
    table : pandas.DataFrame
        As `experiments.benchmarks.estimators.summarise` gives it.

    Returns
    -------
    str
    """
    expected, in_sample = (
        table[table["estimand"] == name].set_index(["setting", "method"]) for name in ESTIMANDS
    )
    names = [name for name in SETTINGS if name in expected.index.get_level_values("setting")]
    of_all = expected.assign(coverage_in_sample=in_sample["coverage"])
    relaxed_k = of_all[of_all.index.isin(["relaxed_k"], level="method")].droplevel("method")
    page = Path(__file__).with_name("estimators_page.md").read_text(encoding="utf-8")
    return page.format(
        finding=_finding(relaxed_k.dropna(subset=["ratio_to_best"])),
        errors=_errors(expected, names, METHODS),
        others=_errors(expected, [name for name in names if name in TWO_CATEGORIES], OTHERS),
        relaxed_k=_of_relaxed_k(relaxed_k.reindex([n for n in names if n in relaxed_k.index])),
    )


def _finding(found: pd.DataFrame) -> str:
    """Say in which settings `relaxed_k` does best and worst."""
    if found.empty:
        return ""
    near = int((found["ratio_to_best"] <= NEAR).sum())
    worst, least = found["ratio_to_best"].idxmax(), found["coverage"].idxmin()
    return (
        f"In {near} of {len(found)} settings the root mean squared error of `relaxed_k` is at most "
        f"{NEAR:g} times the smallest of those of `algebraic`, `one_coin` and `dawid_skene`; the "
        f"largest ratio is {found['ratio_to_best'].max():.2f} ({worst}). Its intervals contain the "
        f"expected accuracy in {found['coverage'].median():.0%} of the data sets of the median "
        f"setting, and least often, in {found['coverage'].min():.0%}, in this one: {least}."
    )


def _errors(table: pd.DataFrame, settings: Sequence[str], methods: Sequence[str]) -> str:
    """Write a row for each setting and a column for each method that was run."""
    numbers = table[["rmse", "rmse_se", "coverage", "no_estimate"]]
    cells = dict(zip(table.index, map(tuple, numbers.to_numpy()), strict=True))
    run = [name for name in methods if name in table.index.get_level_values("method")]
    rows: list[tuple[Cell, ...]] = [
        (name, *(cells.get((name, method)) for method in run)) for name in settings
    ]
    columns = [Column("setting"), *(Column(name, name, _error) for name in run)]
    return to_markdown(Table(columns=columns, rows=rows))


def _error(rmse: float, rmse_se: float, coverage: float, no_estimate: float) -> str:
    none = f", none {short(no_estimate, 2)}" if no_estimate else ""
    return f"{short(rmse)} ± {short(rmse_se)} ({short(coverage, 2)}){none}"


def _of_relaxed_k(table: pd.DataFrame) -> str:
    two = partial(short, digits=2)
    columns = [
        Column("n", "data sets", "{:.0f}".format),
        Column("bias", format=short),
        Column("ratio_to_best", "ratio", two),
        Column("coverage", format=two),
        Column("coverage_in_sample", "coverage in the sample", two),
        Column("width", format=short),
        Column("no_estimate", format=two),
        Column("converged", format=two),
        Column("misses_said", "misses with a warning", two),
        Column("seconds", format=partial(decimal, digits=1)),
    ]
    rows = list(table[[column.name for column in columns]].itertuples(name=None))
    return to_markdown(Table(columns=[Column("setting"), *columns], rows=rows))
