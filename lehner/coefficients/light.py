"""Light's kappa: the mean of Cohen's kappas of all pairs of raters."""

import numpy as np

from lehner.coefficients.contingency import cohen_kappa
from lehner.coefficients.linearised import Linearised
from lehner.coefficients.pair_votes import PairVotes
from lehner.core.arrays import Floats


def light_kappa(votes: PairVotes, n_raters: int, weights: Floats) -> tuple[Linearised, int]:
    """Average Cohen's kappa over pairs of raters, each on the items that both rated.

    Parameters
    ----------
    votes : PairVotes
    n_raters : int
        Number of raters, without the system, which comes last.
    weights : ndarray of float, shape (n_categories, n_categories)
        If they are not symmetric, a row is that of the rater who is named first.

    Returns
    -------
    kappa : Linearised
        NaN if no pair has a kappa. The mean chance agreement is that of the same pairs.
    n_undefined : int
        Number of pairs with common items that are left out because their chance agreement is 1.

    References
    ----------
    Light (1971), Psychological Bulletin 76(5), 365-377; Conger (1980), Psychological Bulletin
    88(2), 322-328.
    """
    k, n_rows = votes.n_categories, len(votes.weights)
    n_all = float(_rated(votes, n_raters) @ votes.weights)
    total = chance = 0.0
    influence, n_pairs, n_undefined = np.zeros(n_rows), 0, 0
    for rater in range(n_raters - 1):
        tables = votes.tables(rater)
        n_items = tables.sum(axis=(-2, -1))
        others = rater + 1 + np.flatnonzero(n_items[rater + 1 : n_raters])
        kappa = cohen_kappa(tables[others], weights)
        known = ~np.isnan(np.asarray(kappa.value))
        n_undefined += int((~known).sum())
        n_pairs += int(known.sum())
        total += float(np.asarray(kappa.value)[known].sum())
        chance += float(np.asarray(kappa.chance)[known].sum())
        # This is the influence of an item that both rated on the mean over their items.
        moved = np.zeros((votes.n_raters, k, k))
        scale = n_all / n_items[others[known], None]
        moved[others[known]] = (kappa.influence[known] * scale).reshape(-1, k, k)
        influence += _of_items(votes, rater, moved)
    if n_pairs == 0:
        return Linearised(value=np.float64(np.nan), influence=influence), n_undefined
    return Linearised(
        value=np.float64(total / n_pairs),
        influence=influence / n_pairs,
        chance=np.float64(chance / n_pairs),
    ), n_undefined


def _rated(votes: PairVotes, n_raters: int) -> Floats:
    """Tell which rows have a rating by one of the raters."""
    rated = np.zeros(len(votes.weights))
    rated[votes.row[votes.rater < n_raters]] = 1.0
    return rated


def _of_items(votes: PairVotes, rater: int, moved: Floats) -> Floats:
    """Sum the influence of each row on a rater's pairs with others, (n_rows,)."""
    mine = votes.shares(rater)
    shared = np.flatnonzero(mine.any(axis=1)[votes.row])
    row, other, category = votes.row[shared], votes.rater[shared], votes.category[shared]
    each = (mine[row] * moved[other, :, category]).sum(axis=1) * votes.share[shared]
    return np.bincount(row, weights=each, minlength=len(votes.weights))
