"""Light's kappa: the mean of Cohen's kappas of all pairs of raters."""

import numpy as np

from lehner.coefficients.contingency import cohen_kappa
from lehner.coefficients.item_votes import ItemVotes
from lehner.coefficients.linearised import Linearised
from lehner.coefficients.weights import AgreementWeights
from lehner.core.wording import counted


def light_kappa(items: ItemVotes, weights: AgreementWeights) -> Linearised:
    """Average Cohen's kappa over pairs of raters, each on the items that both rated.

    Parameters
    ----------
    items : ItemVotes
    weights : AgreementWeights
        If they are not symmetric, a row is that of the rater who is named first.

    Returns
    -------
    Linearised
        NaN if no pair has a kappa. The mean chance agreement is that of the same pairs. The note
        tells how many pairs are left out because their chance agreement is 1.

    References
    ----------
    Light (1971), Psychological Bulletin 76(5), 365-377; Conger (1980), Psychological Bulletin
    88(2), 322-328.
    """
    k, n_raters = items.n_categories, int(items.rater.max()) + 1
    total = chance = 0.0
    influence, n_pairs, n_undefined = np.zeros_like(items.weights), 0, 0
    for rater in range(n_raters - 1):
        tables = items.tables(rater, n_raters)
        n_items = tables.sum(axis=(-2, -1))
        others = rater + 1 + np.flatnonzero(n_items[rater + 1 :])
        kappa = cohen_kappa(tables[others], weights.matrix)
        known = ~np.isnan(np.asarray(kappa.value))
        n_undefined += int((~known).sum())
        n_pairs += int(known.sum())
        total += float(np.asarray(kappa.value)[known].sum())
        chance += float(np.asarray(kappa.chance)[known].sum())
        # This is the influence of an item that both rated on the mean over their items.
        moved = np.zeros_like(tables)
        scale = items.n_items / n_items[others[known], None]
        moved[others[known]] = (kappa.influence[known] * scale).reshape(-1, k, k)
        influence += items.sum_cells(rater, moved)
    if n_pairs == 0:
        return Linearised(value=np.float64(np.nan), influence=influence)
    left_out = f"without {counted(n_undefined, 'pair')} of raters whose chance agreement is 1"
    return Linearised(
        value=np.float64(total / n_pairs),
        influence=influence / n_pairs,
        chance=np.float64(chance / n_pairs),
        note=left_out if n_undefined else "",
    )
