"""Two raters, and how often they agree compared with how often independent raters would."""

from dataclasses import dataclass

import numpy as np

from lehner.algebra.pairwise import brennan_prediger
from lehner.algebra.rater_products import fit_products
from lehner.core.arrays import Booleans, Floats


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two raters, or a rater and the system, and how they agree.

    Parameters
    ----------
    raters : tuple of str
    n_items : int
        Number of items that both rated.
    agreement : float
        Proportion of these items on which they agree.
    expected : float
        Share on which they would agree if they erred independently, with the accuracies that the
        agreement of the other pairs implies.
    p_value : float
        p-value of the test that they do not agree more than their accuracies explain, adjusted for
        the number of pairs by Bonferroni's method.
    stands_out : bool
        Whether they agree more than their accuracies explain, and more clearly so than other pairs.
    with_system : bool
        Whether the second rater is the system.
    """

    raters: tuple[str, str]
    n_items: int
    agreement: float
    expected: float
    p_value: float
    stands_out: bool
    with_system: bool

    @property
    def shared(self) -> float:
        """Proportion of items on which one repeats the other, if that is why they agree more."""
        room = max(1 - self.expected, np.finfo(float).tiny)
        return float(np.clip((self.agreement - self.expected) / room, 0, 1))


def expected_agreement(
    agreement: Floats, n_items: Floats, left_out: Booleans, n_categories: int
) -> Floats:
    """Agreement of independent raters whose accuracies explain that of the other pairs.

    Errors are taken to be equally probable, so that the kappa of two raters is the product of what
    both know.

    Parameters
    ----------
    agreement, n_items : ndarray, shape (n_pairs,)
        Proportion of agreement, and number of items that both rated, of the pairs in the order of
        `itertools.combinations`.
    left_out : ndarray of bool, shape (n_pairs,)
        The pairs to which the accuracies are not fitted; if these are all, they are.
    n_categories : int

    Returns
    -------
    ndarray, shape (n_pairs,)
    """
    weights = n_items if left_out.all() else np.where(left_out, 0.0, n_items)
    n_raters = round((1 + np.sqrt(1 + 8 * len(agreement))) / 2)
    first, second = np.triu_indices(n_raters, 1)
    kappa = brennan_prediger(agreement, n_categories)[None]
    lowest = -1 / (n_categories - 1)
    knowledge = fit_products(kappa, weights, first, second, n_raters, lowest=lowest)[0]
    together = knowledge[first] * knowledge[second]
    return np.asarray((1 + (n_categories - 1) * together) / n_categories)
