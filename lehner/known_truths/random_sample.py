"""Whether the items of known truth can be a random sample of all."""

from dataclasses import dataclass, replace

import numpy as np

from lehner.core.arrays import Booleans
from lehner.data.flat import count_raters
from lehner.data.ratings import Ratings

NOT_RANDOM = 0.001


@dataclass(frozen=True, kw_only=True)
class KnownSample:
    """How often all agree on the items of known truth, and how often on all items.

    Parameters
    ----------
    who : {"raters", "raters and system"}
        Whose answers are compared: those for which the known items are less like the others.
    n_known, n_items : int
        Number of items of known truth with two answers or more, and of all such items. If there is
        a system, those that it did not answer are left out.
    unanimous_known, unanimous : int
        Number of these on which all answers are the same.
    p_value : float
        Fisher's exact test that the known items are a random sample of all, adjusted by
        Bonferroni's method if it was made for raters, and for raters and system.
    """

    who: str
    n_known: int
    n_items: int
    unanimous_known: int
    unanimous: int
    p_value: float

    @property
    def random(self) -> bool:
        """Whether the known items can be a random sample: whether the p-value is above .001."""
        return self.p_value > NOT_RANDOM

    def __str__(self) -> str:
        return (
            f"{self.who} all agree on {self.unanimous_known} of {self.n_known} of them, but on "
            f"{self.unanimous} of all {self.n_items} items"
        )


def examine_known(ratings: Ratings) -> KnownSample:
    """Test whether the items of known truth can be a random sample of all items.

    Items that were chosen because answers differ, or because they agree, are found. Items that were
    chosen in other ways may not be.

    Parameters
    ----------
    ratings : Ratings

    Returns
    -------
    KnownSample

    Examples
    --------
    >>> ratings = Ratings([[0, 0, 0]] * 30 + [[0, 1, 1]] * 30, ["no", "yes"])
    >>> known = ratings.with_truth([-1] * 30 + [1] * 20 + [-1] * 10)
    >>> examine_known(known).random
    False
    >>> print(examine_known(known))
    raters all agree on 0 of 20 of them, but on 30 of all 60 items
    """
    answered = (ratings.answers >= 0).all(axis=1)
    found = [_compare(ratings.without_system(), "raters", answered)]
    if ratings.systems:
        found.append(_compare(ratings, "raters and system", answered))
    clearest = min(found, key=lambda one: one.p_value)
    return replace(clearest, p_value=min(1.0, len(found) * clearest.p_value))


def _compare(ratings: Ratings, who: str, answered: Booleans) -> KnownSample:
    from scipy.stats import fisher_exact

    counted = answered & (count_raters(ratings.all_flat, ratings.n_rows) >= 2)
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    cells = ratings.all_flat.item_index * ratings.n_categories + ratings.all_flat.category_index
    given = np.bincount(cells, minlength=ratings.n_rows * ratings.n_categories)
    votes = given.reshape(ratings.n_rows, -1)
    known, alike = counted & (truth >= 0), counted & (votes.max(axis=1) == votes.sum(axis=1))
    n_items, n_known, of_all, of_known = (
        int(ratings.weights[rows].sum()) for rows in (counted, known, alike, known & alike)
    )
    others = of_all - of_known, n_items - n_known - of_all + of_known
    return KnownSample(
        who=who,
        n_known=n_known,
        n_items=n_items,
        unanimous_known=of_known,
        unanimous=of_all,
        p_value=float(fisher_exact([(of_known, n_known - of_known), others]).pvalue),
    )
