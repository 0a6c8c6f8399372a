"""Truth probabilities, and sums over them, for items whose ratings are in few of many categories.

Categories of an item without a vote have probabilities in proportion to their base rates, so that
sums over all categories follow from sums over those that have votes. Samples are the last axis in
memory, as they are in the truth probabilities.
"""

from typing import NamedTuple

import numpy as np

from lehner.algebra.steps import (
    FLAT,
    FULL_PRECISION,
    clip_base_rates,
    log_odds_right,
    steps_1_and_2,
)
from lehner.core.arrays import Floats
from lehner.core.lazy import sparse
from lehner.data.patterns import CollapsedVotes

FEW = 20_000
"""Up to so many numbers of votes SciPy takes longer to load than it saves."""
SPARSE = 0.25


class SparseTruth(NamedTuple):
    """Truth probabilities of many samples.

    `voted` (n_voted, n_samples) are those of categories with votes, `others` (n_votes, n_samples)
    those of categories without, divided by their base rates, `rates` (n_categories, n_samples).
    """

    voted: Floats
    others: Floats
    rates: Floats


def find_sparse_votes(collapsed: CollapsedVotes) -> "SparseVotes | None":
    """Lay votes out, if most of many categories have none; otherwise None."""
    votes = collapsed.table.votes
    if votes.size <= FEW or np.count_nonzero(votes) >= SPARSE * votes.size:
        return None
    return SparseVotes(collapsed)


class SparseVotes:
    """The categories that have votes, one after another, and the system's answers.

    Parameters
    ----------
    collapsed : CollapsedVotes
    """

    def __init__(self, collapsed: CollapsedVotes) -> None:
        self.table = collapsed.table
        votes = self.table.votes
        (n_votes, k), self.most = votes.shape, votes.max(axis=1, initial=0)
        self.row, self.category = np.nonzero(votes)
        self.behind = self.most[self.row] - votes[self.row, self.category]
        of_cell, answer = np.divmod(collapsed.cell, k + 1)
        self.has_answer = answer < k
        self.answer_row, self.answer = of_cell[self.has_answer], answer[self.has_answer]
        # Which of the categories with votes an answer is, if it is one.
        code = self.row * k + self.category
        self.place = np.searchsorted(code, self.answer_row * k + self.answer)
        self.has_votes = votes[self.answer_row, self.answer] > 0
        self.sum_cells, self.sum_voted, self.sum_answers = (
            sparse.csr_array(
                (np.ones(len(rows)), (rows, np.arange(len(rows)))), (n_votes, len(rows))
            )
            for rows in (of_cell, self.row, self.answer_row)
        )

    def take_steps(self, weights: Floats) -> tuple[Floats, Floats, SparseTruth | None]:
        """Take steps 1 to 3 for many samples.

        Parameters
        ----------
        weights : ndarray, shape (n_samples, n_cells)
            Number of items with each combination of votes and answer.

        Returns
        -------
        accuracy : ndarray, shape (n_samples,)
        base_rates : ndarray, shape (n_samples, n_categories)
        truth : SparseTruth or None
            None if probabilities are undefined or too small: `first_steps` computes them otherwise.
        """
        n_items, table = (self.sum_cells @ weights.T).T, self.table
        totals = (sparse.csr_array(table.votes.T.astype(float)) @ n_items.T).T
        _, accuracy, raw = steps_1_and_2(n_items, table.agreeing, table.pairs, totals)
        rates = clip_base_rates(raw)
        prior, log_odds = np.ascontiguousarray(rates.T), log_odds_right(accuracy, rates.shape[1])
        ladder = np.exp(-np.multiply.outer(np.arange(self.most.max(initial=0) + 1), log_odds))
        of_voted, none = prior[self.category], ladder[self.most]
        likely = of_voted * ladder[self.behind]
        left = np.maximum(1 - self.sum_voted @ of_voted, 0.0)
        total = self.sum_voted @ likely + none * left
        if not total.min() >= FULL_PRECISION:
            return accuracy, rates, None
        return accuracy, rates, SparseTruth(likely / total[self.row], none / total, prior)

    def average(self, truth: SparseTruth, answers: Floats) -> Floats:
        """Take step 4 as `average_by_weights` does, from numbers of answers, (n_answers, n)."""
        (voted, others, rates), k = truth, len(truth.rates)
        of_voted, sums = rates[self.category], self.sum_voted
        # Squared distances of probabilities from 1/K, where there are votes and elsewhere.
        squares = sums @ (voted - 1 / k) ** 2
        squares += others**2 * ((rates**2).sum(axis=0) - sums @ of_voted**2)
        squares -= 2 / k * others * np.maximum(1 - sums @ of_voted, 0.0)
        squares += (k - np.diff(sums.indptr)[:, None]) / k**2
        informative = k / (k - 1) * ((self.sum_answers @ answers) * squares).sum(axis=0)
        without = rates[self.answer] * others[self.answer_row]
        place = np.where(self.has_votes, self.place, 0)
        probability = np.where(self.has_votes[:, None], voted[place], without)
        numerator = (answers * (probability - 1 / k)).sum(axis=0) + informative / k
        defined = k / (k - 1) * informative > FLAT
        return np.clip(numerator / np.where(defined, informative, np.nan), 0.0, 1.0)

    def multiply(self, truth: SparseTruth, answers: Floats) -> tuple[Floats, Floats]:
        """Sum products of truth probabilities, with one another and with the answers, over items.

        Both are of shape (n_samples, n_categories, n_categories).
        """
        shape = self.table.votes.shape
        gram, by_answer = [], []
        for voted, others, rates, n in zip(*(values.T for values in truth), answers.T, strict=True):
            # Probabilities are the outer product of `others` and `rates`, and more where there are
            # votes.
            more = voted - others[self.row] * rates[self.category]
            more = sparse.csr_array((more, (self.row, self.category)), shape)
            of_answers = sparse.csr_array((n, (self.answer_row, self.answer)), shape)
            n_items = of_answers.sum(axis=1)
            shared = np.outer(more.T @ (n_items * others), rates)
            same = (more.T @ more.multiply(n_items[:, None]).tocsr()).toarray()
            gram.append(same + shared + shared.T + n_items @ others**2 * np.outer(rates, rates))
            by_answer.append((more.T @ of_answers).toarray() + np.outer(rates, others @ of_answers))
        return np.array(gram), np.array(by_answer)
