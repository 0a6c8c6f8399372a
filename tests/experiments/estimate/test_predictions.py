"""Models compared by how they predict: as ArviZ compares them."""

import arviz_stats
import numpy as np
import pytest

from bayes_models.posterior.predictions import compare_predictions
from lehner import Estimate, IntervalEstimate
from tests.bayes_models.posterior.test_leave_one_out import tree_of


@pytest.mark.parametrize("n_items", [20, 150])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_comparison_is_that_of_arviz(n_items):
    rng = np.random.default_rng(n_items)
    posterior = rng.normal(size=(2, 200, 2))
    by_item = rng.normal(-2, 0.5, size=(3, n_items))
    by_item[2] -= 0.5
    trees = {
        name: tree_of(mean - rng.gamma(1, size=(2, 200, n_items)) * spread, posterior)
        for name, mean, spread in zip("abc", by_item, (0.1, 0.2, 3.0), strict=True)
    }
    nothing = IntervalEstimate(estimate=None)
    estimates = [
        Estimate(
            method=name,
            system="system",
            system_accuracy=nothing,
            system_accuracy_in_sample=nothing,
            draws=tree,
        )
        for name, tree in trees.items()
    ]
    found = compare_predictions(estimates)
    expected = arviz_stats.compare(trees, round_to="none")
    assert [one.method for one in found] == list(expected.index)
    for one, row in zip(found, expected.itertuples(), strict=True):
        ours = (one.elpd, one.se, -one.difference, one.difference_se)
        assert ours == pytest.approx((row.elpd, row.se, row.elpd_diff, row.dse), rel=1e-8, abs=1e-9)
        # ArviZ's own search ends within some thousandths of the maximum.
        assert one.weight == pytest.approx(row.weight, abs=2e-3)
        assert one.warning == "; ".join(filter(None, (row.diag_elpd, row.diag_diff)))
    assert found[-1].warning


def test_one_model_is_compared_with_nothing():
    assert compare_predictions([]) == ()
