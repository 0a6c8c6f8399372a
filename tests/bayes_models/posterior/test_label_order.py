"""The order of the categories that suits the raters best: as SciPy finds it."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from bayes_models.posterior.diagnostics import MOST_ENUMERATED, best_order


@pytest.mark.parametrize("k", [2, 3, 5, MOST_ENUMERATED, MOST_ENUMERATED + 1])
def test_it_is_the_assignment_with_the_greatest_sum(k):
    rng = np.random.default_rng(k)
    for shares in rng.random((20, k, k)):
        assert best_order(shares).tolist() == linear_sum_assignment(-shares)[1].tolist()


def test_of_orders_as_good_as_one_another_the_labels_are_kept():
    assert best_order(np.zeros((4, 4))).tolist() == [0, 1, 2, 3]
