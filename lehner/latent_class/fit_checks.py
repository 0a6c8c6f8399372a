"""Whether a fitted model predicts frequencies of ratings, and explains agreement of raters."""

from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import TINY, Booleans, Floats, Integers
from lehner.core.checks import check_whole_number
from lehner.core.class_posterior import class_posterior
from lehner.core.errors import InputError
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings
from lehner.latent_class.result import LatentClassFit

if TYPE_CHECKING:
    import xarray as xr


EDGE = 1e-9


def rating_calibration(ratings: Ratings, fit: LatentClassFit, *, n_bins: int = 10) -> "xr.Dataset":
    """Compare predicted probabilities of ratings, given the item's other ratings, with frequencies.

    Each rating is left out in turn: the classes of the item are predicted from its other ratings,
    and the left-out rating from the classes. (If all ratings were used, a rating would help to
    predict itself.) Probabilities of a category are sorted into bins of equal width, which include
    their upper edges, and compared with the proportion of ratings in that category.

    Parameters
    ----------
    ratings : Ratings
        The ratings that were fitted, or others by the same raters.
    fit : LatentClassFit or any other with base rates and confusion matrices
        The model that predicts.
    n_bins : int
        Number of bins of the probability, 1 or more.

    Returns
    -------
    xarray.Dataset, dims (category, bin)
        `predicted` and `observed`: mean probability and proportion of the ratings in the bin;
        `standard_error` of their difference, over items, as the ratings of an item depend on
        one another; `n_ratings`. NaN in bins without ratings.

    Raises
    ------
    InputError
        If the fit has undefined numbers or is of other raters or categories, or if no item has two
        ratings.

    References
    ----------
    Dawid (1982), The well-calibrated Bayesian, Journal of the American Statistical Association 77,
    605-610.

    Examples
    --------
    >>> from lehner import fit_latent_class, load_dataset
    >>> ratings = load_dataset("kappazoo_wine")
    >>> fit = fit_latent_class(ratings, "pooled_tap")
    >>> table = rating_calibration(ratings, fit).sel(category="above 1")
    >>> filled = table.isel(bin=table.n_ratings.values > 0)
    >>> filled.predicted.values.round(2).tolist(), filled.observed.values.round(2).tolist()
    ([0.36, 0.44, 0.75, 0.89], [0.27, 0.53, 0.72, 0.89])
    """
    import xarray as xr

    check_whole_number("n_bins", n_bins, 1)
    base_rates, confusion, flat = _read(ratings, fit)
    item, rater, category = flat.item_index, flat.rater_index, flat.category_index
    several = np.bincount(item, minlength=ratings.n_rows)[item] > 1
    item, rater, category = item[several], rater[several], category[several]
    if not item.size:
        raise InputError("no item has two ratings", "give items with two or more ratings")
    log = np.log(np.maximum(confusion, TINY))
    own = log[rater, :, category]
    joint = np.zeros((ratings.n_rows, len(base_rates)))
    np.add.at(joint, item, own)
    others = joint[item] - own + np.log(np.maximum(base_rates, TINY))
    classes, _ = class_posterior(others)
    predicted = np.einsum("ik,ikl->il", classes, confusion[rater])
    k = ratings.n_categories
    columns = [
        _bin(predicted[:, c], category == c, item, ratings.weights, n_bins) for c in range(k)
    ]
    return xr.Dataset(
        {name: (("category", "bin"), np.stack([c[name] for c in columns])) for name in columns[0]},
        {"category": list(ratings.categories), "bin": (np.arange(n_bins) + 0.5) / n_bins},
    )


