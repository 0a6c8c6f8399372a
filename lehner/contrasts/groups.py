"""Groups: which items belong to which, and what methods say of groups of items.

Groups are taken to be independent samples: where the same questions were put to all groups,
intervals of differences are somewhat too wide.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.algebra.steps import average_by_weights, take_first_steps
from lehner.contrasts.contrast import TIED, contrast, split_by_name
from lehner.core.arrays import Floats, Integers, Seed, derive_seeds, make_rng
from lehner.core.errors import InputError, Warning, warn
from lehner.core.estimate import ESTIMANDS, Row, make_rows_of_draws
from lehner.core.resampling import draw_counts
from lehner.core.text import pluralise
from lehner.data.estimable import count_rated, require_estimable
from lehner.data.ratings import Ratings, number_groups
from lehner.latent_class.fit import FittedModel, fit_by_likelihood
from lehner.latent_class.intervals import KIND, draw_patterns, refit_samples

GROUP_RESAMPLES = 200
SAME_ACCURACY = warn(
    "groups-alike",
    "the model assumes that the system is equally accurate in all groups, so that there is no "
    "difference to estimate",
)
SAME_CONFUSION = warn(
    "groups-alike",
    "confusion matrices are assumed to be the same in all groups, so that accuracies differ by "
    "base rates alone; a group that is more difficult than others is not detected",
)


def count_answers(ratings: Ratings) -> tuple[Integers, Integers]:
    """Count the items and the answered items of each population.

    Raises
    ------
    InputError
        If the system answered no item of a population.
    """
    index, names = np.asarray(ratings.population), ratings.populations
    n_items, n_answered = (
        np.bincount(index[rows], ratings.weights[rows], len(names)).astype(np.int64)
        for rows in (index >= 0, np.asarray(ratings.system) >= 0)
    )
    if (n_answered == 0).any():
        problem = f"the system answered no item of the group {names[n_answered.argmin()]!r}"
        raise InputError(problem, "leave the group out, or join it with another")
    return n_items, n_answered


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupColumn:
    """The groups that a column makes.

    Parameters
    ----------
    column : str
        Its name.
    names : ndarray of str, shape (n_rows,)
        The group of each row of the ratings, "" for none.
    note : str
        How numbers were cut into bins, and how many items belong to no group; empty if there is
        nothing to say.
    """

    column: str
    names: NDArray[Any]
    note: str


def group_column(column: str, names: NDArray[Any], cut: str = "") -> GroupColumn:
    """Give the groups of a column, with a note on how it was cut and on rows without a group."""
    none = int(np.sum(names == ""))
    without = f"{pluralise(none, 'row')} without {column} belong to no group" if none else ""
    note = "; ".join(part for part in (cut, without) if part)
    return GroupColumn(column=column, names=names, note=note)


def make_column(
    names: ArrayLike | GroupColumn | None, ratings: Ratings, kind: str = "group"
) -> GroupColumn:
    """Make a column of the names of groups, one for each row, or else of the populations.

    Raises
    ------
    InputError
        If there is not one name for each row, or no row belongs to any group.
    """
    if isinstance(names, GroupColumn):
        return names
    if names is None:
        names = np.array(ratings.populations)[ratings.population]
    index, labels = number_groups(names, ratings.n_rows, kind)
    if not labels:
        raise InputError(f"no item belongs to a {kind}", f"name the {kind}s of items")
    return group_column(kind, np.array([*labels, ""], dtype=object)[index])


def take_groups(ratings: Ratings, column: GroupColumn) -> Ratings:
    """Take the items that belong to a group, each group as a population."""
    inside = column.names != ""
    return ratings.take(inside).with_populations(column.names[inside])


# Posterior draws or bootstrap replicates by quantity, joint for all groups of items: both
# accuracies, (n_replicates, n_groups), `base_rates`, with a third dimension of categories, and
# `rater_accuracy`, of raters.
type GroupReplicates = dict[str, Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupDraws:
    """What a method says of groups of items.

    Parameters
    ----------
    names : tuple of str
        Of the groups.
    sizes : tuple of two ndarray of int, shape (n_groups,)
        Numbers of items, and of items that the system answered.
    drawn : mapping of str to ndarray
        As `GroupReplicates`.
    point : mapping of str to ndarray, optional
        The estimates, as one replicate; by default the means of `drawn`.
    kind : str
        How intervals are made.
    note : Warning, optional
        What the user should know of these numbers.
    """

    names: tuple[str, ...]
    sizes: tuple[Integers, Integers]
    drawn: GroupReplicates
    point: GroupReplicates | None = None
    kind: str
    note: Warning | None = None


def group_rows(
    by_group: GroupDraws, ratings: Ratings, *, grouping: str, level: float
) -> Iterator[Row | Warning]:
    """Give accuracies and base rates of each group, and the differences of accuracies.

    Parameters
    ----------
    by_group : GroupDraws
    ratings : Ratings
        With a system.
    grouping : {"group", "population"}
    level : float
        Probability of the intervals.

    Yields
    ------
    dict or Warning
        A row of the table of results.
    """
    if by_group.note is not None:
        yield by_group.note
    names, drawn = by_group.names, by_group.drawn
    # Where some draws are undefined, so is their mean.
    points = by_group.point or {name: values.mean(axis=0)[None] for name, values in drawn.items()}
    made: Row = {"level": level, "kind": by_group.kind, "grouping": grouping}
    labels: dict[str, dict[str, Any]] = {quantity: {} for quantity in ESTIMANDS}
    labels["base_rates"] = {"category": ratings.categories}
    labels["rater_accuracy"] = {"rater": ratings.raters}
    for g, (name, *sizes) in enumerate(zip(names, *by_group.sizes, strict=True)):
        for quantity, places in labels.items():
            values = drawn[quantity][:, g], points[quantity][0, g], places
            made["n_items"] = int(sizes[0 if places else 1])
            yield from make_rows_of_draws(quantity, *values, group=name, **made)
    del made["n_items"]
    several = drawn["system_accuracy"]
    same = len(names) > 1 and bool((np.abs(several - several[:, :1]) < TIED).all())
    for quantity in ESTIMANDS:
        own = points[quantity][0]
        if same and quantity == ESTIMANDS[0]:
            own = np.full(len(names), np.nan)
            yield SAME_ACCURACY
        both = split_by_name(names, own), split_by_name(names, drawn[quantity])
        yield from contrast(quantity, "group", *both, **made)


def group_by_algebra(ratings: Ratings, *, resamples: int = 2000, seed: Seed = 1) -> GroupDraws:
    """Estimate the accuracy of the system in groups of items by Lehner's algebra, in each alone.

    Parameters
    ----------
    ratings : Ratings
        With a system, and populations, which are the groups.
    resamples : int
        Number of bootstrap resamples of the items of each group.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    GroupDraws
        The algebra gives the same number for the expected accuracy and for that in the sample.

    Raises
    ------
    InputError
        If the system answered no item of a population.

    References
    ----------
    Lehner (2015), Eq. 1-7, https://doi.org/10.22237/jmasm/1430453520

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> ratings = simulate(Scenario(initial_rater_accuracy=(0.8,) * 3, n_items=300), 1)
    >>> domain = np.where(np.arange(300) < 100, "law", "sport")
    >>> group_by_algebra(ratings.with_populations(domain)).names
    ('law', 'sport')
    """
    ratings, names = count_rated(ratings), ratings.populations
    sizes = count_answers(ratings)
    by_group = [
        _resample_algebra(ratings.take(ratings.population == group), resamples, child)
        for group, child in enumerate(derive_seeds(seed, len(names)))
    ]
    point, drawn = (
        {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}
        for parts in zip(*by_group, strict=True)
    )
    kind = "percentile bootstrap"
    return GroupDraws(names=names, sizes=sizes, drawn=drawn, point=point, kind=kind)


def _resample_algebra(
    ratings: Ratings, resamples: int, seed: np.random.SeedSequence
) -> tuple[GroupReplicates, GroupReplicates]:
    """Estimate all items, and resamples of them, as one group."""
    collapsed = ratings.collapsed_votes

    def estimate(weights: Floats) -> GroupReplicates:
        counts = collapsed.lay_out(weights)
        steps = take_first_steps(collapsed, counts.sum(axis=-1))
        right = average_by_weights(steps.truth, counts[..., :-1])
        of_raters = np.repeat(steps.accuracy[:, None], ratings.n_raters, axis=1)
        accuracies = dict.fromkeys(ESTIMANDS, right)
        return accuracies | {"base_rates": steps.base_rates, "rater_accuracy": of_raters}

    n_cells = len(collapsed.votes) * (ratings.n_categories + 1)
    parts = list(map(estimate, draw_counts(collapsed.sampled, resamples, make_rng(seed), n_cells)))
    drawn = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if ratings.cluster is not None and ratings.n_clusters == 1:
        # Of one cluster nothing is known of others.
        drawn = {name: np.full_like(values, np.nan) for name, values in drawn.items()}
    return estimate(collapsed.weights[None].astype(float)), drawn


def group_by_likelihood(
    ratings: Ratings,
    model: str = "dawid_skene",
    *,
    resamples: int = GROUP_RESAMPLES,
    seed: Seed = 1,
) -> GroupDraws:
    """Estimate base rates and accuracies in populations of items, by maximum likelihood.

    Raters and system have the same confusion matrices in every group, but each group has its own
    base rates. Groups with different base rates help to identify the matrices: with two such groups
    and two categories, two raters are enough.

    Parameters
    ----------
    ratings : Ratings
        With a system, and populations. If some truths are known they enter as data.
    model : str
        The model of the confusion matrices, as in `fit_latent_class`.
    resamples : int
        Number of bootstrap resamples of the items, each fitted.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    GroupDraws
        Accuracies and base rates. For the interval of the accuracy in this sample,
        truths of these items are drawn from their probabilities in the fit to each resample.

    Raises
    ------
    InputError
        For the same reasons as in `fit_latent_class`, if there is no system, or if the system
        answered no item of a population.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = simulate(scenario, 1).with_truth(None)
    >>> ratings = ratings.with_populations(np.repeat(["x", "y"], 100))
    >>> group_by_likelihood(ratings, resamples=20).names
    ('x', 'y')
    """
    require_estimable(ratings)
    ratings = count_rated(ratings)
    sizes, rng = count_answers(ratings), make_rng(seed)
    fitted = fit_by_likelihood(ratings, model)
    refits = refit_samples(fitted, draw_patterns(fitted, resamples, rng), rng)
    # Rows without expected ratings belong to categories that hardly occur.
    recall = np.nan_to_num(np.diagonal(fitted.confusion, axis1=1, axis2=2))[None]
    n_right = fitted.table.counts[:, None] * fitted.find_chance_right(fitted.classes[..., None])
    rates = fitted.group_rates[None]
    return GroupDraws(
        names=ratings.populations,
        sizes=sizes,
        drawn=_join_populations(fitted, refits.group_rates, refits.recall, refits.n_right),
        point=_join_populations(fitted, rates, recall, fitted.table.sum_populations(n_right).T),
        kind=KIND,
        note=SAME_CONFUSION,
    )


def _join_populations(
    fitted: FittedModel, rates: Floats, recall: Floats, n_right: Floats
) -> GroupReplicates:
    """Put together what fits say of each population, whose base rates may be NaN in resamples."""
    answered = np.where(fitted.table.system < 0, 0, fitted.table.counts)
    n_answered = fitted.table.sum_populations(answered[:, None]).T
    accuracy = np.einsum("spk,sjk->spj", rates, recall)
    in_sample = np.where(np.isnan(rates).any(axis=-1), np.nan, n_right / n_answered)
    accuracies = dict(zip(ESTIMANDS, (accuracy[..., -1], in_sample), strict=True))
    return accuracies | {"base_rates": rates, "rater_accuracy": accuracy[..., :-1]}
