"""Estimates in groups of items by each method."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.estimate.group_column import GroupColumn
from experiments.estimate.truth_corrections import seen
from lehner import (
    Estimate,
    GroupEstimates,
    RaterGroupEstimates,
    Ratings,
    estimate_groups,
    estimate_populations,
)
from lehner.latent_class.models import LIKELIHOOD_METHODS

if TYPE_CHECKING:
    import pandas as pd

type Groups = Sequence[GroupEstimates | None]


def estimate_in_groups(
    ratings: Ratings,
    estimates: Sequence[Estimate],
    groups: GroupColumn | None,
    *,
    level: float,
    seed: int,
) -> tuple[GroupEstimates | None, ...]:
    """Estimate the accuracy in each group by each method that can.

    The algebra with the weighted step 4 and the Bayesian models can; latent-class models by maximum
    likelihood can where each row has a group, with the same confusion matrices in all groups.

    Parameters
    ----------
    ratings : Ratings
        With one system.
    estimates : sequence of Estimate
    groups : GroupColumn, optional
        Without groups there are no estimates.
    level : float
    seed : int

    Returns
    -------
    tuple of GroupEstimates or None
        As many as there are estimates.
    """
    if groups is None:
        return (None,) * len(estimates)
    in_groups: list[GroupEstimates | None] = []
    for estimate in estimates:
        if estimate.system_accuracy.estimate is None:
            in_groups.append(None)
        elif estimate.draws is not None:
            from bayes_models import accuracy_by_group

            by_group = accuracy_by_group(
                estimate.draws, ratings, groups.names, level=level, seed=seed
            )
            in_groups.append(by_group)
        elif estimate.method == "algebraic":
            in_groups.append(estimate_groups(ratings, groups.names, level=level, seed=seed))
        elif estimate.method in LIKELIHOOD_METHODS and (groups.names != "").all():
            model = LIKELIHOOD_METHODS[estimate.method]
            in_groups.append(
                estimate_populations(
                    seen(ratings, estimate), groups.names, model, level=level, seed=seed
                )
            )
        else:
            in_groups.append(None)
    return tuple(in_groups)


def all_items_dict(groups: GroupEstimates | None) -> dict[str, Any]:
    """Give what an estimate for all items says of groups in JSON: null, and their differences."""
    differences = None if groups is None else groups.to_dict()["group_differences"]
    return {"group": None, "group_differences": differences}


def group_dicts(groups: GroupEstimates) -> list[dict[str, Any]]:
    """Give the estimates of each group for JSON."""
    names = {"method": groups.method, "system": groups.system}
    return [names | one for one in groups.to_dict()["groups"]]


def groups_frame(groups: Sequence[GroupEstimates | RaterGroupEstimates | None]) -> "pd.DataFrame":
    """Give a row for each method, group (of items or raters) and number, and each difference."""
    import pandas as pd

    return pd.concat([one.to_frame() for one in groups if one is not None], ignore_index=True)
