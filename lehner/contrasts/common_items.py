"""Which items systems have in common, and which systems are the same."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from lehner.core.arrays import Booleans
from lehner.core.errors import InputError
from lehner.core.text import first_few
from lehner.data.ratings import Ratings

MOST_NAMED = 4


def common_items(ratings: Ratings, systems: Sequence[str]) -> Booleans:
    """Tell which rows of the ratings all of these systems answered, (n_rows,)."""
    places = [ratings.systems.index(name) for name in systems]
    return np.asarray((ratings.answers[:, places] >= 0).all(axis=1) & (ratings.weights > 0))


def n_common_items(ratings: Ratings, systems: Sequence[str]) -> int:
    """Count the items that all of these systems answered."""
    return int(ratings.weights[common_items(ratings, systems)].sum())


def answered_the_same(ratings: Ratings, systems: Sequence[str]) -> bool:
    """Tell whether each of these systems answered the items that the others answered."""
    common = n_common_items(ratings, systems)
    return all(n_common_items(ratings, [name]) == common for name in systems)


def require_common_items(ratings: Ratings, systems: Sequence[str]) -> None:
    """Raise an InputError unless all of these systems answered some item."""
    if not common_items(ratings, systems).any():
        raise InputError(
            f"no item was answered by all of {first_few(systems, MOST_NAMED)}",
            "compare systems that answered some of the same items",
        )


def pairs_by_items(ratings: Ratings) -> list[list[tuple[str, str]]]:
    """Group the pairs of systems by the items that both answered.

    Parameters
    ----------
    ratings : Ratings
        With systems.

    Returns
    -------
    list of list of tuple of str
        The pairs of each group have the same items in common. If all systems answered the same
        items there is one group.
    """
    groups: dict[bytes, list[tuple[str, str]]] = {}
    for pair in combinations(ratings.systems, 2):
        groups.setdefault(common_items(ratings, pair).tobytes(), []).append(pair)
    return list(groups.values())


def first_alike(ratings: Ratings, systems: Sequence[str]) -> dict[str, str]:
    """Give for each system the first of them that gave the same answer to every item."""
    first: dict[bytes, str] = {}
    answers = ratings.answers[ratings.weights > 0]
    return {
        name: first.setdefault(answers[:, ratings.systems.index(name)].tobytes(), name)
        for name in systems
    }
