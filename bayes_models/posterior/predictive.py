"""Data of a fit and what a model predicts of the same items and raters, as ArviZ compares them."""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.posterior.draws import PAIRS, group
from bayes_models.posterior.truth import states_by_population
from lehner import InputError, Ratings
from lehner.core.arrays import Floats, Integers, draw_categories
from lehner.core.seeds import Seed, generator
from lehner.data.dependent_pair import find_pair
from lehner.data.patterns import UNKNOWN
from lehner.latent_class.pattern_table import known_truths

MOST_STORED_RATINGS = 10_000_000
MOST_PREDICTED = 50_000_000


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
        The system is the last rater; further rows are as `states` gives them for a dependent pair.

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
        drawn = draw_categories(confusion[len(ratings.raters)], rng.random(len(rows)), state)
        system = np.where(system >= 0, drawn, -1)
    if len(confusion) > len(ratings.all_raters):
        _redraw_second(single, answers, system, confusion, state, rng)
    return Ratings(
        replace(flat, category_index=answers),
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
        dependent=ratings.dependent,
        independent_repeats=ratings.independent_repeats,
    )


def _redraw_second(
    single: Ratings,
    answers: Integers,
    system: Integers | None,
    confusion: Floats,
    state: Integers,
    rng: np.random.Generator,
) -> None:
    """Draw the answers of the second of a dependent pair anew, given the first's, in place."""
    pair, flat = find_pair(single), single.flat
    assert pair is not None

    def place(member: int) -> tuple[Integers, Integers]:
        if member == single.n_raters and system is not None:
            rows = np.flatnonzero(system >= 0)
            return rows, rows
        places = np.flatnonzero(flat.rater_index == member)
        return flat.item_index[places], places

    answers_of = [
        system if member == single.n_raters and system is not None else answers for member in pair
    ]
    (rows, first), (others, second) = map(place, pair)
    both, i, j = np.intersect1d(rows, others, return_indices=True)
    after = len(single.all_raters) + answers_of[0][first[i]]
    answers_of[1][second[j]] = draw_categories(confusion, rng.random(len(both)), after, state[both])


def with_known_truths(design: Ratings, simulated: Ratings) -> Ratings:
    """Simulated ratings that know the truths of those items only whose truth the design knows.

    If the design knows no truths, nothing is removed.
    """
    if design.truth is None or simulated.truth is None:
        return simulated
    labelled = np.repeat(design.truth, design.weights) != UNKNOWN
    return simulated.with_truth(np.where(labelled, simulated.truth, UNKNOWN))


def add_data(tree: xr.DataTree, ratings: Ratings) -> None:
    """Add the data of a fit, unless they are more than ten million ratings.

    Group `observed_data` gets `agreeing_pairs` (item): how many pairs of the item's ratings agree,
    the system's answer among them. Group `constant_data` gets `ratings` (rating), the category
    index of each rating, `item_index` and `rater_index` (rating), and `known_truth` (item): the
    category index of each truth that entered the fit, -1 where unknown. Where items are from
    populations it also gets `population_index` (item), and where raters are in groups
    `group_of_rater` (rater), which is blank for systems and raters of none.

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
    items = {"item": single.items}
    observed = {PAIRS: ("item", agreeing_pairs(single))}
    tree["observed_data"] = xr.DataTree(xr.Dataset(observed, items))
    labels = single.truth if known_truths(single) else np.full(single.n_rows, UNKNOWN)
    coords: dict[str, Any] = items | {
        "rating": np.arange(len(flat.item_index)),
        "item_of_rating": ("rating", single.items[flat.item_index]),
        "rater_of_rating": ("rating", np.array(single.all_raters)[flat.rater_index]),
    }
    constant: dict[str, Any] = {
        "ratings": ("rating", flat.category_index),
        "item_index": ("rating", flat.item_index),
        "rater_index": ("rating", flat.rater_index),
        "known_truth": ("item", labels),
    }
    if single.population is not None:
        constant["population_index"] = ("item", single.population)
    if single.rater_group:
        constant["group_of_rater"] = ("rater", [*single.rater_group, *("" for _ in single.systems)])
        coords["rater"] = list(single.all_raters)
    tree["constant_data"] = xr.DataTree(xr.Dataset(constant, coords))


def agreeing_pairs(single: Ratings) -> Integers:
    """Count the pairs of each item's ratings, the system's answer among them, that agree.

    Examples
    --------
    >>> agreeing_pairs(Ratings([[0, 0, 1], [1, 1, 1]], ["no", "yes"], system=[0, 0])).tolist()
    [3, 3]
    """
    flat, k = single.all_flat, single.n_categories
    cells = np.bincount(flat.item_index * k + flat.category_index, minlength=single.n_rows * k)
    counts = cells.reshape(-1, k)
    return np.asarray((counts * (counts - 1) // 2).sum(axis=1))


def add_posterior_predictive(tree: xr.DataTree, ratings: Ratings, *, seed: Seed = 1) -> None:
    """Add what the model predicts of other items like these, rated by the same raters.

    Group `posterior_predictive` gets `agreeing_pairs` (chain, draw, item): in each draw, true
    categories are drawn from the base rates and ratings from the confusion matrices, and this is
    how many pairs of the item's ratings agree. It has the name and the items of the data and of
    the log likelihood, which is that of all ratings of an item, so that ArviZ compares them.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`. Changed in place.
    ratings : Ratings
        The ratings that were fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same predictions.

    Raises
    ------
    InputError
        If there are more than 50 million numbers to predict.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> ratings = lehner.load_dataset("anesthesia")
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, draws=50, checks=False, tries=1)
    >>> add_posterior_predictive(tree, ratings)
    >>> dict(tree["posterior_predictive"]["agreeing_pairs"].sizes)
    {'chain': 2, 'draw': 50, 'item': 45}
    """
    drawn = predict(group(tree, "posterior"), ratings, seed)
    tree["posterior_predictive"] = xr.DataTree(drawn)


def predict(parameters: xr.Dataset, ratings: Ratings, seed: Seed) -> xr.Dataset:
    """Draw the pairs that agree for each draw of parameters, from the posterior or the prior."""
    shape = (parameters.sizes["chain"], parameters.sizes["draw"], ratings.n_items)
    if np.prod(shape) > MOST_PREDICTED:
        raise InputError(
            f"there are {ratings.n_items} items and {shape[0] * shape[1]} draws to predict them",
            "predict part of the items, or by fewer draws",
        )
    rng, single = generator(seed), ratings.expand()
    drawn = np.empty((shape[0] * shape[1], shape[2]), np.int32)
    of_draws = zip(*states_by_population(parameters, find_pair(single)), strict=True)
    for row, parameters_of_draw in zip(drawn, of_draws, strict=True):
        row[:] = agreeing_pairs(draw_ratings(single, *parameters_of_draw, rng))
    coords = {"chain": parameters["chain"], "draw": parameters["draw"], "item": single.items}
    return xr.Dataset({PAIRS: (tuple(coords), np.reshape(drawn, shape))}, coords)
