"""Several systems compared with gold labels, on the items to which they gave different answers.

Where all systems give the same answer they are right or wrong together, so that these items cancel
out of differences and ranks, and with them most of what biases a method. Among the other items, the
proportion on which each system is right is recalibrated by the known ones, as its accuracy in all
items is. Of two different answers at most one is right: how what is unknown of the systems is
correlated follows from the answers and the probabilities of the categories.
"""

from collections.abc import Mapping

import numpy as np

from lehner.contrasts.common_items import common_items
from lehner.contrasts.system_draws import JointDraws
from lehner.core.arrays import Floats, Integers
from lehner.core.estimate import Estimate
from lehner.core.seeds import Seed, generator
from lehner.data.ratings import Ratings
from lehner.known_truths.correction import (
    effective_items,
    own_variance,
    probabilities_with_answer,
)
from lehner.known_truths.partly_known import partly_known
from lehner.known_truths.recalibration import proportion_posterior

N_DRAWS = 4000
DOUBT = 0.02
"""Part of each item's probability that is given to all categories alike."""
FEWEST = 0.5
"""So many items are added to those that a system alone is right on, as by Jeffreys' prior."""


def correct_systems(
    ratings: Ratings, estimates: Mapping[str, Estimate], *, level: float = 0.9, seed: Seed = 1
) -> JointDraws:
    """Compare systems by the gold labels of some items, a random sample of all.

    Parameters
    ----------
    ratings : Ratings
        With the truth of some items, and several systems that answered the same items.
    estimates : mapping of str to Estimate
        For each of these systems, an estimate without the truths, with truth probabilities.
    level : float
        Probability of the intervals, which decides how much clusters of items widen them.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    JointDraws
        Of the proportion of all items on which each system is right where systems differ. The
        differences of these proportions are those of the accuracies.

    Notes
    -----
    In simulations (`experiments/simulations/system_differences_known_truths.csv`) with 10 to 100 of
    200 truths known, 90% intervals of the difference contain the true one in 91 to 99% of the data
    sets, and the error in the sample is .4 to .8 times that of the labelled items alone.

    Examples
    --------
    >>> from lehner import Scenario, estimate_algebraic, simulate
    >>> ratings = simulate(Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 4), 1)
    >>> both = np.stack([ratings.system, ratings.codes[:, 3]], axis=1)
    >>> known = np.where(np.arange(200) < 40, ratings.truth, -1)
    >>> some = Ratings(ratings.codes[:, :3], ratings.categories, system=both, truth=known)
    >>> unseen = some.with_truth(None)
    >>> found = {name: estimate_algebraic(unseen.for_system(name)) for name in some.systems}
    >>> first, second = correct_systems(some, found).points[0].values()
    >>> round(first - second, 3)
    0.05
    """
    from scipy.special import ndtr

    rng, names = generator(seed), list(estimates)
    answered = common_items(ratings, names)
    answers = ratings.answers[:, [ratings.systems.index(name) for name in names]]
    differ = answered & (answers != answers[:, :1]).any(axis=1)
    n_items, n_differ = (float(ratings.weights[rows].sum()) for rows in (answered, differ))
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    of_categories, posteriors, n_independent = [], [], n_items
    for name, answer in zip(names, answers.T, strict=True):
        probabilities = probabilities_with_answer(ratings.for_system(name), estimates[name])
        right = np.where(answered, probabilities[np.arange(ratings.n_rows), answer], 0.0)
        whole, part = (
            partly_known(ratings, rows, right, truth == answer) for rows in (answered, differ)
        )
        n_independent = min(n_independent, effective_items(whole, level))
        posteriors.append(proportion_posterior(part, own_variance(estimates[name])))
        of_categories.append(probabilities[differ])
    probability = (1 - DOUBT) * np.mean(of_categories, axis=0) + DOUBT / ratings.n_categories
    weights, answers = ratings.weights[differ], answers[differ]
    unknown = _both_right(answers, probability, weights, centred=True)
    scale = np.sqrt(np.diag(unknown))
    nothing = np.zeros(len(names))
    normal = rng.multivariate_normal(
        nothing, unknown / np.outer(scale, scale), N_DRAWS, method="eigh"
    )
    share = n_differ / n_items
    in_sample = np.array(
        [share * one.quantiles(ndtr(z)) for one, z in zip(posteriors, normal.T, strict=True)]
    )
    known = truth[differ] >= 0
    probability[known] = np.eye(ratings.n_categories)[truth[differ][known]]
    together = _both_right(answers, probability, weights) + FEWEST * np.eye(len(names))
    together /= n_items + FEWEST * len(names)
    of_items = together - np.outer(np.diag(together), np.diag(together))
    by_chance = rng.multivariate_normal(nothing, of_items / n_independent, N_DRAWS, method="eigh")
    points = {name: share * one.mean for name, one in zip(names, posteriors, strict=True)}
    return JointDraws(
        kind=posteriors[0].kind,
        expected=dict(zip(names, in_sample + by_chance.T, strict=True)),
        in_sample=dict(zip(names, in_sample, strict=True)),
        points=(points, points),
        corrected=True,
    )


def _both_right(
    answers: Integers, probability: Floats, weights: Integers, *, centred: bool = False
) -> Floats:
    """Expect on how many items two systems are right, or the covariance of these numbers."""
    right = np.take_along_axis(probability, answers, axis=1)
    same = answers[:, :, None] == answers[:, None, :]
    both = np.where(same, right[:, :, None], 0.0)
    if centred:
        both -= right[:, :, None] * right[:, None, :]
    return np.asarray(np.tensordot(weights, both, axes=1), dtype=float)
