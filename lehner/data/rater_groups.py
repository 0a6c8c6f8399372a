"""Groups of raters: the name of each rater's group."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lehner.core.checks import suggest
from lehner.core.errors import InputError
from lehner.core.wording import counted
from lehner.data.categories import encode, plain_label

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

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
