"""Groups: which items belong to which, and what methods say of groups of items.

Groups are taken to be independent samples: where the same questions were put to all groups,
intervals of differences are somewhat too wide.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.algebra.algebraic import credit_majority, make_replicate
from lehner.contrasts.contrast import TIED, contrast, trend
from lehner.core.arrays import Floats, Integers, Seed, derive_seeds, make_rng
from lehner.core.errors import InputError, Warning, list_few, warn
from lehner.core.estimate import ESTIMANDS, Draws, Row, join_parts, tabulate_draws
from lehner.core.lazy import sparse, special
from lehner.core.resampling import draw_counts
from lehner.core.text import pluralise
from lehner.data.estimable import count_rated, find_mean_widening, name_coords, require_estimable
from lehner.data.ratings import Ratings, number_groups
from lehner.known_truths.one_judge import DRAWS, PSEUDO_ITEMS
from lehner.latent_class.fit import FittedModel, fit_by_likelihood, fit_warnings
from lehner.latent_class.intervals import KIND, draw_patterns, refit_samples
from lehner.performance.measures import Measure

RESAMPLES, GROUP_RESAMPLES = 500, 200
# In a population of fewer items the prior counts much, and agreement is not tested.
FEW_ITEMS = 30
ROUNDING = 1e-9
# With a greater adjusted p-value the raters are not said to differ between populations.
UNLIKELY = 0.05
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


def count_answers(ratings: Ratings) -> dict[str, Integers]:
    """Count the items and the answered items of each population: `n_items`, `n_answered`.

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
    return {"n_items": n_items, "n_answered": n_answered}


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

    It is called as the pandas Series that the names are.

    Raises
    ------
    InputError
        If there is not one name for each row, or no row belongs to any group.
    """
    if isinstance(names, GroupColumn):
        return names
    column = str(getattr(names, "name", None) or kind)
    if names is None:
        names = np.array(ratings.populations)[ratings.population]
    index, labels = number_groups(names, ratings.n_rows, kind)
    if not labels:
        raise InputError(f"no item belongs to a {kind}", f"name the {kind}s of items")
    return group_column(column, np.array([*labels, ""], dtype=object)[index])


def take_groups(ratings: Ratings, column: GroupColumn) -> Ratings:
    """Take the items that belong to a group, each group as a population."""
    inside = column.names != ""
    return ratings.take(inside).with_populations(column.names[inside])


def list_group_rows(
    draws: Draws, *, grouping: str, level: float, with_trend: bool = False
) -> Iterator[Row | Warning]:
    """Give accuracies and base rates of each group, and the differences of accuracies.

    Parameters
    ----------
    draws : Draws
        By group: both accuracies, base rates, and the raters' accuracy.
    grouping : {"group", "population"}
    level : float
        Probability of the intervals.
    with_trend : bool
        Whether it is asked how accuracies change from the first group to the last.

    Yields
    ------
    dict or Warning
        A row of the table of results.
    """
    yield from draws.warnings
    names, rows = list(draws.coords["group"]), list[Row]()
    for quantity in (*ESTIMANDS, "base_rates", "rater_accuracy"):
        size = draws.point["n_answered" if quantity in ESTIMANDS else "n_items"]
        for part in tabulate_draws(draws, quantity, level=level, grouping=grouping):
            rows.append(part | {"n_items": int(size[names.index(part["group"])])})
    yield from sorted(rows, key=lambda part: names.index(part["group"]))
    several = draws.drawn["system_accuracy"]
    same = len(names) > 1 and bool((np.abs(several - several[:, :1]) < TIED).all())
    point = dict(draws.point)
    if same:
        point[ESTIMANDS[0]] = np.full(len(names), np.nan)
        yield SAME_ACCURACY
    # A model in which the system is the same everywhere says nothing of a trend.
    with_trend = with_trend and not draws.warnings
    for quantity in ESTIMANDS:
        asked: Row = {"grouping": grouping, "level": level, "with_trend": with_trend}
        yield from contrast_groups(replace(draws, point=point), quantity, **asked)


def contrast_groups(
    draws: Draws, quantity: str, *, with_trend: bool, **columns: Any
) -> Iterator[Row]:
    """Give the differences of each two groups, and perhaps the trend over all of them."""
    values = draws.point[quantity], draws.drawn[quantity]
    columns |= {"kind": draws.kind}
    yield from contrast(quantity, "group", draws.coords["group"], *values, **columns)
    if with_trend:
        yield from trend(quantity, draws.coords["group"], *values, **columns)


def list_measured(
    draws: Draws, measure: Measure, *, level: float, with_trend: bool, **columns: Any
) -> Iterator[Row]:
    """Give a measure of each group, the differences of groups, and perhaps the trend."""
    columns |= {"level": level, "category": measure.category, "corrected": draws.corrected}
    yield from tabulate_draws(draws, measure.name, **columns)
    yield from contrast_groups(draws, measure.name, with_trend=with_trend, **columns)


def group_by_algebra(ratings: Ratings, *, resamples: int = 2000, seed: Seed = 1) -> Draws:
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
    Draws
        By group. The algebra gives the same number for the expected accuracy and for that in the
        sample.

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
    >>> group_by_algebra(ratings.with_populations(domain)).coords["group"]
    ('law', 'sport')
    """
    ratings, names = count_rated(ratings), ratings.populations
    sizes = count_answers(ratings)
    by_group = [
        _resample_algebra(ratings.take(ratings.population == group), resamples, child)
        for group, child in enumerate(derive_seeds(seed, len(names)))
    ]
    points, drawn = (
        {name: np.stack([part[name] for part in parts], axis=1) for name in parts[0]}
        for parts in zip(*by_group, strict=True)
    )
    return Draws(
        point={name: values[0] for name, values in points.items()} | sizes,
        drawn=drawn,
        coords=name_coords(ratings),
        kind="percentile bootstrap",
    )


