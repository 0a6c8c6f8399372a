"""Groups of raters by each method."""

from typing import Any

from lehner.core.estimate import Estimate
from lehner.data.ratings import Ratings
from lehner.estimation.question import Options, Question
from lehner.groups.rater_groups import find_rater_groups, pool_raters
from lehner.groups.result import GroupEstimates

RESAMPLES = 2000
IN_JSON = ("rater_groups", "rater_group_differences")


def in_rater_groups(
    ratings: Ratings, estimate: Estimate, options: Options
) -> GroupEstimates | None:
    """Estimate the accuracy of groups of raters; None if the method does not tell raters apart."""
    if not ratings.rater_group:
        return None
    return pool_raters(
        ratings,
        estimate,
        find_rater_groups(ratings),
        level=options.level,
        resamples=RESAMPLES,
        seed=options.seed,
    )


def _to_dict(found: GroupEstimates | None) -> dict[str, Any]:
    return dict.fromkeys(IN_JSON) if found is None else found.to_dict()


RATER_GROUPS = Question(name="rater_groups", answer=in_rater_groups, to_dict=_to_dict)
