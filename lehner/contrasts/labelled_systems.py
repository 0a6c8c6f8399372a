"""Several systems compared by gold labels alone, on the same items."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from lehner.contrasts.systems import find_common, require_common_items
from lehner.core.arrays import Floats, Integers, Seed, make_rng
from lehner.core.draws import Draws
from lehner.core.errors import InputError
from lehner.core.estimate import ESTIMANDS
from lehner.data.estimable import find_mean_widening
from lehner.data.ratings import Ratings

DRAWS = 4000
# The prior counts as so many items for each of the ways in which systems can be right together.
PSEUDO_ITEMS = 0.5
# The prior of items on which systems differ, if none has a label, is made from so many of them.
MOST_UNLABELLED = 200
KIND = "paired gold labels"


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
    require_common_items(ratings, systems)
    common = ratings.take(find_common(ratings, systems))
    answers = common.answers[:, [common.systems.index(name) for name in systems]]
    labelled = np.zeros(common.n_rows, bool) if common.truth is None else common.truth >= 0
    if not labelled.any():
        raise InputError("no item that all systems answered has a gold label", "label some of them")
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
    truth = np.full(stratum.n_rows, -1) if stratum.truth is None else stratum.truth
    size, rows = stratum.weights.astype(float), truth >= 0
    right = (answers == truth[:, None])[rows].astype(float)
    weight = size[rows]
    if stratum.truth_probability is not None:
        weight = weight / stratum.truth_probability[rows]
    labels = weight
    if rows.any():
        n_equal = weight.sum() ** 2 / (weight**2 / size[rows]).sum()
        labels = weight * n_equal / weight.sum() / _find_effect(stratum, right, level)
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
    if stratum.cluster is None:
        return 1.0
    rows = np.asarray(stratum.truth) >= 0
    # Where systems differ, only who is right counts, and not how many are.
    means = right.mean(axis=1, keepdims=True) if np.ptp(right, axis=1).any() else 0.0
    values = np.zeros((stratum.n_rows, right.shape[1]))
    values[rows] = right - means
    weights = stratum.weights * rows.astype(float)
    return max(find_mean_widening(stratum, x, weights, level) for x in values.T) ** 2
