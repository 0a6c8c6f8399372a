"""Agreement of a rater with himself: repeated ratings of the same items."""

import numpy as np

from lehner.core.errors import InputError
from lehner.data.flat import FlatRatings, are_repeated
from lehner.data.ratings import Ratings
from lehner.interrater.agreement import Agreement, agreement

COEFFICIENTS = ("percent_agreement", "krippendorff_alpha", "gwet_ac1")


def within_rater_agreement(ratings: Ratings, *, level: float = 0.9) -> dict[str, Agreement]:
    """Measure how far each rater agrees with himself where he rated an item more than once.

    Parameters
    ----------
    ratings : Ratings
        With repeated ratings.
    level : float
        Probability of the intervals.

    Returns
    -------
    dict of str to Agreement
        Percent agreement, Krippendorff's alpha and Gwet's AC1 of the ratings of the items that a
        rater rated more than once, for each rater who did.

    Raises
    ------
    InputError
        If no rater rated an item more than once.

    Examples
    --------
    >>> from lehner import Ratings
    >>> twice = {"item": [1, 1, 2, 2, 1], "rater": list("xxxxy"), "rating": list("aaaba")}
    >>> found = within_rater_agreement(Ratings.from_long(twice, repeated=True))
    >>> found["x"]["percent_agreement"].estimate
    0.5
    """
    flat, again = ratings.given, are_repeated(ratings.given)
    if not again.any():
        raise InputError(
            "no rater rated an item more than once", "give repeated ratings (repeated='vote')"
        )
    position = np.arange(len(again))
    start = np.maximum.accumulate(np.where(again, 0, position))
    agreements = {}
    for rater in np.unique(flat.rater_index[again]):
        mine = flat.rater_index == rater
        place = (position - start)[mine]
        own = FlatRatings(
            item_index=flat.item_index[mine],
            rater_index=place,
            category_index=flat.category_index[mine],
        )
        times = [f"rating {k + 1}" for k in range(int(place.max()) + 1)]
        alone = ratings._replace(codes=own, raters=times, rater_group=(), systems=None, system=None)
        rows = np.unique(flat.item_index[again & mine])
        agreements[ratings.raters[rater]] = agreement(
            alone.take(rows), coefficients=COEFFICIENTS, weights="identity", level=level
        )
    return agreements
