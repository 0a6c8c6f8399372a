"""The tables of `label_methods`: shares right, what was chosen, hits and false alarms."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.label_accuracy import read_published
from experiments.reporting.files import write_text
from experiments.reporting.markdown import short
from experiments.study.document import Block, Heading, Paragraph, Table, to_markdown
from lehner.labels.label import AUTOMATIC
from lehner.labels.models import MAJORITY

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
"""Labels are worse than the majority from this difference of shares right on."""
HOW = (
    "Made by `python -m experiments.benchmarks.real.label_methods FOLDER --output OUTPUT`: the "
    "share of items whose most probable category is the true one, on whole crowds; ties share the "
    "item. `automatic` is the default of `lehner label`. EBCC, BWA and iBCC are as published. "
    "The models and the choice among them were found on the crowds marked *; the others were "
    "looked at once, and what that changed stands below."
)
CHANGED = (
    "At the first look the choice among majority, dawid_skene_vb and ebcc had .884 on the other "
    "six of the twelve (published EBCC .885), and was .050 below the majority on fact. What that "
    "changed: an accuracy per rater became one of the models to choose from (MS); thirty steps "
    "before the prior is estimated, and the mean of five starts (MS, senti: labels with subtypes "
    "depended on the start); standard errors by item; equal raters where they clearly share "
    "mistakes (JudgeBench, fact, face); the next model where categories are not what raters call "
    "the items (adult, simulated difficulty). The numbers below are therefore not those of crowds "
    "never seen."
)


def write_label_report(found: pd.DataFrame, output: Path) -> list[Path]:
    """Write `label_methods.csv` and `label_methods.md`.

    Parameters
    ----------
    found : pandas.DataFrame
        Rows of `label_all`, with `crowd`, `kind` and `replicate`.
    output : Path

    Returns
    -------
    list of Path
    """
    public = found[found["kind"] == "public"]
    blocks = [
        Paragraph(HOW),
        Paragraph(CHANGED),
        *_public(public),
        *_simulated(found[found["kind"] == "simulated"]),
        *_warnings(found),
    ]
    columns = ["kind", "crowd", "replicate", "method", "chosen", "right", "doubted", "unsettled"]
    table = found[[*columns, "cpu"]].round({"right": 4, "cpu": 2})
    files = {
        "label_methods.csv": table.to_csv(index=False),
        "label_methods.md": to_markdown("Labels by every quick method", blocks),
    }
    return [write_text(text, output / name) for name, text in files.items()]


def _public(public: pd.DataFrame) -> Iterator[Block]:
    yield Heading("Public crowds")
    order = list(dict.fromkeys(public["crowd"]))
    methods = list(dict.fromkeys(public["method"]))
    right = public.pivot(index="crowd", columns="method", values="right").loc[order, methods]
    chosen = public[public["method"] == AUTOMATIC].set_index("crowd")["chosen"]
    seconds = public[public["method"] == AUTOMATIC].set_index("crowd")["cpu"]
    table = right.join(read_published(), how="left")
    rows = [
        (
            name + ("*" if name in LOOKED_AT else ""),
            chosen[name],
            f"{seconds[name]:.1f}",
            *map(short, table.loc[name]),
        )
        for name in order
    ]
    groups = {
        "mean of the twelve": [name for name in TWELVE if name in order],
        "mean of those of the twelve marked *": [
            n for n in TWELVE if n in LOOKED_AT and n in order
        ],
        "mean of the other six": [n for n in TWELVE if n not in LOOKED_AT and n in order],
        "mean of all": order,
    }
    for title, names in groups.items():
        if names:
            means = table.loc[names].mean(skipna=False)
            rows.append((title, "", "", *map(short, means)))
    below = (right.sub(right[MAJORITY], axis=0)).min()
    rows.append(("worst against the majority", "", "", *map(short, below), "", "", ""))
    yield Table(("crowd", "chosen", "CPU-s", *table.columns), tuple(rows))


def _simulated(simulated: pd.DataFrame) -> Iterator[Block]:
    if simulated.empty:
        return
    yield Heading("Simulated crowds")
    yield Paragraph(
        f"Means over {simulated['replicate'].nunique()} data sets, with Monte Carlo standard "
        "errors in brackets; which models were chosen, and how often."
    )
    methods = list(dict.fromkeys(simulated["method"]))
    rows = []
    for name, one in simulated.groupby("crowd", sort=False):
        chosen = one["chosen"].dropna().loc[lambda names: names != ""].value_counts()
        said = ", ".join(f"{model} {count}" for model, count in chosen.items())
        by_method = one.groupby("method", sort=False)["right"]
        means, errors = by_method.mean(), by_method.sem()
        cells = [f"{short(means[m])} ({short(errors[m])})" for m in methods]
        rows.append((str(name), said, *cells))
    yield Table(("crowd", "chosen", *methods), tuple(rows))


def _warnings(found: pd.DataFrame) -> Iterator[Block]:
    yield Heading("Warnings that labels may be worse than the majority")
    yield Paragraph(
        f"Labels are worse if their share right is {WORSE} or more below that of the majority. A "
        "hit is a warning where they are, a false alarm one where they are not."
    )
    keys = ["kind", "crowd", "replicate"]
    majority = found[found["method"] == MAJORITY].set_index(keys)["right"]
    others = found[~found["method"].isin([MAJORITY])].copy()
    others["worse"] = (
        others["right"] <= majority.loc[pd.MultiIndex.from_frame(others[keys])].to_numpy() - WORSE
    )
    others["warned"] = others["doubted"].astype(bool) | others["unsettled"].eq(True)
    rows = []
    for kind, of_kind in others.dropna(subset=["right"]).groupby("kind", sort=False):
        for method, one in of_kind.groupby("method", sort=False):
            rows.append((str(kind), str(method), *_rates(one)))
        named = of_kind[of_kind["method"] != AUTOMATIC]
        rows.append((str(kind), "all but automatic", *_rates(named)))
    head = ("crowds", "method", "worse", "of these doubted", "or unsettled", "not worse")
    yield Table((*head, "of these doubted", "or unsettled"), tuple(rows))


def _rates(one: pd.DataFrame) -> tuple[str, ...]:
    cells = []
    for worse in (True, False):
        part = one[one["worse"] == worse]
        counts = (len(part), int(np.sum(part["doubted"])), int(np.sum(part["warned"])))
        cells += [str(count) for count in counts]
    return tuple(cells)
