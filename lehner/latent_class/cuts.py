"""Ordered categories by cut points: a t-a-p model of two categories at each cut."""

from typing import Any

import numpy as np

from lehner.core.arrays import Integers
from lehner.core.errors import InputError
from lehner.data.categories import Label
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.result import LatentClassFit


def cut_ratings(ratings: Ratings, cut: Label) -> Ratings:
    """Convert ordered categories to two: at or below a cut, and above it.

    Parameters
    ----------
    ratings : Ratings
        With ordered categories.
    cut : str or int
        The last category of the lower part; it cannot be the last category of all.

    Returns
    -------
    Ratings
        With two ordered categories, "at or below" and "above" the cut.

    Raises
    ------
    InputError
        If the categories are not ordered, or there is no such cut.

    References
    ----------
    Eubanks, The Kappa Zoo, https://kappazoo.com, chapter 7.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine.categories, cut_ratings(wine, 1).categories
    ((1, 2, 3, 4), ('at or below 1', 'above 1'))
    """
    if not ratings.ordered:
        raise InputError(
            "the categories are not ordered, and a cut needs their order",
            "read the ratings with ordered=True and the categories from lowest to highest",
        )
    if cut not in ratings.categories[:-1]:
        raise InputError(
            f"there is no cut after {cut!r}",
            f"choose among {', '.join(map(str, ratings.categories[:-1])) or 'more categories'}",
        )
    at = ratings.categories.index(cut)

    def lower(codes: Integers) -> Integers:
        return np.where(codes < 0, -1, (codes > at).astype(np.int64))

    flat = ratings.given
    changes: dict[str, Any] = {
        "codes": FlatRatings(
            item_index=flat.item_index,
            rater_index=flat.rater_index,
            category_index=lower(flat.category_index),
        ),
        "categories": (f"at or below {cut}", f"above {cut}"),
        "system": lower(ratings.answers),
        "truth": None if ratings.truth is None else lower(ratings.truth),
    }
    return ratings._replace(**changes)


def fit_tap_by_cut(ratings: Ratings, **options: Any) -> dict[Label, LatentClassFit]:
    """Fit a t-a-p model of two categories at each cut of ordered categories.

    If raters know little at a cut, they hardly distinguish the categories on its two sides. The
    cuts are fitted one by one, so that the base rates of "at or below" need not increase from cut
    to cut.

    Parameters
    ----------
    ratings : Ratings
        With ordered categories.
    **options
        Options of `lehner.fit_latent_class`, whose model is "pooled_tap" by default.

    Returns
    -------
    dict
        The fit of each cut, by the last category below it.

    Raises
    ------
    InputError
        If the categories are not ordered.

    References
    ----------
    Eubanks, The Kappa Zoo, https://kappazoo.com, chapter 7.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> fits = fit_tap_by_cut(load_dataset("wine"))
    >>> {cut: round(float(fit.knowledge[0]), 2) for cut, fit in fits.items()}
    {1: 0.54, 2: 0.44, 3: 0.25}
    """
    options = {"model": "pooled_tap", **options}
    return {
        cut: fit_latent_class(cut_ratings(ratings, cut), **options)
        for cut in ratings.categories[:-1]
    }
