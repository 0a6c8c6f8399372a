"""Rows of `calibrated`, each by priors of crowds that have nothing to do with the one it is of.

The method needs agreement with the majority and, where truths are known, how many of the known
items are right: its rows are made of those of `majority_agreement` and of the labelled items alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.benchmarks.real.known_truths import ALONE
from experiments.benchmarks.real.sources import SOURCES
from experiments.simulations.methods import LEVEL
from lehner.empirical_prior.calibrated import posterior_interval
from lehner.empirical_prior.prior import (
    EmpiricalPrior,
    Outcome,
    posterior_in_sample,
    prior_of_right,
    train_priors,
)

MAJORITY = "majority_agreement"
SYSTEM_IS = {"like": ("like", "unknown"), "better": ("better", "unknown"), "worse": ("unknown",)}
"""What may be said of a system that is drawn so."""
DATA_SET = ["crowd", "design", "per_item", "system"]


def calibrated_rows(
    rows: pd.DataFrame, outcomes: Sequence[Outcome], leave_out: str = "family"
) -> pd.DataFrame:
    """Estimate by `calibrated`, trained without the family or the domain of the crowd.

    Parameters
    ----------
    rows : pandas.DataFrame
        A row for each estimate: the columns of `DATA_SET`, `known`, `method`, `n_items`,
        `estimate`, and others.
    outcomes : sequence of Outcome
        Of all crowds.
    leave_out : {"family", "domain"}

    Returns
    -------
    pandas.DataFrame
        The rows of `majority_agreement` and of the labelled items alone, with other estimates: by
        the methods "calibrated, like", "calibrated, better" and "calibrated, unknown".
    """
    majority = rows[rows["method"] == MAJORITY]
    agreement = majority[[*DATA_SET, "estimate"]].rename(columns={"estimate": "agreement"})
    used = rows[rows["method"].isin([MAJORITY, ALONE])].merge(agreement, on=DATA_SET)
    made: list[dict[str, Any]] = []
    group_of = {name: getattr(source, leave_out) for name, source in SOURCES.items()}
    for left_out, table in used.groupby(used["crowd"].map(group_of), sort=False):
        others = [outcome for outcome in outcomes if group_of[outcome.crowd] != left_out]
        priors = train_priors(others)
        for majority_or_alone in table.to_dict("records"):
            made += _estimates(majority_or_alone, priors)
    return pd.DataFrame(made, columns=rows.columns)


def _estimates(
    row: dict[str, Any], priors: Mapping[str, EmpiricalPrior]
) -> Iterator[dict[str, Any]]:
    known_right = round(row["known"] * row["estimate"]) if row["known"] else 0
    for system_is in SYSTEM_IS[row["design"]]:
        agreeing = row["agreement"] * row["n_items"]
        right = prior_of_right(priors[system_is], agreeing, row["n_items"])
        posterior = posterior_in_sample(*right, row["known"], known_right)
        interval = posterior_interval(posterior, LEVEL, system_is)
        ends = {"estimate": interval.estimate, "lower": interval.lower, "upper": interval.upper}
        yield row | {"method": f"calibrated, {system_is}"} | ends
