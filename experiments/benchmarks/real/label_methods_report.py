"""The tables of `label_methods`: shares right, what was chosen, hits and false alarms."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.label_accuracy import read_published
from experiments.reporting.files import write_text
from experiments.reporting.table import Cell, Column, Table
from experiments.study.document import Block, Heading, Paragraph, to_markdown
from lehner.core.number_format import decimal, short
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
QUESTION = (
    "How often is a method's label of an item the true category? `automatic` is the default of "
    "`lehner label`: it chooses a model by held-out ratings."
)
HOW = (
    "The numbers are shares of items whose most probable category is the true one, on whole "
    "crowds. Where several categories are equally probable, the item is shared between them. "
    "EBCC, BWA and iBCC are as published; a dash means that a number was not published. Made by "
    "`python -m experiments.benchmarks.real.label_methods FOLDER --output OUTPUT`."
)
CHANGED = (
    "The models, and how one is chosen, were developed on the crowds marked with a star. The "
    "others were looked at once. At that look the choice among majority, dawid_skene_vb and ebcc "
    "was right on .884 of the items in the mean of the other six of the twelve (EBCC as published: "
    ".885), and on fact .050 below the majority. Five things were changed after it. A model with "
    "an accuracy for each rater was added to those that are chosen from (because of MS). The prior "
    "is estimated after thirty steps, and labels are the mean of five starts (because of MS and "
    "senti, where labels of the model with subtypes depended on the start). Standard errors are "
    "computed over items. Raters who clearly share mistakes are taken for equally accurate "
    "(because of JudgeBench, fact and face). The next model is taken where a model's categories "
    "are not those that most raters gave (because of adult and the simulated difficulty). "
    "Four more were changed after labels were .020 below the majority on LLMBar_natural, and .088 "
    "below it where two of five simulated raters copy a third. Ratings of small crowds are held "
    "out three times over; raters differ only if it predicts ratings better by three standard "
    "errors instead of two (Franken_2 was seen, too); and raters are taken for equally accurate "
    "where pairs agree more than accuracies of their own explain. At last, after a look at face, "
    "where labels were .029 below the majority, shared mistakes count from a fifth on of what "
    "unequal raters explain, instead of a quarter (the next crowd below has a seventh). "
    "Therefore the numbers of the crowds without a star are not those of crowds never seen. The "
    "simulated crowds with four and with seven raters of whom some copy were looked at once."
)
OF_PUBLIC = (
    "`chosen` is the model that `automatic` chose, and `CPU-s` the CPU time that this took, in "
    "seconds. The last row has the largest distance of each method below the majority."
)


def write_label_report(results: pd.DataFrame, output: Path) -> list[Path]:
    """Write `label_methods.csv` and `label_methods.md`.

    Parameters
    ----------
    results : pandas.DataFrame
        Rows of `label_all`, with `crowd`, `kind` and `replicate`.
    output : Path

    Returns
    -------
    list of Path
    """
    public = results[results["kind"] == "public"]
    blocks = [
        Paragraph(f"{QUESTION} {_finding(public)}"),
        Paragraph(HOW),
        Paragraph(CHANGED),
        *_public(public),
        *_simulated(results[results["kind"] == "simulated"]),
        *_warnings(results),
    ]
    columns = ["kind", "crowd", "replicate", "method", "chosen", "right", "doubted", "unsettled"]
    table = results[[*columns, "cpu"]].round({"right": 4, "cpu": 2})
    files = {
        "label_methods.csv": table.to_csv(index=False),
        "label_methods.md": to_markdown("Labels by every quick method", blocks),
    }
    return [write_text(text, output / name) for name, text in files.items()]


def _finding(public: pd.DataFrame) -> str:
    """Compare the default with the majority."""
    right = public.pivot(index="crowd", columns="method", values="right")
    ours, majority = right[AUTOMATIC], right[MAJORITY]
    return (
        f"On {len(right)} public crowds it is right on {short(ours.mean())} of the items in the "
        f"mean, the majority on {short(majority.mean())}. It is better than the majority in "
        f"{int((ours > majority + 1e-9).sum())} crowds and worse in "
        f"{int((ours < majority - 1e-9).sum())}, by {short((majority - ours).max())} at most."
    )


def _public(public: pd.DataFrame) -> Iterator[Block]:
    yield Heading("Public crowds")
    yield Paragraph(OF_PUBLIC)
    order = list(dict.fromkeys(public["crowd"]))
    methods = list(dict.fromkeys(public["method"]))
    right = public.pivot(index="crowd", columns="method", values="right").loc[order, methods]
    chosen = public[public["method"] == AUTOMATIC].set_index("crowd")["chosen"]
    seconds = public[public["method"] == AUTOMATIC].set_index("crowd")["cpu"]
    table = right.join(read_published(), how="left")
    rows: list[tuple[Cell, ...]] = [
        (
            name + ("*" if name in LOOKED_AT else ""),
            chosen[name],
            seconds[name],
            *table.loc[name],
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
            rows.append((title, None, None, *means))
    below = (right.sub(right[MAJORITY], axis=0)).min()
    rows.append(("worst against the majority", None, None, *below, None, None, None))
    columns = [
        Column("crowd"),
        Column("chosen"),
        Column("CPU-s", format=partial(decimal, digits=1)),
        *(Column(name, name, short) for name in table.columns),
    ]
    yield Table(columns=columns, rows=rows)


def _simulated(simulated: pd.DataFrame) -> Iterator[Block]:
    if simulated.empty:
        return
    yield Heading("Simulated crowds")
    yield Paragraph(
        f"Each number is a mean over {simulated['replicate'].nunique()} data sets, with its Monte "
        "Carlo standard error in brackets. `chosen` names the models that `automatic` chose, and "
        "says how often."
    )
    methods = list(dict.fromkeys(simulated["method"]))
    rows: list[tuple[Cell, ...]] = []
    for name, of_crowd in simulated.groupby("crowd", sort=False):
        chosen = of_crowd["chosen"].dropna().loc[lambda names: names != ""].value_counts()
        choices = ", ".join(f"{model} {count}" for model, count in chosen.items())
        by_method = of_crowd.groupby("method", sort=False)["right"]
        means, errors = by_method.mean(), by_method.sem()
        rows.append((str(name), choices, *((means[m], errors[m]) for m in methods)))
    columns = [Column("crowd"), Column("chosen"), *(Column(m, m, _in_brackets) for m in methods)]
    yield Table(columns=columns, rows=rows)


def _in_brackets(value: float, error: float) -> str:
    return f"{short(value)} ({short(error)})"


def _warnings(results: pd.DataFrame) -> Iterator[Block]:
    yield Heading("Warnings that labels may be worse than the majority")
    yield Paragraph(
        f"Labels are called worse here if they are right on a share of items that is {WORSE} or "
        "more below that of the majority. `worse` and `not worse` count data sets; beside each "
        "stands in how many of these the labels came with the warning that they are doubted, or "
        "with that or the one that they are unsettled."
    )
    keys = ["kind", "crowd", "replicate"]
    majority = results[results["method"] == MAJORITY].set_index(keys)["right"]
    others = results[~results["method"].isin([MAJORITY])].copy()
    others["worse"] = (
        others["right"] <= majority.loc[pd.MultiIndex.from_frame(others[keys])].to_numpy() - WORSE
    )
    others["warned"] = others["doubted"].astype(bool) | others["unsettled"].eq(True)
    rows: list[tuple[Cell, ...]] = []
    for kind, of_kind in others.dropna(subset=["right"]).groupby("kind", sort=False):
        for method, of_method in of_kind.groupby("method", sort=False):
            rows.append((str(kind), str(method), *_rates(of_method)))
        named = of_kind[of_kind["method"] != AUTOMATIC]
        rows.append((str(kind), "all but automatic", *_rates(named)))
    counts = ("of these doubted", "or unsettled")
    head = ("crowds", "method", "worse", *counts, "not worse", *counts)
    yield Table(columns=[Column(name) for name in head], rows=rows, keys=2)


def _rates(results: pd.DataFrame) -> list[int]:
    counts = []
    for worse in (True, False):
        part = results[results["worse"] == worse]
        counts += [len(part), int(np.sum(part["doubted"])), int(np.sum(part["warned"]))]
    return counts
