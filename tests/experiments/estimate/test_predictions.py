"""Models compared by how they predict items left out: ArviZ's table, as rows of results."""

import arviz_stats
import numpy as np
import pytest
import xarray as xr

from bayes_models.methods import predictions
from lehner import Estimate, IntervalEstimate

NOTHING = IntervalEstimate(estimate=None)


def estimate_of(name, mean, spread, rng):
    sizes = (2, 200, len(mean))
    density = mean - rng.gamma(1, size=sizes) * spread
    coords = {"chain": range(2), "draw": range(200), "item": range(len(mean))}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"x": (("chain", "draw"), rng.normal(size=sizes[:2]))}),
            "log_likelihood": xr.Dataset({"agreeing_pairs": (tuple(coords), density)}, coords),
        }
    )
    accuracies = {"system_accuracy": NOTHING, "system_accuracy_in_sample": NOTHING}
    return Estimate(method=name, system="system", draws=tree, **accuracies)


@pytest.mark.filterwarnings("error")
def test_the_best_model_is_first_and_heavy_tails_are_said():
    rng = np.random.default_rng(1)
    mean = rng.normal(-2, 0.5, 50)
    estimates = [estimate_of("b", mean - 0.5, 3.0, rng), estimate_of("a", mean, 0.1, rng)]
    table = predictions(estimates)
    assert list(table.index) == ["a", "b"] and table["weight"].sum() == pytest.approx(1)
    assert "k" in table.loc["b", "diag_elpd"]
    assert table.loc["a", "elpd"] == arviz_stats.loo(estimates[1].draws).elpd


def test_one_model_is_compared_with_nothing():
    assert predictions([]) is None
