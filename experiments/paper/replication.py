"""The replication table: one row for each printed number."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import chi2

from experiments.paper.number import PrintedNumber
from experiments.paper.simulated import (
    RUNS,
    figure_numbers,
    low_accuracy_claim,
    sample_size_claims,
    table_7,
    violation_biases,
)
from experiments.paper.tables import binomial_claims, confusion_tables, worked_example
from lehner.core.seeds import Seed, child_seeds


def replicate_paper(seed: Seed = 1, runs: int = RUNS) -> tuple[PrintedNumber, ...]:
    """Recompute every number the paper prints.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
    runs : int
        Runs of each figure; the numbers in the text take 20 times as many.

    Returns
    -------
    tuple of PrintedNumber

    Examples
    --------
    >>> numbers = replicate_paper(runs=50)
    >>> [n.verdict for n in numbers if n.quantity == "system accuracy"]
    ['matches']
    """
    seeds = child_seeds(seed, 5)
    return (
        *worked_example(),
        *confusion_tables(),
        table_7(seeds[0]),
        *figure_numbers(seeds[1], runs),
        *binomial_claims(),
        *violation_biases(seeds[2], 20 * runs),
        *sample_size_claims(seeds[3], 20 * runs),
        *low_accuracy_claim(seeds[4], 20 * runs),
    )


def replication_table(numbers: Sequence[PrintedNumber]) -> pd.DataFrame:
    """Tabulate printed numbers beside ours.

    Parameters
    ----------
    numbers : sequence of PrintedNumber

    Returns
    -------
    pandas.DataFrame
        Columns `place`, `quantity`, `printed`, `ours`, `standard_error`, `z`, `verdict`, `note`.
    """
    names = ("place", "quantity", "printed", "ours", "standard_error", "z", "verdict", "note")
    return pd.DataFrame({name: [getattr(n, name) for n in numbers] for name in names})


def kappas_together(numbers: Sequence[PrintedNumber]) -> tuple[float, float]:
    """Test the kappas of the fourteen figures together: mean squared z and its p-value."""
    squared = np.array([n.z**2 for n in numbers if n.quantity == "kappa" and n.z is not None])
    return float(squared.mean()), float(chi2.sf(squared.sum(), len(squared)))
