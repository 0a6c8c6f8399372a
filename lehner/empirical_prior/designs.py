"""Evaluation designs drawn from a crowd with gold labels: a worker is the system that others judge.

There are three designs. In "like" any worker is the system and all others are its
raters. In "better" the system is of the best third of the workers, by their accuracy, and its
raters are the less accurate half; in "worse" the system is of the worst third, and its raters the
more accurate half.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from lehner.algebra.algebraic import majority_agreement
from lehner.core.arrays import Booleans, Floats, Integers, derive_seed
from lehner.core.errors import InputError
from lehner.core.lazy import pd
from lehner.data.counts import Counts, sort_ratings
from lehner.data.ratings import Ratings
from lehner.empirical_prior.learned_prior import count_disagreement, find_corrected_agreement

DESIGNS = ("like", "better", "worse")
MOST_SYSTEMS = 12
MOST_PAIRS_OF_A_SYSTEM = 2
MOST_ITEMS = 300
LEAST_ITEMS = 30
FEWEST_OTHERS = 2
FEWEST_RATERS = 3
NEARLY_ALL = 0.95
ALL = "all"
RATINGS_PER_ITEM = ("3", "5", ALL)
# Items of the crowd's mean accuracy added to those of each worker, so that few do not decide.
ADDED_ITEMS = 4


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

    @cached_property
    def size(self) -> int:
        """Number of items that are eligible where ratings are few."""
        return int(self.mark_eligible(FEWEST_OTHERS).sum())

    def mark_eligible(self, others: int) -> Booleans:
        """Mark items with gold labels, ratings by all systems, and some number by others."""
        crowd, item = self.crowd, self.crowd.votes.item_index
        systems = [crowd.raters.index(name) for name in self.systems]
        by_system = np.isin(crowd.votes.rater_index, systems)
        n_by_system = np.bincount(item[by_system], minlength=crowd.n_rows)
        n_others = np.bincount(item[~by_system], minlength=crowd.n_rows)
        labelled = np.asarray(crowd.truth) >= 0
        return np.asarray((n_by_system == len(systems)) & labelled & (n_others >= others))


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
        At most 12: those who rated the most items that have a gold label and enough other
        ratings; names decide ties.
    """
    systems, raters = _part_workers(crowd, how)
    panels = [_make_panel(crowd, [system], raters) for system in systems.tolist()]
    ranked = sorted(panels, key=lambda panel: (-panel.size, str(panel.system)))
    return [panel for panel in ranked if panel.size >= LEAST_ITEMS][:MOST_SYSTEMS]


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
    _, raters = _part_workers(crowd, how)
    systems = [crowd.raters.index(panel.system) for panel in choose_panels(crowd, how)]
    panels = [_make_panel(crowd, pair, raters) for pair in combinations(systems, 2)]
    times: Counter[str] = Counter()
    chosen_panels = []
    for panel in sorted(panels, key=lambda panel: -min(panel.size, MOST_ITEMS)):
        seldom = all(times[name] < MOST_PAIRS_OF_A_SYSTEM for name in panel.systems)
        if panel.size >= LEAST_ITEMS and seldom:
            times.update(panel.systems)
            chosen_panels.append(panel)
    return chosen_panels


def draw_design(panel: Panel, per_item: str, seed: np.random.SeedSequence) -> Ratings | None:
    """Draw a data set in which a worker is the system, or several are, and others the raters.

    Of the items with gold labels that these workers and enough others rated, at most 300 are drawn.
    Where at least `per_item` others rated 95% of them, that many raters are drawn, as in a study
    with a few raters; else that many ratings of each item are drawn and numbered, as in a file
    that has columns "rating 1", "rating 2" and so on, each with many workers. Raters that are drawn
    keep their names.

    Parameters
    ----------
    panel : Panel
    per_item : {"3", "5", "all"}
        Ratings per item. "all" takes all others as they are, two per item at the least.
    seed : numpy.random.SeedSequence

    Returns
    -------
    Ratings or None
        With a system and truth; None if fewer than 30 items are left.
    """
    rng = np.random.default_rng(seed)
    least = FEWEST_OTHERS if per_item == ALL else int(per_item)
    # All items are put in order, so that designs with 3 and 5 ratings share what items they can.
    order = rng.permutation(panel.crowd.n_rows)
    items = np.sort(order[panel.mark_eligible(least)[order]][:MOST_ITEMS])
    if len(items) < LEAST_ITEMS:
        return None
    data = panel.crowd.take(items).with_system(*panel.systems)
    votes = data.votes
    rows, rater = np.arange(len(votes.item_index)), votes.rater_index
    if per_item != ALL:
        rows, rater = _draw_ratings(votes, len(items), least, rng)
    names, number = np.unique(rater, return_inverse=True)
    shape = (len(items), len(names), data.n_categories)
    drawn = sort_ratings(votes.item_index[rows], number, votes.category_index[rows], shape)
    are_whole = np.array_equal(rater, votes.rater_index[rows])
    raters = tuple(data.raters[j] if are_whole else f"rater {j + 1}" for j in names)
    return data.replace(entries=drawn, raters=raters)


