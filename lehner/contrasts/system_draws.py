"""Joint draws by a bootstrap: the same resampled items for every system."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lehner.algebra.algebraic import VOTE_METHODS
from lehner.algebra.steps import first_steps
from lehner.contrasts.common_items import (
    answered_the_same,
    first_alike,
    require_common_items,
)
from lehner.contrasts.contrast import Points, contrast
from lehner.core.arrays import Floats
from lehner.core.errors import check_choice, check_whole_number
from lehner.core.estimate import ESTIMANDS
from lehner.core.progress import DoAll, do_here
from lehner.core.resampling import draw_counts
from lehner.core.rows import Row
from lehner.core.seeds import Seed, child_seeds
from lehner.data.clusters import count_items
from lehner.data.patterns import number_patterns
from lehner.data.ratings import Ratings
from lehner.data.votes import collapse_votes, count_rated
from lehner.latent_class.intervals import KIND, fit_by_likelihood, refit_samples
from lehner.latent_class.models import LIKELIHOOD_METHODS


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
    same_items : bool
        Whether each system is judged by the same items. If not, there is no difference in the
        sample.
    points : tuple of two mapping of str to float, optional
        Estimates of what these are draws of, expected and in the sample, if they are not the
        accuracies that the method gives for each system alone.
    corrected : bool, optional
        Whether known truths entered the draws; by default whether they entered the estimates.
    """

    kind: str
    expected: Mapping[str, Floats]
    in_sample: Mapping[str, Floats]
    same_items: bool = True
    points: tuple[Mapping[str, float], Mapping[str, float]] | None = None
    corrected: bool | None = None


type Statistic = Callable[[Floats], tuple[Floats, Floats]]
"""A function of numbers of items, (n_samples, n_rows): both accuracies, (n_samples,) each."""

VOTE_RESAMPLES, LIKELIHOOD_RESAMPLES = 2000, 500


def bootstrap_systems(
    method: str,
    ratings: Ratings,
    *,
    systems: Sequence[str] | None = None,
    systems_rate: bool = False,
    common_items: bool = True,
    resamples: int | None = None,
    seed: Seed = 1,
    do_all: DoAll = do_here,
) -> JointDraws:
    """Resample items, and estimate the accuracy of each system from the same resamples.

    Systems with the same answers have the same draws.

    Parameters
    ----------
    method : str
        A method that needs only votes ("algebraic", "algebraic_likelihood", "algebraic_paper",
        "majority_agreement" or "mean_posterior"), or a latent-class model by maximum likelihood,
        as "dawid_skene_ml".
    ratings : Ratings
        Ratings with one or more systems.
    systems : sequence of str, optional
        Those to compare; by default all.
    systems_rate : bool
        Whether the other systems serve as raters when one is estimated.
    common_items : bool
        Whether systems are judged by the items that all of them answered. If not, each is judged by
        its own items, which assumes that a system that answers some items only is as accurate on
        the others; if these items differ there is no difference in the sample.
    resamples : int, optional
        Number of resamples, 1 or more; by default 2,000, and 500 for latent-class models.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.
    do_all : callable
        As in `lehner.estimate`.

    Returns
    -------
    JointDraws
        Accuracies in the resamples; NaN where they are undefined. Methods that need only votes give
        the same numbers for both estimands.

    Raises
    ------
    InputError
        If there is no such method or system, or if no item was answered by all systems.

    Examples
    --------
    >>> from lehner import Ratings
    >>> answers = [[0, 1], [1, 1], [0, 0]]
    >>> ratings = Ratings([[0, 0], [1, 1], [0, 0]], ["no", "yes"], system=answers)
    >>> draws = bootstrap_systems("majority_agreement", ratings, resamples=100)
    >>> float(draws.expected["system 1"].mean())
    1.0
    """
    check_choice("method", method, bootstrap_methods())
    if resamples is None:
        resamples = VOTE_RESAMPLES if method in VOTE_METHODS else LIKELIHOOD_RESAMPLES
    check_whole_number("resamples", resamples, 1)
    chosen = tuple(ratings.systems if systems is None else systems)
    if common_items:
        ratings = ratings.on_common_items(*chosen)
        require_common_items(ratings, chosen)
    unique = _unique_rows(ratings)
    if not systems_rate:
        unique = count_rated(unique)
    by_votes = method in VOTE_METHODS
    alike = first_alike(ratings, chosen)
    judged = [
        unique.for_system(name, systems_rate=systems_rate) for name in dict.fromkeys(alike.values())
    ]
    # Where nothing is fitted, drawing the items takes longest, and is done once.
    together = [judged] if by_votes else [[one] for one in judged]
    seeds = child_seeds(seed, 2)
    pieces = [partial(_resample, method, some, resamples, *seeds) for some in together]
    draws = {name: both for found in do_all(pieces) for name, both in found.items()}
    return JointDraws(
        kind="percentile bootstrap" if by_votes else KIND,
        expected={name: draws[same][0] for name, same in alike.items()},
        in_sample={name: draws[same][1] for name, same in alike.items()},
        same_items=answered_the_same(ratings, chosen),
    )


