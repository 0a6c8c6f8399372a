"""What ArviZ needs of a fit besides draws: the data, and ratings that the model predicts."""

from typing import Any

import numpy as np
import xarray as xr

from bayes_models.posterior.predictive import draw_ratings
from bayes_models.posterior.truth import states_by_population
from lehner import InputError, Ratings
from lehner.core.seeds import Seed, generator
from lehner.data.flat import FlatRatings
from lehner.data.patterns import UNKNOWN

MOST_STORED_RATINGS = 10_000_000
MOST_STORED_NUMBERS = 50_000_000


def add_data(tree: xr.DataTree, ratings: Ratings) -> None:
    """Add the data of a fit, unless they are more than ten million ratings.

    Group `observed_data` gets `ratings` (rating): the category index of each rating, including the
    system's answers. Group `constant_data` gets `item_index` and `rater_index` (rating), and
    `known_truth` (item): the category index of each truth that entered the fit, -1 where unknown.
    Where items are from populations it also gets `population_index` (item), and where raters are in
    groups `group_of_rater` (rater), which is blank for systems and raters of none.

    Parameters
    ----------
    tree : xarray.DataTree
        Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    """
    if ratings.n_ratings + ratings.n_items > MOST_STORED_RATINGS:
        return
    single = ratings.expand()
    flat = single.all_flat
    coords = _coords(single, flat)
    known = np.full(single.n_rows, UNKNOWN)
    if single.truth is not None and (single.truth == UNKNOWN).any():
        known = single.truth
    tree["observed_data"] = xr.DataTree(
        xr.Dataset({"ratings": ("rating", flat.category_index)}, coords)
    )
    constant: dict[str, Any] = {
        "item_index": ("rating", flat.item_index),
        "rater_index": ("rating", flat.rater_index),
        "known_truth": ("item", known),
    }
    if single.population is not None:
        constant["population_index"] = ("item", single.population)
    if single.rater_group:
        groups = [*single.rater_group, *("" for _ in single.systems)]
        constant["group_of_rater"] = ("rater", groups)
        coords["rater"] = list(single.all_raters)
    tree["constant_data"] = xr.DataTree(xr.Dataset(constant, coords | {"item": single.items}))


def add_posterior_predictive(tree: xr.DataTree, ratings: Ratings, *, seed: Seed = 1) -> None:
    """Add ratings that the model predicts, by the same raters of the same items.

    Group `posterior_predictive` gets `ratings` (chain, draw, rating), for so many draws that there
    are at most 50 million numbers. New true categories are drawn from the base rates, so that the
    ratings are those of other items like these.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`. Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same ratings.

    Raises
    ------
    InputError
        If there are too many ratings.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> ratings = lehner.load_dataset("anesthesia")
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, draws=50, checks=False, tries=1)
    >>> add_posterior_predictive(tree, ratings)
    >>> dict(tree["posterior_predictive"]["ratings"].sizes)
    {'chain': 2, 'draw': 50, 'rating': 225}
    """
    if ratings.n_ratings + ratings.n_items > MOST_STORED_RATINGS:
        raise InputError(f"there are {ratings.n_ratings} ratings", "predict part of them")
    single = ratings.expand()
    posterior = tree["posterior"].to_dataset()
    n_ratings = len(single.all_flat.item_index)
    most = max(1, MOST_STORED_NUMBERS // (n_ratings * posterior.sizes["chain"]))
    step = -(-posterior.sizes["draw"] // most)
    thinned = posterior.isel(draw=slice(None, None, step))
    rng = generator(seed)
    drawn = [
        draw_ratings(single, *one, rng).all_flat.category_index
        for one in zip(*states_by_population(thinned), strict=True)
    ]
    shape = (thinned.sizes["chain"], thinned.sizes["draw"], n_ratings)
    coords = _coords(single, single.all_flat) | {d: thinned[d] for d in ("chain", "draw")}
    tree["posterior_predictive"] = xr.DataTree(
        xr.Dataset({"ratings": (("chain", "draw", "rating"), np.reshape(drawn, shape))}, coords)
    )


def _coords(ratings: Ratings, flat: FlatRatings) -> dict[str, object]:
    names = np.array(ratings.all_raters)
    return {
        "rating": np.arange(len(flat.item_index)),
        "item_of_rating": ("rating", ratings.items[flat.item_index]),
        "rater_of_rating": ("rating", names[flat.rater_index]),
    }
