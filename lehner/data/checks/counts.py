"""Counts of what is missing in ratings, and of ratings that a rater repeats."""

from typing import TYPE_CHECKING

import numpy as np

from lehner.core.text import counted, first_few
from lehner.data.flat import are_repeated

if TYPE_CHECKING:
    from lehner.data.ratings import Ratings

FEW_RATINGS = 10
FEWEST_TO_JUDGE = 20
MOST_RATERS_SHOWN = 5


def count_gaps(ratings: "Ratings") -> tuple[str, ...]:
    """Count repeated ratings, unanswered items, items with one rating or none, and lazy raters.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    tuple of str
        One sentence for each; empty if nothing is missing and nothing repeated.

    Examples
    --------
    >>> from lehner import Ratings
    >>> for text in count_gaps(Ratings([[0, 1], [1, -1]], ["no", "yes"], system=[0, -1])):
    ...     print(text)
    the system did not answer 1 of 2 items
    1 of 2 items has one rating, which tells nothing of agreement
    """
    sentences = [
        _repeats(ratings),
        *_unanswered(ratings),
        *_few_ratings_of_items(ratings),
        _raters_of_few(ratings),
    ]
    return tuple(text for text in sentences if text)


def _repeats(ratings: "Ratings") -> str:
    """Say how often a rater rated an item again, and what becomes of such ratings."""
    again = are_repeated(ratings.given)
    weights = ratings.weights[ratings.given.item_index]
    n_again = int(weights[again].sum())
    if n_again == 0:
        return ""
    verb = "is" if n_again == 1 else "are"
    text = (
        f"{n_again} of {counted(ratings.n_ratings, 'rating')} {verb} of an item that the same "
        "rater rated before: "
    )
    if ratings.independent_repeats:
        return text + "each counts as a vote of its own"
    n_votes = int(ratings.weights[ratings.flat.item_index].sum())
    tied = int(weights[~again].sum()) - n_votes
    return text + (
        "a rater has one vote for an item, the rating that the rater gave most often"
        + (f", and none where two are equally frequent ({counted(tied, 'time')})" if tied else "")
    )


def _unanswered(ratings: "Ratings") -> list[str]:
    sentences = []
    for name, answers in zip(ratings.systems, ratings.answers.T, strict=True):
        who = "the system" if len(ratings.systems) == 1 else f"the system {name}"
        n = int(ratings.weights[answers < 0].sum())
        if n:
            sentences.append(f"{who} did not answer {n} of {counted(ratings.n_items, 'item')}")
    return sentences


def _few_ratings_of_items(ratings: "Ratings") -> list[str]:
    lengths = np.bincount(ratings.flat.item_index, minlength=ratings.n_rows)
    of = f"of {counted(ratings.n_items, 'item')}"
    unit, sentences = _unit(ratings), []
    for n, what in ((1, f"one {unit}, which tells nothing of agreement"), (0, f"no {unit}")):
        found = int(ratings.weights[lengths == n].sum())
        if found:
            sentences.append(f"{found} {of} {'has' if found == 1 else 'have'} {what}")
    return sentences


def _unit(ratings: "Ratings") -> str:
    """Name what is counted: a rater whose repeated ratings tie has rated, and has no vote."""
    return "vote" if ratings.repeated else "rating"


def _raters_of_few(ratings: "Ratings") -> str:
    """Name the raters who gave few ratings, unless all did."""
    if ratings.anonymous or ratings.n_items < FEWEST_TO_JUDGE:
        return ""
    flat = ratings.flat
    given = np.bincount(
        flat.rater_index, ratings.weights[flat.item_index], minlength=ratings.n_raters
    )
    few = np.flatnonzero(given < FEW_RATINGS)
    if not len(few):
        return ""
    shown = first_few((f"{ratings.raters[j]} {given[j]:.0f}" for j in few), MOST_RATERS_SHOWN)
    verb = "gave" if len(few) == 1 else "each gave"
    return (
        f"{len(few)} of {counted(ratings.n_raters, 'rater')} {verb} fewer than {FEW_RATINGS} "
        f"{_unit(ratings)}s: {shown}"
    )
