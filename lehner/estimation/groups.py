"""Groups and populations of items, and groups of raters."""

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.contrasts.groups import (
    GroupColumn,
    find_groups,
    group_column,
    group_rows,
    rater_group_rows,
)
from lehner.core.estimate import Estimate
from lehner.data.ratings import Ratings
from lehner.estimation.question import Answer, Fit, Options


def ask_groups(fit: Fit, options: Options) -> Answer:
    """Estimate the accuracy in each group of items, by a method that can."""
    names = None if options.groups is None else options.groups.names
    yield from _in_groups(fit, options, "group", fit.method.by_group, names)


def ask_populations(fit: Fit, options: Options) -> Answer:
    """Estimate base rates and accuracies in each population, by the fit that the estimate is of."""
    yield from _in_groups(
        fit, options, "population", fit.method.by_population, population_names(fit.ratings)
    )


def _in_groups(fit: Fit, options: Options, grouping: str, ask: Any, names: Any) -> Answer:
    if names is None or ask is None or fit.estimate.system_accuracy.estimate is None:
        return
    by_group = ask(fit.ratings, fit.estimate, names, seed=options.seed)
    if by_group is not None:
        yield from group_rows(by_group, fit.ratings, grouping=grouping, level=options.level)


def population_names(ratings: Ratings) -> Any:
    """Give the name of each row's population, (n_rows,); None if there are no populations."""
    if ratings.population is None:
        return None
    return np.array(ratings.populations)[ratings.population]


def ask_rater_groups(fit: Fit, options: Options) -> Answer:
    """Estimate the accuracy of groups of raters; nothing if a method does not tell raters apart."""
    ratings, estimate = fit.ratings, fit.estimate
    if not ratings.rater_group or estimate.system_accuracy.estimate is None:
        return
    replicates = fit.replicates(resamples=2 * options.resamples, seed=options.seed)
    if replicates is not None:
        pooled = _pools(estimate, ratings)
        yield from rater_group_rows(ratings, replicates, pooled=pooled, level=options.level)


def _pools(estimate: Estimate, ratings: Ratings) -> bool:
    """Tell whether the estimate is by a model that draws raters toward these groups."""
    if estimate.draws is None or "rater_groups" not in estimate.draws.attrs:
        return False
    drawn = list(json.loads(estimate.draws.attrs["rater_groups"]).values())
    own = np.array(ratings.rater_group)
    return bool((np.array(drawn[: ratings.n_raters]) == own)[own != ""].all())


def column_of(
    groups: ArrayLike | GroupColumn | None, ratings: Ratings, kind: str
) -> GroupColumn | None:
    """Make a column of the names of groups, one for each row of the ratings."""
    if groups is None or isinstance(groups, GroupColumn):
        return groups
    members = find_groups(ratings, groups, kind)
    return group_column(kind, np.array([*members.names, ""], dtype=object)[members.index])
