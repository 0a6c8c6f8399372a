"""Joint draws by a bootstrap: the same resampled items for every system."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.algebraic import VoteMethod
from lehner.algebra.steps import first_steps
from lehner.contrasts.common_items import (
    first_alike,
    require_common_items,
)
from lehner.contrasts.contrast import contrast
from lehner.core.arrays import Floats
from lehner.core.errors import check_whole_number
from lehner.core.estimate import ESTIMANDS
from lehner.core.lazy import sparse
from lehner.core.progress import DoAll, do_here
from lehner.core.resampling import draw_counts
from lehner.core.rows import Row
from lehner.core.seeds import Seed, child_seeds
from lehner.data.clusters import count_items
from lehner.data.patterns import number_patterns
from lehner.data.ratings import Ratings
from lehner.data.votes import collapse_votes, count_rated
from lehner.latent_class.intervals import KIND, fit_by_likelihood, refit_samples


@dataclass(frozen=True, kw_only=True, eq=False)
class JointDraws:
    """Joint draws of the accuracies of several systems by one method.

    Parameters
    ----------
    kind : str
        How the intervals are made, such as "percentile bootstrap".
    expected, in_sample : mapping of str to ndarray, shape (n_draws,)
        For each system, the expected accuracy, and the proportion of these items that it got right.
        The i-th draws of all systems belong together. NaN if the accuracy is undefined.
    points : tuple of two mapping of str to float, optional
        Estimates of what these are draws of, expected and in the sample, if they are not the
        accuracies that the method gives for each system alone.
    corrected : bool, optional
        Whether gold labels entered the draws; by default whether they entered the estimates.
    """

    kind: str
    expected: Mapping[str, Floats]
    in_sample: Mapping[str, Floats]
    points: tuple[Mapping[str, float], Mapping[str, float]] | None = None
    corrected: bool | None = None


type Statistic = Callable[[Floats], tuple[Floats, Floats]]
"""A function of numbers of items, (n_samples, n_rows): both accuracies, (n_samples,) each."""


@dataclass(frozen=True, kw_only=True)
class Refit:
    """How a method is computed again from resampled items.

    Parameters
    ----------
    prepare : callable
        From ratings with one system, and a seed, to the `Statistic`.
    kind : str
        How the intervals are made.
    resamples : int
        How many are drawn by default.
    fitted : bool
        Whether something is fitted to each resample, which takes longer than to draw it.
    """

    prepare: Callable[[Ratings, np.random.SeedSequence], Statistic]
    kind: str
    resamples: int
    fitted: bool


def by_votes(method: VoteMethod) -> Refit:
    """Compute a method that needs only votes, which gives the same number for both accuracies."""
    return Refit(
        prepare=partial(_prepare_votes, method),
        kind="percentile bootstrap",
        resamples=2000,
        fitted=False,
    )


def by_likelihood(model: str) -> Refit:
    """Fit a latent-class model by maximum likelihood."""
    return Refit(prepare=partial(_prepare_fit, model), kind=KIND, resamples=500, fitted=True)


def bootstrap_systems(
    refit: Refit,
    systems: Iterable[str],
    ratings: Ratings,
    *,
    systems_rate: bool = False,
    resamples: int | None = None,
    level: float = 0.9,
    seed: Seed = 1,
    do_all: DoAll = do_here,
) -> JointDraws:
    """Resample items that all systems answered, and estimate each system from the same resamples.

    Systems with the same answers have the same draws.

    Parameters
    ----------
    refit : Refit
        How the method is computed from the resampled items.
    systems : iterable of str
        Those to compare.
    ratings : Ratings
        With these systems.
    systems_rate : bool
        Whether the other systems serve as raters when one is estimated.
    resamples : int, optional
        Number of resamples, 1 or more.
    level : float
        Not used: the draws serve intervals of any probability.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.
    do_all : callable
        As in `lehner.estimate`.

    Returns
    -------
    JointDraws
        Accuracies in the resamples; NaN where they are undefined.

    Raises
    ------
    InputError
        If no item was answered by all systems.

    Examples
    --------
    >>> from lehner.algebra.algebraic import VOTE_METHODS
    >>> answers = [[0, 1], [1, 1], [0, 0]]
    >>> ratings = Ratings([[0, 0], [1, 1], [0, 0]], ["no", "yes"], system=answers)
    >>> majority = by_votes(VOTE_METHODS["majority_agreement"])
    >>> draws = bootstrap_systems(majority, ratings.systems, ratings, resamples=100)
    >>> float(draws.expected["system 1"].mean())
    1.0
    """
    resamples = check_whole_number("resamples", resamples or refit.resamples, 1)
    names = tuple(systems)
    ratings = ratings.on_common_items(*names)
    require_common_items(ratings, names)
    unique = _unique_rows(ratings)
    if not systems_rate:
        unique = count_rated(unique)
    alike = first_alike(ratings, names)
    judged = [
        unique.for_system(name, systems_rate=systems_rate) for name in dict.fromkeys(alike.values())
    ]
    # Where nothing is fitted, drawing the items takes longest, and is done once.
    together = [[one] for one in judged] if refit.fitted else [judged]
    pieces = [
        partial(_resample, refit, some, resamples, *child_seeds(seed, 2)) for some in together
    ]
    draws = {name: both for part in do_all(pieces) for name, both in part.items()}
    return JointDraws(
        kind=refit.kind,
        expected={name: draws[same][0] for name, same in alike.items()},
        in_sample={name: draws[same][1] for name, same in alike.items()},
    )


def compare_systems(
    draws: JointDraws,
    *,
    level: float,
    pairs: Sequence[tuple[str, str]] | None = None,
    **columns: Any,
) -> Iterator[Row]:
    """Give the differences of systems in both accuracies.

    Parameters
    ----------
    draws : JointDraws
        If they have no points, these are the means of the draws.
    level : float
        Probability of the intervals.
    pairs : sequence of tuple of str, optional
        By default each two systems.
    **columns
        Values of other columns of the rows.

    Yields
    ------
    dict
        A row of the table of results.

    Examples
    --------
    >>> both = {"a": np.array([0.8, 0.82]), "b": np.array([0.7, 0.71])}
    >>> draws = JointDraws(kind="", expected=both, in_sample=both)
    >>> [one["probability"] for one in compare_systems(draws, level=0.9)]
    [1.0, 1.0]
    """
    drawn = (draws.expected, draws.in_sample)
    points = draws.points or tuple(
        {name: float(values.mean()) for name, values in one.items()} for one in drawn
    )
    made: dict[str, Any] = {"level": level, "kind": draws.kind, "pairs": pairs} | columns
    yield from contrast(ESTIMANDS[0], "system", points[0], drawn[0], **made)
    yield from contrast(ESTIMANDS[1], "system", points[1], drawn[1], **made)


def _unique_rows(ratings: Ratings) -> Ratings:
    """Group items of a population and cluster with the same ratings and answers of every system."""
    inverse, first = number_patterns(
        ratings.all_flat,
        (ratings.population, ratings.cluster),
        ratings.n_rows,
        len(ratings.all_raters),
        ratings.n_categories,
    )
    counts = np.bincount(inverse, weights=ratings.weights, minlength=len(first))
    return ratings.with_truth(None).take(first, counts.astype(np.int64))


def _prepare_votes(method: VoteMethod, ratings: Ratings, seed: np.random.SeedSequence) -> Statistic:
    collapsed = collapse_votes(ratings)
    rows = np.arange(ratings.n_rows)
    shape = (ratings.n_rows, len(collapsed.cell))
    cells = sparse.csr_array((np.ones(len(rows)), (rows, collapsed.cell_of_row)), shape=shape)

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        counts = collapsed.counts(weights @ cells)
        steps = first_steps(collapsed.table, counts.sum(axis=-1))
        accuracy = method(collapsed.table, steps, counts[..., :-1])
        return accuracy, accuracy

    return statistic


def _prepare_fit(model: str, ratings: Ratings, seed: np.random.SeedSequence) -> Statistic:
    fitted, rng = fit_by_likelihood(ratings, model), np.random.default_rng(seed)

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        refits = refit_samples(fitted, weights, rng)
        return refits.system_accuracy, refits.system_accuracy_in_sample

    return statistic


def _resample(
    refit: Refit,
    judged: Sequence[Ratings],
    resamples: int,
    of_items: np.random.SeedSequence,
    of_fits: np.random.SeedSequence,
) -> dict[str, tuple[Floats, Floats]]:
    """Estimate both accuracies of each system, by its name, in the same resampled items."""
    statistics = [refit.prepare(one, of_fits) for one in judged]
    n_rows = judged[0].n_rows
    counts = count_items(judged[0], np.arange(n_rows), n_rows)
    drawn = draw_counts(counts, resamples, np.random.default_rng(of_items))
    parts = [[statistic(weights) for statistic in statistics] for weights in drawn]
    return {
        one.systems[0]: (np.concatenate(expected), np.concatenate(in_sample))
        for one, of_system in zip(judged, zip(*parts, strict=True), strict=True)
        for expected, in_sample in [tuple(zip(*of_system, strict=True))]
    }
