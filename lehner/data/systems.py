"""Methods of `Ratings`: raters as systems, and one or none of several systems."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError, find
from lehner.data.coding import check_coding
from lehner.data.flat import FlatRatings, take_raters

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def with_system(self: "Ratings", *raters: Any) -> "Ratings":
    """Take one of the raters, or several, as the system or systems.

    Parameters
    ----------
    *raters : str
        Names of the raters.

    Returns
    -------
    Ratings
        The other raters, with the ratings of these raters as the answers of systems.

    Raises
    ------
    InputError
        If there is no such rater, if raters are anonymous, if the rater rated an item more than
        once, if there is already a system, or if the rater has no category in common with the
        others.

    Examples
    --------
    >>> from lehner import Ratings
    >>> ratings = Ratings([[0, 0, 1], [1, 1, 1]], ["no", "yes"], raters=["Ann", "Bo", "AI"])
    >>> ratings.with_system("AI")
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), system
    """
    if not raters:
        raise InputError("no rater is named as the system", "name a rater, or several")
    names = [str(rater) for rater in raters]
    if self.systems:
        raise InputError(
            f"the ratings already have a system, whose answers {names[0]!r} would replace",
            "leave them out first, by without_system()",
        )
    sentence = f"the rater {names[0]!r} is taken as the system"
    if len(names) > 1:
        sentence = f"the raters {', '.join(map(repr, names))} are taken as systems"
    return check_coding(raters_as_systems(self, names)._note(sentence))


def raters_as_systems(
    ratings: "Ratings", names: Sequence[str], *, by_vote: bool = False
) -> "Ratings":
    """Replace raters by systems that answer as they rate, or as they vote if they rate twice."""
    rated = ratings.flat if by_vote else ratings.given
    places = [_place_of(ratings, name) for name in names]
    left = np.setdiff1d(np.arange(ratings.n_raters), places)
    return ratings._replace(
        given=take_raters(ratings.given, left),
        raters=tuple(ratings.raters[place] for place in left),
        answers=np.stack([_answers_of(ratings, rated, place) for place in places], axis=1),
        systems=tuple(names),
    )


def keep_raters(ratings: "Ratings", names: Sequence[str]) -> "Ratings":
    """Leave out the ratings of all other raters."""
    kept = np.sort([_place_of(ratings, name) for name in names])
    raters = tuple(ratings.raters[place] for place in kept)
    return ratings._replace(given=take_raters(ratings.given, kept), raters=raters)


def _place_of(ratings: "Ratings", rater: str) -> int:
    if ratings.anonymous:
        raise InputError(
            f"{rater!r} cannot be the system: it is unknown who gave which rating",
            "use data in which raters are named",
        )
    places = {name: place for place, name in enumerate(ratings.raters)}
    return find("column or rater", rater, places)


def _answers_of(ratings: "Ratings", rated: FlatRatings, place: int) -> Integers:
    """Turn a rater's ratings into a system's answers."""
    own = rated.select(rated.rater_index == place)
    rows = own.item_index
    twice = np.flatnonzero(np.diff(rows) == 0)
    if twice.size:
        raise InputError(
            f"rater {ratings.raters[place]!r} rated item {ratings.items[rows[twice[0]]]} more than "
            "once, and a system gives one answer per item",
            "choose another rater as the system",
        )
    answers = np.full(ratings.n_rows, -1)
    answers[rows] = own.category_index
    return answers


def for_system(self: "Ratings", name: str) -> "Ratings":
    """Keep one of several systems as the system.

    Parameters
    ----------
    name : str
        Name of the system.

    Returns
    -------
    Ratings
        With one system.

    Raises
    ------
    InputError
        If there is no such system.

    Examples
    --------
    >>> from lehner import Ratings
    >>> answers = [[0, 1], [1, 1]]
    >>> ratings = Ratings([[0], [1]], ["no", "yes"], system=answers, systems=["gpt", "base"])
    >>> ratings.for_system("base").system.tolist()
    [1, 1]
    """
    (place,) = _places_of_systems(self, [name])
    return self._replace(answers=self.answers[:, [place]], systems=(name,))


def on_common_items(self: "Ratings", *systems: str) -> "Ratings":
    """Keep the answers of systems only where all of them answered.

    Systems that answered different items, perhaps easier ones, are then compared on the same.

    Parameters
    ----------
    *systems : str
        Names of the systems; by default all. The answers of others stay.

    Returns
    -------
    Ratings
        With all items and ratings.

    Raises
    ------
    InputError
        If there is no such system.

    Examples
    --------
    >>> from lehner import Ratings
    >>> answers = [[0, -1], [1, 1]]
    >>> ratings = Ratings([[0], [1]], ["no", "yes"], system=answers, systems=["gpt", "base"])
    >>> ratings.on_common_items().answers.tolist()
    [[-1, -1], [1, 1]]
    """
    places = _places_of_systems(self, systems or self.systems)
    answers = self.answers.copy()
    answers[np.ix_((answers[:, places] < 0).any(axis=1), places)] = -1
    return self._replace(answers=answers)


def _places_of_systems(ratings: "Ratings", names: Sequence[str]) -> list[int]:
    places = {name: place for place, name in enumerate(ratings.systems)}
    return [find("system", name, places) for name in names]


def without_system(self: "Ratings") -> "Ratings":
    """Leave the answers of systems out.

    Returns
    -------
    Ratings
        The same ratings by the raters.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings([[0, 0], [1, 1]], ["no", "yes"], system=[0, 1]).without_system()
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes)
    """
    if not self.systems:
        return self
    whose = "the system's answers" if len(self.systems) == 1 else "the answers of systems"
    return self._replace(answers=self.answers[:, :0], systems=())._note(f"{whose} are left out")
