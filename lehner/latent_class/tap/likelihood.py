"""The likelihood of the t-a-p model: its value, its gradient, a step of EM, its curvature.

Parameters are kept as a point `x` of shape (n_categories + n_groups * (n_categories + 1),): the
base rates, then for each group of raters the probability of knowing the truth followed by those
of guessing each category (knowledge a, then (1 - a) p). Each of these blocks sums to 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.arrays import TINY, Floats, Integers
from lehner.core.class_posterior import class_posterior
from lehner.data.ratings import Ratings
from lehner.latent_class.expectation_maximisation import side_by_side

if TYPE_CHECKING:
    from scipy.sparse import csr_array


UPDATES = 10
"""Updates of who guessed in a step of EM; they are cheap, and save many updates of the truths."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupVotes:
    """Number of ratings in each category by each group of raters.

    Raters of a group are alike to the model, so that their ratings are counted together.

    Parameters
    ----------
    votes : scipy.sparse.csr_array, shape (n_patterns, n_groups * n_categories)
    weights : ndarray, shape (n_patterns,)
        Number of items.
    inverse : ndarray of int, shape (n_rows,)
        The pattern of each row of the ratings.
    group : ndarray of int, shape (n_raters,)
        The group of each rater; a system is the last.
    n_categories : int
    """

    votes: "csr_array"
    weights: Floats
    inverse: Integers
    group: Integers
    n_categories: int

    @property
    def n_groups(self) -> int:
        """Number of groups of raters."""
        return self.votes.shape[1] // self.n_categories

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """Give base rates, (n_categories,), and (n_groups, n_categories + 1)."""
        k = self.n_categories
        return x[:k], x[k:].reshape(self.n_groups, k + 1)

    def rows(self) -> Integers:
        """Give, for each coordinate, the index of the part that sums to 1."""
        lengths = [self.n_categories] + [self.n_categories + 1] * self.n_groups
        return np.repeat(np.arange(len(lengths)), lengths)

    def blocks(self) -> Iterator[slice]:
        """Give the parts of a point that sum to 1."""
        k = self.n_categories
        yield slice(0, k)
        for start in range(k, k + self.n_groups * (k + 1), k + 1):
            yield slice(start, start + k + 1)

    def totals(self) -> Floats:
        """Count the ratings, shape (n_groups, n_categories)."""
        return np.asarray(self.votes.T @ self.weights).reshape(self.n_groups, -1)


def group_votes(ratings: Ratings, *, by_rater: bool) -> GroupVotes:
    """Count votes by group: a group for each rater, or one for all; the system's group comes last.

    Parameters
    ----------
    ratings : Ratings
    by_rater : bool

    Returns
    -------
    GroupVotes
    """
    from scipy.sparse import csr_array

    patterns = ratings.patterns(truth=False)
    flat, k = patterns.flat, ratings.n_categories
    group = np.arange(ratings.n_raters) if by_rater else np.zeros(ratings.n_raters, np.int64)
    if patterns.has_system:
        group = np.append(group, group.max(initial=-1) + 1)
    column = group[flat.rater_index] * k + flat.category_index
    shape = (len(patterns.counts), (int(group.max(initial=-1)) + 1) * k)
    return GroupVotes(
        votes=csr_array((np.ones(len(column)), column, patterns.starts), shape=shape),
        weights=patterns.counts.astype(float),
        inverse=patterns.inverse,
        group=group,
        n_categories=k,
    )


def log_orderings(ratings: Ratings) -> float:
    """Give the log of the number of ways to assign anonymous ratings to raters.

    If it is unknown who gave which rating, only the number of ratings in each category is observed,
    and its probability is the sum over all such assignments. 0 if raters are named.
    """
    from scipy.special import gammaln

    if not ratings.anonymous:
        return 0.0
    votes = ratings.votes()
    orders = gammaln(votes.sum(axis=1) + 1) - gammaln(votes + 1).sum(axis=1)
    return float(ratings.weights @ orders)


def confusion(mixture: Floats) -> Floats:
    """Give confusion matrices, shape (..., n_groups, n_categories, n_responses)."""
    known = mixture[..., :1, None] * np.eye(mixture.shape[-1] - 1)
    return np.asarray(known + mixture[..., None, 1:])


def expect(data: GroupVotes, x: Floats) -> tuple[Floats, Floats]:
    """Give the probability of each class given an item's ratings, and of the ratings.

    Returns
    -------
    classes : ndarray, shape (n_patterns, n_categories)
    log_probability : ndarray, shape (n_patterns,)
    """
    base_rates, mixture = data.split(x)
    log_confusion = np.log(np.maximum(confusion(mixture), TINY))
    log = side_by_side(data.votes @ log_confusion.swapaxes(1, 2).reshape(-1, data.n_categories))
    log += np.log(np.maximum(base_rates, TINY))[:, None]
    classes, log_probability = class_posterior(log, axis=0)
    return classes.T, log_probability


def log_likelihood(data: GroupVotes, x: Floats) -> float:
    """Sum over items the log probability of their ratings."""
    return float(data.weights @ expect(data, x)[1])


