"""Ratings as a model is built of them: `Patterns`, and the names, shapes and data of its variables.

Items with the same ratings are collapsed to one pattern; the system is one more rater.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lehner import InputError, Patterns, Ratings
from lehner.core.arrays import Floats, Integers
from lehner.data.rater_groups import OF_NONE
from lehner.latent_class.pattern_table import known_truths

NO_GROUP = "no group"
"""Names the group of raters who belong to none, if others do."""


@dataclass(frozen=True, kw_only=True)
class Observations:
    """What a model is built of: patterns of ratings, coordinates, numbers of parameters, and data.

    What only reads the ratings takes the `Patterns`.

    Parameters
    ----------
    ratings : Ratings
        The ratings as they were given.
    patterns : Patterns
        The unique patterns, which the likelihood reads.
    """

    ratings: Ratings
    patterns: Patterns

    @property
    def populations(self) -> tuple[str, ...]:
        """Names of the populations of items with different base rates, if there are any."""
        return self.patterns.populations

    @property
    def population_shares(self) -> Floats:
        """Share of the items that are from each population, (n_populations,)."""
        patterns = self.patterns
        n_items = np.bincount(
            patterns.population, patterns.counts, max(1, len(patterns.populations))
        )
        return np.asarray(n_items / n_items.sum())

    @property
    def rater_groups(self) -> tuple[str, ...]:
        """Names of the groups of raters, if there are any; raters of none are the last group."""
        groups = self.ratings.rater_groups
        # A group may have that name already.
        others = {NO_GROUP} - set(groups) if OF_NONE in self.ratings.rater_group else ()
        return (*groups, *others)

    @property
    def rater_group_index(self) -> Integers:
        """The group of each rater, without the system, all 0 where there are none, (n_raters,)."""
        if not self.rater_groups:
            return np.zeros(self.n_raters, np.int64)
        own = (group or NO_GROUP for group in self.ratings.rater_group)
        return np.array([self.rater_groups.index(group) for group in own])

    @property
    def rater_group_shares(self) -> Floats:
        """Share of each rater in the ratings of each group, (n_groups, n_raters)."""
        patterns = self.patterns
        counts = np.repeat(patterns.counts, np.diff(patterns.starts))
        of_raters = np.bincount(patterns.flat.rater_index, counts, len(patterns.raters))
        n_ratings = of_raters[: self.n_raters]
        member = self.rater_group_index == np.arange(len(self.rater_groups))[:, None]
        # A group without ratings has the mean of its raters.
        weights = np.where((member @ n_ratings > 0)[:, None], member * n_ratings, member)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    @property
    def rater_names(self) -> tuple[str, ...]:
        """Names of the raters, with "system" as the last if there is a system."""
        return self.patterns.raters

    @property
    def n_categories(self) -> int:
        """Number of categories, used or not."""
        return len(self.patterns.categories)

    @property
    def has_system(self) -> bool:
        """Whether the last rater is a system."""
        return self.patterns.has_system

    @property
    def n_raters(self) -> int:
        """Number of raters, without the system."""
        return len(self.rater_names) - int(self.has_system)

    @property
    def n_groups(self) -> int:
        """Number of confusion matrices if the raters share one: theirs, and the system's."""
        return 1 + int(self.has_system)

    @property
    def cells_of_matrix(self) -> int:
        """Number of free probabilities in a full confusion matrix."""
        return self.n_categories * (self.n_categories - 1)

    @property
    def coords(self) -> dict[str, Any]:
        """Coordinates that every model has."""
        categories = list(self.patterns.categories)
        coords = {
            "rater": list(self.rater_names),
            "category": categories,
            "response": categories,
        }
        optional = {"population": self.populations, "rater_group": self.rater_groups}
        return coords | {name: list(labels) for name, labels in optional.items() if labels}

    @property
    def arrays(self) -> dict[str, Integers]:
        """The arrays that the likelihood reads, by their names in models."""
        patterns = self.patterns
        return {
            "starts": patterns.starts,
            "raters": patterns.flat.rater_index,
            "responses": patterns.flat.category_index,
            "truths": patterns.truths,
            "counts": patterns.counts,
            "populations": patterns.population,
        }

    @property
    def data(self) -> dict[str, Any]:
        """All that changes from data to data, by the names that models give it."""
        data: dict[str, Any] = dict(self.arrays)
        if self.populations:
            data["population_shares"] = self.population_shares
        if self.rater_groups:
            data["rater_group_index"] = self.rater_group_index
            data["rater_group_shares"] = self.rater_group_shares
        return data


def observe(ratings: Ratings | Observations) -> Observations:
    """Collapse ratings to patterns and put the system among the raters.

    If the truth of some items is known, it is used. If all truths are known there is nothing to
    infer: they are left out, and estimates can be compared with them.

    Parameters
    ----------
    ratings : Ratings or Observations
        With or without a system; observations are given back, so that ratings are collapsed once.

    Returns
    -------
    Observations
        Each pattern of ratings once, with its count; the system is the last rater.

    Raises
    ------
    InputError
        If there are no items or fewer than two categories, if the system answered nothing, or if it
        is unknown who gave which rating.

    Examples
    --------
    >>> seen = observe(Ratings([[0, 1], [1, 1], [0, 1]], ["no", "yes"], system=[1, -1, 1]))
    >>> seen.patterns.counts, seen.arrays["raters"], seen.arrays["responses"]
    (array([2, 1]), array([0, 1, 2, 0, 1]), array([0, 1, 1, 1, 1]))
    """
    if isinstance(ratings, Observations):
        return ratings
    if ratings.n_items == 0 or ratings.n_categories < 2:
        raise InputError(
            f"there are {ratings.n_items} items and {ratings.n_categories} categories",
            "give items, and two or more categories",
        )
    if ratings.anonymous:
        raise InputError(
            "it is unknown who gave which rating, and each rater has a confusion matrix",
            "use data in which raters are named",
        )
    if ratings.system is not None and not ratings.weights[ratings.system >= 0].any():
        raise InputError("the system answered no item", "give its answers, or leave it out")
    patterns = ratings.patterns(truth=bool(known_truths(ratings)))
    return Observations(ratings=ratings, patterns=patterns)
