"""Bias, RMSE, coverage and width on each crowd, and their means over crowds.

Several draws of known truths share a system, so that the standard errors are over systems: each
counts once, with the mean of its draws.
"""

import numpy as np
import pandas as pd

from experiments.study.proportions import mean_proportion

BY = ["crowd", "family", "split", "per_item", "known", "method"]
OVER = ["split", "per_item", "known", "method"]


def measure_crowds(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure each method on each crowd against the share of items that the system got right.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row for each estimate: columns `crowd`, `family`, `split`, `per_item`, `known`, `method`,
        `system`, `n_items`, `truth`, `estimate`, `lower`, `upper`.

    Returns
    -------
    pandas.DataFrame
        A row for each crowd, number of ratings of an item, number of known truths and method:
        `systems`, `items` (their mean), `accuracy` (mean true accuracy of the systems), `failed`
        (proportion of systems without an estimate), and `bias`, `rmse`, `coverage`, `width`, each
        with its Monte Carlo standard error in `<measure>_se`; that of a coverage of 0 or 1 is not
        zero, see `experiments.study.proportions.mean_proportion`.

    Examples
    --------
    >>> rows = pd.DataFrame({"system": ["a", "b", "c"], "truth": 0.5, "estimate": [0.4, 0.5, 0.9]})
    >>> rows = rows.assign(**dict.fromkeys(BY, "x"), n_items=50, lower=0.3, upper=0.6)
    >>> measure_crowds(rows)[["bias", "rmse", "coverage", "width"]].round(3).values.tolist()
    [[0.1, 0.238, 1.0, 0.3]]
    """
    error = rows["estimate"].astype(float) - rows["truth"]
    lower, upper = rows["lower"].astype(float), rows["upper"].astype(float)
    inside = ((lower <= rows["truth"]) & (rows["truth"] <= upper)).astype(float)
    quantities = rows[[*BY, "system", "n_items", "truth"]].assign(
        bias=error,
        rmse=error**2,
        coverage=inside.where(lower.notna()),
        width=upper - lower,
        failed=error.isna().astype(float),
    )
    by_system = quantities.groupby([*BY, "system"], sort=False).mean()
    crowds = by_system.groupby(BY, sort=False)
    table = crowds.agg(
        systems=("truth", "size"),
        items=("n_items", "mean"),
        accuracy=("truth", "mean"),
        failed=("failed", "mean"),
    )
    for name, measure in MEASURES.items():
        table[[name, f"{name}_se"]] = [measure(values.dropna()) for _, values in crowds[name]]
    return table.reset_index()


def mean_over_crowds(measured: pd.DataFrame) -> pd.DataFrame:
    """Average measures over crowds, each crowd counting once.

    Parameters
    ----------
    measured : pandas.DataFrame
        Of `measure_crowds`.

    Returns
    -------
    pandas.DataFrame
        For each split, number of ratings of an item, number of known truths and method: `crowds`,
        `failed`, the means of `bias`, `rmse`, `coverage` and `width` with the standard errors that
        follow from those of the crowds, and `worst`, the lowest coverage, with its crowd,
        `worst_crowd`.
    """
    # The first of the sorted values is the lowest.
    groups = measured.sort_values("coverage", kind="stable").groupby(OVER)
    table = groups.agg(
        crowds=("crowd", "size"),
        failed=("failed", "mean"),
        worst=("coverage", "first"),
        worst_crowd=("crowd", "first"),
    )
    for name in MEASURES:
        table[name] = groups[name].mean()
        table[f"{name}_se"] = groups[f"{name}_se"].agg(_error_of_mean)
    order = measured[OVER].drop_duplicates()
    return table.loc[list(order.itertuples(index=False, name=None))].reset_index()


def _error_of_mean(errors: pd.Series) -> float:
    known = errors.dropna()
    return float(np.sqrt((known**2).sum()) / len(known)) if len(known) else np.nan


def _mean(values: pd.Series) -> tuple[float, float]:
    return float(values.mean()), float(values.sem())


def _coverage(inside: pd.Series) -> tuple[float, float]:
    return mean_proportion(inside) if len(inside) else (np.nan, np.nan)


def _rmse(squared: pd.Series) -> tuple[float, float]:
    """Root of the mean squared error, with its standard error by jackknife."""
    n = len(squared)
    if n < 2:
        return float(np.sqrt(squared.mean())), np.nan
    left_out = np.sqrt((squared.sum() - squared) / (n - 1))
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return float(np.sqrt(squared.mean())), float(jackknife)


MEASURES = {"bias": _mean, "rmse": _rmse, "coverage": _coverage, "width": _mean}
"""The value and standard error of each, from a value a system."""
