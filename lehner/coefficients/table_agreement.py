"""Agreement of two classifications in a square table of counts or probabilities."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.coefficients.chance_corrected import coefficient_of_items
from lehner.coefficients.coefficient import Coefficient, choose_coefficients
from lehner.coefficients.contingency import as_table
from lehner.coefficients.item_votes import ItemVotes, count_votes
from lehner.coefficients.result import Agreement
from lehner.coefficients.weights import AgreementWeights, find_all_weights, weights_notes
from lehner.core.arrays import Floats
from lehner.core.checks import check_number
from lehner.data.flat import MOST_ITEMS, FlatRatings

if TYPE_CHECKING:
    import xarray as xr

UNKNOWN_TOTAL = "undefined: it depends on the number of items"
FEWEST_COUNTED = 2
MARGINS = {
    "estimated": "chance: all items in the class that agrees best with the row margin",
    "actual": "chance: all items in the class that agrees best with the column margin",
}


def agreement_of_table(
    table: "ArrayLike | xr.DataArray",
    *,
    coefficients: str | Sequence[str] | None = None,
    weights: Any = None,
    ordered: bool = False,
    n_items: float | None = None,
    level: float = 0.9,
) -> Agreement:
    """Measure the agreement of two classifications from their square table.

    Parameters
    ----------
    table : array_like of float or xarray.DataArray, shape (n_categories, n_categories)
        Counts, expected counts or probabilities, 0 or more. A row is an estimated class and a
        column an actual class, or they are those of two raters. A labelled table has dims
        (estimated, actual).
    coefficients : str or sequence of str, optional
        Names of coefficients, or a word of a name that no other has, as "alpha" and "ac1": only
        these are given, in this order. By default all.
    weights : str, array_like or sequence of str, optional
        As in `agreement`. The order of the categories is that of the table.
    ordered : bool
        Whether the order of the categories is meaningful: then linear, quadratic and ordinal
        weights are used besides identity, if no weights are given.
    n_items : float, optional
        Number of items of the table; by default its total. A total below 2 is assumed to be that of
        probabilities, which may be rounded, and there are no standard errors.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    Agreement
        `accuracy`; `cohen_kappa`; `brennan_prediger_kappa`, `scott_pi`, `krippendorff_alpha` and
        `gwet_ac1` or `gwet_ac2`; with identity weights `bangdiwala_b`; and
        `goodman_kruskal_lambda[estimated]`, as in CPTtools, and `goodman_kruskal_lambda[actual]`,
        by the margin with which the class that chance chooses agrees best.

    Raises
    ------
    InputError
        If the table is not square or does not consist of counts, or there is no such coefficient.

    Notes
    -----
    Standard errors are those of a multinomial sample, with the factor n / (n − 1) in the variance;
    expected counts are treated as counts. Lambda's is that of Goodman & Kruskal (1963).

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition. Goodman & Kruskal (1963),
    Measures of association for cross classifications III, Journal of the American Statistical
    Association 58, 310-364.

    Examples
    --------
    >>> read = [[0.207, 0.040, 0.000], [0.029, 0.445, 0.025], [0.000, 0.025, 0.229]]
    >>> result = agreement_of_table(read, weights=["identity", "linear"])
    >>> [round(result["cohen_kappa", name].estimate, 3) for name in ("identity", "linear")]
    [0.809, 0.84]
    """
    labelled = as_table(table)
    categories = labelled.coords["estimated"].values.tolist()
    chosen = find_all_weights(weights, categories, ordered=ordered or weights is not None)
    counts = labelled.values
    if n_items is not None:
        counts = counts * (check_number("n_items", n_items, 1, MOST_ITEMS) / counts.sum())
    check_number("level", level, 1e-6, 1 - 1e-6)
    return Agreement(
        coefficients=choose_coefficients(
            (c for one in chosen for c in _coefficients(counts, one, level)), coefficients
        ),
        level=level,
        n_items=float(counts.sum()) if counts.sum() >= FEWEST_COUNTED else None,
        notes=tuple(weights_notes(chosen, categories)),
    )


def _coefficients(counts: Floats, weights: AgreementWeights, level: float) -> Iterator[Coefficient]:
    items = _as_items(counts)
    show = partial(coefficient_of_items, items=items, weights=weights, level=level)
    identity = weights.name in ("identity", "nominal")
    known_total = counts.sum() >= FEWEST_COUNTED
    yield show("accuracy")
    yield show("brennan_prediger_kappa")
    yield show("cohen_kappa")
    yield show("scott_pi")
    yield show("krippendorff_alpha", reason="" if known_total else UNKNOWN_TOTAL)
    yield show("gwet_ac1" if identity else "gwet_ac2")
    if identity:
        yield show("bangdiwala_b")
    for margin, note in MARGINS.items():
        yield show(f"goodman_kruskal_lambda[{margin}]", note=note)


def _as_items(counts: Floats) -> ItemVotes:
    """Treat each cell as items that two raters put into the cell's row and column."""
    k = len(counts)
    ratings = FlatRatings(
        item_index=np.repeat(np.arange(k * k), 2),
        rater_index=np.tile([0, 1], k * k),
        category_index=np.indices(counts.shape).reshape(2, -1).T.ravel(),
    )
    return count_votes(ratings, counts.ravel(), k)
