"""Several systems compared by gold labels alone, on the same items."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from lehner.contrasts.systems import find_common, require_common_items
from lehner.core.arrays import Floats, Integers, Seed, make_rng
from lehner.core.errors import InputError
from lehner.core.estimate import ESTIMANDS, Draws
from lehner.data.estimable import count_truths, find_mean_widening
from lehner.data.ratings import Ratings

DRAWS = 4000
# The prior counts as so many items for each of the ways in which systems can be right together.
PSEUDO_ITEMS = 0.5
# The draws of a proportion vary as if there were about so many more labels, because of its prior.
MORE_LABELS = 2.0
# The prior of items on which systems differ, if none has a label, is made from so many of them.
MOST_UNLABELLED = 200
ROUNDING = 1e-9
KIND = "paired gold labels"
# Draws of tables are made in chunks, and of many categories there are fewer.
CHUNK, LEAST_DRAWS, MOST_NUMBERS = 100, 500, 4_000_000


def draw_labelled_systems(
    ratings: Ratings, systems: Sequence[str], *, level: float, seed: Seed
) -> Draws:
    """Draw the accuracies of several systems jointly from the gold labels of a sample of items.

    Systems are right together, or wrong together, on the items to which they gave the same answer,
    and how many these are is known without labels. Only labels of the other items tell systems
    apart. The posterior of which systems are right together is a Dirichlet distribution in each of
    these two strata of items.

    Parameters
    ----------
    ratings : Ratings
        With these systems, and the truth of some items.
    systems : sequence of str
        Those to compare, on the items that all of them answered.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same draws.

    Returns
    -------
    Draws
        Accuracies by system.

    Raises
    ------
    InputError
        If no item was answered by all systems, or none of those has a gold label.

    Examples
    --------
    >>> answers = [[0, 0], [1, 1], [0, 1], [1, 0], [1, 0]]
    >>> truth = [0, 1, 1, 0, -1]
    >>> ratings = Ratings(np.empty((5, 0)), ["no", "yes"], system=answers, truth=truth)
    >>> draws = draw_labelled_systems(ratings, ratings.systems, level=0.9, seed=1)
    >>> draws.point["system_accuracy"].round(2).tolist()
    [0.4, 1.0]
    """
    common, answers = _take_common(ratings, systems)
    rng = make_rng(seed)
    differ = (answers != answers[:, :1]).any(axis=1)
    size = common.weights.astype(float)
    effect = find_mean_widening(common, differ.astype(float), size, level) ** 2
    sizes = np.array([size[~differ].sum(), size[differ].sum()])
    drawn_sizes = rng.standard_gamma(sizes / effect + PSEUDO_ITEMS * (sizes > 0), (DRAWS, 2))
    shares = np.concatenate([sizes[None], drawn_sizes])
    shares /= shares.sum(axis=1, keepdims=True)
    values = dict.fromkeys(ESTIMANDS, np.zeros((DRAWS + 1, len(systems))))
    for stratum, rows in enumerate((~differ, differ)):
        if rows.any():
            counted = _count_ways(common.take(rows), answers[rows], level)
            for quantity, finite in zip(ESTIMANDS, (False, True), strict=True):
                share = shares[:1, [stratum]] if finite else shares[:, [stratum]]
                values[quantity] = values[quantity] + share * counted.draw_right(rng, finite=finite)
    return Draws(
        point={name: value[0] for name, value in values.items()},
        drawn={name: value[1:] for name, value in values.items()},
        coords={"system": tuple(systems)},
        kind=KIND,
        corrected=True,
    )


def draw_tables(ratings: Ratings, systems: Sequence[str], *, level: float, seed: Seed) -> Draws:
    """Draw base rates and confusion matrices of several systems jointly from gold labels.

    How often a system gives an answer is known without labels; among its items with one answer, the
    labelled ones tell what is true. What a label counts for in a draw is the same for all systems.

    Parameters
    ----------
    ratings, systems, level, seed
        As of `draw_labelled_systems`.

    Returns
    -------
    Draws
        By system: what `Measure.compute` takes. Draws have a label more for each answer of a
        system; the estimate has one only where it would be undefined without.

    Raises
    ------
    InputError
        As of `draw_labelled_systems`.

    Examples
    --------
    >>> answers = [[0, 0], [1, 1], [0, 1], [1, 0], [1, 0]]
    >>> truth = [0, 1, 1, 0, -1]
    >>> ratings = Ratings(np.empty((5, 0)), ["no", "yes"], system=answers, truth=truth)
    >>> draws = draw_tables(ratings, ratings.systems, level=0.9, seed=1)
    >>> draws.point["confusion"][1].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    common, answers = _take_common(ratings, systems)
    rng, k, rows = make_rng(seed), common.n_categories, np.asarray(common.truth) >= 0
    truth, size = np.asarray(common.truth)[rows], common.weights.astype(float)
    right = (answers[rows] == truth[:, None]).astype(float)
    weight, squares = _weigh_labels(common)
    usual = (answers == np.bincount(answers.ravel()).argmax()).astype(float)
    effect = max(find_mean_widening(common, x, size, level) for x in usual.T) ** 2
    given, of_given = np.unique(answers, axis=0, return_inverse=True)
    cells, of_cells = np.unique(np.c_[truth, answers[rows]], axis=0, return_inverse=True)
    sums = np.bincount(of_cells, weight)
    n_equal = sums**2 / np.bincount(of_cells, squares) / _find_effect(common, right, level)
    counts = np.bincount(of_given, size / effect), n_equal
    tabulate = partial(_tabulate, cells=(given, cells), k=k, weights=(sums, n_equal))
    parts = [tabulate(counts)]
    for n in [CHUNK] * (max(LEAST_DRAWS, min(DRAWS, MOST_NUMBERS // k**2)) // CHUNK):
        sizes, drawn = (rng.standard_gamma(count, (n, len(count))) for count in counts)
        prior = rng.standard_gamma(1 / k, (n, k)), _draw_prior(rng, n, given, counts[0], k)
        parts.append(tabulate((sizes, drawn), prior=prior))
    return Draws(
        point={name: values[0] for name, values in parts[0].items()},
        drawn={name: np.concatenate([part[name] for part in parts[1:]]) for name in parts[0]},
        coords={"system": tuple(systems), "category": common.categories},
        kind=KIND,
        corrected=True,
    )


def _take_common(ratings: Ratings, systems: Sequence[str]) -> tuple[Ratings, Integers]:
    """Take the items that all systems answered, and their answers; some must have a gold label."""
    require_common_items(ratings, systems)
    common = ratings.take(find_common(ratings, systems))
    if not count_truths(common):
        raise InputError("no item that all systems answered has a gold label", "label some of them")
    return common, common.answers[:, [common.systems.index(name) for name in systems]]


def _tabulate(
    counts: tuple[Floats, Floats],
    cells: tuple[Integers, Integers],
    k: int,
    weights: tuple[Floats, Floats],
    prior: tuple[Floats, Floats] | None = None,
) -> dict[str, Floats]:
    """Make base rates and confusion matrices, (n_draws, n_systems, ...), of items and labels.

    Labels with one answer of a system count as so many as tell as much, and their truths weigh as
    the probabilities of being labelled say.
    """
    tables = []
    sizes, labels = map(np.atleast_2d, counts)
    scale = weights[0] / weights[1]
    for system, given in enumerate(cells[0].T):
        shares = (sizes @ np.eye(k)[given])[:, None]
        of_label = np.eye(k * k)[cells[1][:, 0] * k + cells[1][:, system + 1]]
        known = ((labels * scale) @ of_label).reshape(-1, k, k)
        weight, n_equal = ((x @ of_label).reshape(k, k).sum(axis=0) for x in weights)
        known *= np.divide(n_equal, weight, out=np.ones(k), where=weight > 0)
        if prior is None:
            # No label is of a category that the system answers, or of items with an answer.
            unseen = ~known.any(axis=2, keepdims=True) & np.swapaxes(shares > 0, 1, 2)
            known += (unseen | ~known.any(axis=1, keepdims=True)) / k
        else:
            shares, known = shares + prior[0][:, None], known + prior[1][:, system]
        tables.append(shares * known / known.sum(axis=1, keepdims=True))
    joint = np.stack(tables, axis=1)
    true = joint.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        rates = true / true.sum(axis=-1, keepdims=True)
        return {"base_rates": rates, "confusion": joint / true[..., None]}


def _draw_prior(rng: Generator, n: int, given: Integers, size: Floats, k: int) -> Floats:
    """Draw a label more for each answer of each system, (n, n_systems, n_truths, n_answers).

    It is of a random item with this answer, and any category may be true. Systems share it if they
    share the item. Where labels are few, draws reach both certainties.
    """
    shape, draws = (n, len(given)), np.arange(n)
    turn = rng.standard_exponential(shape) / np.maximum(size, ROUNDING)
    truth, mass = rng.integers(k, size=shape), rng.standard_exponential(shape)
    prior = np.zeros((n, given.shape[1], k, k))
    for system, code in np.ndindex(given.shape[1], k):
        rows = np.flatnonzero(given[:, system] == code)
        row = rows[turn[:, rows].argmin(axis=1)] if len(rows) else 0
        prior[draws, system, truth[draws, row], code] = mass[draws, row]
    return prior


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedWays:
    """The ways in which systems are right together on items of a stratum, and how often each is.

    Parameters
    ----------
    ways : ndarray, shape (n_ways, n_systems)
        Which systems are right: 1, or 0.
    labels, prior : ndarray, shape (n_ways,)
        How many independent items with labels, and how many items of the prior, are so.
    labelled : float
        What part of the items is labelled.
    """

    ways: Floats
    labels: Floats
    prior: Floats
    labelled: float

    def draw_right(self, rng: Generator, *, finite: bool) -> Floats:
        """Draw the proportion on which each system is right, the estimate first.

        Parameters
        ----------
        rng : numpy.random.Generator
        finite : bool
            Whether it is asked of these items alone, and not of items like these.

        Returns
        -------
        ndarray, shape (1 + DRAWS, n_systems)
        """
        counts = self.labels if self.labels.any() else self.prior
        point = counts @ self.ways / counts.sum()
        unlabelled = 1 - self.labelled if finite else 1.0
        if unlabelled <= 0:
            return np.broadcast_to(point, (1 + DRAWS, len(point)))
        drawn = rng.standard_gamma(self.labels / unlabelled + self.prior, (DRAWS, len(self.ways)))
        return np.concatenate([point[None], drawn @ self.ways / drawn.sum(axis=1, keepdims=True)])


def _count_ways(stratum: Ratings, answers: Integers, level: float) -> CountedWays:
    """Count in which ways systems are right together, where the truth is known.

    In the prior each answer that a system gave to an item is as probable as that none is right.
    """
    truth, size = np.asarray(stratum.truth), stratum.weights.astype(float)
    rows = truth >= 0
    right = (answers == truth[:, None])[rows].astype(float)
    weight, squares = _weigh_labels(stratum)
    n_equal = weight.sum() / max(squares.sum(), ROUNDING)
    labels = weight * n_equal / _find_effect(stratum, right, level)
    if stratum.cluster is None:
        labels /= 1 + MORE_LABELS / max(labels.sum(), 1.0)
    base = answers[rows] if rows.any() else answers[:MOST_UNLABELLED]
    possible, prior = _list_ways(base, stratum.n_categories)
    ways, index = np.unique(np.concatenate([right, possible]), axis=0, return_inverse=True)
    of_labels, of_prior = np.split(index, [len(labels)])
    return CountedWays(
        ways=ways,
        labels=np.bincount(of_labels, labels, minlength=len(ways)),
        prior=np.bincount(of_prior, prior, minlength=len(ways)),
        labelled=size[rows].sum() / size.sum(),
    )


def _weigh_labels(stratum: Ratings) -> tuple[Floats, Floats]:
    """Give the weight of each labelled row, and the sum of the squared weights of its items."""
    rows = np.asarray(stratum.truth) >= 0
    size, chances = stratum.weights[rows].astype(float), stratum.truth_probability
    weight = size if chances is None else size / chances[rows]
    return weight, weight**2 / size


def _list_ways(answers: Integers, n_categories: int) -> tuple[Floats, Floats]:
    """List in which ways systems could be right, and how many items of the prior are so."""
    possible, prior = [], []
    for row in answers:
        answered = np.unique(row)
        truths = np.append(answered, -1) if len(answered) < n_categories else answered
        possible.append(row == truths[:, None])
        prior.append(np.full(len(truths), PSEUDO_ITEMS / len(answers)))
    return np.concatenate(possible).astype(float), np.concatenate(prior)


def _find_effect(stratum: Ratings, right: Floats, level: float) -> float:
    """Give the largest design effect of clusters on how often systems are right, and differ."""
    if stratum.cluster is None or not len(right):
        return 1.0
    rows = np.asarray(stratum.truth) >= 0
    # Where systems differ, only who is right counts, and not how many are.
    means = right.mean(axis=1, keepdims=True) if np.ptp(right, axis=1).any() else 0.0
    values = np.zeros((stratum.n_rows, right.shape[1]))
    values[rows] = right - means
    weights = stratum.weights * rows.astype(float)
    return max(find_mean_widening(stratum, x, weights, level) for x in values.T) ** 2
