"""Methods of `Ratings`: a pair of raters, or a rater and the system, whom the user suspects."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lehner.core.errors import InputError, find

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

REMEDY = "name two, as in ana,gpt"


def with_dependent_pair(self: "Ratings", names: Sequence[str] | None) -> "Ratings":
    """Name two raters, or a rater and the system, who may share answers.

    The models `dawid_skene` and `one_coin_by_rater` then estimate how often the two answer alike
    beyond what the true category explains. Other methods estimate as without the pair.

    Parameters
    ----------
    names : sequence of two str, or None
        Names of raters or systems; None for no pair.

    Returns
    -------
    Ratings
        The same ratings.

    Raises
    ------
    InputError
        If these are not two, there is no such rater or system, or raters are anonymous.

    Examples
    --------
    >>> from lehner import Ratings
    >>> ratings = Ratings([[0, 0], [1, 1]], ["no", "yes"], ["Ann", "Bo"], system=[0, 1])
    >>> ratings.with_dependent_pair(["Ann", "system"]).dependent
    ('Ann', 'system')
    """
    pair = tuple(str(name) for name in names or ())
    if not pair:
        return self._replace(dependent=())
    if len(set(pair)) != 2 or len(pair) != 2:
        raise InputError(f"the dependent pair is {', '.join(pair)}", REMEDY)
    if self.anonymous:
        raise InputError(
            "it is unknown who gave which rating, so that no pair can be named",
            "use data in which raters are named",
        )
    known = dict.fromkeys(self.all_raters)
    for name in pair:
        find("rater or system", name, known)
    return self._replace(dependent=pair)


def find_pair(ratings: "Ratings") -> tuple[int, int] | None:
    """Look up the pair among raters and system; None if there is none, or one is left out."""
    places = {name: place for place, name in enumerate(ratings.all_raters)}
    if not ratings.dependent or not set(ratings.dependent) <= set(places):
        return None
    first, second = ratings.dependent
    return places[first], places[second]
