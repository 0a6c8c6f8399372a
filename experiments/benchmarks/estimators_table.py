"""The results of `experiments.benchmarks.estimators` as tables for a reader."""

from collections.abc import Sequence

import pandas as pd

from experiments.benchmarks.settings import SETTINGS
from experiments.reporting.markdown import markdown_table, short

METHODS = (
    "algebraic_paper",
    "algebraic",
    "algebraic_likelihood",
    "one_coin",
    "dawid_skene",
    "relaxed_k 0.1.0",
    "relaxed_k",
)
OTHERS = ("one_coin_by_rater", "pooled", "class_conditional", "hierarchical_dawid_skene", "tap")
INTRODUCTION = """# Every method on the same simulated data

Made by `python -m experiments.benchmarks.estimators FOLDER`, and for `relaxed_k 0.1.0`, the first
version of that model, by `python -m experiments.benchmarks.first_version FOLDER CHECKOUT`. All
numbers are in `estimators.csv`; what is blank or has no column was not run. The true accuracy of
the system is .1, .3, .5, .7 and .9 in equally many data sets in the paper's figures, .5 and .9 with
two categories, .3, .6 and .9 elsewhere. There are 100 to 102 data sets a setting; the first version
has 40 where there are two categories.

## Error and coverage for the expected accuracy

Root mean squared error ± its Monte Carlo standard error, and in brackets how often the 90% interval
holds the truth (standard error .03 where it is .9).
"""
OF_OTHERS = """
The other models, in some settings:
"""
OF_RELAXED_K = """
## What `relaxed_k` does

`ratio`: its error over the smallest of `algebraic`, `one_coin` and `dawid_skene`, on the data sets
for which all of these have an estimate; `no estimate`: the share of data sets in which switched
labels forbid one; `converged`: at the first or second try; `misses said`: the share of the
intervals that miss the truth which carry a warning, or would hold it if 10% of the items misled the
raters, with the system or alone; `seconds`: the CPU time that nine fits in ten stay under.
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
    rows = [
        _of_relaxed_k(expected, in_sample.set_index(["setting", "method"]), name)
        for name in names
        if (name, "relaxed_k") in expected.index
    ]
    measures = ["bias", "ratio", "coverage", "coverage in the sample", "width"]
    said = ["no estimate", "converged", "misses said", "seconds"]
    measured = set(table["method"])
    methods = [method for method in METHODS if method in measured]
    others = [method for method in OTHERS if method in measured]
    of_others = []
    if others:
        compared = [name for name in names if any((name, one) in expected.index for one in others)]
        errors = _errors(expected, compared, others)
        of_others = [OF_OTHERS, markdown_table(["setting", *others], errors)]
    return "\n".join(
        [
            INTRODUCTION,
            markdown_table(["setting", *methods], _errors(expected, names, methods)),
            *of_others,
            OF_RELAXED_K,
            markdown_table(["setting", "data sets", *measures, *said], rows),
            "",
        ]
    )


def _errors(
    table: pd.DataFrame, settings: Sequence[str], methods: Sequence[str]
) -> list[list[str]]:
    return [[name, *(_error(table, name, method) for method in methods)] for name in settings]


def _error(table: pd.DataFrame, setting: str, method: str) -> str:
    if (setting, method) not in table.index:
        return ""
    row = table.loc[(setting, method)]
    return f"{short(row['rmse'])} ± {short(row['rmse_se'])} ({short(row['coverage'], 2)})"


def _of_relaxed_k(expected: pd.DataFrame, in_sample: pd.DataFrame, setting: str) -> list[str]:
    row = expected.loc[(setting, "relaxed_k")]
    coverages = (row["coverage"], in_sample.loc[(setting, "relaxed_k"), "coverage"])
    shares = (row["no_estimate"], row["converged"], row["misses_said"])
    return [
        setting,
        f"{row['n']:.0f}",
        short(row["bias"]),
        f"{row['ratio_to_best']:.2f}",
        *(short(value, 2) for value in coverages),
        short(row["width"]),
        *(short(value, 2) for value in shares),
        f"{row['seconds']:.1f}",
    ]
