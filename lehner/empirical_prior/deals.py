"""Data sets dealt from a crowd with known truth: one worker is the system that others judge.

There are three deals. In "like" any worker is the system and all others are its raters. In "better"
the system is of the best third of the workers, by their accuracy, and its raters are the less
accurate half; in "worse" the system is of the worst third, and its raters the more accurate half.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lehner.algebra.algebraic import majority_agreement
from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.seeds import seed_of
from lehner.data.flat import FlatRatings, sort_ratings
from lehner.data.ratings import Ratings
from lehner.empirical_prior.differences import count_disagreement
from lehner.empirical_prior.training import Outcome

DEALS = ("like", "better", "worse")
MOST_SYSTEMS = 12
MOST_PAIRS_OF_A_SYSTEM = 2
MOST_ITEMS = 300
LEAST_ITEMS = 30
FEWEST_OTHERS = 2
FEWEST_RATERS = 3
NEARLY_ALL = 0.95
ALL = "all"
RATINGS_PER_ITEM = ("3", "5", ALL)
ADDED_ITEMS = 4
"""Items of the crowd's mean accuracy added to those of each worker, so that few do not decide."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A worker who is the system, or several, and the crowd of those who may be the raters.

    Parameters
    ----------
    systems : tuple of str
        Names of the workers.
    crowd : Ratings
        Ratings by these workers and the possible raters, with truth.
    """

    systems: tuple[str, ...]
    crowd: Ratings

    @property
    def system(self) -> str:
        """Name of the only system."""
        (name,) = self.systems
        return name


def choose_panels(crowd: Ratings, how: str = "like") -> list[Panel]:
    """Choose the workers who are the system in turn, and who may rate beside each.

    Parameters
    ----------
    crowd : Ratings
        With truth; nobody rated an item twice.
    how : {"like", "better", "worse"}

    Returns
    -------
    list of Panel
        At most 12: those who rated the most items that have a known truth and enough other
        ratings; names decide ties.
    """
    workers = np.arange(crowd.n_raters)
    systems, raters = workers, np.ones(crowd.n_raters, bool)
    if how != "like":
        systems, raters = _parted(crowd, how)
    panels = []
    for system in systems.tolist():
        both = crowd if how == "like" else _of_raters(crowd, raters | (workers == system))
        panels.append((int(eligible(both, [system], FEWEST_OTHERS).sum()), system, both))
    ranked = sorted(panels, key=lambda one: (-one[0], str(crowd.raters[one[1]])))
    return [
        Panel(systems=(crowd.raters[system],), crowd=both)
        for n_items, system, both in ranked
        if n_items >= LEAST_ITEMS
    ][:MOST_SYSTEMS]


def choose_pairs(crowd: Ratings, how: str = "like") -> list[Panel]:
    """Choose pairs of the workers of `choose_panels`, each in two pairs at most.

    Parameters
    ----------
    crowd : Ratings
        With truth; nobody rated an item twice.
    how : {"like", "better", "worse"}

    Returns
    -------
    list of Panel
        Those who rated the most items in common first, of which 300 count at most.
    """
    alone = choose_panels(crowd, how)
    panels = []
    for one, other in combinations(alone, 2):
        both = crowd
        if how != "like":
            raters = _parted(crowd, how)[1]
            raters[[crowd.raters.index(panel.system) for panel in (one, other)]] = True
            both = _of_raters(crowd, raters)
        panels.append(Panel(systems=(one.system, other.system), crowd=both))
    sizes = [min(int(_eligible(panel, FEWEST_OTHERS).sum()), MOST_ITEMS) for panel in panels]
    times: Counter[str] = Counter()
    chosen = []
    for place in sorted(range(len(panels)), key=lambda place: -sizes[place]):
        names = panels[place].systems
        if sizes[place] >= LEAST_ITEMS and max(times[n] for n in names) < MOST_PAIRS_OF_A_SYSTEM:
            times.update(names)
            chosen.append(panels[place])
    return chosen


def deal(panel: Panel, per_item: str, seed: np.random.SeedSequence) -> Ratings | None:
    """Deal a data set in which a worker is the system, or several are, and others the raters.

    Of the items with known truth that these workers and enough others rated, at most 300 are drawn.
    Where at least `per_item` others rated 95% of them, that many raters are drawn, as in a study
    with a few raters; else that many ratings of each item are drawn and numbered, as in a file
    that has columns "rating 1", "rating 2" and so on, each with many workers.

    Parameters
    ----------
    panel : Panel
    per_item : {"3", "5", "all"}
        Ratings of each item. "all" takes all others as they are, two an item at the least.
    seed : numpy.random.SeedSequence

    Returns
    -------
    Ratings or None
        With a system and truth; None if fewer than 30 items are left.
    """
    rng, crowd = np.random.default_rng(seed), panel.crowd
    least = FEWEST_OTHERS if per_item == ALL else int(per_item)
    items = _draw_items(_eligible(panel, least), rng)
    if len(items) < LEAST_ITEMS:
        return None
    data = crowd.take(items).with_system(*panel.systems)
    if per_item == ALL:
        flat = _renumber(data.flat)
    else:
        flat = _draw_ratings(data.flat, len(items), least, rng)
    names = [f"rater {j + 1}" for j in range(int(flat.rater_index.max()) + 1)]
    answers = data.answers
    return Ratings(
        flat, data.categories, names, data.items, answers, data.truth, systems=data.systems
    )


def deal_outcomes(name: str, family: str, crowd: Ratings, seed: int) -> Iterator[Outcome]:
    """Deal a crowd in all ways that a prior is trained on, and score the system in each.

    Parameters
    ----------
    name, family : str
        Of the crowd.
    crowd : Ratings
        With truth.
    seed : int

    Yields
    ------
    Outcome
    """
    for how in DEALS:
        for panel in choose_panels(crowd, how):
            for per_item in RATINGS_PER_ITEM:
                dealt = deal(panel, per_item, seed_of(seed, name, panel.system))
                if dealt is not None:
                    yield _outcome(name, family, how, dealt)
    for how in ("like", "better"):
        for panel in choose_pairs(crowd, how):
            for per_item in RATINGS_PER_ITEM:
                dealt = deal(panel, per_item, seed_of(seed, name, *panel.systems))
                if dealt is not None:
                    yield from _outcomes_of_pair(name, family, f"two {how}", dealt)


def eligible(crowd: Ratings, raters: Sequence[int], others: int) -> Booleans:
    """Mark items with known truth, ratings by all these raters, and some number by others."""
    item, by = crowd.flat.item_index, crowd.flat.rater_index
    these = np.isin(by, raters)
    n_these, n_others = (
        np.bincount(item[rows], minlength=len(crowd.items)) for rows in (these, ~these)
    )
    known = np.asarray(crowd.truth) >= 0
    return np.asarray((n_these == len(raters)) & known & (n_others >= others))


def _eligible(panel: Panel, others: int) -> Booleans:
    return eligible(panel.crowd, [panel.crowd.raters.index(name) for name in panel.systems], others)


def _parted(crowd: Ratings, how: str) -> tuple[Integers, Booleans]:
    """Numbers of the workers who may be the system, and who may be raters."""
    accuracy, rated = _worker_accuracy(crowd)
    names = [str(name) for name in crowd.raters]
    order = sorted(np.flatnonzero(rated).tolist(), key=lambda j: (accuracy[j], names[j]))
    if how == "worse":
        order.reverse()
    n_raters = max(FEWEST_RATERS, len(order) // 2)
    n_systems = min(max(1, len(order) // 3), max(0, len(order) - n_raters))
    raters = np.isin(np.arange(crowd.n_raters), order[:n_raters])
    return np.array(order[len(order) - n_systems :], dtype=np.int64), raters


def _worker_accuracy(crowd: Ratings) -> tuple[Floats, Booleans]:
    """Accuracy of each worker, drawn toward the mean, and whether it rated known items."""
    flat, truth = crowd.flat, np.asarray(crowd.truth)
    known = truth[flat.item_index] >= 0
    right = known & (flat.category_index == truth[flat.item_index])
    n = np.bincount(flat.rater_index[known], minlength=crowd.n_raters)
    n_right = np.bincount(flat.rater_index[right], minlength=crowd.n_raters)
    mean = n_right.sum() / max(int(n.sum()), 1)
    return (n_right + ADDED_ITEMS * mean) / (n + ADDED_ITEMS), n > 0


def _of_raters(crowd: Ratings, raters: Booleans) -> Ratings:
    """Ratings by some raters only; the numbers of all raters stay as they are."""
    flat = _select(crowd.flat, raters[crowd.flat.rater_index])
    return Ratings(flat, crowd.categories, crowd.raters, crowd.items, truth=crowd.truth)


def _outcome(name: str, family: str, how: str, ratings: Ratings) -> Outcome:
    agreement = majority_agreement(ratings).system_accuracy.estimate
    assert agreement is not None
    return Outcome(
        crowd=name,
        family=family,
        deal=how,
        n_items=ratings.n_items,
        n_categories=ratings.n_categories,
        ratings_per_item=float(ratings.votes().sum(axis=1).mean()),
        agreement=agreement,
        accuracy=float(np.mean(ratings.system == ratings.truth)),
    )


def _outcomes_of_pair(name: str, family: str, how: str, ratings: Ratings) -> Iterator[Outcome]:
    """Yield what the majority and the truth say of two systems, where these differ; both orders."""
    for pair in (ratings.systems, ratings.systems[::-1]):
        found = count_disagreement(ratings, pair)
        if found.n_differ:
            yield Outcome(
                crowd=name,
                family=family,
                deal=how,
                n_items=found.n_differ,
                n_categories=ratings.n_categories,
                ratings_per_item=float(ratings.votes().sum(axis=1).mean()),
                agreement=found.preferred,
                accuracy=found.right,
            )


def _draw_items(eligible: Booleans, rng: np.random.Generator) -> Integers:
    # All items are put in order, so that designs with 3 and 5 ratings share what items they can.
    order = rng.permutation(len(eligible))
    return np.asarray(np.sort(order[eligible[order]][:MOST_ITEMS]))


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
