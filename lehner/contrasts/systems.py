"""Several systems: what they have in common, joint draws by a bootstrap, and their differences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from lehner.algebra.algebraic import VOTE_METHODS
from lehner.algebra.steps import take_first_steps
from lehner.contrasts.contrast import contrast
from lehner.core.arrays import Booleans, Floats, Seed, derive_seeds, make_rng
from lehner.core.errors import InputError, check_whole_number
from lehner.core.estimate import ESTIMANDS, Row
from lehner.core.lazy import load, sparse
from lehner.core.resampling import DoAll, do_here, draw_counts
from lehner.core.text import list_few
from lehner.data.estimable import count_rated
from lehner.data.ratings import Ratings

fitting, intervals = map(load, ("lehner.latent_class.fit", "lehner.latent_class.intervals"))

MOST_NAMED = 4
RESAMPLES_OF_VOTES = 2000


def find_common(ratings: Ratings, systems: Sequence[str]) -> Booleans:
    """Tell which rows of the ratings all of these systems answered, (n_rows,)."""
    places = [ratings.systems.index(name) for name in systems]
    return np.asarray((ratings.answers[:, places] >= 0).all(axis=1) & (ratings.weights > 0))


def count_common(ratings: Ratings, systems: Sequence[str]) -> int:
    """Count the items that all of these systems answered."""
    return int(ratings.weights[find_common(ratings, systems)].sum())


def have_same_items(ratings: Ratings, systems: Sequence[str]) -> bool:
    """Tell whether each of these systems answered the items that the others answered."""
    common = count_common(ratings, systems)
    return all(count_common(ratings, [name]) == common for name in systems)


def require_common_items(ratings: Ratings, systems: Sequence[str]) -> None:
    """Raise an InputError unless all of these systems answered some item."""
    if not find_common(ratings, systems).any():
        problem = f"no item was answered by all of {list_few(systems, MOST_NAMED)}"
        raise InputError(problem, "compare systems that answered some of the same items")


def group_pairs(ratings: Ratings) -> list[list[tuple[str, str]]]:
    """Group the pairs of systems by the items that both answered.

    Parameters
    ----------
    ratings : Ratings
        With systems.

    Returns
    -------
    list of list of tuple of str
        The pairs of each group have the same items in common. If all systems answered the same
        items there is one group.
    """
    groups: dict[bytes, list[tuple[str, str]]] = {}
    for pair in combinations(ratings.systems, 2):
        groups.setdefault(find_common(ratings, pair).tobytes(), []).append(pair)
    return list(groups.values())


def find_first_alike(ratings: Ratings, systems: Sequence[str]) -> dict[str, str]:
    """Give for each system the first of them that gave the same answer to every item."""
    first: dict[bytes, str] = {}
    answers = ratings.answers[ratings.weights > 0]
    return {
        name: first.setdefault(answers[:, ratings.systems.index(name)].tobytes(), name)
        for name in systems
    }


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


def bootstrap_systems(
    systems: Iterable[str],
    ratings: Ratings,
    method: str,
    model: str | None = None,
    *,
    resamples: int | None = None,
    seed: Seed = 1,
    do_all: DoAll = do_here,
) -> JointDraws:
    """Resample items that all systems answered, and estimate each system from the same resamples.

    Systems with the same answers have the same draws, because the seed is the same.

    Parameters
    ----------
    systems : iterable of str
        Those to compare.
    ratings : Ratings
        With these systems.
    method : str
        One that needs only votes, of `lehner.algebra.algebraic.VOTE_METHODS`; or any if there is
        a model.
    model : str, optional
        A model that is fitted to each resample by maximum likelihood.
    resamples : int, optional
        Number of resamples, 1 or more; by default 2000, and 500 fits.
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
    >>> answers = [[0, 1], [1, 1], [0, 0]]
    >>> ratings = Ratings([[0, 0], [1, 1], [0, 0]], ["no", "yes"], system=answers)
    >>> draws = bootstrap_systems(ratings.systems, ratings, "majority_agreement", resamples=100)
    >>> float(draws.expected["system 1"].mean())
    1.0
    """
    most = RESAMPLES_OF_VOTES if model is None else intervals.RESAMPLES
    n = most if resamples is None else check_whole_number("resamples", resamples, 1)
    names = tuple(systems)
    ratings = ratings.select_common_items(*names)
    require_common_items(ratings, names)
    unique, seeds = count_rated(ratings.with_truth(None).to_grouped()), derive_seeds(seed, 2)
    pieces = [partial(_resample, unique.select_system(x), method, model, n, *seeds) for x in names]
    expected, in_sample = (
        dict(zip(names, values, strict=True)) for values in zip(*do_all(pieces), strict=True)
    )
    kind = "percentile bootstrap" if model is None else intervals.KIND
    return JointDraws(kind=kind, expected=expected, in_sample=in_sample)


def _resample(
    ratings: Ratings,
    method: str,
    model: str | None,
    resamples: int,
    of_items: np.random.SeedSequence,
    of_fits: np.random.SeedSequence,
) -> tuple[Floats, Floats]:
    counts = ratings.count_items(np.arange(ratings.n_rows), ratings.n_rows)
    samples = draw_counts(counts, resamples, np.random.default_rng(of_items))
    if model is None:
        accuracy = np.concatenate(list(_compute_votes(method, ratings, samples)))
        return accuracy, accuracy
    expected, in_sample = zip(*_fit(model, ratings, samples, make_rng(of_fits)), strict=True)
    return np.concatenate(expected), np.concatenate(in_sample)


def _compute_votes(method: str, ratings: Ratings, samples: Iterable[Floats]) -> Iterator[Floats]:
    """Compute a method that needs only votes, which gives the same number for both accuracies."""
    collapsed = ratings.collapsed_votes
    rows = np.arange(ratings.n_rows)
    shape = (ratings.n_rows, len(collapsed.cell))
    cells = sparse.csr_array((np.ones(len(rows)), (rows, collapsed.cell_of_row)), shape=shape)
    for weights in samples:
        counts = collapsed.lay_out(weights @ cells)
        steps = take_first_steps(collapsed, counts.sum(axis=-1))
        yield VOTE_METHODS[method](collapsed, steps, counts[..., :-1])


def _fit(
    model: str, ratings: Ratings, samples: Iterable[Floats], rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Fit a latent-class model by maximum likelihood."""
    fitted = fitting.fit_by_likelihood(ratings, model)
    for weights in samples:
        refits = intervals.refit_samples(fitted, fitted.sum_rows(weights), rng)
        yield refits.accuracy[:, -1], refits.n_right.sum(axis=1) / fitted.n_answered


def compare_systems(draws: JointDraws, **columns: Any) -> Iterator[Row]:
    """Give the differences of systems in both accuracies.

    Parameters
    ----------
    draws : JointDraws
        If they have no points, these are the means of the draws.
    **columns
        As of `contrast`.

    Yields
    ------
    dict
        A row of the table of results.

    Examples
    --------
    >>> both = {"a": np.array([0.8, 0.82]), "b": np.array([0.7, 0.71])}
    >>> draws = JointDraws(kind="", expected=both, in_sample=both)
    >>> [row["probability"] for row in compare_systems(draws, level=0.9)]
    [1.0, 1.0]
    """
    for n, quantity in enumerate(ESTIMANDS):
        drawn = (draws.expected, draws.in_sample)[n]
        points = {name: float(values.mean()) for name, values in drawn.items()}
        if draws.points is not None:
            points = dict(draws.points[n])
        yield from contrast(quantity, "system", points, drawn, kind=draws.kind, **columns)
