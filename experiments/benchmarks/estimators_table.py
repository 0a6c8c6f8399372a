"""The results of `experiments.benchmarks.estimators` as tables for a reader."""

import textwrap
from collections.abc import Sequence
from functools import partial

import pandas as pd

from experiments.benchmarks.settings import SETTINGS
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Cell, Column, Table
from lehner.core.number_format import decimal, short

METHODS = (
    "algebraic_paper",
    "algebraic",
    "algebraic_likelihood",
    "one_coin",
    "dawid_skene",
    "relaxed_k",
)
NEAR = 1.1
OTHERS = ("one_coin_by_rater", "pooled", "class_conditional", "hierarchical_dawid_skene", "tap")
QUESTION = (
    "How far from the truth is each method's estimate of the system's accuracy, and how often does "
    "its 90% interval contain the truth? All methods get the same simulated ratings, without the "
    "true categories."
)
HOW = """
Made by `python -m experiments.benchmarks.estimators FOLDER`. All numbers are in `estimators.csv`. A
cell is blank where a method was not run. There are 100 to 102 data sets in each setting.

## The settings

- *Figures* have the number of items, the raters and the violations of the K-properties of that
  figure of Lehner (2015). The K-properties hold in Figures 3 and 6. The accuracy of the system,
  before difficulty and unequal errors change it, is .1, .3, .5, .7 and .9 in equally many data
  sets.
- *Two categories*: three raters of the accuracy that is named; the K-properties hold. The system
  has accuracy .5 or .9.
- *A to K* are processes that none of the methods assumes. Unless the line says otherwise there are
  200 items in four categories with random base rates, all errors are equally probable, and the
  system has accuracy .3, .6 or .9.
"""
PROCESSES = {
    "A shared difficulty": "The log odds of three raters and of the system vary with the item.",
    "B own difficulty": "The same, but other items are difficult for the system than for raters.",
    "C random matrices": "Each row of each confusion matrix is random (Dirichlet distribution).",
    "D sensitivity .6, specificity .9": "Two categories; all raters have these two accuracies.",
    "E two of eight are spammers": "Two of eight raters answer at random.",
    "F two raters": "Two raters of accuracy .6 and .7; five categories.",
    "G crowd": "Five of twenty raters rate each item; its difficulty affects the raters only.",
    "H copying": "The second of three raters copies 30% of the first one's answers.",
    "I errors to neighbours": "Five ordered categories; all errors are to a neighbouring one.",
    "J shared difficulty, 40 items": "As A, with 40 items.",
    "J shared difficulty, 1,000 items": "As A, with 1,000 items.",
    "K favourite category": "On 30% of the items the system answers the most frequent category.",
}
OF_ERRORS = """
## Error and coverage for the expected accuracy

Each cell has the root mean squared error ± its Monte Carlo standard error, and in brackets the
coverage: the share of data sets in which the 90% interval contains the truth. Its standard error is
.03 where the coverage is .9. Data sets without an estimate, whose share follows, do not count.
"""
OF_OTHERS = """
The other models were run in the settings with two categories:
"""
OF_RELAXED_K = """
## More about `relaxed_k`

The columns are, for the expected accuracy unless the head says otherwise:

- *data sets*: how many have an estimate.
- *bias*: the mean of estimate minus truth.
- *ratio*: its root mean squared error divided by the smallest of those of `algebraic`, `one_coin`
  and `dawid_skene`, on the data sets for which all of these have an estimate.
- *coverage*, and *coverage in the sample*: the share of the 90% intervals that contain the expected
  accuracy, and the accuracy in the sample.
- *width*: the mean width of the intervals.
- *no estimate*: the share of data sets for which labels switched between draws, so that no estimate
  is given.
- *converged*: the share of fits that converged at the first or second try.
- *misses with a warning*: among the intervals that miss the truth, the share with a warning, or
  that would contain the truth if 10% of the items misled the raters, alone or with the system.
- *seconds*: the CPU time that is enough for nine fits in ten.
"""


def as_markdown(table: pd.DataFrame) -> str:
    """Give what was measured as Markdown.

    Parameters
    ----------
    table : pandas.DataFrame
        As `experiments.benchmarks.estimators.summarise` gives it.

    Returns
    -------
    str
    """
    expected = table[table["estimand"] == "system_accuracy"].set_index(["setting", "method"])
    in_sample = table[table["estimand"] == "system_accuracy_in_sample"]
    names = [name for name in SETTINGS if name in expected.index.get_level_values("setting")]
    measured = set(table["method"])
    methods = [method for method in METHODS if method in measured]
    others = [method for method in OTHERS if method in measured]
    of_others = []
    if others:
        compared = [name for name in names if any((name, one) in expected.index for one in others)]
        of_others = [OF_OTHERS, _errors(expected, compared, others)]
    return "\n".join(
        [
            "# Every method on the same simulated data\n",
            textwrap.fill(f"{QUESTION} {_finding(expected)}", 100),
            HOW,
            *(f"  - *{name}*: {said}" for name, said in PROCESSES.items() if name in names),
            OF_ERRORS,
            _errors(expected, names, methods),
            *of_others,
            OF_RELAXED_K,
            _of_relaxed_k(expected, in_sample.set_index(["setting", "method"]), names),
            "",
        ]
    )


def _finding(expected: pd.DataFrame) -> str:
    """Say in which settings `relaxed_k` does best and worst."""
    found = expected[expected.index.get_level_values("method") == "relaxed_k"].droplevel("method")
    found = found.dropna(subset=["ratio_to_best"])
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
    """Write a row for each setting and a column for each method."""
    columns = [Column("setting"), *(Column(name, name, _error) for name in methods)]
    rows = [(name, *(_numbers(table, name, method) for method in methods)) for name in settings]
    return to_markdown(Table(columns=columns, rows=rows))


def _numbers(table: pd.DataFrame, setting: str, method: str) -> Cell:
    if (setting, method) not in table.index:
        return None
    row = table.loc[(setting, method)]
    return tuple(row[["rmse", "rmse_se", "coverage", "no_estimate"]].tolist())


def _error(rmse: float, rmse_se: float, coverage: float, no_estimate: float) -> str:
    none = f", none {short(no_estimate, 2)}" if no_estimate else ""
    return f"{short(rmse)} ± {short(rmse_se)} ({short(coverage, 2)}){none}"


def _of_relaxed_k(expected: pd.DataFrame, in_sample: pd.DataFrame, settings: Sequence[str]) -> str:
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
    both = expected.assign(coverage_in_sample=in_sample["coverage"])
    rows = [
        (name, *both.loc[(name, "relaxed_k"), [column.name for column in columns]])
        for name in settings
        if (name, "relaxed_k") in both.index
    ]
    return to_markdown(Table(columns=[Column("setting"), *columns], rows=rows))
