"""Where two methods disagree: their estimates, and the most probable category of items."""

from dataclasses import dataclass

import numpy as np

from lehner.core.estimate import Estimate
from lehner.data.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Where two methods disagree.

    Parameters
    ----------
    methods : tuple of str
        The two.
    difference : float or None
        Second minus first estimate of the system's expected accuracy.
    inside : bool or None
        Whether each estimate lies in the other's interval.
    items : tuple of str
        Items with a different most probable category.
    n_items : int
        How many those are, a grouped row counting as its items.
    """

    methods: tuple[str, str]
    difference: float | None
    inside: bool | None
    items: tuple[str, ...]
    n_items: int


def disagreement(ratings: Ratings, first: Estimate, second: Estimate) -> Disagreement:
    """Compare the estimates of two methods that say which category is true."""
    one, two = first.system_accuracy, second.system_accuracy
    difference = inside = None
    if one.estimate is not None and two.estimate is not None:
        difference = two.estimate - one.estimate
        if None not in (one.lower, one.upper, two.lower, two.upper):
            inside = bool(
                one.lower <= two.estimate <= one.upper and two.lower <= one.estimate <= two.upper  # type: ignore[operator]
            )
    rows = _different_truth(first, second)
    return Disagreement(
        methods=(first.method, second.method),
        difference=difference,
        inside=inside,
        items=tuple(str(item) for item in ratings.items[rows]),
        n_items=int(ratings.weights[rows].sum()),
    )


def _different_truth(first: Estimate, second: Estimate) -> np.ndarray:
    """Find rows whose most probable category differs by more than a tie."""
    one, two = (e.arrays["truth_probabilities"].values for e in (first, second))
    if np.isnan(one).any() or np.isnan(two).any():
        return np.array([], dtype=np.int64)
    best_one, best_two = one.argmax(axis=1), two.argmax(axis=1)
    rows = np.arange(len(one))
    tie = np.isclose(one[rows, best_one], one[rows, best_two]) | np.isclose(
        two[rows, best_one], two[rows, best_two]
    )
    return np.flatnonzero((best_one != best_two) & ~tie)
