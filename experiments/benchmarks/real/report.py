"""The tables of the study `real`: measures on each crowd and over crowds.

Several draws of gold labels share a system, so that each system counts once, with the mean of its
draws, and so does each crowd in the means. Crowds of a family rated the same items or came from the
same study: standard errors are of means over crowds, clustered by family.

`learned_prior` needs agreement with the majority and, where truths are known, how many of the
labelled items are right: its rows are made of those of `majority_agreement` and of the labelled
items alone, each by priors of crowds that have nothing to do with the one it is of.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.real.fits import ALONE, BY_PPI, LEVEL
from experiments.benchmarks.real.sources import SOURCES, read_outcomes
from lehner.empirical_prior import prior
from lehner.empirical_prior.designs import DESIGNS, RATINGS_PER_ITEM
from lehner.empirical_prior.learned_prior import NEARLY_PERFECT, summarise_posterior
from lehner.estimation.methods import list_methods

BY = ["crowd", "family", "domain", "split", "design", "per_item", "known", "method"]
OVER = ["design", "per_item", "known", "method"]
MEASURES = ("bias", "rmse", "coverage", "width", "score")
MAJORITY = "majority_agreement"
# What may be said of a system that is drawn so.
SAID_OF_SYSTEM = {
    "like": ("like", "unknown"),
    "better": ("better", "unknown"),
    "worse": ("unknown",),
}
DATA_SET = ["crowd", "design", "per_item", "system"]
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
    outcomes = read_outcomes()
    # The labelled items alone are there once for each method.
    rows = results.drop_duplicates([*DESIGN, "known", "method", "system", "draw"])
    alone = rows[(rows["known"] == 0) & (rows["per_item"] == FEW)]
    rows = sort_rows(pd.concat([rows, make_learned_prior_rows(rows, outcomes)]))
    measured = measure_crowds(rows)
    domains = measure_crowds(sort_rows(make_learned_prior_rows(alone, outcomes, "domain")))
    return {
        "systems": keep_systems(rows),
        "real": measured.drop(columns=["domain", "split"]),
        "means": average_over_crowds(measured),
        "domains": domains.drop(columns=["split", "known", "per_item"]),
    }


def sort_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Say the family, domain and split of each row's crowd, and put crowds and methods in order."""
    of_crowd = {
        column: [getattr(SOURCES[name], column) for name in rows["crowd"]] for column in OF_CROWD
    }
    names = list_methods()
    ordered_values = {
        "crowd": list(SOURCES),
        "design": DESIGNS,
        "per_item": RATINGS_PER_ITEM,
        "method": [
            *(f"learned_prior, {system_is}" for system_is in prior.SYSTEM_IS),
            *names,
            *(BY_PPI + name for name in names),
            ALONE,
        ],
    }
    order = {
        name: {value: i for i, value in enumerate(order_of)}
        for name, order_of in ordered_values.items()
    }
    return rows.assign(**of_crowd).sort_values(
        [*DESIGN, "known", "method", "system"],
        key=lambda column: column.map(order[column.name]) if column.name in order else column,
        ignore_index=True,
    )


def make_learned_prior_rows(
    rows: pd.DataFrame, outcomes: pd.DataFrame, leave_out: str = "family"
) -> pd.DataFrame:
    """Estimate by `learned_prior`, trained without the family or the domain of the crowd.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row for each estimate: the columns of `DATA_SET`, `known`, `method`, `n_items`,
        `estimate`, and others.
    outcomes : pandas.DataFrame
        Of all crowds, as `read_outcomes` gives them.
    leave_out : {"family", "domain"}

    Returns
    -------
    pandas.DataFrame
        The rows of `majority_agreement` and of the labelled items alone, with other estimates: by
        the methods "learned_prior, like", "learned_prior, better" and "learned_prior, unknown".
    """
    majority = rows[rows["method"] == MAJORITY]
    agreement = majority[[*DATA_SET, "estimate"]].rename(columns={"estimate": "agreement"})
    used = rows[rows["method"].isin([MAJORITY, ALONE])].merge(agreement, on=DATA_SET)
    estimated: list[dict[str, Any]] = []
    group_of = {name: getattr(source, leave_out) for name, source in SOURCES.items()}
    for left_out, table in used.groupby(used["crowd"].map(group_of), sort=False):
        priors = prior.train_priors(outcomes[outcomes["crowd"].map(group_of) != left_out])
        for majority_or_alone in table.to_dict("records"):
            estimated += _estimate_rows(majority_or_alone, priors)
    return pd.DataFrame(estimated, columns=rows.columns)


def _estimate_rows(
    row: dict[str, Any], priors: Mapping[str, prior.EmpiricalPrior]
) -> Iterator[dict[str, Any]]:
    known_right = round(row["known"] * row["estimate"]) if row["known"] else 0
    for system_is in SAID_OF_SYSTEM[row["design"]]:
        agreeing = row["agreement"] * row["n_items"]
        right = prior.make_prior(priors[system_is], agreeing, row["n_items"])
        posterior = prior.update_in_sample(*right, row["known"], known_right)
        interval = summarise_posterior(
            posterior,
            LEVEL,
            shortest=system_is == "better" and not row["known"],
            reach=row["upper"] if row["known"] else float(row["agreement"] >= NEARLY_PERFECT),
        )
        ends = {"estimate": interval.estimate, "lower": interval.lower, "upper": interval.upper}
        yield row | {"method": f"learned_prior, {system_is}"} | ends


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
