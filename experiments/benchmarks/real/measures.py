"""Bias, RMSE, coverage and width on each crowd, and their means over crowds.

Several draws of known truths share a system, so that the standard errors are over systems: each
counts once, with the mean of its draws.
"""

import numpy as np
import pandas as pd

from experiments.study.proportions import mean_proportion

BY = ["crowd", "family", "split", "per_item", "known", "method"]
OVER = ["split", "per_item", "known", "method"]
MEASURES = ("bias", "rmse", "coverage", "width")


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
        (share of systems without an estimate), and `bias`, `rmse`, `coverage`, `width`, each with
        its Monte Carlo standard error in `<measure>_se`; that of a coverage of 0 or 1 is not zero,
        see `experiments.study.proportions.mean_proportion`.

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
    quantities = rows.assign(
        error=error,
        squared=error**2,
        inside=inside.where(lower.notna()),
        width=upper - lower,
        failed=error.isna().astype(float),
    )
    names = ["error", "squared", "inside", "width", "failed", "n_items", "truth"]
    by_system = quantities.groupby([*BY, "system"], sort=False)[names].mean()
    by_cell = []
    for key, estimates in by_system.groupby(BY, sort=False):
        measures = {
            "bias": _mean(estimates["error"]),
            "rmse": _rmse(estimates["squared"]),
            "coverage": _share(estimates["inside"]),
            "width": _mean(estimates["width"]),
        }
        cell = dict(zip(BY, key, strict=True)) | {
            "systems": len(estimates),
            "items": estimates["n_items"].mean(),
            "accuracy": estimates["truth"].mean(),
            "failed": estimates["failed"].mean(),
        }
        for name, (value, standard_error) in measures.items():
            cell |= {name: value, f"{name}_se": standard_error}
        by_cell.append(cell)
    return pd.DataFrame(by_cell)


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
    rows = []
    for key, crowds in measured.groupby(OVER, sort=False):
        cell = dict(zip(OVER, key, strict=True))
        cell |= {"crowds": len(crowds), "failed": crowds["failed"].mean()}
        for name in MEASURES:
            errors = crowds[f"{name}_se"].dropna()
            cell[name] = crowds[name].mean()
            cell[f"{name}_se"] = np.sqrt((errors**2).sum()) / len(errors) if len(errors) else np.nan
        covered = crowds["coverage"].dropna()
        worst = covered.idxmin() if len(covered) else None
        cell["worst"] = np.nan if worst is None else covered[worst]
        cell["worst_crowd"] = "" if worst is None else crowds.loc[worst, "crowd"]
        rows.append(cell)
    return pd.DataFrame(rows)


def _mean(values: pd.Series) -> tuple[float, float]:
    known = values.dropna().to_numpy(float)
    if len(known) < 2:
        return (float(known[0]) if len(known) else np.nan), np.nan
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))


def _share(inside: pd.Series) -> tuple[float, float]:
    known = inside.dropna()
    return mean_proportion(known) if len(known) else (np.nan, np.nan)


def _rmse(squared: pd.Series) -> tuple[float, float]:
    """Root of the mean squared error, with its standard error by jackknife."""
    known = squared.dropna().to_numpy(float)
    n = len(known)
    if n < 2:
        return (float(np.sqrt(known[0])) if n else np.nan), np.nan
    left_out = np.sqrt((known.sum() - known) / (n - 1))
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return float(np.sqrt(known.mean())), float(jackknife)
