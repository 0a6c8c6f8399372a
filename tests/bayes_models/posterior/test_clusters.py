"""Clustered items in Bayesian fits: copies of an item count once."""

import json

import numpy as np
import pytest

import bayes_models
from lehner import Scenario, simulate


def test_copies_in_a_cluster_have_a_design_effect_of_their_number():
    scenario = Scenario(n_categories=2, n_items=100, initial_rater_accuracy=(0.75,) * 4)
    single = simulate(scenario, 3).with_truth(None)
    rows = np.tile(np.arange(100), 4)
    copied = single.take(rows).with_clusters(rows)
    options = {"progressbar": False, "checks": False, "check": "estimands", "tries": 1}
    trees = [bayes_models.fit("one_coin", x, **options) for x in (single, copied)]
    effects = json.loads(trees[1].attrs["design_effects"])
    assert effects["system_accuracy"] == pytest.approx(4, rel=0.02)
    assert effects["clusters"] == 100 and "design_effects" not in trees[0].attrs
    unclustered, four = (bayes_models.estimate_from_draws(tree) for tree in trees)
    widths = [x.system_accuracy.upper - x.system_accuracy.lower for x in (unclustered, four)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert "clusters-ignored" in {warning.code for warning in four.warnings}
