"""Methods of `Ratings`: tables of ratings for pandas, wide or long."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.data.repeats import are_repeated

if TYPE_CHECKING:
    import pandas as pd

    from lehner.data.ratings import Ratings


def to_wide(self: "Ratings") -> "pd.DataFrame":
    """Table with a row per item and a column per rater, blanks where missing.

    Returns
    -------
    pandas.DataFrame
        Columns `item`, the raters, the systems, and `truth`, `count` where there are any.

    Raises
    ------
    InputError
        If a rater rated an item more than once, or has the name of another column.
    """
    import pandas as pd

    clash = {"item", "truth", "count"} & set(self.all_raters)
    if clash:
        raise InputError(f"a rater is named {clash.pop()!r}, as another column is", "rename them")
    by_rater = np.column_stack([self.codes, self.answers]).T
    columns = {"item": self.items} | {
        name: _categorical(self, given)
        for name, given in zip(self.all_raters, by_rater, strict=True)
    }
    if self.truth is not None:
        columns["truth"] = _categorical(self, self.truth)
    if self.counts is not None:
        columns["count"] = self.counts
    return pd.DataFrame(columns)


def to_long(self: "Ratings") -> "pd.DataFrame":
    """Table with a row per rating, systems as raters.

    Returns
    -------
    pandas.DataFrame
        Columns `item`, `rater`, `occasion`, `rating`, and `truth` if some is known.

    Raises
    ------
    InputError
        If rows stand for several items.
    """
    import pandas as pd

    if self.grouped:
        raise InputError("grouped ratings have no row per item", "use to_wide()")
    flat = self.all_given
    item = flat.item_index
    position = np.arange(len(item))
    start = np.maximum.accumulate(np.where(are_repeated(flat), 0, position))
    columns = {
        "item": self.items[item],
        "rater": np.array(self.all_raters, dtype=object)[flat.rater_index],
        "occasion": position - start + 1,
        "rating": _categorical(self, flat.category_index),
    }
    if self.truth is not None:
        columns["truth"] = _categorical(self, self.truth[item])
    return pd.DataFrame(columns)


def _categorical(ratings: "Ratings", codes: Integers) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(codes, list(ratings.categories), ordered=ratings.ordered)
