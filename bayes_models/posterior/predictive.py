"""Ratings that a model predicts, for the same items and raters, and the data of a fit."""

from typing import Any

import numpy as np
import xarray as xr

from bayes_models.posterior.truth import states_by_population
from lehner import InputError, Ratings
from lehner.core.arrays import Floats
from lehner.core.draw_categories import draw_categories
from lehner.core.seeds import Seed, generator
from lehner.data.flat import sort_ratings
from lehner.data.patterns import UNKNOWN
from lehner.latent_class.pattern_table import known_truths

MOST_STORED_RATINGS = 10_000_000
MOST_STORED_NUMBERS = 50_000_000


def draw_ratings(
    ratings: Ratings, rates: Floats, confusion: Floats, rng: np.random.Generator
) -> Ratings:
    """Draw true categories, then new ratings by the same raters of the same items.

    Parameters
    ----------
    ratings : Ratings
        Determines which rater rates which item, and which items the system answers. A grouped row
        becomes as many rows as it has items.
    rates : ndarray, shape (n_states,) or (n_populations, n_states)
        Probability of each state: a category, or a level of difficulty and a category. With a row
        for each population, each item has that of its own.
    confusion : ndarray, shape (n_raters, n_states, n_responses)
        The system is the last rater.

    Returns
    -------
    Ratings
        Ratings with the true categories that were drawn.
    """
    k = ratings.n_categories
    single = ratings.expand()
    rows, flat = np.arange(single.n_rows), single.flat
    if rates.ndim == 1:
        state = rng.choice(len(rates), size=len(rows), p=rates / rates.sum())
    else:
        state = draw_categories(rates, rng.random(len(rows)), single.population)
    luck = rng.random(len(flat.item_index))
    answers = draw_categories(confusion, luck, flat.rater_index, state[flat.item_index])
    system = single.system
    if system is not None:
        system = np.where(
            system >= 0, draw_categories(confusion[-1], rng.random(len(rows)), state), -1
        )
    return Ratings(
        sort_ratings(flat.item_index, flat.rater_index, answers, k),
        ratings.categories,
        ratings.raters,
        np.arange(len(rows)),
        system,
        state % k,
        ordered=ratings.ordered,
        systems=ratings.systems or None,
        population=single.population,
        populations=single.populations,
        rater_group=ratings.rater_group,
        independent_repeats=ratings.independent_repeats,
    )


def with_known_truths(design: Ratings, simulated: Ratings) -> Ratings:
    """Simulated ratings that know the truths of those items only whose truth the design knows.

    If the design knows no truths, nothing is removed.
    """
    if design.truth is None or simulated.truth is None:
        return simulated
    known = np.repeat(design.truth, design.weights) != UNKNOWN
    return simulated.with_truth(np.where(known, simulated.truth, UNKNOWN))


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
    coords = _coords(single)
    known = single.truth if known_truths(single) else np.full(single.n_rows, UNKNOWN)
    observed = xr.Dataset({"ratings": ("rating", flat.category_index)}, coords)
    tree["observed_data"] = xr.DataTree(observed)
    constant: dict[str, Any] = {
        "item_index": ("rating", flat.item_index),
        "rater_index": ("rating", flat.rater_index),
        "known_truth": ("item", known),
    }
    if single.population is not None:
        constant["population_index"] = ("item", single.population)
    if single.rater_group:
        constant["group_of_rater"] = ("rater", [*single.rater_group, *("" for _ in single.systems)])
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
    coords = _coords(single) | {dim: thinned[dim] for dim in ("chain", "draw")}
    predicted = {"ratings": (("chain", "draw", "rating"), np.reshape(drawn, shape))}
    tree["posterior_predictive"] = xr.DataTree(xr.Dataset(predicted, coords))


def _coords(single: Ratings) -> dict[str, object]:
    flat = single.all_flat
    return {
        "rating": np.arange(len(flat.item_index)),
        "item_of_rating": ("rating", single.items[flat.item_index]),
        "rater_of_rating": ("rating", np.array(single.all_raters)[flat.rater_index]),
    }
