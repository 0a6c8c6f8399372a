"""Base rates and accuracies in populations of items, by each method that knows of populations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.estimate.groups import Groups
from experiments.estimate.truth_corrections import seen
from lehner import Estimate, GroupEstimates, Ratings, estimate_populations
from lehner.core.estimate import require_systems
from lehner.groups.membership import Groups as Membership
from lehner.groups.membership import count_answers
from lehner.latent_class.models import LIKELIHOOD_METHODS

IN_JSON = ("populations", "population_differences")


def estimate_in_populations(
    ratings: Ratings, estimates: Sequence[Estimate], *, level: float, seed: int
) -> tuple[GroupEstimates | None, ...]:
    """Give base rates and accuracies in each population, by the fits that the estimates are of.

    Parameters
    ----------
    ratings : Ratings
        With one system. Without populations there are no estimates.
    estimates : sequence of Estimate
    level : float
    seed : int

    Returns
    -------
    tuple of GroupEstimates or None
        As many as there are estimates; None for methods that take the items of all populations
        together.
    """
    if ratings.population is None:
        return (None,) * len(estimates)
    names = np.array(ratings.populations)[ratings.population]
    found: list[GroupEstimates | None] = []
    for estimate in estimates:
        if estimate.system_accuracy.estimate is None:
            found.append(None)
        elif estimate.draws is not None:
            from bayes_models import accuracy_by_population

            found.append(accuracy_by_population(estimate.draws, ratings, level=level, seed=seed))
        elif estimate.method in LIKELIHOOD_METHODS:
            model = LIKELIHOOD_METHODS[estimate.method]
            found.append(
                estimate_populations(seen(ratings, estimate), names, model, level=level, seed=seed)
            )
        else:
            found.append(None)
    return tuple(found)


def require_answers(ratings: Ratings) -> None:
    """Raise an InputError unless each system answered items of each population."""
    require_systems(ratings)
    if ratings.population is None:
        return
    members = Membership(names=ratings.populations, index=ratings.population)
    for system in ratings.systems:
        count_answers(ratings.for_system(system), members)


def populations_dict(found: GroupEstimates | None) -> dict[str, Any]:
    """Give populations and their differences for JSON; null where there are none."""
    if found is None:
        return dict.fromkeys(IN_JSON)
    groups = found.to_dict()
    return {
        "populations": [_renamed(one, "group", "population") for one in groups["groups"]],
        "population_differences": [
            _renamed(one, "groups", "populations") for one in groups["group_differences"]
        ],
    }


def _renamed(values: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: value for name, value in values.items()}


def methods_without(estimates: Sequence[Estimate], found: Groups) -> list[str]:
    """Name the methods that take the items of all populations together."""
    return [
        estimate.method
        for estimate, one in zip(estimates, found, strict=True)
        if one is None and estimate.system_accuracy.estimate is not None
    ]
