"""Raters who give one answer only, agree by chance or use a scale in reverse; stray categories."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from lehner.core.errors import Warning, warn
from lehner.core.text import list_few, to_percent, with_interval
from lehner.data.checks import FEW_RATINGS, FEWEST_TO_JUDGE, MOST_NAMED, find_strays
from lehner.data.columns import to_numbers
from lehner.data.ratings import Ratings
from lehner.interrater.coefficients import (
    AgreementWeights,
    compute_coefficient,
    fleiss_kappa,
    name_coefficient,
)
from lehner.interrater.votes import ItemVotes, count_votes

# What chance would do less often is no chance.
UNLIKELY = 0.01
# Kappas below this are small, correlations below this are no chance of a scale in use.
SMALL_KAPPA, REVERSED = 0.1, -0.3
# Coefficients that depend on the number of categories, and the least change that is said.
BY_NUMBER, LEAST_CHANGE = ("brennan_prediger_kappa", "gwet_ac1"), 0.02


def warn_of_raters(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters who give one answer only, agree by chance, or use a scale in reverse.

    Parameters
    ----------
    ratings : Ratings

    Yields
    ------
    Warning

    Examples
    --------
    >>> ratings = Ratings([[0, 1], [1, 0], [2, 2]] * 20, [1, 2, 3])
    >>> [warning.code for warning in warn_of_raters(ratings)]
    ['agreement-at-chance']
    """
    yield from _warn_of_one_answer(ratings)
    items = count_votes(ratings.votes, ratings.weights, ratings.cluster)
    weights = identity(items)
    # The interval needs SciPy, whose import takes longer than all else that is asked here.
    if items.n_paired >= FEWEST_TO_JUDGE and fleiss_kappa(items, weights).value < SMALL_KAPPA:
        kappa = compute_coefficient("fleiss_kappa", items, weights, 0.9)
        if kappa.get("lower", 1) <= 0:
            text = "raters do not agree clearly more often than by chance: Fleiss' κ is "
            shown = with_interval(kappa["estimate"], kappa["lower"], kappa["upper"])
            yield warn("agreement-at-chance", f"{text}{shown}")
    yield from _warn_of_reversal(ratings)


def identity(items: ItemVotes) -> AgreementWeights:
    """Give the weights by which only equal categories agree."""
    return AgreementWeights(name="identity", matrix=np.eye(items.n_categories))


def _warn_of_one_answer(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters and systems who always give an answer that others give less often."""
    people = ratings.all_raters
    uses = ratings.uses[: len(people)]
    n, rest = uses.sum(axis=1), uses.sum(axis=0) - uses
    shares = rest / np.maximum(rest.sum(axis=1, keepdims=True), 1)
    always = (uses == n[:, None]) & (n[:, None] >= FEW_RATINGS) & rest.any(axis=1, keepdims=True)
    said = [
        f"{people[j]} gave {str(ratings.categories[k])!r} in all {n[j]} answers, and others in "
        f"{to_percent(shares[j, k], 0)} of theirs"
        for j, k in np.argwhere(always & (shares ** n[:, None] < UNLIKELY))
    ]
    if said and len(uses) == len(people):
        yield warn("one-answer", list_few(said, MOST_NAMED))


def _warn_of_reversal(ratings: Ratings) -> Iterator[Warning]:
    """Warn of raters and systems whose answers correlate negatively with the raters' means."""
    numbers, people = to_numbers(ratings.categories), ratings.all_raters
    if numbers is None and (ratings.ordered or ratings.n_categories == 2):
        numbers = list(range(ratings.n_categories))
    if numbers is None or ratings.anonymous or not people:
        return
    votes, n_rows = ratings.all_votes, ratings.n_rows
    item, rater = votes.item_index, votes.rater_index
    x = (np.array(numbers) - np.mean(numbers))[votes.category_index]
    rated = rater < ratings.n_raters
    n_others = np.bincount(item, rated, n_rows)[item] - rated
    sums = np.bincount(item, x * rated, n_rows)[item] - x * rated
    y, weights = sums / np.maximum(n_others, 1), ratings.weights[item] * (n_others > 0)
    moments = (weights * z for z in (1, x, y, x * x, y * y, x * y))
    n, sx, sy, sxx, syy, sxy = (np.bincount(rater, moment, len(people)) for moment in moments)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (sxy - sx * sy / n) / np.sqrt((sxx - sx * sx / n) * (syy - sy * sy / n))
        surely = np.arctanh(r) * np.sqrt(n - 3) < NormalDist().inv_cdf(UNLIKELY / len(people))
    found = [f"{people[j]} ({r[j]:.2f})" for j in np.flatnonzero(surely & (r < REVERSED))]
    if found:
        text = "answers run against those of the other raters, with the correlation: "
        yield warn("scale-reversed", text + list_few(found, MOST_NAMED))


def warn_of_strays(ratings: Ratings, items: ItemVotes) -> Iterator[Warning]:
    """Warn if stray categories change the coefficients that depend on how many there are.

    Parameters
    ----------
    ratings : Ratings
    items : ItemVotes
        Of all ratings.

    Yields
    ------
    Warning

    Examples
    --------
    >>> from lehner.interrater.votes import count_votes
    >>> ratings = Ratings([[0, 1], [1, 1], [0, 0]] * 20 + [[2, 1]], ["no", "yes", "jes"])
    >>> items = count_votes(ratings.entries, ratings.weights)
    >>> next(warn_of_strays(ratings, items)).text
    "Brennan and Prediger’s κ is 0.484, and 0.333 without 'jes'"
    """
    uses = ratings.uses
    strays = find_strays(ratings.categories, uses, apart=len(uses) >= len(ratings.all_raters))
    left, flat = np.setdiff1d(np.arange(ratings.n_categories), strays), ratings.entries
    if not strays or len(left) < 2:
        return
    flat = flat.select(np.isin(flat.category_index, left))
    category, shape = np.searchsorted(left, flat.category_index), (*flat.shape[:2], len(left))
    flat = replace(flat, category_index=category, shape=shape)
    fewer = count_votes(flat, ratings.weights, ratings.cluster)
    shown = list_few((repr(str(ratings.categories[k])) for k in strays), MOST_NAMED)
    for name in BY_NUMBER:
        before, after = (
            compute_coefficient(name, x, identity(x), 0.9)["estimate"] for x in (items, fewer)
        )
        if before is not None and after is not None and abs(before - after) >= LEAST_CHANGE:
            text = f"{name_coefficient(name)} is {before:.3f}, and {after:.3f} without {shown}"
            yield warn("rare-categories", text)
