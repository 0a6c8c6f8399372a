"""The accuracy of groups of raters, such as experts, a crowd and language models."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.steps import rater_accuracy
from lehner.contrasts.contrast import by_name, contrast
from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import Replicates
from lehner.core.resampling import draw_counts, interval_of_draws
from lehner.core.rows import Row, rows_of
from lehner.core.seeds import Seed, generator
from lehner.core.warning import Warning, warn
from lehner.data.clusters import count_items
from lehner.data.flat import FlatRatings
from lehner.data.ratings import Ratings
from lehner.data.votes import count_pairs

BY_AGREEMENT = warn(
    "rater-group-accuracy",
    "the accuracy of a group of raters follows from how often they agree with one another; it is "
    "undefined for a group whose raters have no items in common",
)
MEAN = (
    "the accuracy of a group of raters is the mean of its raters' accuracies, weighted by their "
    "numbers of ratings; "
)
ALONE = warn("rater-group-accuracy", MEAN + "the model itself ignores the groups")
POOLED = warn(
    "groups-pooled", MEAN + "the model draws each rater toward the raters of the same group"
)


def rater_group_rows(
    ratings: Ratings,
    replicates: Replicates | None,
    *,
    pooled: bool,
    resamples: int,
    level: float,
    seed: Seed,
) -> Iterator[Row | Warning]:
    """Give the accuracy of groups of raters, and the differences between groups.

    The accuracy of a group is the probability that one of its ratings is right: the mean over its
    raters, weighted by their numbers of ratings.

    Where a method has one accuracy for all raters, as the algebra has, it is applied to each group
    separately: raters who agree more with one another are more accurate (Eq. 1 and 2), if their
    errors are independent.

    Parameters
    ----------
    ratings : Ratings
        With groups of raters, see `Ratings.with_rater_groups`.
    replicates : Replicates, optional
        The raters' accuracies by a method; None for the algebra.
    pooled : bool
        Whether the method draws each rater toward the raters of the same group.
    resamples : int
        Number of bootstrap resamples, for the algebra.
    level : float
        Probability of the intervals.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Yields
    ------
    dict or Warning
        Rows of the table of results; none if the method has one accuracy for all raters, or none.

    References
    ----------
    Lehner (2015), Eq. 1-2, https://doi.org/10.22237/jmasm/1430453520
    """
    names = ratings.rater_groups
    members = [np.flatnonzero(np.array(ratings.rater_group) == name) for name in names]
    if replicates is None:
        agreeing, pairs = _count_pairs(ratings, members)
        statistic = partial(_by_agreement, ratings.n_categories, agreeing, pairs)
        counts = count_items(ratings, np.arange(ratings.n_rows), ratings.n_rows)
        samples = draw_counts(counts, resamples, generator(seed))
        point = statistic(ratings.weights[None].astype(float))[0]
        drawn = np.concatenate([statistic(weights) for weights in samples])
        kind, note = "percentile bootstrap", BY_AGREEMENT
    elif replicates.drawn is None or _alike(replicates.drawn.rater_accuracy):
        return
    else:
        shares = _shares(ratings, members)
        point = _mean(replicates.point.rater_accuracy, shares)
        drawn = _mean(replicates.drawn.rater_accuracy, shares)
        kind, note = replicates.kind, POOLED if pooled else ALONE
    yield note
    made: dict[str, Any] = {"level": level, "kind": kind, "grouping": "rater_group"}
    values = interval_of_draws(drawn, point, level)
    yield from rows_of("rater_accuracy", values, {"group": names}, **made)
    each = by_name(names, point), by_name(names, drawn)
    yield from contrast("rater_accuracy", "group", *each, **made)


def _count_pairs(ratings: Ratings, members: Sequence[Integers]) -> list[Floats]:
    """Count agreeing pairs and all pairs of ratings in each group of raters, (n_rows, n_groups)."""
    counted = [count_pairs(_only(ratings, member)) for member in members]
    return [np.stack(both, axis=1).astype(float) for both in zip(*counted, strict=True)]


def _by_agreement(n_categories: int, agreeing: Floats, pairs: Floats, weights: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = (weights @ agreeing) / (weights @ pairs)
    return rater_accuracy(agreement, n_categories)


def _only(ratings: Ratings, member: Integers) -> Ratings:
    """Keep the ratings by some of the raters."""
    flat = ratings.flat
    mine = np.isin(flat.rater_index, member)
    kept = FlatRatings(
        item_index=flat.item_index[mine],
        rater_index=np.searchsorted(member, flat.rater_index[mine]),
        category_index=flat.category_index[mine],
    )
    return Ratings(
        kept,
        ratings.categories,
        [ratings.raters[j] for j in member],
        ratings.items,
        counts=ratings.weights,
        independent_repeats=ratings.independent_repeats,
    )


def _alike(accuracy: Floats) -> bool:
    """Whether a method has one accuracy for all raters, or none."""
    alike = accuracy.shape[1] > 1 and np.allclose(accuracy, accuracy[:, :1])
    return bool(np.isnan(accuracy).all() or alike)


def _shares(ratings: Ratings, members: Sequence[Integers]) -> Floats:
    """Give each rater's share of the ratings of its group, (n_raters, n_groups)."""
    flat = ratings.flat
    weights = ratings.weights[flat.item_index].astype(float)
    n_ratings = np.bincount(flat.rater_index, weights, ratings.n_raters)
    shares = np.zeros((ratings.n_raters, len(members)))
    for g, member in enumerate(members):
        with np.errstate(invalid="ignore"):
            shares[member, g] = n_ratings[member] / n_ratings[member].sum()
    return shares


def _mean(accuracy: Floats, shares: Floats) -> Floats:
    """Give means over the raters of each group; a rater of another group may have none."""
    defined = np.nan_to_num(accuracy) @ shares
    return np.where(np.isnan(accuracy) @ (shares > 0), np.nan, defined)
