"""The positive category of two, of which sensitivity and specificity are said."""

from dataclasses import dataclass

from lehner.core.errors import InputError
from lehner.data.categories import Label
from lehner.data.ratings import Ratings

POSITIVE = frozenset(
    "yes y true t positive pos + present abnormal malignant disease diseased case sick ill "
    "infected cancer tumor tumour spam toxic pass passed correct".split()
)
"""Names of categories, in lower case, that are positive beside any other name."""
NEGATIVE = frozenset(
    "0 -1 no n false f negative neg - absent normal benign healthy control none ham fail "
    "failed incorrect".split()
)
"""Names of categories, in lower case, beside which any other name is positive."""
NAMES = {
    "sensitivity": ("recall", True),
    "specificity": ("specificity", True),
    "positive_predictive_value": ("precision", True),
    "negative_predictive_value": ("precision", False),
    "positive_likelihood_ratio": ("positive_likelihood_ratio", True),
    "negative_likelihood_ratio": ("negative_likelihood_ratio", True),
}
"""What measures by category are called if there are two: whether of the positive category."""


GUESSED = {"name": "by its name", "rarer": "raters give it less often"}
"""Why a category that nobody chose is taken for the positive one."""


@dataclass(frozen=True, kw_only=True)
class PositiveCategory:
    """Which of two categories is the positive one, and why.

    Parameters
    ----------
    name : str or int
    negative : str or int
        The other category.
    chosen_by : {"argument", "name", "rarer"}
        The user's choice; or its name, as "malignant" or "yes"; or, if names say nothing, that it
        is the one that raters give less often.
    """

    name: Label
    negative: Label
    chosen_by: str

    def __str__(self) -> str:
        guessed = GUESSED.get(self.chosen_by)
        if guessed is None:
            return f"positive category: {self.name}"
        other = f"positive={str(self.negative)!r} makes the other one positive"
        return f"positive category: {self.name} ({guessed}; {other})"


def find_positive(ratings: Ratings, positive: Label | None = None) -> PositiveCategory | None:
    """Find the positive category; None unless there are two categories.

    Parameters
    ----------
    ratings : Ratings
    positive : str or int, optional
        The category that the user says is positive. By default it is guessed: by names such as
        "yes", "1", "malignant" or "present", or beside names such as "no", "0", "benign" or
        "absent"; if these say nothing, the category that raters give less often, and the second
        if both are as frequent.

    Returns
    -------
    PositiveCategory or None

    Raises
    ------
    InputError
        If `positive` is no category, or if there are not two categories.

    Examples
    --------
    >>> ratings = Ratings([[0, 0], [1, 1]], ["benign", "malignant"])
    >>> print(find_positive(ratings))
    positive category: malignant (by its name; positive='benign' makes the other one positive)
    """
    categories = ratings.categories
    if len(categories) != 2:
        if positive is None:
            return None
        raise InputError(
            f"positive is {positive!r}, and there are {len(categories)} categories",
            "leave it out: recall and precision are given for each category",
        )
    chosen_by = "argument"
    if positive is None:
        place, chosen_by = _guess(ratings)
    elif str(positive) in (names := [str(name) for name in categories]):
        place = names.index(str(positive))
    else:
        raise InputError(
            f"positive is {positive!r}, which is no category",
            f"choose {categories[0]} or {categories[1]}",
        )
    return PositiveCategory(
        name=categories[place], negative=categories[1 - place], chosen_by=chosen_by
    )


def _guess(ratings: Ratings) -> tuple[int, str]:
    names = [str(name).strip().casefold() for name in ratings.categories]
    for known, place in ((POSITIVE, 0), (NEGATIVE, 1)):
        said = [name in known for name in names]
        if sum(said) == 1:
            return abs(place - said.index(True)), "name"
    counts = ratings.weights @ ratings.votes()
    return int(counts[1] <= counts[0]), "rarer"
