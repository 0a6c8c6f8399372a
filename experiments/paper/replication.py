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
from lehner.core.arrays import Seed, child_seeds


def replicate_paper(seed: Seed = 1, runs: int = RUNS) -> tuple[PrintedNumber, ...]:
    """Recompute every number the paper prints.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of what is simulated: the same seed gives the same numbers.
    runs : int
        Number of runs of each figure, a multiple of 5; the numbers in the text take 20 times as
        many.

    Returns
    -------
    tuple of PrintedNumber
        Each printed number, ours, and whether they agree.

    Raises
    ------
    InputError
        If the number of runs is not a multiple of 5, above 0.

    References
    ----------
    Lehner (2015), https://doi.org/10.22237/jmasm/1430453520

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
        low_accuracy_claim(seeds[4], 20 * runs),
    )


def replication_table(numbers: Sequence[PrintedNumber]) -> pd.DataFrame:
    """Tabulate printed numbers beside ours.

    Parameters
    ----------
    numbers : sequence of PrintedNumber
        As `replicate_paper` gives them.

    Returns
    -------
    pandas.DataFrame
        A row for each number, with columns `place`, `quantity`, `printed`, `ours`,
        `standard_error`, `z`, `verdict`, `note`.

    Examples
    --------
    >>> table = replication_table(list(worked_example()))
    >>> table.loc[table["quantity"] == "system accuracy", "verdict"].tolist()
    ['matches']
    """
    names = ("place", "quantity", "printed", "ours", "standard_error", "z", "verdict", "note")
    return pd.DataFrame({name: [getattr(n, name) for n in numbers] for name in names})


def kappas_together(numbers: Sequence[PrintedNumber]) -> tuple[float, float]:
    """Test the kappas of the fourteen figures together.

    If ours had the same expectation as the printed ones, the sum of squared differences in standard
    errors, z, would have a chi-square distribution.

    Parameters
    ----------
    numbers : sequence of PrintedNumber
        As `replicate_paper` gives them; all but the kappas of figures are left out.

    Returns
    -------
    mean_squared_z : float
        About 1 if the kappas agree.
    p_value : float
        Probability of so great a sum, 0 to 1.

    Examples
    --------
    >>> numbers = [
    ...     PrintedNumber(
    ...         place="here", quantity="kappa", printed=printed, ours=0.3, standard_error=0.01
    ...     )
    ...     for printed in (0.29, 0.31)
    ... ]
    >>> [round(value, 2) for value in kappas_together(numbers)]
    [1.0, 0.37]
    """
    squared = np.array([n.z**2 for n in numbers if n.quantity == "kappa" and n.z is not None])
    return float(squared.mean()), float(chi2.sf(squared.sum(), len(squared)))
