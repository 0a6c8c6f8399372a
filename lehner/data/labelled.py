"""Ratings as a labelled dataset of codes, and back."""

import json
from typing import TYPE_CHECKING, Any

from lehner.core.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from lehner.data.ratings import Ratings


def to_dataset(ratings: "Ratings") -> "xr.Dataset":
    """Compute the result of `Ratings.to_xarray`."""
    import xarray as xr

    data: dict[str, Any] = {"ratings": (("item", "rater"), ratings.codes)}
    coords: dict[str, Any] = {
        "item": ratings.items,
        "rater": list(ratings.raters),
        "category": list(ratings.categories),
    }
    if ratings.rater_group:
        coords["group_of_rater"] = ("rater", list(ratings.rater_group))
    if ratings.systems:
        data["answers"] = (("item", "system"), ratings.answers)
        coords["system"] = list(ratings.systems)
    if ratings.truth is not None:
        data["truth"] = ("item", ratings.truth)
    if ratings.counts is not None:
        data["count"] = ("item", ratings.counts)
    flags: dict[str, Any] = {
        "ordered": int(ratings.ordered),
        "anonymous": int(ratings.anonymous),
    }
    if ratings.population is not None:
        data["population"] = ("item", ratings.population)
        flags["populations"] = json.dumps(ratings.populations)
    return xr.Dataset(data, coords, flags)


def from_dataset(dataset: "xr.Dataset") -> dict[str, Any]:
    """Read the arguments of `Ratings` from a dataset."""
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
    if "truth" in dataset:
        arguments["truth"] = dataset["truth"].values
    if "count" in dataset:
        arguments["counts"] = dataset["count"].values
    if "population" in dataset:
        arguments["population"] = dataset["population"].values
        arguments["populations"] = json.loads(dataset.attrs["populations"])
    if "group_of_rater" in dataset.coords:
        arguments["rater_group"] = dataset["group_of_rater"].values.tolist()
    return arguments
