"""Bias, RMSE, coverage, width and interval score on each crowd, and their means over crowds.

Several draws of gold labels share a system, so that each system counts once, with the mean of its
draws, and so does each crowd in the means. Crowds of a family rated the same items or came from the
same study: standard errors are of means over crowds, clustered by family.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.simulations.methods import LEVEL

BY = ["crowd", "family", "domain", "split", "design", "per_item", "known", "method"]
OVER = ["design", "per_item", "known", "method"]
MEASURES = ("bias", "rmse", "coverage", "width", "score")


def measure_crowds(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure each method on each crowd against the proportion of items that the system got right.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row for each estimate: the columns of `BY`, `system`, `n_items`, `truth`, `estimate`,
        `lower`, `upper`.

    Returns
    -------
    pandas.DataFrame
        A row for each crowd, design, number of ratings per item, number of gold labels and method:
        `systems`, `items` (their mean), `accuracy` (mean true accuracy of the systems), `failed`
        (proportion of systems without an estimate), and `bias`, `rmse`, `coverage`, `width` and
        `score`. The interval score is the width and, where the truth lies outside, 20 times how far
        outside (for intervals of 90%).

    References
    ----------
    Gneiting & Raftery (2007), Strictly proper scoring rules, prediction, and estimation,
    https://doi.org/10.1198/016214506000001437.

    Examples
    --------
    >>> rows = pd.DataFrame({"system": ["a", "b", "c"], "truth": 0.5, "estimate": [0.4, 0.5, 0.9]})
    >>> rows = rows.assign(**dict.fromkeys(BY, "x"), n_items=50, lower=0.3, upper=[0.6, 0.6, 0.49])
    >>> measure_crowds(rows)[list(MEASURES)].round(3).values.tolist()
    [[0.1, 0.238, 0.667, 0.263, 0.33]]
    """
    truth = rows["truth"]
    error = rows["estimate"].astype(float) - truth
    lower, upper = rows["lower"].astype(float), rows["upper"].astype(float)
    outside = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    quantities = rows[[*BY, "system", "n_items", "truth"]].assign(
        bias=error,
        rmse=error**2,
        # Ends are computed in another way than the truth.
        coverage=(outside < 1e-9).astype(float).where(lower.notna()),
        width=upper - lower,
        score=upper - lower + 2 / (1 - LEVEL) * outside,
        failed=error.isna().astype(float),
    )
    crowds = quantities.groupby([*BY, "system"], sort=False).mean().groupby(BY, sort=False)
    table = crowds.agg(
        systems=("truth", "size"),
        items=("n_items", "mean"),
        accuracy=("truth", "mean"),
        failed=("failed", "mean"),
        **{name: (name, "mean") for name in MEASURES},
    )
    return table.assign(rmse=np.sqrt(table["rmse"])).reset_index()


def mean_over_crowds(measured: pd.DataFrame, over: Sequence[str] = OVER) -> pd.DataFrame:
    """Average measures over crowds, each crowd counting once.

    Parameters
    ----------
    measured : pandas.DataFrame
        Of `measure_crowds`.
    over : sequence of str
        Columns that a mean is of one value of.

    Returns
    -------
    pandas.DataFrame
        For each of these in the order in which they come: `crowds`, the means of `accuracy` and
        `failed`, the mean of each measure with its standard error, clustered by family, and
        `worst`, the lowest coverage, with its crowd, `worst_crowd`.
    """
    over = list(over)
    # The first of the sorted values is the lowest.
    groups = measured.sort_values("coverage", kind="stable").groupby(over)
    table = groups.agg(
        crowds=("crowd", "size"),
        accuracy=("accuracy", "mean"),
        failed=("failed", "mean"),
        worst=("coverage", "first"),
        worst_crowd=("crowd", "first"),
    )
    for name in MEASURES:
        table[name] = groups[name].mean()
        table[f"{name}_se"] = [error_of_mean(group[name], group["family"]) for _, group in groups]
    return measured[over].drop_duplicates().merge(table.reset_index(), on=over)


def error_of_mean(values: pd.Series, families: pd.Series) -> float:
    """Standard error of a mean over crowds, clustered by family; NaN with fewer than two families.

    Examples
    --------
    >>> error_of_mean(pd.Series([1.0, 1.0, 4.0, 4.0]), pd.Series(["a", "a", "b", "b"]))
    1.5
    """
    deviations = (values - values.mean()).groupby(families).sum(min_count=1).dropna()
    n = len(deviations)
    if n < 2:
        return np.nan
    return float(np.sqrt((deviations**2).sum() * n / (n - 1)) / values.count())
