"""Groups of raters as a model is built of them: raters of none are the last group."""

import numpy as np

from lehner import Patterns
from lehner.core.arrays import Floats, Integers
from lehner.data.groups import OF_NONE

NO_GROUP = "no group"
"""Names the group of raters who belong to none, if others do."""


def group_names(observed: Patterns) -> tuple[str, ...]:
    """Names of the groups of raters, if there are any."""
    # A group may have that name already.
    others = {NO_GROUP} - set(observed.rater_groups) if OF_NONE in observed.rater_group else ()
    return (*observed.rater_groups, *others)


def group_index(observed: Patterns) -> Integers:
    """Group of each rater, without the system, all 0 if there are none, (n_raters,)."""
    names = group_names(observed)
    if not names:
        return np.zeros(observed.n_raters, np.int64)
    return np.array([names.index(group or NO_GROUP) for group in observed.rater_group])


def group_shares(observed: Patterns) -> Floats:
    """Proportion of each rater in the ratings of each group, (n_groups, n_raters)."""
    of_pattern = np.repeat(observed.counts, np.diff(observed.starts))
    n_ratings = np.bincount(observed.flat.rater_index, of_pattern, len(observed.raters))
    n_ratings = n_ratings[: observed.n_raters]
    member = group_index(observed) == np.arange(len(group_names(observed)))[:, None]
    # A group without ratings has the mean of its raters.
    weights = np.where((member @ n_ratings > 0)[:, None], member * n_ratings, member)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
