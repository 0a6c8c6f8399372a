"""Sampling design: which items an expert should label, and how many, for a narrow interval."""

from bisect import bisect_left
from dataclasses import replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from lehner.core.arrays import Floats, Integers, Seed, generator
from lehner.core.errors import InputError, check_choice, check_whole_number
from lehner.core.lazy import special
from lehner.core.resampling import wilson_interval
from lehner.core.text import counted
from lehner.data.ratings import Ratings
from lehner.known_truths.correction import (
    CALIBRATION_SLOPES,
    CERTAIN_ITEM,
    INTERCEPTS,
    proportion_posterior,
)
from lehner.known_truths.partly_known import PartlyKnown

type Selection = Literal["random", "votes"]

SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
OUTCOMES = 24


def choose_items(ratings: Ratings, n: int, *, by: Selection = "votes", seed: Seed = 1) -> Integers:
    """Choose items that an expert should label.

    Every item that the system answered and whose truth is unknown has the same probability of being
    chosen, so that the chosen items are representative of all. Of several systems only items count
    to which they gave different answers: other items say nothing of their differences, and the
    chosen ones represent no accuracy. To choose more of the items on which
    raters disagree would be less informative, because raters who agree may all be wrong.

    Parameters
    ----------
    ratings : Ratings
        With one or more systems and a row per item.
    n : int
        Number of items, 1 or more.
    by : {"random", "votes"}
        "random" is a simple random sample. "votes" is a systematic sample of the items, sorted by
        the raters' votes and the votes for the system's answer, in which each kind of vote has
        about its proportion in the data.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same items.

    Returns
    -------
    ndarray of int, shape (n,)
        Indices of their rows, in increasing order.

    Raises
    ------
    InputError
        If rows stand for several items, if there are fewer than n such items, or if there is no
        system.

    References
    ----------
    Madow & Madow (1944), On the theory of systematic sampling,
    https://doi.org/10.1214/aoms/1177731312

    Examples
    --------
    >>> from lehner import load_dataset
    >>> choose_items(load_dataset("lehner_table2", system="System"), 3, seed=1).tolist()
    [3, 5, 6]
    """
    check_whole_number("n", n, 1)
    check_choice("by", by, ("random", "votes"))
    if not ratings.systems:
        raise InputError("no column or rater is the system", "name it with system=…")
    if ratings.grouped:
        raise InputError(
            "rows stand for several items, and an expert labels single items",
            "give a row for each item",
        )
    rows = unlabelled(ratings)
    if n > len(rows):
        who = "the systems differ on" if len(ratings.systems) > 1 else "the system answered"
        raise InputError(
            f"{counted(n, 'item')} asked for, but {who} only {len(rows)} of unknown truth",
            f"ask for {len(rows)} or fewer",
        )
    rng = generator(seed)
    shuffled = rng.permutation(rows)
    if by == "random":
        return np.sort(shuffled[:n])
    votes = ratings.votes()[shuffled]
    own = votes[np.arange(len(votes)), ratings.answers[shuffled, 0]]
    # The most frequent vote last, before the votes for the system's answer.
    ordered = shuffled[np.lexsort(np.column_stack([np.sort(votes, axis=1), own]).T)]
    places = ((np.arange(n) + rng.uniform()) * len(rows) / n).astype(np.int64)
    return np.sort(ordered[places])


def unlabelled(ratings: Ratings) -> Integers:
    """Give unlabelled rows that the system answered, or that several answered differently."""
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    answers = ratings.answers
    rows = (answers >= 0).all(axis=1) & (truth < 0) & (ratings.weights > 0)
    if len(ratings.systems) > 1:
        rows &= (answers != answers[:, :1]).any(axis=1)
    elif not ratings.systems:
        rows[:] = False
    return np.flatnonzero(rows)


