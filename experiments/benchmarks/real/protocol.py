"""The protocol: each of some workers in turn is the system that the others' ratings judge."""

import hashlib

import numpy as np

from lehner import Ratings
from lehner.core.arrays import Booleans, Integers
from lehner.data.flat import FlatRatings, sort_ratings

MOST_SYSTEMS = 12
ITEMS_OF_A_CROWD = 300
LEAST_ITEMS = 30
FEWEST_OTHERS = 2
NEARLY_ALL = 0.95
ALL = "all"
RATINGS_PER_ITEM = ("3", "5", ALL)


def choose_systems(crowd: Ratings) -> list[str]:
    """Choose the workers who are the system in turn.

    Parameters
    ----------
    crowd : Ratings
        With truth; nobody rated an item twice.

    Returns
    -------
    list of str
        At most 12: those who rated the most items that have a known truth and enough other
        ratings; names decide ties.
    """
    item, by = crowd.flat.item_index, crowd.flat.rater_index
    others = np.bincount(item, minlength=len(crowd.items)) - 1
    judged = (np.asarray(crowd.truth) >= 0) & (others >= FEWEST_OTHERS)
    counts = np.bincount(by[judged[item]], minlength=crowd.n_raters)
    numbers = dict(zip(crowd.raters, counts.tolist(), strict=True))
    ranked = sorted(numbers, key=lambda rater: (-numbers[rater], rater))
    return [rater for rater in ranked if numbers[rater] >= LEAST_ITEMS][:MOST_SYSTEMS]


def deal(
    crowd: Ratings, system: str, per_item: str, seed: np.random.SeedSequence
) -> Ratings | None:
    """Deal a data set in which a worker is the system and others are the raters.

    Of the items with known truth that the worker and enough others rated, at most 300 are drawn.
    Where at least `per_item` others rated 95% of them, that many raters are drawn, as in a study
    with a few raters; else that many ratings of each item are drawn and numbered, as in a file
    that has columns "rating 1", "rating 2" and so on, each with many workers.

    Parameters
    ----------
    crowd : Ratings
        With truth.
    system : str
        A rater of the crowd.
    per_item : {"3", "5", "all"}
        Ratings of each item. "all" takes all others as they are, two an item at the least.
    seed : numpy.random.SeedSequence

    Returns
    -------
    Ratings or None
        With a system and truth; None if fewer than 30 items are left.
    """
    rng = np.random.default_rng(seed)
    chosen = crowd.raters.index(system)
    least = FEWEST_OTHERS if per_item == ALL else int(per_item)
    items = _draw_items(_eligible(crowd, chosen, least), rng)
    if len(items) < LEAST_ITEMS:
        return None
    data = crowd.take(items).with_system(system)
    if per_item == ALL:
        flat = _renumber(data.flat)
    else:
        flat = _draw_ratings(data.flat, len(items), least, rng)
    names = [f"rater {j + 1}" for j in range(int(flat.rater_index.max()) + 1)]
    return Ratings(flat, data.categories, names, data.items, data.system, data.truth)


def seed_of(seed: int, *key: str) -> np.random.SeedSequence:
    """Derive a seed from what is done, so that it depends on nothing else.

    Parameters
    ----------
    seed : int
    *key : str

    Returns
    -------
    numpy.random.SeedSequence

    Examples
    --------
    >>> seed_of(1, "rte", "7").spawn_key == seed_of(1, "rte", "8").spawn_key
    False
    """
    return np.random.SeedSequence(seed, spawn_key=place_of(*key))


def place_of(*key: str) -> tuple[int]:
    """Place of what is done among all that is, as `experiments.study.cells` takes it."""
    digest = hashlib.sha256("\n".join(key).encode()).digest()
    return (int.from_bytes(digest[:8]),)


def _eligible(crowd: Ratings, rater: int, others: int) -> Booleans:
    """Mark items with known truth, a rating by this rater, and some number by others."""
    item, by = crowd.flat.item_index, crowd.flat.rater_index
    mine = np.zeros(len(crowd.items), bool)
    mine[item[by == rater]] = True
    n_others = np.bincount(item[by != rater], minlength=len(crowd.items))
    known = np.asarray(crowd.truth) >= 0
    return np.asarray(mine & known & (n_others >= others))


def _draw_items(eligible: Booleans, rng: np.random.Generator) -> Integers:
    # All items are put in order, so that designs with 3 and 5 ratings share what items they can.
    order = rng.permutation(len(eligible))
    return np.asarray(np.sort(order[eligible[order]][:ITEMS_OF_A_CROWD]))


def _draw_ratings(
    flat: FlatRatings, n_items: int, per_item: int, rng: np.random.Generator
) -> FlatRatings:
    raters, counts = np.unique(flat.rater_index, return_counts=True)
    steady = raters[counts >= NEARLY_ALL * n_items]
    if len(steady) >= per_item:
        drawn = rng.choice(steady, per_item, replace=False)
        return _renumber(_select(flat, np.isin(flat.rater_index, drawn)))
    shuffled = np.lexsort([rng.random(len(flat.item_index)), flat.item_index])
    lengths = np.bincount(flat.item_index, minlength=n_items)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    place = np.arange(len(shuffled)) - np.repeat(starts, lengths)
    kept = _select(flat, shuffled[place < per_item])
    return sort_ratings(
        kept.item_index, place[place < per_item], kept.category_index, _width(flat.category_index)
    )


def _renumber(flat: FlatRatings) -> FlatRatings:
    """Give the raters new numbers, without those who rated nothing."""
    _, rater = np.unique(flat.rater_index, return_inverse=True)
    return sort_ratings(flat.item_index, rater, flat.category_index, _width(flat.category_index))


def _select(flat: FlatRatings, which: Booleans | Integers) -> FlatRatings:
    return FlatRatings(
        item_index=flat.item_index[which],
        rater_index=flat.rater_index[which],
        category_index=flat.category_index[which],
    )


def _width(codes: Integers) -> int:
    return int(codes.max()) + 1