def _expected_counts(data: GroupVotes, classes: Floats) -> tuple[Floats, Floats]:
    """Count items by class and ratings by group, class and response, as expected."""
    k = data.n_categories
    weighted = data.weights[:, None] * classes
    ratings = (data.votes.T @ weighted).reshape(data.n_groups, k, k).swapaxes(1, 2)
    return weighted.sum(axis=0), ratings


def em_step(data: GroupVotes, x: Floats) -> tuple[Floats, float]:
    """Take a step of EM in which both the truth and who guessed are unobserved.

    A rating of the true category was known with probability a / (a + (1 - a) p), any other was
    guessed; so knowledge and guesses have a closed form for any number of categories, given these
    probabilities, which are updated several times for one update of those of the truth.

    Returns
    -------
    x : ndarray
        The new point; groups without ratings do not change.
    log_likelihood : float
        The log-likelihood before the step.
    """
    classes, log_probability = expect(data, x)
    items, ratings = _expected_counts(data, classes)
    mixture = most_likely_mixture(ratings, data.split(x)[1])
    moved = np.concatenate([items / items.sum(), mixture.ravel()])
    return moved, float((data.weights * log_probability).sum())


def most_likely_mixture(ratings: Floats, before: Floats) -> Floats:
    """Estimate knowledge and guesses of groups, given their ratings by class.

    Parameters
    ----------
    ratings : ndarray, shape (..., n_groups, n_categories, n_responses)
        Expected number of ratings.
    before : ndarray, shape (..., n_groups, n_categories + 1)
        Start of the updates: the probabilities of knowing, and of guessing each category. Groups
        without ratings stay there.

    Returns
    -------
    ndarray, shape (..., n_groups, n_categories + 1)
    """
    right, given = np.diagonal(ratings, axis1=-2, axis2=-1), ratings.sum(axis=-2)
    total = given.sum(axis=-1, keepdims=True)
    mixture = before
    for _ in range(UPDATES):
        share = mixture[..., :1] / np.maximum(mixture[..., :1] + mixture[..., 1:], TINY)
        known = right * share
        counts = [known.sum(axis=-1, keepdims=True), np.maximum(given - known, 0)]
        mixture = np.concatenate(counts, axis=-1) / np.maximum(total, TINY)
    return np.where(total > 0, mixture, before)


def gradient(data: GroupVotes, x: Floats) -> tuple[Floats, float]:
    """Differentiate the log-likelihood by each coordinate as if blocks did not sum to 1.

    Returns
    -------
    gradient : ndarray, of the shape of x
    log_likelihood : float
    """
    classes, log_probability = expect(data, x)
    items, ratings = _expected_counts(data, classes)
    base_rates, mixture = data.split(x)
    ratio = ratings / np.maximum(confusion(mixture), TINY)
    by_mixture = np.column_stack([np.trace(ratio, axis1=1, axis2=2), ratio.sum(axis=1)])
    slope = np.concatenate([items / np.maximum(base_rates, TINY), by_mixture.ravel()])
    return slope, float(data.weights @ log_probability)


def information(data: GroupVotes, x: Floats, directions: Floats) -> Floats:
    r"""Give the observed information along some directions.

    .. math:: I = -E[H] - \mathrm{Cov}(s)

    where s and H are the gradient and curvature of each item's log-likelihood given its class;
    expectation and covariance are over the class given the ratings.

    Parameters
    ----------
    data : GroupVotes
    x : ndarray, shape (n_coordinates,)
    directions : ndarray, shape (n_coordinates, n_directions)

    Returns
    -------
    ndarray, shape (n_directions, n_directions)

    References
    ----------
    Louis (1982), Finding the observed information matrix when using the EM algorithm, JRSS B
    44(2), 226-233.
    """
    from scipy.sparse import csr_array, diags_array, hstack, vstack

    k, groups = data.n_categories, np.repeat(np.arange(data.n_groups), data.n_categories)
    response = np.tile(np.arange(k), data.n_groups)
    knowing = k + groups * (k + 1)
    classes, _ = expect(data, x)
    base_rates, mixture = data.split(x)
    inverse = 1 / np.maximum(confusion(mixture), TINY)
    moves, weights = csr_array(directions), data.weights
    # An item's class is treated as one more rating, so that all derivatives are one sparse product.
    counts = hstack([data.votes, np.ones((len(weights), 1))], format="csr")
    total: Any = 0.0
    mean: Any = 0.0
    for z in range(k):
        by_response = inverse[:, z].ravel()
        slope = vstack(
            [
                diags_array(by_response) @ moves[knowing + 1 + response]
                + diags_array(by_response * (response == z)) @ moves[knowing],
                moves[[z]] / max(base_rates[z], TINY),
            ],
            format="csr",
        )
        weight = weights * classes[:, z]
        score = counts @ slope
        total = total + slope.T @ (diags_array(counts.T @ weight) @ slope)
        total = total - score.T @ (diags_array(weight) @ score)
        mean = mean + diags_array(classes[:, z]) @ score
    total = total + mean.T @ (diags_array(weights) @ mean)
    return np.asarray(total.toarray())
