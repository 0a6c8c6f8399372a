"""Cost matrices: the cost of each answer given each true category."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.core.text import first_few
from lehner.data.categories import Label
from lehner.data.columns import encode
from lehner.reading.read import read_columns

if TYPE_CHECKING:
    import xarray as xr


def read_costs(path: str | Path, categories: Sequence[Label]) -> "xr.DataArray":
    r"""Read the cost of each answer given each true category.

    Parameters
    ----------
    path : str or Path
        A CSV or Parquet file with a row for each true category, its name first, and a column for
        each answer. A negative cost is a gain.
    categories : sequence of str or int
        The categories of the ratings. Each needs a row and a column.

    Returns
    -------
    xarray.DataArray, dims (category, response)

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "costs.csv"
    >>> _ = file.write_text("truth,no,yes\nno,0,1\nyes,5,0\n")
    >>> read_costs(file, ["no", "yes"]).sel(category="yes", response="no").item()
    5.0
    """
    import xarray as xr

    values = read_cost_matrix(path, categories)
    names = {dim: list(categories) for dim in ("category", "response")}
    return xr.DataArray(values, names, tuple(names))


def read_cost_matrix(path: str | Path, categories: Sequence[Label], what: str = "cost") -> Floats:
    """Read costs as `read_costs` does, without labels; `what` the numbers are is for errors."""
    with read_columns(Path(path)) as columns:
        return _matrix(columns, [str(name) for name in categories], what)


def _matrix(columns: Mapping[str, Any], categories: list[str], what: str) -> Floats:
    first, *answers = columns
    truths = _texts(columns[first], first)
    for side, names in (("a column", answers), ("a row", truths)):
        for name in categories:
            if names.count(name) != 1:
                number = "no" if name not in names else "more than one"
                raise InputError(
                    f"category {name!r} has {number} {side.split()[1]}",
                    "give each category a row (truth) and a column (answer), as in "
                    f"{first_few([first, *categories], 4)}",
                )
        for name in names:
            if name not in categories:
                raise InputError(
                    f"{side} is called {name!r}, which is no category",
                    f"choose among {', '.join(categories)}",
                )
    numbers = np.array([_costs(columns[name], name, what) for name in categories]).T
    return numbers[[truths.index(name) for name in categories]]


def _texts(column: Any, name: str) -> list[str]:
    encoded = encode(column, name)
    return ["" if code < 0 else str(encoded.labels[code]).strip() for code in encoded.codes]


def _costs(column: Any, name: str, what: str) -> list[float]:
    values = []
    for row, text in enumerate(_texts(column, name)):
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise InputError(f"{text!r} is no {what}", "give a number", row=row, column=name)
        values.append(value)
    return values


LARGEST_COST = 1e12


def check_costs(costs: "ArrayLike | xr.DataArray", categories: Sequence[Label]) -> Floats:
    """Raise an InputError unless costs are a matrix of finite numbers, truth by answer.

    Labelled costs are sorted in the order of the categories.
    """
    k = len(categories)
    if hasattr(costs, "transpose") and hasattr(costs, "dims"):
        if set(costs.dims) != {"category", "response"}:
            raise InputError(
                f"costs have dims {', '.join(map(str, costs.dims))}",
                "name them category (truth) and response (answer)",
            )
        names = list(categories)
        try:
            costs = costs.transpose("category", "response").sel(category=names, response=names)
        except KeyError:
            raise InputError(
                "costs leave a category out", f"label both sides {', '.join(map(str, names))}"
            ) from None
    try:
        matrix = np.asarray(costs, dtype=float)
    except (TypeError, ValueError):
        raise InputError("costs are not a matrix of numbers", "give a row for each truth") from None
    if matrix.shape != (k, k) or not (abs(matrix) <= LARGEST_COST).all():
        raise InputError(
            f"costs have shape {matrix.shape}, or a number that is not finite or is too large",
            f"give {k} rows (truth) of {k} numbers (answer), {LARGEST_COST:.0e} at most",
        )
    return matrix
