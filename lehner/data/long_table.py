"""A table with a row per rating."""

from collections.abc import Sequence
from typing import Any

from lehner.data.categories import Label, encode, unify
from lehner.data.checks.column_names import say_doubtful_names, say_other_raters
from lehner.data.checks.columns import say_columns
from lehner.data.columns import (
    columns_of,
    encode_items,
    refuse_duplicates,
    require_columns,
    require_complete,
    truth_per_item,
)
from lehner.data.flat import sort_ratings
from lehner.data.spelling import reread
from lehner.data.table import Table, are_fixed, code_labels


def read_long(
    data: Any,
    *,
    item: str,
    rater: str,
    rating: str,
    systems: Sequence[str],
    truth: str | None,
    occasion: str | None,
    repeated: bool,
    categories: Sequence[Label] | None,
    ordered: bool,
    missing: Sequence[Label],
    fold_case: bool,
) -> Table:
    """Read what `Ratings.from_long` takes, whose parameters these are; systems are raters yet."""
    columns = columns_of(data)
    optional = [name for name in (truth, occasion) if name is not None]
    require_columns(columns, [item, rater, rating, *optional])
    item_index, items = encode_items(columns[item], item)
    rated_by = require_complete(encode(columns[rater], rater), rater)
    when = None if occasion is None else encode_items(columns[occasion], occasion)[0]
    labelled = [rating] if truth is None else [rating, truth]
    encoded = {name: encode(columns[name], name) for name in labelled}
    encoded, unused = reread(encoded, categories, missing=missing, fold_case=fold_case)
    coded = code_labels(encoded, categories, ordered=ordered)
    codes = coded.codes[rating]
    if occasion is not None or not repeated:
        refuse_duplicates(item_index, rated_by, when, codes, rating)
    names = unify(rated_by.labels)
    everybody = [str(names[label]) for label in rated_by.labels]
    raters = [name for name in everybody if name not in systems]
    odd = (
        *unused,
        *coded.odd,
        *say_doubtful_names(raters, systems),
        *say_other_raters(raters, systems),
    )
    known = None
    if truth is not None:
        known = truth_per_item(item_index, coded.codes[truth], len(items), truth, coded.categories)
    sentence = say_columns(
        raters,
        systems=systems,
        truth=truth,
        item=item,
        by_rating=(rater, rating),
        ignored=[name for name in columns if name not in (item, rater, rating, *optional)],
    )
    rated = codes >= 0
    return Table(
        ratings=sort_ratings(
            item_index[rated], rated_by.codes[rated], codes[rated], len(coded.categories)
        ),
        raters=everybody,
        items=items,
        truth=known,
        categories=coded.categories,
        ordered=coded.ordered,
        noticed=(sentence, *odd),
        odd=odd,
        fixed=are_fixed(encoded, categories),
    )
