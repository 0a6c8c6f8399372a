"""Who rates how many items, in how many categories, with which gaps: what is simulated."""

import numpy as np

from lehner import Ratings
from lehner.core.errors import find

# Name: categories, raters besides the system, items, proportions of missing ratings and of known
# truths, and whether the categories are ordered. Two have groups of raters.
DESIGNS: dict[str, tuple[int, int, int, float, float, bool]] = {
    "K3_J3_n40_missing": (3, 3, 40, 0.2, 0.0, True),
    "K2_J2_n20": (2, 2, 20, 0.0, 0.0, False),
    "K2_J3_n200": (2, 3, 200, 0.0, 0.0, False),
    "K2_J3_n1000": (2, 3, 1000, 0.0, 0.0, False),
    "K3_J2_n200_truths": (3, 2, 200, 0.0, 0.25, False),
    "K5_J3_n500": (5, 3, 500, 0.0, 0.0, False),
    "K5_J10_n40_missing": (5, 10, 40, 0.5, 0.0, True),
    "K2_J6_n40_groups": (2, 6, 40, 0.0, 0.0, False),
    "K3_J6_n40_groups": (3, 6, 40, 0.0, 0.0, False),
}
GROUPS = "groups"
"""Ends the names of designs in which a third of the raters are experts, and the others a crowd."""
FIRST = next(iter(DESIGNS))


def design(name: str = FIRST) -> Ratings:
    """Items, raters, gaps and known truths that are simulated.

    Parameters
    ----------
    name : str
        As in `DESIGNS`: K categories, J raters besides the system, n items.

    Returns
    -------
    Ratings
        Where there is a rating it is 0, and so is a truth that is known.

    Raises
    ------
    InputError
        If there is no such design.

    Examples
    --------
    >>> design("K2_J2_n20").n_items
    20
    """
    k, n_raters, n_items, missing, known, ordered = find("design", name, DESIGNS)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((n_items, n_raters + 1)) < missing, -1, 0)
    truth = np.where(np.arange(n_items) < known * n_items, 0, -1) if known else None
    categories = [str(category + 1) for category in range(k)]
    ratings = Ratings(codes[:, :-1], categories, system=codes[:, -1], truth=truth, ordered=ordered)
    if not name.endswith(GROUPS):
        return ratings
    experts = ratings.raters[: n_raters // 3]
    crowd = ratings.raters[n_raters // 3 :]
    return ratings.with_rater_groups(
        dict.fromkeys(experts, "expert") | dict.fromkeys(crowd, "crowd")
    )