def _resample_algebra(
    ratings: Ratings, resamples: int, seed: np.random.SeedSequence
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Estimate all items, and resamples of them, as one group."""
    collapsed, replicate = ratings.collapsed_votes, make_replicate(ratings)
    n_cells = len(collapsed.votes) * (ratings.n_categories + 1)
    many = draw_counts(collapsed.sampled, resamples, make_rng(seed), n_cells)
    drawn = join_parts(map(replicate, many), resamples)
    if ratings.cluster is not None and ratings.n_clusters == 1:
        # One cluster says nothing of others.
        drawn = {name: np.full_like(values, np.nan) for name, values in drawn.items()}
    return replicate(collapsed.weights[None].astype(float)), drawn


def group_by_likelihood(
    ratings: Ratings, model: str = "dawid_skene", *, resamples: int | None = None, seed: Seed = 1
) -> Draws:
    """Estimate base rates, and accuracies, in populations of items by maximum likelihood.

    Raters and system have the same confusion matrices in every group, but each group has its own
    base rates. Groups with different base rates help to identify the matrices: with two such groups
    and two categories, two raters are enough.

    Parameters
    ----------
    ratings : Ratings
        With populations, with or without a system. If some truths are known they enter as data.
    model : str
        The model of the confusion matrices, as in `fit_latent_class`.
    resamples : int, optional
        Number of bootstrap resamples of the items, each fitted; by default 500, with a system 200.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the resamples.

    Returns
    -------
    Draws
        By group, with the raters' accuracy and recall over all of them. With a system, its
        accuracies and those of the raters in each group: for the interval of the accuracy in this
        sample, truths of these items are drawn from their probabilities in the fit to each
        resample.

    Raises
    ------
    InputError
        For the same reasons as in `fit_latent_class`, or if the system answered no item of a
        population.

    References
    ----------
    Hui & Walter (1980), https://doi.org/10.2307/2530508

    Examples
    --------
    >>> from lehner import Scenario, simulate
    >>> scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = simulate(scenario, 1).with_truth(None)
    >>> ratings = ratings.with_populations(np.repeat(["x", "y"], 100))
    >>> group_by_likelihood(ratings, resamples=20).point["system_accuracy"].shape
    (2,)
    """
    has_system, rng = ratings.system is not None, make_rng(seed)
    if has_system:
        require_estimable(ratings, by_one=len(ratings.populations) > 1)
        ratings = count_rated(ratings)
    n_samples = resamples or (GROUP_RESAMPLES if has_system else RESAMPLES)
    sizes = count_answers(ratings) if has_system else {}
    fitted = fit_by_likelihood(ratings, model)
    refits = refit_samples(fitted, draw_patterns(fitted, n_samples, rng), rng)
    # Rows without expected ratings belong to categories that hardly occur.
    confusion, rates = np.nan_to_num(fitted.confusion), fitted.group_rates
    recall = np.nan_to_num(np.diagonal(fitted.confusion, axis1=1, axis2=2))
    n = ratings.n_raters
    point = {"base_rates": rates, "rater_accuracy": fitted.accuracy[:n], "rater_recall": recall[:n]}
    drawn = {"base_rates": refits["group_rates"], "rater_accuracy": refits["accuracy"][:, :n]}
    drawn["rater_recall"] = refits["recall"][:, :n]
    if has_system:
        chance = fitted.find_chance_right(fitted.classes[..., None])
        n_right = fitted.table.sum_populations(fitted.table.counts[:, None] * chance).T
        whole = _find_accuracies(fitted, rates[None], recall[None], n_right)
        point |= {name: values[0] for name, values in whole.items()} | sizes
        of_samples = (refits[name] for name in ("group_rates", "recall", "n_right"))
        drawn |= _find_accuracies(fitted, *of_samples)
    else:
        point["rater_confusion"] = confusion
        point["truth_probabilities"] = fitted.classes[fitted.table.inverse]
    return Draws(
        point=point,
        drawn=drawn,
        coords=name_coords(ratings),
        kind=KIND,
        warnings=(SAME_CONFUSION,) if has_system else fit_warnings(fitted, ratings),
    )


def _find_accuracies(
    fitted: FittedModel, rates: Floats, recall: Floats, n_right: Floats
) -> dict[str, Floats]:
    """Find accuracies in each population, whose base rates may be NaN in resamples."""
    answered = np.where(fitted.table.system < 0, 0, fitted.table.counts)
    n_answered = fitted.table.sum_populations(answered[:, None]).T
    accuracy = np.einsum("spk,sjk->spj", rates, recall)
    in_sample = np.where(np.isnan(rates).any(axis=-1), np.nan, n_right / n_answered)
    accuracies = dict(zip(ESTIMANDS, (accuracy[..., -1], in_sample), strict=True))
    return accuracies | {"rater_accuracy": accuracy[..., :-1]}


def group_by_majority(ratings: Ratings, *, level: float, seed: Seed = 1) -> Draws:
    """Take the majority of the raters for the truth; tied categories share the item.

    Parameters
    ----------
    ratings : Ratings
        With populations. Items without ratings are left out.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Draws
        By group; draws are from Dirichlet distributions with Jeffreys' prior, as if the majority
        were never wrong.

    References
    ----------
    Brown, Cai & DasGupta (2001), https://doi.org/10.1214/ss/1009213286, for Jeffreys' interval.
    """
    rng, votes = make_rng(seed), ratings.count_votes()
    share = credit_majority(votes)
    counts = np.zeros((len(ratings.populations), ratings.n_categories))
    np.add.at(counts, np.asarray(ratings.population), share * ratings.weights[:, None])
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
    drawn = [rng.dirichlet(of_group + PSEUDO_ITEMS, size=DRAWS) for of_group in counts]
    draws = Draws(
        point={"base_rates": rates, "truth_probabilities": share},
        drawn={"base_rates": np.stack(drawn, axis=1)},
        coords=name_coords(ratings),
        kind="Jeffreys",
    )
    return allow_for_clusters(draws, ratings, level)


def allow_for_clusters(draws: Draws, ratings: Ratings, level: float) -> Draws:
    """Widen draws of base rates for clusters of items.

    The base rate of a category is the mean of its probabilities over items, whose design effect is
    the factor of the variance; see `lehner.core.resampling.design_effect`.

    Parameters
    ----------
    draws : Draws
        By group, with truth probabilities.
    ratings : Ratings
        With populations, and perhaps clusters.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.

    Returns
    -------
    Draws
    """
    if ratings.cluster is None:
        return draws
    drawn, truth = draws.drawn["base_rates"].copy(), draws.point["truth_probabilities"]
    for g, k in np.ndindex(drawn.shape[1:]):
        n_items = (ratings.weights * (ratings.population == g)).astype(float)
        factor = find_mean_widening(ratings, truth[:, k], n_items, level)
        mean = drawn[:, g, k].mean()
        drawn[:, g, k] = np.clip(mean + factor * (drawn[:, g, k] - mean), 0.0, 1.0)
    return replace(draws, drawn={**draws.drawn, "base_rates": drawn})


def warn_of_accuracy(ratings: Ratings, draws: Draws) -> Iterator[Warning]:
    """Warn of raters who are worse than chance, and of raters who differ between populations."""
    confusion, rates = draws.point.get("rater_confusion"), draws.point["base_rates"]
    if confusion is None or np.isnan(rates).any():
        return
    # A rater who guesses has equal rows, whose diagonal sums to 1.
    below = np.flatnonzero(np.trace(confusion, axis1=1, axis2=2) < 1)
    if below.size:
        names = list_few((ratings.raters[j] for j in below), 4)
        text = f"{names}: right less often than by guessing, as if categories were mixed up"
        yield warn("rater-below-chance", text)
    p_value, population = check_agreement(ratings, rates, confusion)
    if p_value <= UNLIKELY:
        text = f"raters agree otherwise in {population} than the model expects, as if they were "
        text += "not as accurate there as elsewhere, which biases proportions and differences"
        yield warn("raters-differ", text)


def check_agreement(ratings: Ratings, base_rates: Floats, confusion: Floats) -> tuple[float, str]:
    """Test whether raters agree in some population more or less often than a model expects.

    Parameters
    ----------
    ratings : Ratings
        With populations.
    base_rates : ndarray, shape (n_populations, n_categories)
    confusion : ndarray, shape (n_raters, n_categories, n_categories)

    Returns
    -------
    p_value : float
        Of the population in which agreement is farthest from what is expected, two-sided, adjusted
        by Bonferroni's method; 1 with one population. It is too large rather than too small,
        because the model was fitted to the same ratings.
    population : str
        Its name.
    """
    group, n, flat = np.asarray(ratings.population), len(ratings.populations), ratings.votes
    cells = (flat.item_index, flat.rater_index)
    rated = sparse.csr_array(
        (np.ones(len(flat.item_index)), cells), (ratings.n_rows, len(confusion))
    )
    expected = np.zeros(ratings.n_rows)
    for category, rates in enumerate(base_rates.T):
        response = confusion[:, category]
        by_category = np.asarray(rated @ response)
        alone = np.asarray(rated @ (response**2).sum(axis=1))
        expected += rates[group] * ((by_category**2).sum(axis=1) - alone) / 2
    votes = ratings.count_votes()
    pairs = votes.sum(axis=1) * (votes.sum(axis=1) - 1) / 2
    surplus = (votes * (votes - 1) / 2).sum(axis=1) - expected
    # What the model gets wrong in all populations alike is no difference between them.
    surplus -= pairs * (ratings.weights @ surplus) / max(float(ratings.weights @ pairs), 1.0)
    n_items = np.bincount(group, ratings.weights, n)
    total = np.bincount(group, ratings.weights * surplus, n)
    square = np.bincount(group, ratings.weights * surplus**2, n)
    variance = np.maximum(square - total**2 / n_items, ROUNDING)
    z = np.where(n_items < FEW_ITEMS, 0.0, np.abs(total) / np.sqrt(variance))
    p_value = min(1.0, 2 * n * float(special.ndtr(-z.max()))) if n > 1 else 1.0
    return p_value, ratings.populations[int(z.argmax())]
