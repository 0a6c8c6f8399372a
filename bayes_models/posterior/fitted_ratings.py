"""The ratings of a fit, checked when a function needs them again."""

import numpy as np
import xarray as xr

from lehner import InputError, Ratings


def fitted_ratings(tree: xr.DataTree, ratings: Ratings) -> Ratings:
    """Ratings as they entered a fit: without known truths if these did not.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.

    Returns
    -------
    Ratings

    Raises
    ------
    InputError
        If there is no system, or if raters, categories, items or populations are not those of the
        fit.
    """
    if ratings.system is None:
        raise InputError(
            "there is no system", "fit ratings with a system, and give the same ratings here"
        )
    posterior, items = tree["posterior"].to_dataset(), tree["truth"].to_dataset()["item"].values
    populations = posterior["population"].values if "population" in posterior.coords else ()
    same = (
        list(map(str, posterior["rater"].values)) == list(map(str, ratings.all_raters))
        and list(map(str, posterior["category"].values)) == list(map(str, ratings.categories))
        and np.array_equal(items.astype(str), ratings.items.astype(str))
        and tuple(map(str, populations)) == ratings.populations
    )
    if not same:
        raise InputError(
            "raters, categories, items or populations are not those of the fit",
            "give the ratings of the fit",
        )
    return ratings if tree.attrs.get("known_truths", 0) else ratings.with_truth(None)
