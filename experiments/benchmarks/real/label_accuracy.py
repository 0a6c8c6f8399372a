"""How many most probable categories are the true ones, on whole crowds."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

import lehner
from experiments.benchmarks.real.maximum_likelihood import FITTED
from experiments.benchmarks.real.run import crowd_of
from experiments.benchmarks.real.sources import SOURCES, Source
from experiments.estimate.label_table import label_items, label_methods
from experiments.study.parts import keep_parts
from lehner import InputError, Ratings
from lehner.core.checks import find
from lehner.labels.label import QUICK_METHODS
from lehner.labels.models import MAJORITY

BY_LIKELIHOOD = ("one_coin_ml", *FITTED)
LABELLERS = tuple(dict.fromkeys((MAJORITY, *BY_LIKELIHOOD, *label_methods())))
TIE = 1e-9


def share_right(probabilities: ArrayLike, truth: ArrayLike) -> float:
    """Give the share of items whose most probable category is the true one.

    Parameters
    ----------
    probabilities : array_like, shape (n_items, n_categories)
        Or numbers of votes. Categories that tie for the most probable share the item.
    truth : array_like of int, shape (n_items,)
        -1 where unknown: such items do not count.

    Returns
    -------
    float

    Examples
    --------
    >>> share_right([[3, 0], [1, 1], [0, 2], [5, 0]], [0, 0, 0, -1])
    0.5
    """
    probabilities, truth = np.asarray(probabilities, float), np.asarray(truth)
    probabilities, truth = probabilities[truth >= 0], truth[truth >= 0]
    best = probabilities >= probabilities.max(axis=1, keepdims=True) - TIE
    return float((best[np.arange(len(truth)), truth] / best.sum(axis=1)).mean())


def label(crowd: Ratings, method: str, seed: int) -> ArrayLike:
    """Give the probability of each category for each item, or numbers of votes for the majority.

    Parameters
    ----------
    crowd : Ratings
        Its truth is not used.
    method : str
        Among `LABELLERS`.
    seed : int

    Returns
    -------
    array_like, shape (n_items, n_categories)
    """
    ratings = Ratings(crowd.flat, crowd.categories, crowd.raters, crowd.items)
    if method == MAJORITY:
        return ratings.votes()
    if method in QUICK_METHODS:
        labels = lehner.label(ratings, method, seed=seed, compare=False)
        return labels.truth_probabilities.values
    return label_items(ratings, method, seed).truth_probabilities.values


def label_crowds(
    sources: Sequence[Source], folder: Path, output: Path, methods: Sequence[str], seed: int
) -> Iterator[str]:
    """Label whole crowds, and keep the share right of each as soon as it is known.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path
        With the files.
    output : Path
        Where results are kept.
    methods : sequence of str
        Among `LABELLERS`.
    seed : int

    Yields
    ------
    str
        What was labelled.
    """
    for method in methods:
        find("method", method, dict.fromkeys(LABELLERS))
    cells = {
        output / "labels" / f"{source.name}_{method}_{seed}.json": (source.name, method)
        for source in sources
        for method in methods
    }
    parts = {path: partial(_part, *cell, folder, seed) for path, cell in cells.items()}
    for path in keep_parts(parts):
        yield ", ".join(cells[path])


def _part(name: str, method: str, folder: Path, seed: int) -> str:
    crowd = crowd_of(name, folder)
    part: dict[str, Any] = {"crowd": name, "method": method, "seed": seed}
    try:
        right = share_right(label(crowd, method, seed), np.asarray(crowd.truth))
        part |= {"right": right, "reason": ""}
    except InputError as error:
        part |= {"right": None, "reason": str(error)}
    return json.dumps(part)


def read_label_accuracy(output: Path, seed: int) -> pd.DataFrame:
    """Read what `label_crowds` kept: a row for each crowd, a column for each method."""
    parts = [json.loads(path.read_text()) for path in sorted((output / "labels").glob("*.json"))]
    table = pd.DataFrame(parts, columns=["crowd", "method", "seed", "right", "reason"])
    table = table[table["seed"] == seed]
    wide = table.pivot_table(index="crowd", columns="method", values="right", sort=False)
    wide = wide.reindex([name for name in SOURCES if name in wide.index])
    return wide.reindex(columns=[name for name in LABELLERS if name in wide])


def read_published() -> pd.DataFrame:
    """Read the shares right that are published, by crowd.

    Returns
    -------
    pandas.DataFrame
        Columns `EBCC`, `BWA`, `iBCC`: enhanced Bayesian classifier combination (Li, Rubinstein &
        Cohn 2019, "Exploiting worker correlation for label aggregation in crowdsourcing"),
        Bayesian weighted average (the same, "Truth inference at scale") and independent Bayesian
        classifier combination. As printed in code/test_ebcc.ipynb, test_bwa.ipynb and
        test_ibcc.ipynb of https://github.com/yuan-li/truth-inference-at-scale.
    """
    text = (files("experiments.benchmarks.real") / "published.csv").read_text(encoding="utf-8")
    return pd.read_csv(StringIO(text), index_col="crowd")
