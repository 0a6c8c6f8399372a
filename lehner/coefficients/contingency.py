"""Contingency tables of two classifications of the same items, and their agreement.

Rows are the estimated class, columns the actual one. A table may have leading dimensions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from lehner.coefficients.linearised import STANDS_FOR_0, Linearised, beyond_chance
from lehner.core.arrays import Floats
from lehner.core.errors import InputError

if TYPE_CHECKING:
    import xarray as xr


def accuracy(table: Floats, weights: Floats) -> Linearised:
    """Find the (weighted) proportion of items on the diagonal.

    Parameters
    ----------
    table : ndarray of float, shape (..., n_categories, n_categories)
    weights : ndarray of float, shape (n_categories, n_categories)

    Returns
    -------
    Linearised
        The statistic with the influence of the cells, row by row.
    """
    value = (table * weights).sum(axis=(-2, -1)) / table.sum(axis=(-2, -1))
    return Linearised(value=value, influence=_cells(weights - value[..., None, None]))


def cohen_kappa(table: Floats, weights: Floats) -> Linearised:
    """Correct for raters who choose categories with their own frequencies (Cohen 1960, 1968).

    The influences give the standard error of Fleiss, Cohen & Everitt (1969).
    """
    row, column = _margins(table)
    of_row, of_column = column @ weights, row @ weights
    value = (row * of_row).sum(axis=-1)
    moved = of_row[..., :, None] + of_column[..., None, :] - 2 * value[..., None, None]
    chance = Linearised(value=value, influence=_cells(moved))
    return beyond_chance(accuracy(table, weights), chance)


def bangdiwala_b(table: Floats) -> Linearised:
    """Compare the squares on the diagonal with the products of the margins (Bangdiwala 1985).

    Parameters
    ----------
    table : ndarray of float, shape (n_categories, n_categories)

    Returns
    -------
    Linearised
        The sum of squares of the diagonal over the sum of products of the margins: the shaded part
        of the rectangles in the agreement chart. NaN if these have no area.

    References
    ----------
    Shankar & Bangdiwala (2014), Observer agreement paradoxes in 2x2 tables, BMC Medical Research
    Methodology 14, 100, https://doi.org/10.1186/1471-2288-14-100
    """
    row, column = _margins(table)
    diagonal = np.diagonal(table) / table.sum()
    area = row @ column
    room = area if area > STANDS_FOR_0 else np.nan
    value = diagonal @ diagonal / room
    moved = (np.diag(2 * diagonal) - value * (column[:, None] + row)) / room
    return Linearised(value=np.float64(value), influence=_cells(moved))


def goodman_kruskal_lambda(
    table: Floats, weights: Floats, margin: Literal["estimated", "actual"]
) -> Linearised:
    """Correct for putting every item into the class that agrees best with one of the margins.

    With identity weights it is the most frequent class.

    Parameters
    ----------
    table : ndarray of float, shape (n_categories, n_categories)
    weights : ndarray of float, shape (n_categories, n_categories)
    margin : {"estimated", "actual"}
        Whether the margin is that of the rows, as in CPTtools, or that of the columns.

    Returns
    -------
    Linearised
        The statistic; its influence is NaN if two classes agree equally well.

    References
    ----------
    Goodman & Kruskal (1954), JASA 49, 732-764. Almond et al. (2015), Bayesian Networks in
    Educational Assessment, chapter 7.
    """
    row, column = _margins(table)
    of_class = weights @ (row if margin == "estimated" else column)
    best = of_class.argmax()
    tied = (of_class > of_class[best] - STANDS_FOR_0).sum() > 1
    gain = np.where(tied, np.nan, weights[best] - of_class[best])
    moved = gain[:, None] if margin == "estimated" else gain
    chance = Linearised(value=of_class[best], influence=_cells(np.broadcast_to(moved, table.shape)))
    return beyond_chance(accuracy(table, weights), chance)


def _margins(table: Floats) -> tuple[Floats, Floats]:
    proportions = table / table.sum(axis=(-2, -1), keepdims=True)
    return proportions.sum(axis=-1), proportions.sum(axis=-2)


def _cells(values: Floats) -> Floats:
    return values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1])


def as_table(values: ArrayLike, categories: Sequence[object] | None = None) -> "xr.DataArray":
    """Label a square table.

    Parameters
    ----------
    values : array_like of float or xarray.DataArray, shape (n_categories, n_categories)
        Counts or probabilities, 0 or more.
    categories : sequence, optional
        By default those of a labelled table, else 1, 2, 3, ….

    Returns
    -------
    xarray.DataArray, dims (estimated, actual)

    Raises
    ------
    InputError
        If it is not such a table, or all its numbers are 0.
    """
    import xarray as xr

    if categories is None and isinstance(values, xr.DataArray):
        if set(values.dims) != {"estimated", "actual"}:
            raise InputError(
                f"the table has dims {', '.join(map(str, values.dims))}",
                "name them estimated (rows) and actual (columns)",
            )
        values = values.transpose("estimated", "actual")
        sides = [values.get_index(dim).tolist() for dim in values.dims]
        if sides[0] != sides[1]:
            raise InputError(f"the categories {sides[0]} and {sides[1]} differ", "give the same")
        categories = sides[0]
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("the table is not one of numbers", "give counts") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise InputError(f"the table has shape {array.shape}", "give a square table")
    if not np.isfinite(array).all() or (array < 0).any() or array.sum() <= 0:
        raise InputError(
            "the table has numbers that are not counts", "give numbers, 0 or more, not all 0"
        )
    names = list(range(1, len(array) + 1)) if categories is None else list(categories)
    if len(names) != len(array) or len(set(names)) < len(names):
        raise InputError(f"the categories {names} do not name {len(array)} rows", "name each once")
    return xr.DataArray(
        array, dims=("estimated", "actual"), coords={"estimated": names, "actual": names}
    )
