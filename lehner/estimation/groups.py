"""Groups and populations of items, and groups of raters, by each method."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.errors import InputError
from lehner.core.estimate import Estimate, require_systems
from lehner.data.groups import number_groups
from lehner.data.ratings import Ratings
from lehner.estimation.known_truths import seen
from lehner.estimation.question import Options, Question
from lehner.groups.algebra import estimate_groups
from lehner.groups.membership import GroupColumn, Groups, count_answers, group_column
from lehner.groups.populations import estimate_populations
from lehner.groups.rater_groups import pool_raters
from lehner.groups.result import GroupEstimates
from lehner.latent_class.models import LIKELIHOOD_METHODS

RESAMPLES = 2000
"""Of items, for groups of raters."""
RENAMED = {"group": "population", "groups": "populations"}


def in_groups(ratings: Ratings, estimate: Estimate, options: Options) -> GroupEstimates | None:
    """Estimate the accuracy in each group of items, by a method that can.

    The algebra with the weighted step 4 and the Bayesian models can; latent-class models by maximum
    likelihood can where each row has a group, with the same confusion matrices in all groups.
    """
    if options.groups is None or estimate.system_accuracy.estimate is None:
        return None
    names, level, seed = options.groups.names, options.level, options.seed
    posterior = options.posteriors.get(estimate.method)
    if posterior is not None:
        return posterior.estimate_by_group(estimate, ratings, names, level=level, seed=seed)
    if estimate.method == "algebraic":
        return estimate_groups(ratings, names, level=level, seed=seed)
    return _by_likelihood(ratings, estimate, names, options) if (names != "").all() else None


def in_populations(ratings: Ratings, estimate: Estimate, options: Options) -> GroupEstimates | None:
    """Estimate base rates and accuracies in each population, by the fit that the estimate is of."""
    if ratings.population is None or estimate.system_accuracy.estimate is None:
        return None
    posterior = options.posteriors.get(estimate.method)
    if posterior is not None:
        return posterior.estimate_by_population(
            estimate, ratings, level=options.level, seed=options.seed
        )
    names = np.array(ratings.populations)[ratings.population]
    return _by_likelihood(ratings, estimate, names, options)


def _by_likelihood(
    ratings: Ratings, estimate: Estimate, names: ArrayLike, options: Options
) -> GroupEstimates | None:
    if estimate.method not in LIKELIHOOD_METHODS:
        return None
    model = LIKELIHOOD_METHODS[estimate.method]
    own = seen(ratings, estimate)
    return estimate_populations(own, names, model, level=options.level, seed=options.seed)


def column_of(
    groups: ArrayLike | GroupColumn | None, ratings: Ratings, kind: str
) -> GroupColumn | None:
    """Make a column of the names of groups, one for each row of the ratings."""
    if groups is None or isinstance(groups, GroupColumn):
        return groups
    index, names = number_groups(groups, ratings.n_rows, kind)
    if not names:
        raise InputError(f"no item belongs to a {kind}", f"name the {kind}s of items")
    return group_column(kind, np.array([*names, ""], dtype=object)[index])


def require_answers(ratings: Ratings) -> None:
    """Raise an InputError unless each system answered items of each population."""
    require_systems(ratings)
    if ratings.population is None:
        return
    members = Groups(names=ratings.populations, index=ratings.population)
    for system in ratings.systems:
        count_answers(ratings.for_system(system), members)


def in_rater_groups(
    ratings: Ratings, estimate: Estimate, options: Options
) -> GroupEstimates | None:
    """Estimate the accuracy of groups of raters; None if the method does not tell raters apart."""
    if not ratings.rater_group:
        return None
    level, seed = options.level, options.seed
    return pool_raters(ratings, estimate, level=level, resamples=RESAMPLES, seed=seed)


def _groups_dict(found: GroupEstimates | None) -> dict[str, Any]:
    differences = None if found is None else found.to_dict()["group_differences"]
    return {"group": None, "group_differences": differences}


def _populations_dict(found: GroupEstimates | None) -> dict[str, Any]:
    groups = {"groups": None, "group_differences": None} if found is None else found.to_dict()
    return {
        name.replace("group", "population"): several
        and [{RENAMED.get(n, n): value for n, value in one.items()} for one in several]
        for name, several in groups.items()
    }


def _rater_groups_dict(found: GroupEstimates | None) -> dict[str, Any]:
    nothing = dict.fromkeys(("rater_groups", "rater_group_differences"))
    return nothing if found is None else found.to_dict()


GROUPS = Question(name="groups", answer=in_groups, to_dict=_groups_dict)
POPULATIONS = Question(name="populations", answer=in_populations, to_dict=_populations_dict)
RATER_GROUPS = Question(name="rater_groups", answer=in_rater_groups, to_dict=_rater_groups_dict)