def compare_systems(
    points: tuple[Points, Points],
    draws: JointDraws,
    *,
    level: float,
    pairs: Sequence[tuple[str, str]] | None = None,
    **columns: Any,
) -> Iterator[Row]:
    """Give the differences of systems in both accuracies.

    Parameters
    ----------
    points : tuple of mapping of str to float or None
        By system, the expected accuracy, and that in the sample, unless the draws have their own.
    draws : JointDraws
    level : float
        Probability of the intervals.
    pairs : sequence of tuple of str, optional
        By default each two systems.
    **columns
        Values of other columns of the rows.

    Yields
    ------
    dict
        A row of the table of results; without a number in the sample if systems are judged by
        different items.

    Examples
    --------
    >>> both = {"a": np.array([0.8, 0.82]), "b": np.array([0.7, 0.71])}
    >>> points = {"a": 0.81, "b": 0.7}
    >>> draws = JointDraws(kind="", expected=both, in_sample=both)
    >>> [one["probability"] for one in compare_systems((points, points), draws, level=0.9)]
    [1.0, 1.0]
    """
    each = zip(ESTIMANDS, draws.points or points, (draws.expected, draws.in_sample), strict=True)
    for name, estimates, drawn in each:
        if drawn is draws.in_sample and not draws.same_items:
            estimates = dict.fromkeys(estimates)
        yield from contrast(
            name,
            "system",
            estimates,
            drawn,
            level=level,
            kind=draws.kind,
            pairs=pairs,
            **columns,
        )


def bootstrap_estimates(
    method: str, estimates: Mapping[str, Any], ratings: Ratings, *, level: float, **options: Any
) -> JointDraws:
    """Resample items as `bootstrap_systems` does, for the systems of which there are estimates."""
    return bootstrap_systems(method, ratings, systems=list(estimates), **options)


def bootstrap_methods() -> tuple[str, ...]:
    """List the methods that `bootstrap_systems` takes.

    Examples
    --------
    >>> bootstrap_methods()[0]
    'algebraic'
    """
    return (*VOTE_METHODS, *LIKELIHOOD_METHODS)


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


def _votes(method: str, ratings: Ratings) -> Statistic:
    from scipy.sparse import csr_array

    collapsed = collapse_votes(ratings)
    rows = np.arange(ratings.n_rows)
    shape = (ratings.n_rows, len(collapsed.cell))
    cells = csr_array((np.ones(len(rows)), (rows, collapsed.cell_of_row)), shape=shape)

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        counts = collapsed.counts(weights @ cells)
        steps = first_steps(collapsed.table, counts.sum(axis=-1))
        accuracy = VOTE_METHODS[method](collapsed.table, steps, counts[..., :-1])
        return accuracy, accuracy

    return statistic


def _likelihood(method: str, ratings: Ratings, seed: np.random.SeedSequence) -> Statistic:
    fitted = fit_by_likelihood(ratings, LIKELIHOOD_METHODS[method])
    rng = np.random.default_rng(seed)

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        refits = refit_samples(fitted, weights, rng)
        return refits.system_accuracy, refits.system_accuracy_in_sample

    return statistic


def _resample(
    method: str,
    judged: Sequence[Ratings],
    resamples: int,
    of_items: np.random.SeedSequence,
    of_fits: np.random.SeedSequence,
) -> dict[str, tuple[Floats, Floats]]:
    """Estimate both accuracies of each system, by its name, in the same resampled items."""
    statistics = {
        one.systems[0]: _votes(method, one)
        if method in VOTE_METHODS
        else _likelihood(method, one, of_fits)
        for one in judged
    }
    rows = judged[0]
    counts = count_items(rows, np.arange(rows.n_rows), rows.n_rows)
    replicates: dict[str, list[tuple[Floats, Floats]]] = {name: [] for name in statistics}
    for weights in draw_counts(counts, resamples, np.random.default_rng(of_items)):
        for name, statistic in statistics.items():
            replicates[name].append(statistic(weights))
    return {
        name: (np.concatenate([one for one, _ in parts]), np.concatenate([two for _, two in parts]))
        for name, parts in replicates.items()
    }
