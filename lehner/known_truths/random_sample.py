"""Whether the items with gold labels can be a random sample of all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers, poisson_binomial
from lehner.core.lazy import stats
from lehner.core.resampling import effect_of_known
from lehner.data.flat import count_raters
from lehner.data.ratings import Ratings

NOT_RANDOM = 0.005


@dataclass(frozen=True, kw_only=True)
class KnownSample:
    """How often something holds for the items with gold labels, and how often for all items.

    Parameters
    ----------
    what : str
        What holds, as "raters all agree" or "most raters say 'yes'": that for which the labelled
        items are least like the others.
    n_known, n_items : int
        Number of items with gold labels with two answers or more, and of all such items. If there
        is a system, those that it did not answer are left out.
    holds_known, holds : int
        Number of these for which it holds.
    p_value : float
        Fisher's exact test, two-sided, that the labelled items are a random sample of all, adjusted
        by Bonferroni's method for the number of tests: that raters agree, that raters and system
        do, and for each category that most raters name it. If items were chosen with known unequal
        probabilities, a test that `holds_known` is what these make of it, as of independent draws.
    expected : float, optional
        How often it should hold for the labelled items by these probabilities; None without them.
    """

    what: str
    n_known: int
    n_items: int
    holds_known: int
    holds: int
    p_value: float
    expected: float | None = None

    @property
    def random(self) -> bool:
        """Whether the labelled items can be a random sample: whether the p-value is above .005."""
        return self.p_value > NOT_RANDOM

    @property
    def doubt(self) -> str:
        """What is probably so if they cannot be."""
        drawn = "" if self.expected is None else " with the probabilities given"
        return f"the items with gold labels are probably not a random sample{drawn}"

    def __str__(self) -> str:
        if self.expected is not None:
            return (
                f"{self.what} on {self.holds_known} of {self.n_known} of them, where "
                f"{self.expected:.1f} are expected"
            )
        return (
            f"{self.what} on {self.holds_known} of {self.n_known} of them, but on "
            f"{self.holds} of all {self.n_items} items"
        )


def examine_known(ratings: Ratings) -> KnownSample:
    """Test whether the items with gold labels can be a random sample of all items.

    Items that were chosen because answers differ, because they agree, or because they are of some
    category, are found. Items that were chosen in other ways may not be. Where the ratings have
    probabilities of gold labels, the test is whether items were chosen with these.

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
    samples = [
        _compare(ratings, what, answered & counted, holds)
        for what, counted, holds in _list_properties(ratings)
    ]
    clearest = min(samples, key=lambda sample: sample.p_value)
    return replace(clearest, p_value=min(1.0, len(samples) * clearest.p_value))


def drawn_equally(ratings: Ratings) -> bool:
    """Tell whether some truths are known, of items that can be a simple random sample."""
    if ratings.truth is None or ratings.truth_probability is not None:
        return False
    return examine_known(ratings).random


def _list_properties(ratings: Ratings) -> Iterator[tuple[str, Booleans, Booleans]]:
    """What may hold for an item, the items for which it can, and those for which it does."""
    votes = ratings.without_system().votes()
    several = count_raters(ratings.flat, ratings.n_rows) >= 2
    yield "raters all agree", several, (votes > 0).sum(axis=1) == 1
    if ratings.systems:
        answers = ratings.answers[:, :, None] == np.arange(ratings.n_categories)
        named = ((votes + answers.sum(axis=1)) > 0).sum(axis=1)
        two = count_raters(ratings.all_flat, ratings.n_rows) >= 2
        yield "raters and system all agree", two, named == 1
    for code, name in enumerate(ratings.categories):
        yield f"most raters say {str(name)!r}", several, 2 * votes[:, code] > votes.sum(axis=1)


def _compare(ratings: Ratings, what: str, counted: Booleans, holds: Booleans) -> KnownSample:
    truth = np.full(ratings.n_rows, -1) if ratings.truth is None else ratings.truth
    known, holds = counted & (truth >= 0), counted & holds
    n_items, n_known, of_all, of_known = (
        int(ratings.weights[rows].sum()) for rows in (counted, known, holds, known & holds)
    )
    others = of_all - of_known, n_items - n_known - of_all + of_known
    expected, p_value = None, 1.0
    if ratings.truth_probability is None:
        weights = (ratings.weights * counted).astype(float)
        effect = effect_of_known(holds.astype(float), weights, known, ratings.cluster)
        p_value = _test_sample((of_known, n_known - of_known), others, effect)
    else:
        chance = ratings.truth_probability[counted]
        of_items = ratings.weights[counted], known[counted], holds[counted]
        expected, p_value = _compare_with_expected(chance, *of_items)
    return KnownSample(
        what=what,
        n_known=n_known,
        n_items=n_items,
        holds_known=of_known,
        holds=of_all,
        p_value=p_value,
        expected=expected,
    )


def _test_sample(known: tuple[int, int], others: tuple[int, int], effect: float) -> float:
    counts = np.round(np.array([known, others]) / effect).astype(int)
    return float(stats.fisher_exact(counts).pvalue)


def _compare_with_expected(
    chance: Floats, counts: Integers, known: Booleans, holds: Booleans
) -> tuple[float, float]:
    """Number of labelled items for which it should hold, given how many are known, and a p-value.

    The p-value is a mid-p value. It is that of the rarer of what holds and its opposite, whose
    number depends least on how many items are known.
    """
    n_known, weights = counts @ known, counts.astype(float)
    # Rounded to two decimals of the logarithm, few probabilities are different.
    rounded = 10 ** np.log10(chance).round(2)
    chance = np.minimum(rounded * float(n_known) / float(counts @ rounded), 1.0)
    expected = float(weights @ (chance * holds))
    rarer = holds if 2 * expected <= n_known else ~holds
    numbers = poisson_binomial(chance[rarer], weights[rarer])
    observed = int(counts @ (known & rarer))
    below = float(numbers[:observed].sum() + numbers[observed] / 2)
    return expected, min(1.0, 2 * min(below, 1 - below))
