"""Raters as systems, and systems as raters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.checks import suggest
from lehner.core.errors import InputError
from lehner.data.flat import FlatRatings, add_rater
from lehner.data.rater_groups import OF_NONE

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def raters_as_systems(ratings: "Ratings", names: Sequence[str]) -> dict[str, Any]:
    """Give the fields of the ratings that change if these raters become systems."""
    chosen = [_place_of(ratings, name) for name in names]
    flat = ratings.given
    mine = np.isin(flat.rater_index, chosen)
    left = np.setdiff1d(np.arange(ratings.n_raters), chosen)
    return {
        "codes": FlatRatings(
            item_index=flat.item_index[~mine],
            rater_index=np.searchsorted(left, flat.rater_index[~mine]),
            category_index=flat.category_index[~mine],
        ),
        "raters": [ratings.raters[place] for place in left],
        "rater_group": [ratings.rater_group[place] for place in left if ratings.rater_group],
        "system": np.stack([_answers_of(ratings, place) for place in chosen], axis=1),
        "systems": names,
    }


def _place_of(ratings: "Ratings", rater: str) -> int:
    if ratings.anonymous:
        raise InputError(
            f"{rater!r} cannot be the system: it is unknown who gave which rating",
            "use data in which raters are named",
        )
    if rater not in ratings.raters:
        raise InputError(f"there is no column or rater {rater!r}", suggest(rater, ratings.raters))
    return ratings.raters.index(rater)


def _answers_of(ratings: "Ratings", place: int) -> Integers:
    """Give a rater's ratings as a system's answers."""
    mine = ratings.given.rater_index == place
    rows = ratings.given.item_index[mine]
    twice = np.flatnonzero(np.diff(rows) == 0)
    if twice.size:
        raise InputError(
            f"rater {ratings.raters[place]!r} rated item {ratings.items[rows[twice[0]]]} more than "
            "once, and a system gives one answer per item",
            "choose another rater as the system",
        )
    answers = np.full(ratings.n_rows, -1)
    answers[rows] = ratings.given.category_index[mine]
    return answers


def one_system(ratings: "Ratings", name: str, *, systems_rate: bool) -> dict[str, Any]:
    """Give the fields of the ratings that change if one of several systems is kept."""
    if name not in ratings.systems:
        raise InputError(
            f"there is no system {name!r}", f"choose among {', '.join(ratings.systems) or 'none'}"
        )
    place = ratings.systems.index(name)
    flat, raters, group = ratings.given, list(ratings.raters), list(ratings.rater_group)
    if systems_rate:
        for other in range(len(ratings.systems)):
            if other != place:
                flat = add_rater(flat, ratings.answers[:, other], len(raters))
                raters.append(ratings.systems[other])
        if group:
            group += [OF_NONE] * (len(ratings.systems) - 1)
    return {
        "codes": flat,
        "raters": raters,
        "rater_group": group,
        "system": ratings.answers[:, [place]],
        "systems": [name],
    }


def answers_in_common(ratings: "Ratings", names: Sequence[str]) -> Integers:
    """Give all answers, (n_rows, n_systems), those of these systems to items that all answered."""
    unknown = [name for name in names if name not in ratings.systems]
    if unknown:
        raise InputError(
            f"there is no system {unknown[0]!r}",
            f"choose among {', '.join(ratings.systems) or 'none'}",
        )
    places = [ratings.systems.index(name) for name in names]
    answers = ratings.answers.copy()
    answers[np.ix_((answers[:, places] < 0).any(axis=1), places)] = -1
    return answers