def expected_width(
    items: PartlyKnown,
    n: int,
    *,
    variance: float = 0.0,
    level: float = 0.9,
    seed: Seed = 1,
) -> float:
    """Compute the expected width of the corrected interval after n more items are known.

    The width is averaged over outcomes that are drawn before these items are known: from the
    method's probabilities, recalibrated with bias and slope drawn from their distribution.

    Parameters
    ----------
    items : PartlyKnown
        A row per item.
    n : int
        Number of further items, chosen at random among those that are not known.
    variance : float
        Variance of the mean of the probabilities according to the method.
    level : float
        Probability of the interval.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    float
    """
    rng = generator(seed)
    believed = proportion_posterior(items, variance)
    unknown, widths = np.flatnonzero(~items.known), []
    for mean in rng.choice(believed.values, OUTCOMES, p=believed.probability):
        probability = _recalibrate(items, mean, rng.choice(CALIBRATION_SLOPES))
        labelled = rng.choice(unknown, min(n, len(unknown)), replace=False)
        known, holds = items.known.copy(), items.holds.copy()
        known[labelled] = True
        holds[labelled] = rng.uniform(size=len(labelled)) < probability[labelled]
        outcome = replace(items, known=known, holds=holds)
        lower, upper = proportion_posterior(outcome, variance).interval(level)
        widths.append(upper - lower)
    return float(np.mean(widths))


def _recalibrate(items: PartlyKnown, mean: float, slope: float) -> Floats:
    """Multiply the log odds of all items by a slope, and shift them to a given mean probability."""
    clipped = np.clip(items.probability, CERTAIN_ITEM, 1 - CERTAIN_ITEM)
    log_odds, level = np.unique(np.round(slope * special.logit(clipped), 2), return_inverse=True)
    counts = np.bincount(level, items.counts)
    means = special.expit(INTERCEPTS[:, None] + log_odds) @ counts / counts.sum()
    return np.asarray(special.expit(log_odds + np.interp(mean, means, INTERCEPTS)))[level]


def n_for_width(
    items: PartlyKnown, width: float, *, variance: float = 0.0, level: float = 0.9, seed: Seed = 1
) -> int:
    """Find about how many more labelled items give an interval of a given width.

    Parameters
    ----------
    items : PartlyKnown
        A row per item.
    width : float
        Distance from the lower to the upper end, above 0.
    variance, level, seed
        As in `expected_width`.

    Returns
    -------
    int
        0 if the interval is already as narrow.
    """
    lower, upper = proportion_posterior(items, variance).interval(level)
    if upper - lower <= width:
        return 0
    n_unknown = items.n_items - items.n_known
    # The squared width is nearly linear in 1/n, and 0 if all truths are known.
    inverse, squared = [1.0], [(upper - lower) ** 2]
    for size in (*(s for s in SIZES if s < n_unknown), n_unknown):
        expected = expected_width(items, size, variance=variance, level=level, seed=seed)
        inverse.append(1 / size)
        squared.append(expected**2)
        if expected <= width:
            break
    return int(np.ceil(1 / np.interp(width**2, squared[:-3:-1], inverse[:-3:-1])))


def n_for_width_alone(accuracy: float, n_items: int, width: float, level: float = 0.9) -> int:
    """Labelled items that give Wilson's interval a width, whatever the ratings say.

    Parameters
    ----------
    accuracy : float
        Accuracy that the labelled items are expected to show.
    n_items : int
        Items from which they are drawn at random.
    width : float
        Width that the interval is to have at most.
    level : float
        Probability of the interval.

    Returns
    -------
    int

    Examples
    --------
    >>> n_for_width_alone(0.8, 10_000, 0.1), n_for_width_alone(0.8, 200, 0.1)
    (170, 93)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)

    def is_narrow(n: int) -> bool:
        lower, upper = wilson_interval(accuracy, n, z=z, population=n_items)
        return bool(upper - lower <= width)

    return 1 + bisect_left(range(1, n_items + 1), True, key=is_narrow)
