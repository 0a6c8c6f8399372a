"""Held-out ratings, and their probabilities by models that were fitted without them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.seeds import Seed, child_seeds, generator
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings
from lehner.labels.mean_field import fit_mean_field
from lehner.labels.models import LABEL_MODELS
from lehner.latent_class.pattern_table import PatternTable

PARTS = 10
ROUNDS = 3
"""How often ratings are divided into tenths, lest a choice depend on one division."""
ENOUGH = 8000
"""Number of ratings to hold out; tenths are held out in turn until there are so many."""
MOST_COMPARED = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Log probabilities of held-out ratings.

    Parameters
    ----------
    n_ratings : int
        Number of different ratings that were held out.
    item_index : ndarray of int, shape (n_held_out,)
        The item of each held-out rating.
    log_probability : mapping of str to ndarray, shape (n_held_out,)
        Log probabilities by model, given the ratings that were not held out.
    """

    n_ratings: int
    item_index: Integers
    log_probability: Mapping[str, Floats]

    def mean(self, model: str) -> float:
        """Give the mean log probability."""
        return float(self.log_probability[model].mean())

    def standard_errors_between(self, model: str, other: str) -> float:
        """Give how many standard errors a model's mean is above another's.

        Ratings of an item are not independent, so that the standard error is computed over items.
        """
        gain = self.log_probability[model] - self.log_probability[other]
        by_item = np.bincount(self.item_index, gain - gain.mean())
        error = np.sqrt((by_item**2).sum())
        return float(gain.sum() / error) if error > 0 else 0.0


def hold_out(ratings: Ratings, models: Sequence[str], seed: Seed) -> HeldOut:
    """Fit models without some of the ratings, and compute the probabilities of these.

    A rating is used if its item has another one that is not held out. If there are more than
    100,000 items, so many are drawn.

    Parameters
    ----------
    ratings : Ratings
        Without a system.
    models : sequence of str
        Names of `LABEL_MODELS`.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    HeldOut
    """
    of_parts, of_fits = child_seeds(seed, 2)
    rng = generator(of_parts)
    items = _some_items(ratings, rng)
    flat = items.flat
    rating, densities = [], {name: [] for name in models}  # type: ignore[var-annotated]
    for drawn in _parts(len(flat.item_index), rng):
        left_out = _countable(flat, drawn, items.n_rows)
        table = _tabulate(items, ~left_out)
        rows = flat.item_index[left_out]
        for name in models:
            fit = fit_mean_field(table, LABEL_MODELS[name], of_fits)
            response = fit.response[flat.rater_index[left_out], :, flat.category_index[left_out]]
            densities[name].append(np.log((fit.components[:, rows] * response.T).sum(axis=0)))
        rating.append(np.flatnonzero(left_out))
        if sum(map(len, rating)) >= ENOUGH:
            break
    together = np.concatenate(rating)
    return HeldOut(
        n_ratings=len(np.unique(together)),
        item_index=flat.item_index[together],
        log_probability={name: np.concatenate(values) for name, values in densities.items()},
    )


def _parts(n_ratings: int, rng: np.random.Generator) -> Iterator[Booleans]:
    """Yield tenths of the ratings, in several divisions."""
    for _ in range(ROUNDS):
        part = rng.integers(PARTS, size=n_ratings)
        for number in range(PARTS):
            yield part == number


def _some_items(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """Give the items, each in its own row, or some if there are very many."""
    if ratings.n_items > MOST_COMPARED:
        shares = ratings.weights / ratings.weights.sum()
        rows = np.sort(rng.choice(ratings.n_rows, MOST_COMPARED, p=shares))
    else:
        rows = np.repeat(np.arange(ratings.n_rows), ratings.weights)
    return ratings.take(rows, np.ones(len(rows), np.int64))


def _countable(flat: FlatRatings, left_out: Booleans, n_rows: int) -> Booleans:
    left = np.bincount(flat.item_index[~left_out], minlength=n_rows)
    return left_out & (left[flat.item_index] > 0)


def _tabulate(ratings: Ratings, kept: Booleans) -> PatternTable:
    from scipy.sparse import csr_array

    flat, k = ratings.flat, ratings.n_categories
    cell = flat.rater_index[kept] * k + flat.category_index[kept]
    shape = (ratings.n_rows, ratings.n_raters * k)
    answers = csr_array((np.ones(len(cell)), (flat.item_index[kept], cell)), shape=shape)
    weights = np.ones(ratings.n_rows)
    return PatternTable(answers=answers, weights=weights, n_categories=k, has_system=False)
