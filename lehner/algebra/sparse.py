"""Truth probabilities, and sums over them, for items whose ratings are in few of many categories.

Categories of an item without a vote have probabilities in proportion to their base rates, so that
sums over all categories follow from sums over those that have votes. Samples are the last axis in
memory, as they are in the truth probabilities.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lehner.algebra.steps import FLAT
from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.lazy import sparse
from lehner.data.votes import CollapsedVotes

FEW = 20_000
"""Up to so many numbers of votes SciPy takes longer to load than it saves."""
SPARSE = 0.25


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseVotes:
    """Unique votes, and the categories in which they are, one after another.

    Parameters
    ----------
    votes : scipy.sparse.csr_array, shape (n_votes, n_categories)
        Number of ratings in each category.
    agreeing, pairs, most : ndarray of int, shape (n_votes,)
        Pairs of ratings that agree, all pairs, and the greatest number of votes.
    row, category, behind : ndarray of int, shape (n_voted,)
        Each category that has votes: of which votes, which it is, and how many fewer it has than
        the most frequent one.
    answer_row, answer, voted_answer : ndarray of int, shape (n_answers,)
        Each answer of the system: for which votes, its category, and which of those with votes that
        is, -1 if it has none.
    has_answer : ndarray of bool, shape (n_cells,)
        Which combinations of votes and answer have an answer.
    sum_cells, sum_voted, sum_answers : scipy.sparse.csr_array
        Which sum numbers of combinations, categories and answers over the same votes.
    """

    votes: Any
    agreeing: Integers
    pairs: Integers
    most: Integers
    row: Integers
    category: Integers
    behind: Integers
    answer_row: Integers
    answer: Integers
    voted_answer: Integers
    has_answer: Booleans
    sum_cells: Any
    sum_voted: Any
    sum_answers: Any


class SparseTruth(NamedTuple):
    """Truth probabilities of many samples.

    `voted` (n_voted, n_samples) are those of categories with votes, `others` (n_votes, n_samples)
    those of categories without, divided by their base rates, `rates` (n_categories, n_samples).
    """

    voted: Floats
    others: Floats
    rates: Floats


def find_sparse_votes(collapsed: CollapsedVotes) -> SparseVotes | None:
    """Lay votes out, if most of many categories have none; otherwise None.

    Parameters
    ----------
    collapsed : CollapsedVotes

    Returns
    -------
    SparseVotes or None
    """
    votes = collapsed.table.votes
    (n_votes, k), most = votes.shape, votes.max(axis=1, initial=0)
    row, category = np.nonzero(votes)
    if votes.size <= FEW or len(row) >= SPARSE * votes.size:
        return None

    def sums(rows: Integers) -> Any:
        return sparse.csr_array(
            (np.ones(len(rows)), (rows, np.arange(len(rows)))), (n_votes, len(rows))
        )

    of_cell, answer = np.divmod(collapsed.cell, k + 1)
    has_answer = answer < k
    answer_row, answer = of_cell[has_answer], answer[has_answer]
    place = np.searchsorted(row * k + category, answer_row * k + answer)
    return SparseVotes(
        votes=sparse.csr_array(votes.astype(float)),
        agreeing=collapsed.table.agreeing,
        pairs=collapsed.table.pairs,
        most=most,
        row=row,
        category=category,
        behind=most[row] - votes[row, category],
        answer_row=answer_row,
        answer=answer,
        voted_answer=np.where(votes[answer_row, answer] > 0, place, -1),
        has_answer=has_answer,
        sum_cells=sums(of_cell),
        sum_voted=sums(row),
        sum_answers=sums(answer_row),
    )


def sparse_truth(sparse: SparseVotes, log_odds: Floats, rates: Floats) -> tuple[SparseTruth, float]:
    """Take step 3, and give the least sum by which probabilities of an item were divided.

    Parameters
    ----------
    sparse : SparseVotes
    log_odds : ndarray, shape (n_samples,)
        Log odds of a right against a wrong rating.
    rates : ndarray, shape (n_samples, n_categories)

    Returns
    -------
    SparseTruth, float
    """
    prior = np.ascontiguousarray(rates.T)
    ladder = np.exp(-np.multiply.outer(np.arange(sparse.most.max(initial=0) + 1), log_odds))
    of_voted, none = prior[sparse.category], ladder[sparse.most]
    likely = of_voted * ladder[sparse.behind]
    total = sparse.sum_voted @ likely + none * np.maximum(1 - sparse.sum_voted @ of_voted, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        truth = SparseTruth(likely / total[sparse.row], none / total, prior)
    return truth, float(total.min())


def average_sparse_votes(sparse: SparseVotes, truth: SparseTruth, answers: Floats) -> Floats:
    """Take step 4 as `average_by_weights` does.

    Parameters
    ----------
    sparse : SparseVotes
    truth : SparseTruth
    answers : ndarray, shape (n_answers, n_samples)
        Number of items of each.

    Returns
    -------
    ndarray, shape (n_samples,)
    """
    (voted, others, rates), k = truth, len(truth.rates)
    of_voted, sums = rates[sparse.category], sparse.sum_voted
    # Squared distances of probabilities from 1/K, where there are votes and elsewhere.
    squares = sums @ (voted - 1 / k) ** 2
    squares += others**2 * ((rates**2).sum(axis=0) - sums @ of_voted**2)
    squares -= 2 / k * others * np.maximum(1 - sums @ of_voted, 0.0)
    squares += (k - np.diff(sums.indptr)[:, None]) / k**2
    informative = k / (k - 1) * ((sparse.sum_answers @ answers) * squares).sum(axis=0)
    has_votes = sparse.voted_answer[:, None] >= 0
    without = rates[sparse.answer] * others[sparse.answer_row]
    probability = np.where(has_votes, voted[sparse.voted_answer], without)
    numerator = (answers * (probability - 1 / k)).sum(axis=0) + informative / k
    defined = k / (k - 1) * informative > FLAT
    return np.clip(numerator / np.where(defined, informative, np.nan), 0.0, 1.0)


def sparse_products(sparse: SparseVotes) -> Callable[[SparseTruth, Floats], tuple[Floats, Floats]]:
    """Make a function that sums products of truth probabilities over items.

    Parameters
    ----------
    sparse : SparseVotes

    Returns
    -------
    callable
        A function of a SparseTruth and the numbers of answers, (n_answers, n_samples), that returns
        the products of probabilities with one another and with the answers, both of shape
        (n_samples, n_categories, n_categories).
    """
    k = sparse.votes.shape[1]
    first, second = (sparse.sum_voted.T @ sparse.sum_voted).nonzero()
    # Of a symmetric sum one half is enough.
    half = first <= second
    first, second = first[half], second[half]
    same = np.where(first == second, 0.5, 1.0)
    beside, answered = (sparse.sum_voted.T @ sparse.sum_answers).nonzero()
    both = sparse.category[first] * k + sparse.category[second]
    category_answer = sparse.category[beside] * k + sparse.answer[answered]

    def sum_sample(
        voted: Floats, others: Floats, rates: Floats, answers: Floats
    ) -> tuple[Floats, Floats]:
        # Probabilities are the outer product of `others` and `rates`, and more where there are
        # votes.
        more = voted - others[sparse.row] * rates[sparse.category]
        n_items = sparse.sum_answers @ answers
        weighted = n_items[sparse.row] * more
        gram = np.bincount(both, same * weighted[first] * more[second], k * k).reshape(k, k)
        gram += np.outer(np.bincount(sparse.category, weighted * others[sparse.row], k), rates)
        gram = gram + gram.T + n_items @ others**2 * np.outer(rates, rates)
        by_answer = np.bincount(category_answer, more[beside] * answers[answered], k * k)
        answered_without = np.bincount(sparse.answer, others[sparse.answer_row] * answers, k)
        return gram, by_answer.reshape(k, k) + np.outer(rates, answered_without)

    def products(truth: SparseTruth, answers: Floats) -> tuple[Floats, Floats]:
        samples = zip(*(values.T for values in truth), answers.T, strict=True)
        gram, by_answer = zip(*(sum_sample(*values) for values in samples), strict=True)
        return np.array(gram), np.array(by_answer)

    return products
