"""The tables of `label_methods`: proportions right, what was chosen, hits and false alarms."""

from functools import partial
from pathlib import Path

import pandas as pd

from experiments.reporting.files import write_text
from experiments.reporting.renderers import to_markdown
from experiments.reporting.table import Cell, Column, Table
from lehner.core.text import decimal, short
from lehner.labels.label import AUTOMATIC
from lehner.labels.mean_field import MAJORITY

TWELVE = (
    *("rte", "web", "CF", "CF_amt", "MS", "SP", "SP_amt"),
    *("ZenCrowd_all", "ZenCrowd_in", "ZenCrowd_us", "product", "senti"),
)
"""The sets over which published methods are compared."""
LOOKED_AT = (
    *("CF", "CF_amt", "ZenCrowd_all", "ZenCrowd_in", "ZenCrowd_us", "product", "trec"),
    *("relevance", "dog", "temp", "Kundel_1", "Kundel_2", "Kundel_3"),
    *("LLMBar_natural", "LLMBar_adversarial"),
)
"""By which the models, their priors and the choice by held-out ratings were found."""
WORSE = 0.005
"""Labels are worse than the majority from this difference of proportions right on."""
COUNTS = ("of these doubted", "or unsettled")
HERE = Path(__file__).parent


def write_label_report(results: pd.DataFrame, output: Path) -> list[Path]:
    """Write `label_methods.csv`, and `label_page.md` filled in as `label_methods.md`.

    Parameters
    ----------
    results : pandas.DataFrame
        Rows of `label_all`, with `crowd`, `kind` and `replicate`.
    output : Path

    Returns
    -------
    list of Path
    """
    public, simulated = (results[results["kind"] == kind] for kind in ("public", "simulated"))
    right = public.pivot(index="crowd", columns="method", values="right")
    right = right.loc[public["crowd"].unique(), public["method"].unique()]
    text = (HERE / "label_page.md").read_text(encoding="utf-8")
    text = text.format(
        finding=_finding(right[AUTOMATIC], right[MAJORITY]),
        public=_public(right, public[public["method"] == AUTOMATIC].set_index("crowd")),
        replicates=simulated["replicate"].nunique(),
        simulated=_simulated(simulated),
        warnings=_warnings(results),
    )
    columns = ["kind", "crowd", "replicate", "method", "chosen", "right", "doubted", "unsettled"]
    table = results[[*columns, "cpu"]].round({"right": 4, "cpu": 2})
    files = {"label_methods.csv": table.to_csv(index=False), "label_methods.md": text}
    return [write_text(text, output / name) for name, text in files.items()]


def read_published() -> pd.DataFrame:
    """Read the proportions right that are published, by crowd.

    Returns
    -------
    pandas.DataFrame
        Columns `EBCC`, `BWA`, `iBCC`: enhanced Bayesian classifier combination (Li, Rubinstein &
        Cohn 2019, "Exploiting worker correlation for label aggregation in crowdsourcing"),
        Bayesian weighted average (the same, "Truth inference at scale") and independent Bayesian
        classifier combination. As printed in code/test_ebcc.ipynb, test_bwa.ipynb and
        test_ibcc.ipynb of https://github.com/yuan-li/truth-inference-at-scale.
    """
    return pd.read_csv(HERE / "published.csv", index_col="crowd")


def _finding(ours: pd.Series, majority: pd.Series) -> str:
    """Compare the default with the majority."""
    return (
        f"On {len(ours)} public crowds it is right on {short(ours.mean())} of the items in the "
        f"mean, the majority on {short(majority.mean())}. It is better than the majority in "
        f"{int((ours > majority + 1e-9).sum())} crowds and worse in "
        f"{int((ours < majority - 1e-9).sum())}, by {short((majority - ours).max())} at most."
    )


def _public(right: pd.DataFrame, automatic: pd.DataFrame) -> str:
    table = right.join(read_published(), how="left")
    rows: list[tuple[Cell, ...]] = [
        (name + "*" * (name in LOOKED_AT), automatic["chosen"][name], automatic["cpu"][name], *row)
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    of_twelve = table[table.index.isin(TWELVE)]
    looked_at = of_twelve.index.isin(LOOKED_AT)
    for title, crowds in {
        "mean of the twelve": of_twelve,
        "mean of those of the twelve marked *": of_twelve[looked_at],
        "mean of the other six": of_twelve[~looked_at],
        "mean of all": table,
    }.items():
        if len(crowds):
            rows.append((title, None, None, *crowds.mean(skipna=False)))
    below = right.sub(right[MAJORITY], axis=0).min()
    rows.append(("worst against the majority", None, None, *below, None, None, None))
    columns = [
        Column("crowd"),
        Column("chosen"),
        Column("CPU-s", format=partial(decimal, digits=1)),
        *(Column(name, name, short) for name in table.columns),
    ]
    return to_markdown(Table(columns=columns, rows=rows))


def _simulated(simulated: pd.DataFrame) -> str:
    methods = list(simulated["method"].unique())
    rows: list[tuple[Cell, ...]] = []
    for name, of_crowd in simulated.groupby("crowd", sort=False):
        chosen = of_crowd.loc[of_crowd["method"] == AUTOMATIC, "chosen"].value_counts()
        choices = ", ".join(f"{model} {count}" for model, count in chosen.items())
        right = of_crowd.groupby("method")["right"].agg(["mean", "sem"]).loc[methods]
        rows.append((str(name), choices, *map(tuple, right.to_numpy())))
    columns = [Column("crowd"), Column("chosen"), *(Column(m, m, _in_brackets) for m in methods)]
    return to_markdown(Table(columns=columns, rows=rows))


def _in_brackets(value: float, error: float) -> str:
    return f"{short(value)} ({short(error)})"


def _warnings(results: pd.DataFrame) -> str:
    keys = ["kind", "crowd", "replicate"]
    majority = results[results["method"] == MAJORITY].set_index(keys)["right"].rename("majority")
    others = results[results["method"] != MAJORITY].dropna(subset="right").join(majority, on=keys)
    doubted = others["doubted"].astype(bool)
    others = others.assign(
        worse=others["right"] <= others["majority"] - WORSE,
        doubted=doubted,
        warned=doubted | others["unsettled"].eq(True),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind, of_kind in others.groupby("kind", sort=False):
        for method, of_method in of_kind.groupby("method", sort=False):
            rows.append((str(kind), str(method), *_rates(of_method)))
        named = of_kind[of_kind["method"] != AUTOMATIC]
        rows.append((str(kind), "all but automatic", *_rates(named)))
    head = ("crowds", "method", "worse", *COUNTS, "not worse", *COUNTS)
    return to_markdown(Table(columns=[Column(name) for name in head], rows=rows, keys=2))


def _rates(results: pd.DataFrame) -> list[int]:
    counts = []
    for part in (results[results["worse"]], results[~results["worse"]]):
        counts += [len(part), int(part["doubted"].sum()), int(part["warned"].sum())]
    return counts
