"""Joint draws by a bootstrap: the same resampled items for every system."""

from collections.abc import Callable

import numpy as np

from lehner.algebra.algebraic import first_steps
from lehner.algebra.vote_methods import VOTE_METHODS
from lehner.core.arrays import Floats, Integers
from lehner.core.bootstrap import CHUNK
from lehner.core.checks import check_whole_number, find
from lehner.core.seeds import Seed, generator
from lehner.data.patterns import number_patterns
from lehner.data.ratings import Ratings
from lehner.data.votes import collapse_votes
from lehner.systems.comparison import JointDraws

type Statistic = Callable[[Floats], Floats]


def bootstrap_systems(
    method: str,
    ratings: Ratings,
    *,
    systems_rate: bool = False,
    resamples: int = 2000,
    seed: Seed = 1,
) -> JointDraws:
    """Resample items, and estimate the accuracy of each system from the same resamples.

    Parameters
    ----------
    method : str
        A method that needs only votes: "algebraic", "algebraic_likelihood", "algebraic_paper",
        "majority_agreement" or "mean_posterior".
    ratings : Ratings
        With one or more systems.
    systems_rate : bool
        Whether the other systems serve as raters of each.
    resamples : int
        1 or more.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Returns
    -------
    JointDraws
        The same numbers for both estimands, NaN in resamples in which the accuracy is undefined.

    Raises
    ------
    InputError
        If there is no such method.

    Examples
    --------
    >>> from lehner import Ratings
    >>> answers = [[0, 1], [1, 1], [0, 0]]
    >>> ratings = Ratings([[0, 0], [1, 1], [0, 0]], ["no", "yes"], system=answers)
    >>> draws = bootstrap_systems("majority_agreement", ratings, resamples=100)
    >>> float(draws.expected["system 1"].mean())
    1.0
    """
    find("method that needs only votes called", method, VOTE_METHODS)
    check_whole_number("resamples", resamples, 1)
    unique = _unique_rows(ratings)
    statistics = {
        name: _statistic(method, unique.for_system(name, systems_rate=systems_rate))
        for name in ratings.systems
    }
    draws = _resample(statistics, unique.weights, resamples, generator(seed))
    return JointDraws(method=method, kind="percentile bootstrap", expected=draws, in_sample=draws)


def _unique_rows(ratings: Ratings) -> Ratings:
    """Group items that have the same ratings and the same answer of every system."""
    inverse, first = number_patterns(
        ratings.all_flat, None, ratings.n_rows, len(ratings.all_raters), ratings.n_categories
    )
    counts = np.bincount(inverse, weights=ratings.weights, minlength=len(first))
    return ratings.with_truth(None).take(first, counts.astype(np.int64))


def _statistic(method: str, ratings: Ratings) -> Statistic:
    """Give a function from numbers of items, (n_samples, n_rows), to accuracies, (n_samples,)."""
    from scipy.sparse import csr_array

    collapsed = collapse_votes(ratings)
    rows = np.arange(ratings.n_rows)
    shape = (ratings.n_rows, len(collapsed.cell))
    cells = csr_array((np.ones(len(rows)), (rows, collapsed.cell_of_row)), shape=shape)

    def statistic(weights: Floats) -> Floats:
        counts = collapsed.counts(weights @ cells)
        steps = first_steps(collapsed.table, counts.sum(axis=-1))
        return VOTE_METHODS[method](collapsed.table, steps, counts[..., :-1])

    return statistic


def _resample(
    statistics: dict[str, Statistic],
    counts: Integers,
    resamples: int,
    rng: np.random.Generator,
) -> dict[str, Floats]:
    found: dict[str, list[Floats]] = {name: [] for name in statistics}
    total = counts.sum()
    size = max(1, CHUNK // max(1, len(counts)))
    for start in range(0, resamples, size):
        n = min(size, resamples - start)
        weights = rng.multinomial(total, counts / total, size=n).astype(float)
        for name, statistic in statistics.items():
            found[name].append(statistic(weights))
    return {name: np.concatenate(parts) for name, parts in found.items()}
