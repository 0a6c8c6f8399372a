"""Evidence on which of two systems is better: what is said of pairs, and how it is tabulated."""

import numpy as np
import pandas as pd
import pytest

from experiments.benchmarks.real import pairs
from lehner.empirical_prior.differences import draw_calibrated
from lehner.empirical_prior.prior import SHIPPED
from tests.lehner.told import resample


def test_what_is_said_of_a_pair_is_of_these_items():
    ratings = pairs.simulate_pair(np.random.default_rng(1), 0.0)
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0)
    draws = draw_calibrated(ratings.with_truth(None))
    said = pairs.say(ratings, draws, "calibrated")
    assert said["truth"] == pytest.approx(right[0] - right[1])
    assert said["lower"] < said["estimate"] < said["upper"]
    rows = list(pairs.compare(ratings, SHIPPED, np.random.SeedSequence(1), ("algebraic",)))
    assert [row["method"] for row in rows] == ["algebraic", "calibrated", "calibrated, 20 labels"]
    assert rows[1] == said
    assert rows[2]["upper"] - rows[2]["lower"] < said["upper"] - said["lower"]
    algebra = resample("algebraic", ratings.with_truth(None), resamples=200)
    assert rows[0] == pairs.say(ratings, algebra, "algebraic")


def test_mistakes_are_shared_where_items_mislead():
    together = []
    for shared in (0.0, 0.5):
        some = [pairs.simulate_pair(np.random.default_rng(seed), shared) for seed in range(20)]
        wrong = [np.column_stack([x.codes, x.answers]) != x.truth[:, None] for x in some]
        together.append(np.mean([np.corrcoef(x.T)[np.triu_indices(5, 1)].mean() for x in wrong]))
    assert abs(together[0]) < 0.05 < 0.15 < together[1]


def test_the_table_by_hand():
    rows = pd.DataFrame(
        {
            "design": "like",
            "method": "m",
            "family": ["f", "f", "g"],
            "truth": [0.1, -0.2, 0.3],
            "estimate": [0.2, 0.2, 0.2],
            "lower": [0.0, 0.0, 0.0],
            "upper": [0.3, 0.3, 0.2],
            "probability": [0.95, 0.85, 0.6],
        }
    )
    (found,) = pairs.tabulate(rows).rows
    assert found[:3] == ("like", "m", 3)
    assert found[3].startswith(".333 (") and found[4] == ".267"
    assert found[5:8] == (".500 of 2", "1.000 of 1", "– of 0")
    assert found[8] == ".333"