def draw_outcomes(name: str, family: str, crowd: Ratings, seed: int) -> "pd.DataFrame":
    """Draw all designs of a crowd that a prior is trained on, and score the system in each.

    Parameters
    ----------
    name, family : str
        Of the crowd.
    crowd : Ratings
        With truth; a system is one of its raters.
    seed : int

    Returns
    -------
    pandas.DataFrame
        A row for each data set: `crowd`; `family`, shared by crowds that rated the same items or
        came from the same study; `design`; `n_items`, `n_categories`, `ratings_per_item`;
        `corrected`, the agreement of the system with the raters, corrected for chance, and
        `agreement`, that with their majority; `accuracy`, the proportion of the items that it got
        right. Of two systems there are two rows, with the items on which they differ, the agreement
        of `lehner.empirical_prior.learned_prior.Disagreement`, and as the accuracy the proportion
        on which the first is right and the second is not, and half of those on which neither is.
        It is empty if no rater has 30 items with a gold label that two others rated.

    Raises
    ------
    InputError
        If the crowd has no gold labels.
    """
    if crowd.truth is None:
        raise InputError(f"the crowd {name} has no gold labels", "name their column (truth)")
    items = np.repeat(np.arange(crowd.n_rows), crowd.weights)
    crowd = crowd.take(items, np.ones(len(items), np.int64))
    crowd = Ratings(crowd.all_votes, crowd.categories, crowd.all_raters, truth=crowd.truth)
    panels = [(how, panel) for how in DESIGNS for panel in choose_panels(crowd, how)]
    for how in ("like", "better"):
        panels += [(f"two {how}", panel) for panel in choose_pairs(crowd, how)]
    rows: list[dict[str, Any]] = []
    for design, panel in panels:
        for per_item in RATINGS_PER_ITEM:
            ratings = draw_design(panel, per_item, derive_seed(seed, name, *panel.systems))
            if ratings is not None:
                columns = {"crowd": name, "family": family, "design": design}
                rows += [columns | scores for scores in _score(ratings)]
    return pd.DataFrame(rows)


def _make_panel(crowd: Ratings, systems: Sequence[int], raters: Booleans) -> Panel:
    """Leave out all but the systems and those who may rate; numbers of raters stay."""
    members = raters.copy()
    members[list(systems)] = True
    if not members.all():
        crowd = crowd.replace(entries=crowd.votes.select(members[crowd.votes.rater_index]))
    return Panel(systems=tuple(crowd.raters[system] for system in systems), crowd=crowd)


def _part_workers(crowd: Ratings, how: str) -> tuple[Integers, Booleans]:
    """Give the numbers of the workers who may be the system, and who may be raters."""
    workers = np.arange(crowd.n_raters)
    if how == "like":
        return workers, np.ones(crowd.n_raters, bool)
    accuracy, rated = _estimate_workers(crowd)
    order = sorted(workers[rated].tolist(), key=lambda j: (accuracy[j], str(crowd.raters[j])))
    if how == "worse":
        order.reverse()
    n_raters = max(FEWEST_RATERS, len(order) // 2)
    n_systems = min(max(1, len(order) // 3), max(0, len(order) - n_raters))
    systems = np.array(order[len(order) - n_systems :], dtype=np.int64)
    return systems, np.isin(workers, order[:n_raters])


def _estimate_workers(crowd: Ratings) -> tuple[Floats, Booleans]:
    """Measure each worker's accuracy, drawn toward the mean, and tell whose can be measured."""
    votes, truth = crowd.votes, np.asarray(crowd.truth)
    labelled = truth[votes.item_index] >= 0
    right = labelled & (votes.category_index == truth[votes.item_index])
    n = np.bincount(votes.rater_index[labelled], minlength=crowd.n_raters)
    n_right = np.bincount(votes.rater_index[right], minlength=crowd.n_raters)
    mean = n_right.sum() / max(int(n.sum()), 1)
    return (n_right + ADDED_ITEMS * mean) / (n + ADDED_ITEMS), n > 0


def _score(ratings: Ratings) -> Iterator[dict[str, Any]]:
    """Yield what the majority and the truth say of a system; of two, where they differ, twice."""
    same: dict[str, Any] = {
        "n_categories": ratings.n_categories,
        "ratings_per_item": float(ratings.count_votes().sum(axis=1).mean()),
    }
    if len(ratings.systems) == 1:
        agreement = majority_agreement(ratings).system_accuracy.estimate
        accuracy = float(np.mean(ratings.system == ratings.truth))
        same |= {"corrected": find_corrected_agreement(ratings)}
        yield {"n_items": ratings.n_items, **same, "agreement": agreement, "accuracy": accuracy}
        return
    for pair in (ratings.systems, ratings.systems[::-1]):
        counts = count_disagreement(ratings, pair)
        if n := counts.n_differ:
            yield {"n_items": n, **same, "agreement": counts.preferred, "accuracy": counts.right}


def _draw_ratings(
    votes: Counts, n_items: int, per_item: int, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Draw raters of all items or, if there are too few, ratings per item; and number raters."""
    item, rater = votes.item_index, votes.rater_index
    raters, counts = np.unique(rater, return_counts=True)
    steady = raters[counts >= NEARLY_ALL * n_items]
    if len(steady) >= per_item:
        rows = np.flatnonzero(np.isin(rater, rng.choice(steady, per_item, replace=False)))
        return rows, rater[rows]
    shuffled = np.lexsort([rng.random(len(item)), item])
    # Ratings are sorted by item, and so they are when shuffled within each.
    order_in_item = np.arange(len(item)) - np.searchsorted(item, item)
    return shuffled[order_in_item < per_item], order_in_item[order_in_item < per_item]
