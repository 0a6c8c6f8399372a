"""Methods that need only votes: many samples at once."""

from collections.abc import Callable, Sequence

import numpy as np

from lehner.algebra.algebraic import FirstSteps, first_steps
from lehner.algebra.system_accuracy import by_bins, by_likelihood, by_weights
from lehner.core.arrays import Floats, Integers
from lehner.core.checks import find
from lehner.data.options import names_of
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
    rated = votes.sum(axis=1) > 0
    tied = votes == votes.max(axis=1, keepdims=True)
    share = np.where(rated[:, None], tied / tied.sum(axis=1, keepdims=True), 0.0)
    used = (answers * rated[:, None]).sum(axis=(-2, -1))
    return np.asarray((answers * share).sum(axis=(-2, -1)) / np.where(used > 0, used, np.nan))


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
