"""Counts of what is missing in ratings, and of ratings that a rater repeats."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.text import counted, first_few
from lehner.data.flat import are_repeated

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

FEW_RATINGS = 10
FEWEST_TO_JUDGE = 20
MOST_RATERS_SHOWN = 5


def count_gaps(ratings: "Ratings") -> Iterator[str]:
    """Count repeated ratings, unanswered items, items with one rating or none, and lazy raters.

    Parameters
    ----------
    ratings : Ratings

    Yields
    ------
    str
        A sentence for each; none if nothing is missing and nothing repeated.

    Examples
    --------
    >>> from lehner import Ratings
    >>> for text in count_gaps(Ratings([[0, 1], [1, -1]], ["no", "yes"], system=[0, -1])):
    ...     print(text)
    the system did not answer 1 of 2 items
    1 of 2 items has one rating, which tells nothing of agreement
    """
    weights, flat = ratings.weights, ratings.flat
    of_items = f"of {counted(ratings.n_items, 'item')}"
    # A rater whose repeated ratings tie has rated, and has no vote.
    unit = "vote" if ratings.repeated else "rating"
    yield from _say_repeats(ratings)
    for name, answers in zip(ratings.systems, ratings.answers.T, strict=True):
        who = "the system" if len(ratings.systems) == 1 else f"the system {name}"
        n_blank = int(weights[answers < 0].sum())
        if n_blank:
            yield f"{who} did not answer {n_blank} {of_items}"
    lengths = np.bincount(flat.item_index, minlength=ratings.n_rows)
    for length, what in ((1, f"one {unit}, which tells nothing of agreement"), (0, f"no {unit}")):
        n_items = int(weights[lengths == length].sum())
        if n_items and ratings.n_raters > length:
            yield f"{n_items} {of_items} {'has' if n_items == 1 else 'have'} {what}"
    votes = np.bincount(flat.rater_index, weights[flat.item_index], minlength=ratings.n_raters)
    few = np.flatnonzero(votes < FEW_RATINGS)
    if len(few) and not ratings.anonymous and ratings.n_items >= FEWEST_TO_JUDGE:
        shown = first_few((f"{ratings.raters[j]} {votes[j]:.0f}" for j in few), MOST_RATERS_SHOWN)
        yield (
            f"{len(few)} of {counted(ratings.n_raters, 'rater')} "
            f"{'gave' if len(few) == 1 else 'each gave'} fewer than {FEW_RATINGS} {unit}s: {shown}"
        )


def _say_repeats(ratings: "Ratings") -> Iterator[str]:
    """Say how often a rater rated an item again, and what becomes of such ratings."""
    again = are_repeated(ratings.given)
    weights = ratings.weights[ratings.given.item_index]
    n_again = int(weights[again].sum())
    verb = "is" if n_again == 1 else "are"
    text = "each counts as a vote of its own"
    if not ratings.independent_repeats:
        n_votes = int(ratings.weights[ratings.flat.item_index].sum())
        tied = int(weights[~again].sum()) - n_votes
        text = "a rater has one vote for an item, the rating that the rater gave most often"
        text += f", and none where two are equally frequent ({counted(tied, 'time')})" * bool(tied)
    if n_again:
        yield (
            f"{n_again} of {counted(ratings.n_ratings, 'rating')} {verb} of an item that the same "
            f"rater rated before: {text}"
        )
