"""The tables of the study `real`: measures on each crowd and over crowds.

Several draws of gold labels share a system, so that each system counts once, with the mean of its
draws, and so does each crowd in the means. Crowds of a family rated the same items or came from the
same study: standard errors are of means over crowds, clustered by family.
"""

import numpy as np
import pandas as pd

from experiments.benchmarks.real.fits import ALONE, BY_PPI, HIDDEN, LEVEL, RATERS_ARE
from experiments.benchmarks.real.sources import EVERY
from lehner.empirical_prior.designs import DESIGNS, RATINGS_PER_ITEM
from lehner.empirical_prior.prior import SYSTEM_IS
from lehner.estimation.methods import list_methods

BY = ["crowd", "family", "domain", "split", "design", "per_item", "known", "method"]
OVER = ["design", "per_item", "known", "method"]
MEASURES = ("bias", "rmse", "coverage", "width", "score")
DESIGN = ["crowd", "design", "per_item"]
OF_CROWD = ("family", "domain", "split")
# Ratings of an item in tables of one design.
FEW = "3"


def tabulate_benchmark(results: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables of the study.

    Parameters
    ----------
    results : pandas.DataFrame
        The rows of `fits.py`.

    Returns
    -------
    dict of str to pandas.DataFrame
        `systems`, a row for each system and method without gold labels; `real`, all measures on
        each crowd; `means`, those over crowds; `domains`, those of `learned_prior` trained without
        whole domains.
    """
    is_domain = results["leave_out"] == "domain"
    rows = sort_rows(results[~is_domain])
    measured, domains = measure_crowds(rows), measure_crowds(sort_rows(results[is_domain]))
    return {
        "systems": keep_systems(rows),
        "real": measured.drop(columns=["domain", "split"]),
        "means": average_over_crowds(measured),
        "domains": domains.drop(columns=["split", "known", "per_item"]),
    }


def tabulate_panels(results: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables of the study of panels of language models.

    Parameters
    ----------
    results : pandas.DataFrame
        The rows of `fits.py`.

    Returns
    -------
    dict of str to pandas.DataFrame
        `panels`, the measures on each panel; `panel_means`, those over panels: of the exam and of
        all others, and of each source of these. Each panel counts once, and standard errors are
        clustered by panel; `rmse` is the root of the mean squared error.
    """
    systems = results["system"] + " " + results["per_item"]
    measured = measure_crowds(sort_rows(results.assign(system=systems, per_item="2 to 4")))
    is_exam = measured["split"] == "exam"
    measured["split"] = is_exam.map({True: "exam", False: "left out"})
    squared = measured.assign(
        rmse=measured["rmse"] ** 2, source=measured["family"], family=measured["crowd"]
    )
    over = ["split", "source", "known", "method"]
    means = pd.concat(
        average_over_crowds(table, over) for table in (squared.assign(source="all"), squared)
    )
    means["rmse"] = np.sqrt(means["rmse"])
    means["rmse_se"] /= 2 * means["rmse"]
    unused = ["domain", "design", "per_item"]
    return {"panels": measured.drop(columns=unused), "panel_means": means}


def sort_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Say the family, domain and split of each row's crowd, and put crowds and methods in order.

    The labelled items alone, which are there once for each method, are kept once.
    """
    of_crowd = {
        column: [getattr(EVERY[name], column) for name in rows["crowd"]] for column in OF_CROWD
    }
    names = list_methods()
    ordered_values = {
        "crowd": list(EVERY),
        "design": DESIGNS,
        "per_item": RATINGS_PER_ITEM,
        "method": [
            *(f"learned_prior, {told}" for told in (*SYSTEM_IS, f"unknown{HIDDEN}", *RATERS_ARE)),
            *names,
            *(BY_PPI + name for name in names),
            ALONE,
        ],
    }
    order = {
        name: {value: i for i, value in enumerate(order_of)}
        for name, order_of in ordered_values.items()
    }
    once = rows.assign(**of_crowd).drop_duplicates([*DESIGN, "known", "method", "system", "draw"])
    return once.sort_values(
        [*DESIGN, "known", "method", "system"],
        key=lambda column: column.map(order[column.name]) if column.name in order else column,
        ignore_index=True,
    )


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


def average_over_crowds(measured: pd.DataFrame, over: list[str] = OVER) -> pd.DataFrame:
    """Average measures over crowds, each crowd counting once.

    Parameters
    ----------
    measured : pandas.DataFrame
        Of `measure_crowds`.
    over : list of str
        Columns that a mean is of one value of.

    Returns
    -------
    pandas.DataFrame
        For each of these in the order in which they come: `crowds`, the means of `accuracy` and
        `failed`, the mean of each measure with its standard error, clustered by family, and
        `worst`, the lowest coverage, with its crowd, `worst_crowd`.
    """
    # The first of the sorted values is the lowest.
    groups = measured.sort_values("coverage", kind="stable").groupby(over)
    table = groups.agg(
        crowds=("crowd", "size"),
        accuracy=("accuracy", "mean"),
        failed=("failed", "mean"),
        worst=("coverage", "first"),
        worst_crowd=("crowd", "first"),
    )
    errors = estimate_errors_of_means(measured, over)
    for name in MEASURES:
        table[name], table[f"{name}_se"] = groups[name].mean(), errors[name]
    return measured[over].drop_duplicates().merge(table.reset_index(), on=over)


def estimate_errors_of_means(measured: pd.DataFrame, over: list[str]) -> pd.DataFrame:
    """Compute the standard errors of the means of `MEASURES`, clustered by family.

    They are NaN with fewer than two families.

    Examples
    --------
    >>> measured = pd.DataFrame({"design": "like", "family": list("aabb"), "bias": [1, 1, 4, 4]})
    >>> estimate_errors_of_means(measured, ["design"])["bias"].tolist()
    [1.5]
    """
    values, keys = measured.filter(MEASURES), [measured[name] for name in over]
    deviations = values - values.groupby(keys).transform("mean")
    sums = deviations.groupby([*keys, measured["family"]]).sum(min_count=1)
    families = (sums**2).groupby(level=over)
    n = families.count()
    return np.sqrt(families.sum() * n / (n - 1)).where(n > 1) / values.groupby(keys).count()


def keep_systems(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep what every method says of every system without gold labels; workers get numbers."""
    kept = rows[rows["known"] == 0]
    numbers = kept.groupby("crowd")["system"].transform(
        lambda names: pd.factorize(names, sort=True)[0]
    )
    numbered = kept.assign(system=numbers.astype(int) + 1)
    of_data = ["crowd", "design", "per_item", "system", "n_items", "n_categories", "truth"]
    return numbered[[*of_data, "method", "estimate", "lower", "upper"]]
