"""Several systems: the items that they have in common, and joint draws by a bootstrap."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from lehner.algebra.algebraic import VOTE_METHODS
from lehner.algebra.steps import take_first_steps
from lehner.core.arrays import Booleans, Floats, Seed, derive_seeds, make_rng
from lehner.core.errors import InputError, check_whole_number, list_few
from lehner.core.estimate import ESTIMANDS, Draws, Estimate
from lehner.core.resampling import MANY_ROWS, DoAll, Threaded, do_pieces, draw_counts, draw_times
from lehner.data.estimable import count_rated
from lehner.data.ratings import Ratings
from lehner.latent_class import intervals
from lehner.latent_class.fit import fit_by_likelihood

MOST_NAMED = 4
RESAMPLES_OF_VOTES = 2000


def find_common(ratings: Ratings, systems: Sequence[str]) -> Booleans:
    """Tell which rows of the ratings all of these systems answered, (n_rows,)."""
    columns = [ratings.systems.index(name) for name in systems]
    return np.asarray((ratings.answers[:, columns] >= 0).all(axis=1) & (ratings.weights > 0))


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


def group_pairs(ratings: Ratings, pairs: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Group pairs of systems by the items that both answered.

    Parameters
    ----------
    ratings : Ratings
        With systems.
    pairs : iterable of tuple of str

    Returns
    -------
    list of list of tuple of str
        The pairs of each group have the same items in common. If all systems answered the same
        items there is one group.
    """
    groups: dict[bytes, list[tuple[str, str]]] = {}
    for pair in pairs:
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


def bootstrap_systems(
    systems: Iterable[str] | Mapping[str, Estimate],
    ratings: Ratings,
    method: str,
    *,
    resamples: int | None = None,
    level: float = 0.9,
    seed: Seed = 1,
    do_all: DoAll = do_pieces,
) -> Draws:
    """Resample items that all systems answered, and estimate each system from the same resamples.

    Systems with the same answers have the same draws, because the seed is the same.

    Parameters
    ----------
    systems : iterable of str, or mapping of str to Estimate
        Those to compare. If their estimates, from these ratings, have resamples with accuracies,
        the draws are these.
    ratings : Ratings
        With these systems.
    method : str
        One that needs only votes, of `lehner.algebra.algebraic.VOTE_METHODS`; or a latent-class
        model, which is fitted to each resample by maximum likelihood.
    resamples : int, optional
        Number of resamples, 1 or more; by default 2000, and 500 fits.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.
    do_all : callable
        As in `lehner.estimate`.

    Returns
    -------
    Draws
        Accuracies by system in the resamples, NaN where they are undefined; without estimates.

    Raises
    ------
    InputError
        If no item was answered by all systems.

    Examples
    --------
    >>> answers = [[0, 1], [1, 1], [0, 0]]
    >>> ratings = Ratings([[0, 0], [1, 1], [0, 0]], ["no", "yes"], system=answers)
    >>> draws = bootstrap_systems(ratings.systems, ratings, "majority_agreement", resamples=100)
    >>> draws.drawn["system_accuracy"].mean(axis=0).round(2).tolist()
    [1.0, 0.62]
    """
    by_votes = method in VOTE_METHODS
    most = RESAMPLES_OF_VOTES if by_votes else intervals.RESAMPLES
    n = most if resamples is None else check_whole_number("resamples", resamples, 1)
    names = tuple(systems)
    if isinstance(systems, Mapping):
        resampled = [x.resamples for x in systems.values() if x.resamples is not None]
        if len(resampled) == len(names) and (shared := _stack_accuracies(resampled)):
            kind = resampled[0].kind
            return Draws(point={}, drawn=shared, coords={"system": names}, kind=kind)
    ratings = ratings.select_common_items(*names)
    require_common_items(ratings, names)
    unique, seeds = count_rated(ratings.with_truth(None).to_grouped()), derive_seeds(seed, 2)
    if by_votes:
        accuracies = 2 * [_compute_votes(unique, names, method, n, make_rng(seeds[0]))]
    else:
        pieces = [Threaded(_refit, unique.select_system(x), method, n, seeds) for x in names]
        accuracies = [np.stack(values, axis=1) for values in zip(*do_all(pieces), strict=True)]
    return Draws(
        point={},
        drawn=dict(zip(ESTIMANDS, accuracies, strict=True)),
        coords={"system": names},
        kind="percentile bootstrap" if by_votes else intervals.KIND,
    )


def _stack_accuracies(resampled: Sequence[Draws]) -> dict[str, Floats]:
    """Put the accuracies of each system together, as far as the resamples of all have them."""
    names = [name for name in ESTIMANDS if all(name in part.drawn for part in resampled)]
    return {name: np.stack([x.drawn[name] for x in resampled], axis=1) for name in names}


def _draw_rows(
    ratings: Ratings, resamples: int, rng: np.random.Generator, n_cells: int | None = None
) -> Iterator[Floats]:
    """Resample items: how many of each resample are in each row."""
    counts = ratings.count_items(np.arange(ratings.n_rows), ratings.n_rows)
    return draw_counts(counts, resamples, rng, n_cells)


def _compute_votes(
    ratings: Ratings, systems: Sequence[str], method: str, resamples: int, rng: np.random.Generator
) -> Floats:
    """Compute a method that needs only votes, which gives the same number for both accuracies.

    The first steps are those of the raters, so that they are taken once for all systems.
    """
    several = [ratings.select_system(name).collapsed_votes for name in systems]
    row, kind, parts = np.arange(ratings.n_rows), "f8", []
    if ratings.cluster is None and MANY_ROWS <= ratings.n_items <= 2 * ratings.n_rows:
        row, kind = np.repeat(row, ratings.weights), "u4"
        drawn = draw_times(len(row), resamples, rng)
    else:
        many = _draw_rows(ratings, resamples, rng, n_cells=ratings.n_rows)
        drawn = (np.ascontiguousarray(weights.T) for weights in many)
    cells = [votes.find_cells(row, kind) for votes in several]
    for times in drawn:
        steps, of_systems = None, []
        for votes, of_cell in zip(several, cells, strict=True):
            counts = votes.lay_out((of_cell @ times).T)
            steps = steps or take_first_steps(votes, counts.sum(axis=-1))
            of_systems.append(VOTE_METHODS[method](votes, steps, counts[..., :-1]))
        parts.append(np.stack(of_systems, axis=1))
    return np.concatenate(parts)


def _refit(
    ratings: Ratings, model: str, resamples: int, seeds: Sequence[np.random.SeedSequence]
) -> tuple[Floats, Floats]:
    """Fit a latent-class model to each resample by maximum likelihood."""
    of_items, of_fits = map(make_rng, seeds)
    fitted, expected, in_sample = fit_by_likelihood(ratings, model), [], []
    for weights in _draw_rows(ratings, resamples, of_items):
        refits = intervals.refit_samples(fitted, fitted.sum_rows(weights), of_fits)
        expected.append(refits["accuracy"][:, -1])
        in_sample.append(refits["n_right"].sum(axis=1) / fitted.n_answered)
    return np.concatenate(expected), np.concatenate(in_sample)
