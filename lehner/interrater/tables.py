"""Agreement of two classifications in a square table, which may be read from a file."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_number
from lehner.core.lazy import xr
from lehner.core.text import first_few
from lehner.data.categories import Label, check_categories, plain_label, unify
from lehner.data.columns import encode
from lehner.data.flat import MOST_ITEMS, FlatRatings
from lehner.interrater.agreement import Agreement
from lehner.interrater.coefficients import Coefficient, choose_coefficients, coefficient_of_items
from lehner.interrater.votes import ItemVotes, count_votes, label_table
from lehner.interrater.weights import AgreementWeights, find_all_weights, weights_notes
from lehner.reading.read import read_columns

SIDES = ("estimated", "actual")


def read_table(path: str | Path, *, categories: Sequence[Label] | None = None) -> "xr.DataArray":
    r"""Read a square table of counts or probabilities from a CSV or Parquet file.

    The table is either square, with a row per estimated class, which begins with its name, and a
    column per actual class; or long, with a row per cell and three columns: estimated class, actual
    class and number. Cells that a long table leaves out are 0.

    Parameters
    ----------
    path : str or Path
        The file; `.parquet` is read as Parquet, anything else as UTF-8 CSV.
    categories : sequence of str or int, optional
        All categories in order; by default as in the header of a square table, or in order of
        appearance in a long one.

    Returns
    -------
    xarray.DataArray, dims (estimated, actual)
        The numbers, ready for `agreement_of_table`.

    Raises
    ------
    InputError
        If there is no such file, if the table is not square, or if a cell is not a number of 0 or
        more. The error names file, row, column, value and remedy.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = file.write_text("estimated,no,yes\nno,40,5\nyes,10,45\n")
    >>> read_table(file).sel(estimated="no", actual="yes").item()
    5.0
    """
    with read_columns(Path(path)) as columns:
        return _arrange(_square(columns) or _long(columns), categories)


type Cells = list[tuple[Any, Any, float]]
"""The row, the column and the number of each cell."""


def _square(columns: Mapping[str, Any]) -> Cells | None:
    first, *header = columns
    rows, classes = _labels(columns[first], first), [plain_label(name) for name in header]
    names = unify([*classes, *rows])
    if len(rows) != len(header) or set(map(names.get, rows)) != set(map(names.get, classes)):
        return None
    numbers = zip(*(_numbers(columns[name], name) for name in header), strict=True)
    return [
        (row, actual, value)
        for row, values in zip(rows, numbers, strict=True)
        for actual, value in zip(classes, values, strict=True)
    ]


def _long(columns: Mapping[str, Any]) -> Cells:
    if len(columns) == 3:
        named = set(SIDES) <= set(columns)
        sides = list(SIDES) if named else list(columns)[:2]
        (number,) = (name for name in columns if name not in sides)
        row_labels, column_labels = (_labels(columns[side], side) for side in sides)
        # If no class is on both sides, it is a square table whose rows and columns differ.
        if named or set(row_labels) & set(column_labels):
            return list(
                zip(row_labels, column_labels, _numbers(columns[number], number), strict=True)
            )
    first, *header = columns
    rows = first_few(encode(columns[first], first).labels, 4) or "none"
    raise InputError(
        f"it is not a square table: its rows are {rows} and its columns "
        f"{first_few(header, 4) or 'none'}",
        "give a row per estimated class, its name first, and a column per actual class; "
        "or a row per cell with columns estimated, actual, count",
    )


def _arrange(cells: Cells, categories: Sequence[Label] | None) -> "xr.DataArray":
    named = () if categories is None else check_categories(categories)
    names = unify([*named, *(label for row, column, _ in cells for label in (row, column))])
    table: dict[tuple[Label, Label], float] = {}
    for i, (row, column, value) in enumerate(cells):
        cell = names[row], names[column]
        if cell in table:
            raise InputError(f"the cell {cell} occurs a second time", "give each once", row=i)
        table[cell] = value
    order = list(dict.fromkeys(name for cell in table for name in cell))
    if categories is not None:
        wanted = [names[name] for name in named]
        missing = [name for name in order if name not in wanted]
        if missing:
            raise InputError(
                f"{missing[0]!r} is not one of the categories {', '.join(map(str, named))}",
                "correct it, or add it to the categories",
            )
        order = wanted
    return label_table(
        [[table.get((row, column), 0.0) for column in order] for row in order], order
    )


def _labels(column: Any, name: str, what: str = "class") -> list[Any]:
    encoded = encode(column, name)
    blank = np.flatnonzero(encoded.codes < 0)
    if blank.size:
        raise InputError(f"the {what} is blank", "fill it in", row=int(blank[0]), column=name)
    return [encoded.labels[code] for code in encoded.codes]


def _numbers(column: Any, name: str) -> list[float]:
    values = []
    for row, label in enumerate(_labels(column, name, "count")):
        try:
            value = float(label)
        except ValueError:
            value = -1.0
        if not 0 <= value < np.inf:
            raise InputError(
                f"{str(label)!r} is not a count", "give a number, 0 or more", row=row, column=name
            )
        values.append(value)
    return values


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
    labelled = label_table(table)
    categories = labelled.coords["estimated"].values.tolist()
    kinds = find_all_weights(weights, categories, ordered=ordered or weights is not None)
    counts = labelled.values
    if n_items is not None:
        counts = counts * (check_number("n_items", n_items, 1, MOST_ITEMS) / counts.sum())
    check_number("level", level, 1e-6, 1 - 1e-6)
    return Agreement(
        coefficients=choose_coefficients(
            (c for kind in kinds for c in _coefficients(counts, kind, level)), coefficients
        ),
        level=level,
        n_items=float(counts.sum()) if counts.sum() >= FEWEST_COUNTED else None,
        notes=tuple(weights_notes(kinds, categories)),
    )


def _coefficients(counts: Floats, weights: AgreementWeights, level: float) -> Iterator[Coefficient]:
    items = _make_items(counts)
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


def _make_items(counts: Floats) -> ItemVotes:
    """Treat each cell as items that two raters put into the cell's row and column."""
    k = len(counts)
    ratings = FlatRatings(
        item_index=np.repeat(np.arange(k * k), 2),
        rater_index=np.tile([0, 1], k * k),
        category_index=np.indices(counts.shape).reshape(2, -1).T.ravel(),
    )
    return count_votes(ratings, counts.ravel(), k)
