"""How many most probable categories are the true ones, on whole crowds."""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

import lehner
from experiments.benchmarks.real.maximum_likelihood import FITTED
from experiments.benchmarks.real.run import crowd_of
from experiments.benchmarks.real.sources import SOURCES, Source
from experiments.estimate.label_table import label_items, label_methods
from experiments.study.cells import Cell, Row, read_cells
from lehner import InputError, Ratings
from lehner.core.checks import find
from lehner.labels.label import QUICK_METHODS
from lehner.labels.models import MAJORITY

BY_LIKELIHOOD = ("one_coin_ml", *FITTED)
LABELLERS = tuple(dict.fromkeys((MAJORITY, *BY_LIKELIHOOD, *label_methods())))
TIE = 1e-9


def share_right(probabilities: ArrayLike, truth: ArrayLike) -> float:
    """Share of items whose most probable category is the true one.

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
    """Probability of each category for each item, or numbers of votes for the majority.

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


def label_cells(
    sources: Sequence[Source], folder: Path, methods: Sequence[str], seed: int
) -> list[Cell]:
    """Cells in which whole crowds are labelled.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path
        With the files.
    methods : sequence of str
        Among `LABELLERS`.
    seed : int

    Returns
    -------
    list of Cell
    """
    for method in methods:
        find("method", method, dict.fromkeys(LABELLERS))
    return [
        Cell(
            name=f"{source.name} {method}",
            place=(),
            values={"crowd": source.name, "method": method, "seed": seed},
            simulate=partial(_label, source.name, method, folder, seed),
        )
        for source in sources
        for method in methods
    ]


def _label(
    name: str, method: str, folder: Path, seed: int, _: np.random.SeedSequence
) -> Iterator[Row]:
    crowd = crowd_of(name, folder)
    try:
        right = share_right(label(crowd, method, seed), np.asarray(crowd.truth))
    except InputError as error:
        yield {"right": np.nan, "reason": str(error)}
    else:
        yield {"right": right, "reason": ""}


def read_label_accuracy(output: Path, seed: int) -> pd.DataFrame:
    """Read the shares of labels that are right: a row for each crowd, a column for each method."""
    table = read_cells(output / "labels").reindex(columns=["crowd", "method", "seed", "right"])
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
