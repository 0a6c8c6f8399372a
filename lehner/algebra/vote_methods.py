"""Methods that need only votes, for many samples at once; the naive ones also for ratings.

The naive measures are agreement with the majority, and the mean truth probability.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from lehner.algebra.algebraic import FirstSteps, estimate_algebraic, first_steps
from lehner.algebra.system_accuracy import by_bins, by_likelihood, by_weights
from lehner.core.arrays import Floats, Integers
from lehner.core.checks import check_level, find
from lehner.core.estimate import Estimate, IntervalEstimate, number, require_estimable
from lehner.core.warning import Warning, warn
from lehner.core.wilson import wilson_interval
from lehner.data.clusters import widening_of
from lehner.data.options import names_of
from lehner.data.ratings import Ratings
from lehner.data.votes import VoteTable


def majority_proportion(votes: Integers, answers: Floats) -> Floats:
    """Agreement of the system with the majority; tied categories share the item.

    Parameters
    ----------
    votes : ndarray of int, shape (n_votes, n_categories)
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number of items with these votes and each system answer.

    Returns
    -------
    ndarray, shape (n_samples,)
    """
    used = (answers * (votes.sum(axis=1) > 0)[:, None]).sum(axis=(-2, -1))
    agreeing = (answers * majority_credit(votes)).sum(axis=(-2, -1))
    return np.asarray(agreeing / np.where(used > 0, used, np.nan))


def majority_credit(votes: Integers) -> Floats:
    """Give what an answer in each category counts, (n_votes, n_categories): 1/m if m are tied."""
    tied = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    return np.asarray(tied / np.maximum(tied.sum(axis=1, keepdims=True), 1))


def mean_truth_probability(truth: Floats, answers: Floats) -> Floats:
    """Average the truth probability of the system's answers; arrays as in step 4."""
    return np.asarray((truth * answers).sum(axis=(-2, -1)) / answers.sum(axis=(-2, -1)))


type VoteMethod = Callable[[VoteTable, FirstSteps, Floats], Floats]

VOTE_METHODS: dict[str, VoteMethod] = {
    "algebraic": lambda table, steps, answers: by_weights(steps.truth, answers),
    "algebraic_likelihood": lambda table, steps, answers: by_likelihood(steps.truth, answers),
    "algebraic_paper": lambda table, steps, answers: by_bins(steps.truth, answers),
    "majority_agreement": lambda table, steps, answers: majority_proportion(table.votes, answers),
    "mean_posterior": lambda table, steps, answers: mean_truth_probability(steps.truth, answers),
}


def find_vote_methods(names: str | Sequence[str]) -> tuple[str, ...]:
    """Raise an InputError unless all are names of methods that need only votes."""
    names = names_of(names)
    for name in names:
        find("method that needs only votes called", name, VOTE_METHODS)
    return names


def estimate_from_votes(
    table: VoteTable, answers: Floats, methods: Sequence[str]
) -> dict[str, Floats]:
    """Estimate the system's accuracy in many samples in which the system answered every item.

    Parameters
    ----------
    table : VoteTable
    answers : ndarray, shape (n_samples, n_votes, n_categories)
        Number, or proportion, of items with these votes and each system answer.
    methods : sequence of str
        Names of `VOTE_METHODS`.

    Returns
    -------
    dict
        Arrays (n_samples,): the estimates by method, `kappa` and `rater_accuracy`.
    """
    # Samples are the last axis in memory, as they are in the truth probabilities.
    answers = np.asarray(answers, dtype=float, order="F")
    steps = first_steps(table, answers.sum(axis=-1))
    estimates = {name: VOTE_METHODS[name](table, steps, answers) for name in methods}
    return estimates | {"kappa": steps.kappa, "rater_accuracy": steps.accuracy}


def majority_agreement(ratings: Ratings, *, level: float = 0.9) -> Estimate:
    """Take the majority of the raters for the truth and report the system's agreement with it.

    Categories that tie for the majority share the item: the system's answer counts 1/m if it
    is one of m. Items without ratings or without an answer of the system are left out.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    level : float
        Probability of the interval.

    Returns
    -------
    Estimate
        The interval of the system's accuracy is Wilson's, as if the majority were never wrong; in
        the sample there would be no error then, and there is no interval.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters.

    References
    ----------
    Lehner (2015) compares the algebra with it.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> majority_agreement(load_dataset("lehner_table2")).system_accuracy.estimate
    0.5
    """
    require_estimable(ratings)
    check_level(level)
    votes, answers = ratings.votes(), _answers(ratings)
    agreeing = float(majority_proportion(votes, answers))
    reason = warn("too-few-ratings", "no item has both ratings and an answer")
    found = _point("majority_agreement", ratings, agreeing, reason)
    if np.isnan(agreeing):
        return found
    z = NormalDist().inv_cdf((1 + level) / 2)
    used = answers.sum(axis=1) * (votes.sum(axis=1) > 0)
    agrees = (majority_credit(votes) * (answers > 0)).sum(axis=1)
    factor = widening_of(ratings, agrees, used, level)
    lower, upper = wilson_interval(agreeing, used.sum() / factor**2, z=z)
    accuracy = IntervalEstimate(
        estimate=agreeing, lower=float(lower), upper=float(upper), level=level, kind="Wilson"
    )
    return replace(found, system_accuracy=accuracy)


def mean_posterior(ratings: Ratings) -> Estimate:
    """Average the algebra's truth probability of the system's answers.

    It underestimates the accuracy of a system better than the raters (Lehner 2015, after
    Table 4): the system's answer is evidence too.

    Parameters
    ----------
    ratings : Ratings
        With a system.

    Returns
    -------
    Estimate
        It has no interval.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters.

    References
    ----------
    Lehner (2015), Table 3 for the truth probabilities.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> round(mean_posterior(load_dataset("lehner_table2")).system_accuracy.estimate, 3)
    0.466
    """
    algebra = estimate_algebraic(ratings, interval=None)
    truth = algebra.arrays["truth_probabilities"]
    point = float(mean_truth_probability(truth.values, _answers(ratings)))
    return _point("mean_posterior", ratings, point, *algebra.warnings)


def _answers(ratings: Ratings) -> Floats:
    """Count the items of each row by the system's answer."""
    system = np.asarray(ratings.system)
    return (system[:, None] == np.arange(ratings.n_categories)) * ratings.weights[:, None]


def _point(method: str, ratings: Ratings, value: float, *reasons: Warning) -> Estimate:
    """The estimate, or the reasons why it is undefined."""
    accuracy = IntervalEstimate(estimate=number(value))
    return Estimate(
        method=method,
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        warnings=reasons if np.isnan(value) else (),
    )
