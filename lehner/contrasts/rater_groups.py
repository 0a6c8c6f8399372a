"""The accuracy of groups of raters, such as experts, a crowd and language models."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lehner.algebra.steps import rater_accuracy
from lehner.contrasts.contrast import contrast, interval_of_draws
from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import Replicates, number
from lehner.core.resampling import draw_counts
from lehner.core.rows import Row, row
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


type Members = Mapping[str, Integers]
"""The indices of the raters of each group, by its name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Accuracies:
    """Accuracies of groups, (n_groups,), and their replicates, (n_replicates, n_groups)."""

    point: Floats
    drawn: Floats
    kind: str
    note: Warning


def rater_group_rows(
    ratings: Ratings,
    found: Replicates | None,
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
    found : Replicates, optional
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
    own = np.array(ratings.rater_group)
    groups = {name: np.flatnonzero(own == name) for name in ratings.rater_groups}
    if found is None:
        accuracies: _Accuracies | None = _by_agreement(ratings, groups, resamples, seed)
    else:
        accuracies = _by_rater(ratings, found, groups, POOLED if pooled else ALONE)
    if accuracies is None:
        return
    yield accuracies.note
    kind = accuracies.kind
    drawn = dict(zip(groups, accuracies.drawn.T, strict=True))
    points = dict(zip(groups, map(number, accuracies.point), strict=True))
    for name, values in drawn.items():
        value = interval_of_draws(values, points[name], level=level, kind=kind)
        yield row("rater_accuracy", value, grouping="rater_group", group=name)
    yield from contrast(
        "rater_accuracy", "group", points, drawn, level=level, kind=kind, grouping="rater_group"
    )


def _by_agreement(ratings: Ratings, groups: Members, resamples: int, seed: Seed) -> _Accuracies:
    parts = [count_pairs(_only(ratings, member)) for member in groups.values()]
    agreeing, pairs = (np.stack(both, axis=1).astype(float) for both in zip(*parts, strict=True))

    def accuracy(weights: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            agreement = (weights @ agreeing) / (weights @ pairs)
        return rater_accuracy(agreement, ratings.n_categories)

    of_rows = count_items(ratings, np.arange(ratings.n_rows), ratings.n_rows)
    samples = draw_counts(of_rows, resamples, generator(seed))
    return _Accuracies(
        point=accuracy(ratings.weights[None].astype(float))[0],
        drawn=np.concatenate([accuracy(weights) for weights in samples]),
        kind="percentile bootstrap",
        note=BY_AGREEMENT,
    )


def _only(ratings: Ratings, member: "np.ndarray") -> Ratings:
    """Keep the ratings by some of the raters."""
    flat = ratings.flat
    mine = np.isin(flat.rater_index, member)
    kept = FlatRatings(
        item_index=flat.item_index[mine],
        rater_index=np.searchsorted(member, flat.rater_index[mine]),
        category_index=flat.category_index[mine],
    )
    names = [ratings.raters[j] for j in member]
    return Ratings(
        kept,
        ratings.categories,
        names,
        ratings.items,
        counts=ratings.weights,
        independent_repeats=ratings.independent_repeats,
    )


def _by_rater(
    ratings: Ratings, found: Replicates, groups: Members, note: Warning
) -> _Accuracies | None:
    if found.drawn is None:
        return None
    drawn = found.drawn.rater_accuracy
    if np.isnan(drawn).all() or (drawn.shape[1] > 1 and np.allclose(drawn, drawn[:, :1])):
        return None
    n_ratings = _count_ratings(ratings)
    weights = np.zeros((ratings.n_raters, len(groups)))
    for g, member in enumerate(groups.values()):
        with np.errstate(invalid="ignore"):
            weights[member, g] = n_ratings[member] / n_ratings[member].sum()
    return _Accuracies(
        point=_mean(found.point.rater_accuracy, weights),
        drawn=_mean(drawn, weights),
        kind=found.kind,
        note=note,
    )


def _mean(accuracy: Floats, weights: Floats) -> Floats:
    """Give means over the raters of each group; a rater of another group may have none."""
    defined = np.nan_to_num(accuracy) @ weights
    return np.where(np.isnan(accuracy) @ (weights > 0), np.nan, defined)


def _count_ratings(ratings: Ratings) -> Floats:
    weights = ratings.weights[ratings.flat.item_index].astype(float)
    return np.bincount(ratings.flat.rater_index, weights, ratings.n_raters)