def _bin(
    predicted: Floats, came: Booleans, item: Integers, weights: Integers, n_bins: int
) -> dict[str, Floats]:
    index = np.maximum(np.ceil(n_bins * predicted - EDGE).astype(np.int64) - 1, 0)
    weight = weights[item].astype(float)

    def total(values: Floats) -> Floats:
        return np.bincount(index, weights=weight * values, minlength=n_bins)

    cells, cell = np.unique(item * n_bins + index, return_inverse=True)
    surplus = np.bincount(cell, weights=came - predicted)
    squares = np.bincount(
        cells % n_bins, weights=weights[cells // n_bins] * surplus**2, minlength=n_bins
    )
    n_ratings = total(np.ones(len(item)))
    n_in_bin = np.where(n_ratings > 0, n_ratings, np.nan)
    return {
        "predicted": total(predicted) / n_in_bin,
        "observed": total(came.astype(float)) / n_in_bin,
        "standard_error": np.sqrt(squares) / n_in_bin,
        "n_ratings": n_ratings,
    }


def residual_correlation(ratings: Ratings, fit: LatentClassFit) -> "xr.Dataset":
    r"""Measure how much more raters agree than the classes of a model explain.

    .. math:: r_{jm} = \frac{\sum_l \mathrm{Cov}(y_{jl}, y_{ml}) - \mathrm{Cov}_k(\theta_{jkl},
        \theta_{mkl})}{\sqrt{\sum_l E_k[\theta_{jkl}(1 - \theta_{jkl})]
        \sum_l E_k[\theta_{mkl} (1 - \theta_{mkl})]}}

    where :math:`y_{jl}` is 1 if rater j named l. The observed covariance minus that which the
    classes k cause is the covariance given the class; it is divided by the variance given the
    class. If ratings are independent given the class, it is 0 except for chance; raters who share
    mistakes have positive correlations. One could also correlate the ratings minus their means
    given each item's estimated class. These correlations would be negative even for independent
    ratings, because the estimated class depends on them.

    Parameters
    ----------
    ratings : Ratings
        Ratings by named raters, at most one rating of an item by each.
    fit : LatentClassFit or any other with base rates and confusion matrices
        The model, fitted to these ratings.

    Returns
    -------
    xarray.Dataset, dims (rater, other_rater)
        `correlation`, its `standard_error` over items, and `n_items` that both rated. The standard
        error treats the model as known, and is too large because the model was fitted to the same
        ratings. NaN on the diagonal, for pairs with fewer than two items, and for raters without
        variance. Because the variance is the model's, correlations of few items may lie outside
        [-1, 1].

    Raises
    ------
    InputError
        If it is unknown who gave which rating, a rater rated an item twice, the fit has no
        numbers, or is one of other raters or categories.

    Notes
    -----
    A model with as many parameters as there are correlations explains any correlations: with two
    categories and three raters who each have a confusion matrix, all residuals are 0. With few
    raters the fitted classes absorb a part of the mistakes that two raters share, and change the
    correlations of other pairs.

    References
    ----------
    Qu, Tan & Kutner (1996), Random effects models in latent class analysis for evaluating accuracy
    of diagnostic tests, Biometrics 52(3), 797-810, for observed minus expected correlations.

    Examples
    --------
    >>> from lehner import fit_latent_class, load_dataset
    >>> ratings = load_dataset("caries")
    >>> found = residual_correlation(ratings, fit_latent_class(ratings, "tap")).correlation
    >>> round(float(found.sel(rater="dentist 1", other_rater="dentist 4")), 3)
    0.09
    """
    import xarray as xr

    if ratings.anonymous:
        raise InputError(
            "correlations are between raters, and it is unknown who gave which rating",
            "give data in which raters are named",
        )
    base_rates, confusion, flat = _read(ratings, fit)
    names = list(ratings.all_raters[: len(confusion)])
    if ratings.several_votes:
        raise InputError("some raters rated an item more than once", "give one rating of each")
    codes = np.full((len(names), ratings.n_rows), -1)
    codes[flat.rater_index, flat.item_index] = flat.category_index
    residuals = np.full((3, len(names), len(names)), np.nan)
    for j in range(len(names)):
        for m in range(j):
            found = _residual(codes[[j, m]], ratings.weights, base_rates, confusion[[j, m]])
            residuals[:, j, m] = residuals[:, m, j] = found
    return xr.Dataset(
        {
            name: (("rater", "other_rater"), values)
            for name, values in zip(
                ("correlation", "standard_error", "n_items"), residuals, strict=True
            )
        },
        {"rater": names, "other_rater": names},
    )


def _residual(
    codes: Integers, weights: Integers, base_rates: Floats, confusion: Floats
) -> tuple[float, float, float]:
    """Residual correlation of two raters, its standard error, and the items."""
    both = np.flatnonzero((codes >= 0).all(axis=0))
    weight = weights[both].astype(float)
    n = weight.sum()
    within = [float(base_rates @ (c * (1 - c)).sum(axis=1)) for c in confusion]
    if n < 2 or min(within) < 1e-9:
        return np.nan, np.nan, n
    hot = np.eye(len(base_rates))[codes[:, both]]
    one, other = (given - weight @ given / n for given in hot)
    products = (one * other).sum(axis=1)
    explained = sum(
        float(base_rates @ (a * b) - (base_rates @ a) * (base_rates @ b))
        for a, b in zip(confusion[0].T, confusion[1].T, strict=True)
    )
    scale = np.sqrt(within[0] * within[1])
    mean = weight @ products / n
    spread = np.sqrt(weight @ (products - mean) ** 2 / n / n)
    return float((mean - explained) / scale), float(spread / scale), n


def _read(ratings: Ratings, fit: LatentClassFit) -> tuple[Floats, Floats, FlatRatings]:
    """Base rates, confusion matrices and ratings, those of the system too if it was fitted.

    An InputError is raised if they do not fit together.
    """
    base_rates, confusion = fit.base_rates.values, fit.confusion.values
    fitted = tuple(str(name) for name in fit.confusion["rater"].values)
    same = fit.confusion["response"].values.tolist() == list(ratings.categories)
    if (
        not same
        or "category" not in fit.base_rates.dims
        or fitted != ratings.all_raters[: len(fitted)]
    ):
        raise InputError("the fit is of other raters or categories", "fit these ratings")
    if len(fitted) < ratings.n_raters:
        raise InputError("the fit is of fewer raters", "fit these ratings")
    if not (np.isfinite(base_rates).all() and np.isfinite(confusion).all()):
        raise InputError("the fit has undefined numbers", "see its notes")
    flat = ratings.all_flat if len(fitted) > ratings.n_raters else ratings.flat
    return base_rates, confusion, flat
