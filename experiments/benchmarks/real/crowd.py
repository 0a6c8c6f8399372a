"""A crowd: ratings of items by raters, with the true category of some items."""

from collections.abc import Mapping, Sequence

from lehner import Ratings

type Rows = Sequence[tuple[str, str, str]]


def make_crowd(rows: Rows, truth: Mapping[str, str]) -> Ratings:
    """Make ratings with truth from rows of item, rater and rating.

    Parameters
    ----------
    rows : sequence of (item, rater, rating)
        A rating that is empty is missing. Where a rater rated an item more than once, the first
        rating counts.
    truth : mapping of item to category
        Items without a rating are left out.

    Returns
    -------
    Ratings
        Without a system.

    Examples
    --------
    >>> crowd = make_crowd([("1", "x", "a"), ("1", "y", "b"), ("1", "x", "b")], {"1": "b"})
    >>> crowd, crowd.truth
    (Ratings: 1 item, 2 raters, 2 ratings, 2 categories (a, b), truth, array([1]))
    """
    first: dict[tuple[str, str], str] = {}
    for item, rater, rating in rows:
        if rating:
            first.setdefault((item, rater), rating)
    items, raters = zip(*first, strict=True)
    columns = {"item": items, "rater": raters, "rating": tuple(first.values())}
    known = tuple(truth.get(item) for item in items)
    return Ratings.from_long(columns | {"truth": known}, truth="truth")
