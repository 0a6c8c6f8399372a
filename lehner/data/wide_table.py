"""A table with a row per item and a column per rater."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lehner.data.categories import Label, encode
from lehner.data.checks.column_labels import refuse_stray_columns
from lehner.data.checks.column_names import refuse_other_columns, say_doubtful_names
from lehner.data.checks.columns import say_columns, say_if_transposed
from lehner.data.columns import columns_of, count_column, require_columns, unique_items
from lehner.data.spelling import reread
from lehner.data.table import Table, are_fixed, code_labels


def read_wide(
    data: Any,
    *,
    raters: Sequence[str] | None,
    item: str | None,
    systems: Sequence[str],
    truth: str | None,
    counts: str | None,
    categories: Sequence[Label] | None,
    ordered: bool,
    missing: Sequence[Label],
    fold_case: bool,
) -> Table:
    """Read a table for `Ratings.from_wide`, with the same parameters."""
    columns = columns_of(data, raters)
    special = [*systems, *(name for name in (item, truth, counts) if name is not None)]
    chosen = [name for name in columns if name not in special] if raters is None else list(raters)
    require_columns(columns, [*special, *chosen])
    if raters is None:
        refuse_other_columns(chosen, systems)
    labelled = [*chosen, *systems, *([] if truth is None else [truth])]
    encoded = {name: encode(columns[name], name) for name in labelled}
    encoded, unused = reread(encoded, categories, missing=missing, fold_case=fold_case)
    fixed = are_fixed(encoded, categories)
    if raters is None and not fixed:
        answers = {name: column for name, column in encoded.items() if name != truth}
        refuse_stray_columns(answers, chosen)
    coded = code_labels(encoded, categories, ordered=ordered)
    odd = (*unused, *coded.odd)
    n_rows = len(next(iter(columns.values())))
    if raters is None:
        odd += (*say_doubtful_names(chosen, systems), *say_if_transposed(len(chosen), n_rows))
    used = {*special, *chosen}
    sentence = say_columns(
        chosen,
        systems=systems,
        truth=truth,
        item=item,
        ignored=[name for name in columns if name not in used],
    )

    def stack(names: Sequence[str]) -> np.ndarray:
        empty = np.empty((n_rows, 0), np.int64)
        return np.stack([coded.codes[name] for name in names], axis=1) if names else empty

    return Table(
        ratings=stack(chosen).astype(np.int64),
        raters=chosen,
        systems=systems,
        items=None if item is None else unique_items(columns[item], item),
        answers=stack(systems),
        truth=None if truth is None else coded.codes[truth],
        counts=None if counts is None else count_column(columns[counts], counts),
        categories=coded.categories,
        ordered=coded.ordered,
        noticed=(sentence, *odd),
        odd=odd,
        fixed=fixed,
    )
