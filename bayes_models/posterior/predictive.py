"""Ratings that a model predicts, for the same items and raters."""

import numpy as np

from lehner import Ratings
from lehner.core.arrays import Floats
from lehner.core.draw_categories import draw_categories
from lehner.data.flat import sort_ratings
from lehner.data.patterns import UNKNOWN


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
