"""Groups of items and of raters, and populations of items."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Integers
from lehner.core.errors import InputError, suggest
from lehner.core.text import counted
from lehner.data.categories import plain_label
from lehner.data.columns import encode
from lehner.data.numbering import order_of_name

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def number_groups(
    values: ArrayLike | Sequence[Any], n_rows: int, kind: str = "group"
) -> tuple[Integers, tuple[str, ...]]:
    """Index of each row's group, (n_rows,), -1 where it is missing, and the names.

    Parameters
    ----------
    values : array_like, shape (n_rows,)
        Missing are what is missing among ratings: None, NaN of any type, blanks and the like.
    n_rows : int
    kind : str
        What the groups are, for the error.

    Returns
    -------
    index : ndarray of int, shape (n_rows,)
    names : tuple of str
        Numbers by size, then the rest by the alphabet.

    Raises
    ------
    InputError
        If there is not one value for each row.
    """
    column = encode(values, f"{kind}s")
    if len(column.codes) != n_rows:
        raise InputError(
            f"{kind}s are given for {counted(len(column.codes), 'row')}, but the ratings have "
            f"{n_rows}",
            f"name the {kind} of each row",
        )
    labels = [str(label) for label in column.labels]
    used = set(np.unique(column.codes).tolist())
    names = sorted({label for code, label in enumerate(labels) if code in used}, key=order_of_name)
    number = {name: place for place, name in enumerate(names)}
    place = np.array([*(number.get(label, -1) for label in labels), -1], dtype=np.int64)
    return place[column.codes], tuple(names)


def with_populations(self: "Ratings", names: ArrayLike | None) -> "Ratings":
    """Assign items to populations.

    In latent-class models, Bayesian or by maximum likelihood, each population then has its own
    base rates, and raters and system have the same confusion matrices in all populations.
    Populations with different base rates help to identify the matrices. Other methods pool the
    items of all populations.

    Parameters
    ----------
    names : array_like, shape (n_rows,), or None
        The name of each row's population; None for no populations.

    Returns
    -------
    Ratings
        The same ratings of items from these populations.

    Raises
    ------
    InputError
        If there is not one name for each row.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings([[0, 0], [1, 1]], ["no", "yes"]).with_populations(["south", "north"])
    Ratings: 2 items, 2 raters, 4 ratings, 2 categories (no, yes), 2 populations
    """
    if names is None:
        return self._replace(population=None, populations=())
    index, populations = number_groups(names, self.n_rows, "population")
    missing = np.flatnonzero(index < 0)
    if missing.size:
        raise InputError(
            f"item {self.items[missing[0]]} has no population",
            "name the population of each row, or leave such items out",
        )
    return self._replace(population=index, populations=populations)


def check_populations(names: Sequence[Any]) -> tuple[str, ...]:
    """Names of populations as text; each is named, and no two alike."""
    texts = tuple(str(name) for name in names if plain_label(name) is not None)
    if len(texts) < len(names) or len(set(texts)) < len(texts):
        raise InputError(f"populations are named {list(names)}", "name each population once")
    return texts


OF_NONE = ""
"""Stands for the group of a rater who belongs to none."""


def with_rater_groups(self: "Ratings", groups: Mapping[str, str] | None) -> "Ratings":
    """Assign raters to groups, such as experts and a crowd.

    The models `hierarchical_dawid_skene`, `one_coin_by_rater` and `relaxed_k` then have other
    parameters of the distribution of raters for each group, and draw raters toward the raters
    of their own group. Other methods estimate accuracies as without groups.

    Parameters
    ----------
    groups : mapping, or None
        The name of the group by the name of the rater; None for no groups. Raters who are not
        named, or whose group is missing, belong to none; models take them as one more group.

    Returns
    -------
    Ratings
        The same ratings by raters of these groups.

    Raises
    ------
    InputError
        If there is no such rater, if no rater belongs to a group, or if raters are anonymous.

    Examples
    --------
    >>> from lehner import Ratings
    >>> ratings = Ratings([[0, 0, 1]], ["no", "yes"], ["Ann", "Bo", "Cy"])
    >>> grouped = ratings.with_rater_groups({"Ann": "expert", "Bo": "crowd"})
    >>> grouped
    Ratings: 1 item, 3 raters, 3 ratings, 2 categories (no, yes), 2 groups of raters
    >>> grouped.rater_groups, grouped.rater_group
    (('crowd', 'expert'), ('expert', 'crowd', ''))
    """
    if groups is None:
        return self._replace(rater_group=())
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups of raters are given as {type(groups).__name__}",
            "give a mapping from the name of each rater to that of its group",
        )
    if self.anonymous:
        raise InputError(
            "it is unknown who gave which rating, so that raters belong to no group",
            "use data in which raters are named",
        )
    raters = [str(rater) for rater in groups]
    for rater in raters:
        check_rater(self, rater)
    column = encode(list(groups.values()), "rater_groups")
    named = {
        rater: str(column.labels[code])
        for rater, code in zip(raters, column.codes, strict=True)
        if code >= 0
    }
    if not named:
        raise InputError("no rater belongs to a group", "name the groups of raters")
    return self._replace(rater_group=tuple(named.get(rater, OF_NONE) for rater in self.raters))


def check_rater(ratings: "Ratings", rater: str) -> None:
    """Raise an InputError unless there is such a rater."""
    if rater in ratings.systems:
        raise InputError(
            f"{rater!r} is a system, and systems belong to no group of raters", "leave it out"
        )
    if rater not in ratings.raters:
        raise InputError(f"there is no rater {rater!r}", suggest(rater, ratings.raters))


def check_rater_group(rater_group: Any, n_raters: int) -> tuple[str, ...]:
    """Group of each rater; none has one if there are no groups."""
    labels = map(plain_label, rater_group)
    names = tuple(OF_NONE if label is None else str(label) for label in labels)
    if names and len(names) != n_raters:
        raise InputError(
            f"groups are given for {counted(len(names), 'rater')} of {n_raters}",
            'name the group of each rater, "" for none',
        )
    return names if any(names) else ()
