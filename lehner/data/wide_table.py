"""Ratings from a table with a row per item and a column per rater."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.data.categories import Label
from lehner.data.checks.coding import check_read
from lehner.data.checks.columns import (
    refuse_other_columns,
    refuse_stray_columns,
    say_columns,
    say_doubtful_names,
    say_if_transposed,
)
from lehner.data.columns import columns_of, count_column, require_columns, unique_items
from lehner.data.options import ReadingOptions, names_of, options_of
from lehner.data.shared_categories import are_fixed, code_labels, encode_labels

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings


def from_wide(
    cls: "type[Ratings]",
    data: Any,
    *,
    raters: Sequence[str] | None = None,
    item: str | None = None,
    system: str | Sequence[str] | None = None,
    truth: str | None = None,
    counts: str | None = None,
    categories: Sequence[Label] | None = None,
    ordered: bool = False,
    missing: Sequence[Label] = (),
    fold_case: bool = False,
) -> "Ratings":
    """Read a table with a row per item and a column per rater.

    Parameters
    ----------
    data : pandas.DataFrame, pyarrow.Table, mapping of columns or ndarray
        The labels of the ratings; an array has raters as columns.
    raters : sequence of str, optional
        The raters' columns; by default all columns not named below. For an array, names.
    item, truth, counts : str, optional
        Columns of the items' names, of known truths, and of the number of items of each row.
    system : str or sequence of str, optional
        Column of the system's answers, or the columns of several systems.
    categories : sequence, optional
        All categories in order; by default those that occur, sorted.
    ordered : bool
        Whether their order is meaningful.
    missing : sequence of str
        Labels of missing ratings, besides blanks, NA, NaN and null.
    fold_case : bool
        Whether labels that differ only in case, white space or Unicode form are one.

    Returns
    -------
    Ratings
        A row for each row of the table.

    Raises
    ------
    InputError
        If the data are not a table with a row per item, or if they are probably a mistake: a
        system that is coded differently from the raters, a category with two spellings, or a
        column without ratings. Data that only look odd give a `DataWarning` and an entry in
        `notes`.

    Examples
    --------
    >>> from lehner import Ratings
    >>> Ratings.from_wide({"Ann": ["a", "b"], "Bo": ["a", None], "AI": ["b", "b"]}, system="AI")
    Ratings: 2 items, 2 raters, 3 ratings, 2 categories (a, b), system
    >>> Ratings.from_wide({"Ann": [0, 0], "Bo": [0, 1], "n": [70, 30]}, counts="n")
    Ratings: 100 items in 2 rows, 2 raters, 200 ratings, 2 categories (0, 1)
    """
    return read_wide(cls, data, options_of(locals()))


def read_wide(cls: "type[Ratings]", data: Any, options: ReadingOptions) -> "Ratings":
    """Read a table with a row per item."""
    columns = columns_of(data, options.raters)
    systems, item, truth, counts = options.system, options.item, options.truth, options.counts
    special = [*systems, *(name for name in (item, truth, counts) if name is not None)]
    guessed = options.raters is None
    raters = options.raters or ()
    if guessed:
        raters = tuple(name for name in columns if name not in special)
    require_columns(columns, [*special, *raters])
    if guessed:
        refuse_other_columns(raters, systems)
    encoded, unused = encode_labels(columns, [*raters, *systems, *names_of(truth)], options)
    if guessed and not are_fixed(encoded, options):
        answers = {name: column for name, column in encoded.items() if name != truth}
        refuse_stray_columns(answers, raters)
    coded = code_labels(encoded, options)
    n_rows = len(next(iter(columns.values())))
    odd = [*unused, *coded.odd]
    if guessed:
        odd += [*say_doubtful_names(raters, systems), *say_if_transposed(len(raters), n_rows)]
    ignored = [name for name in columns if name not in {*special, *raters}]

    def stack(names: Sequence[str]) -> Integers:
        given = [coded.codes[name] for name in names]
        return np.stack(given, axis=1) if given else np.empty((n_rows, 0), np.int64)

    ratings = cls(
        stack(raters),
        coded.categories,
        raters,
        None if item is None else unique_items(columns[item], item),
        stack(systems),
        None if truth is None else coded.codes[truth],
        counts=None if counts is None else count_column(columns[counts], counts),
        ordered=coded.ordered,
        systems=systems,
        noticed=(say_columns(raters, ignored, options), *odd),
    )
    return check_read(ratings, odd, fixed=coded.fixed)
