"""Standard errors of kappas if their true value is 0, for tests of that hypothesis."""

import numpy as np

from lehner.coefficients.item_votes import ItemVotes
from lehner.core.arrays import Floats


def cohen_null_error(table: Floats, weights: Floats) -> float | None:
    """Standard error of Cohen's kappa if two classifications are independent.

    Parameters
    ----------
    table : ndarray of float, shape (n_categories, n_categories)
        Counts.
    weights : ndarray of float, shape (n_categories, n_categories)

    Returns
    -------
    float or None
        The standard error; None if chance agreement is 1 or there are no items.

    References
    ----------
    Fleiss, Cohen & Everitt (1969), Psychological Bulletin 72(5), 323-327, Eq. 9 and 14.
    """
    n = table.sum()
    if n == 0:
        return None
    row, column = table.sum(axis=1) / n, table.sum(axis=0) / n
    chance = row @ weights @ column
    moved = weights - (weights @ column)[:, None] - row @ weights
    variance = (row @ moved**2 @ column - chance**2) / n
    return _error(float(variance), float(1 - chance))


def fleiss_null_error(items: ItemVotes) -> float | None:
    """Standard error of Fleiss' kappa if ratings have the same distribution in all items.

    Parameters
    ----------
    items : ItemVotes
        Votes; collapsed to two categories for the kappa of one category.

    Returns
    -------
    float or None
        None unless all items have the same number of raters, two or more.

    References
    ----------
    Fleiss, Nee & Landis (1979), Large sample variance of kappa in the case of different sets of
    raters, Psychological Bulletin 86(5), 974-977, Eq. 12 and 16.
    """
    m = float(items.n_raters.max(initial=0))
    if m < 2 or (items.n_raters != m).any():
        return None
    share = items.weights @ items.votes / (items.n_items * m)
    spread = share @ (1 - share)
    variance = 2 * (spread**2 - (share * (1 - share)) @ (1 - 2 * share)) / (m * (m - 1))
    return _error(float(variance) / items.n_items, float(spread))


def _error(variance: float, scale: float) -> float | None:
    if scale < 1e-12 or variance <= 0:
        return None
    return float(np.sqrt(variance) / scale)
