"""Methods of `Ratings`: tables for pandas, a labelled dataset of codes, and back."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.data.flat import are_repeated

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

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


def to_xarray(self: "Ratings") -> "xr.Dataset":
    """Labelled dataset of codes.

    Returns
    -------
    xarray.Dataset
        `ratings` (item, rater), and `answers` (item, system), `truth` and `count` (item) where
        there are any: indices into the coordinate `category`, -1 where missing. Where items are
        from populations, `population` (item): indices into the attribute `populations`.
        Where they are clustered, `cluster` (item): numbers of the clusters. Where truths were
        found out with known probabilities, `truth_probability` (item). Where raters are in groups,
        the coordinate `group_of_rater` (rater) names them. The attribute `dependent` names a
        dependent pair.

    Raises
    ------
    InputError
        If a rater rated an item more than once.
    """
    import xarray as xr

    data: dict[str, Any] = {"ratings": (("item", "rater"), self.codes)}
    coords: dict[str, Any] = {
        "item": self.items,
        "rater": list(self.raters),
        "category": list(self.categories),
    }
    flags: dict[str, Any] = {"ordered": int(self.ordered), "anonymous": int(self.anonymous)}
    if self.rater_group:
        coords["group_of_rater"] = ("rater", list(self.rater_group))
    if self.systems:
        data["answers"] = (("item", "system"), self.answers)
        coords["system"] = list(self.systems)
    of_items: dict[str, Any] = {
        "truth": self.truth,
        "count": self.counts,
        "population": self.population,
    }
    of_items |= {"cluster": self.cluster, "truth_probability": self.truth_probability}
    data |= {name: ("item", values) for name, values in of_items.items() if values is not None}
    if self.population is not None:
        flags["populations"] = json.dumps(self.populations)
    if self.dependent:
        flags["dependent"] = json.dumps(self.dependent)
    return xr.Dataset(data, coords, flags)


def from_xarray(cls: "type[Ratings]", dataset: "xr.Dataset") -> "Ratings":
    """Make ratings of a dataset from `to_xarray`.

    Parameters
    ----------
    dataset : xarray.Dataset
        A dataset with the variables and attributes of `to_xarray`; it may have been stored.

    Returns
    -------
    Ratings
        The same ratings as before.

    Raises
    ------
    InputError
        If the dataset has no variable `ratings`, or an invalid one.
    """
    if "ratings" not in dataset:
        raise InputError(
            "the dataset has no variable 'ratings'", "give a dataset made by to_xarray"
        )
    arguments: dict[str, Any] = {
        "codes": dataset["ratings"].transpose("item", "rater").values,
        "categories": dataset["category"].values.tolist(),
        "raters": dataset["rater"].values.tolist(),
        "items": dataset["item"].values,
        "ordered": bool(dataset.attrs.get("ordered", False)),
        "anonymous": bool(dataset.attrs.get("anonymous", False)),
    }
    if "answers" in dataset:
        arguments["system"] = dataset["answers"].transpose("item", "system").values
        arguments["systems"] = dataset["system"].values.tolist()
    for name in ("truth", "count", "population", "cluster", "truth_probability"):
        if name in dataset:
            arguments["counts" if name == "count" else name] = dataset[name].values
    if "population" in dataset:
        arguments["populations"] = json.loads(dataset.attrs["populations"])
    if "group_of_rater" in dataset.coords:
        arguments["rater_group"] = dataset["group_of_rater"].values.tolist()
    if "dependent" in dataset.attrs:
        arguments["dependent"] = json.loads(dataset.attrs["dependent"])
    return cls(**arguments)
