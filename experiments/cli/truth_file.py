"""Known truths from a file of their own, as an expert fills in what `lehner ask` wrote."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lehner import Ratings


def add_truths(ratings: "Ratings", path: Path) -> "Ratings":
    """Add the truths in a CSV or Parquet file to ratings.

    Parameters
    ----------
    ratings : Ratings
        Truths that it has are kept.
    path : Path
        Columns `item`, with names as in the ratings, and `truth`, blank where unknown. Other
        columns are ignored.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        Naming file, row, column, value and remedy.
    """
    from lehner.reading.read import read_columns

    with read_columns(path) as columns:
        return ratings.with_truth(_read(ratings, columns), ratings.truth_probability)


def _read(ratings: "Ratings", columns: dict[str, Any]) -> np.ndarray:
    from lehner import InputError
    from lehner.data.categories import encode, unify
    from lehner.data.columns import require_columns, unique_items
    from lehner.reading.column_roles import ITEM_COLUMNS, named

    item = named(columns, *ITEM_COLUMNS) or "item"
    truth = named(columns, "truth") or "truth"
    require_columns(columns, [item, truth])
    column = encode(columns[truth], truth)
    row_of = {str(name): row for row, name in enumerate(ratings.items)}
    code_of = {str(category): k for k, category in enumerate(ratings.categories)}
    known = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth.copy()
    for line, (name, code) in enumerate(
        zip(unique_items(columns[item], item), column.codes, strict=True)
    ):
        if str(name) not in row_of:
            raise InputError(
                f"the ratings have no item {str(name)!r}",
                "name items as the ratings do",
                row=line,
                column=item,
            )
        if code < 0:
            continue
        label = str(unify([column.labels[code]])[column.labels[code]])
        if label not in code_of:
            raise InputError(
                f"{label!r} is not one of the categories {', '.join(code_of)}",
                "correct it, or name all categories, used or not, with --categories",
                row=line,
                column=truth,
            )
        row = row_of[str(name)]
        if known[row] not in (-1, code_of[label]):
            raise InputError(
                f"the truth of item {str(name)!r} is {label!r} here and "
                f"{str(ratings.categories[known[row]])!r} in the ratings file",
                "give each item one truth",
                row=line,
                column=truth,
            )
        known[row] = code_of[label]
    return known
