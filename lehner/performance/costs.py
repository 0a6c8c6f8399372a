"""Cost matrices: the cost of each answer given each true category."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError
from lehner.core.text import first_few
from lehner.data.categories import Label
from lehner.data.columns import encode
from lehner.reading.read import read_columns

LARGEST_COST = 1e12


def read_costs(path: str | Path, categories: Sequence[Label], what: str = "cost") -> Floats:
    r"""Read the cost of each answer given each true category.

    Parameters
    ----------
    path : str or Path
        A CSV or Parquet file with a row for each true category, its name first, and a column for
        each answer. A negative cost is a gain.
    categories : sequence of str or int
        The categories of the ratings. Each needs a row and a column.
    what : str
        What the numbers are, for errors.

    Returns
    -------
    ndarray, shape (n_categories, n_categories)
        By true category (row) and answer (column), in the order of `categories`.

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "costs.csv"
    >>> _ = file.write_text("truth,no,yes\nyes,5,0\nno,0,1\n")
    >>> read_costs(file, ["no", "yes"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    names = [str(name) for name in categories]
    with read_columns(Path(path)) as columns:
        texts = {name: _texts(column, name) for name, column in columns.items()}
        first, *answers = texts
        truths = texts[first]
        for side, labels in (("column", answers), ("row", truths)):
            for name in names:
                if labels.count(name) != 1:
                    number = "no" if name not in labels else "more than one"
                    raise InputError(
                        f"category {name!r} has {number} {side}",
                        "give each category a row (truth) and a column (answer), as in "
                        f"{first_few([first, *names], 4)}",
                    )
            others = [name for name in labels if name not in names]
            if others:
                raise InputError(
                    f"a {side} is called {others[0]!r}, which is no category",
                    f"choose among {', '.join(names)}",
                )
        rows = [truths.index(name) for name in names]
        return np.array([[_number(texts[j][i], i, j, what) for j in names] for i in rows])


def _texts(column: Any, name: str) -> list[str]:
    encoded = encode(column, name)
    return ["" if code < 0 else str(encoded.labels[code]).strip() for code in encoded.codes]


def _number(text: str, row: int, column: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"{text!r} is no {what}", "give a number", row=row, column=column)
    return value


def check_costs(costs: Any, categories: Sequence[Label]) -> Floats:
    """Raise an InputError unless costs are a matrix of finite numbers, truth by answer.

    Those of a pandas DataFrame are sorted by its labels.
    """
    k, names = len(categories), [str(name) for name in categories]
    if hasattr(costs, "iloc"):
        costs = costs.rename(index=str, columns=str).reindex(index=names, columns=names)
    try:
        matrix = np.asarray(costs, dtype=float)
    except (TypeError, ValueError):
        raise InputError("costs are not a matrix of numbers", "give a row for each truth") from None
    if matrix.shape != (k, k) or not (abs(matrix) <= LARGEST_COST).all():
        raise InputError(
            f"costs have shape {matrix.shape}, leave a category out, or have a number that is not "
            "finite or is too large",
            f"give {k} rows (truth) of {k} numbers (answer), {LARGEST_COST:.0e} at most",
        )
    return matrix
