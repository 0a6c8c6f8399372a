"""Evidence on which of two systems is better: what is said of pairs, and how it is tabulated."""

import numpy as np
import pandas as pd
import pytest

from experiments.benchmarks.real import pairs
from lehner.empirical_prior.calibrated import draw_calibrated
from lehner.empirical_prior.prior import SHIPPED
from tests.lehner.questions import resample


def test_what_is_said_of_a_pair_is_of_these_items():
    ratings, seed = pairs.simulate_pair(np.random.default_rng(1), 0.0), np.random.SeedSequence(1)
    right = (ratings.answers == ratings.truth[:, None]).mean(axis=0)
    rows = {
        method: pairs.describe_pair(ratings, pairs.draw_pair(method, ratings, SHIPPED, seed))
        for method in ("algebraic", "calibrated", pairs.LABELLED, "dawid_skene")
    }
    unseen = ratings.with_truth(None)
    assert rows["calibrated"] == pairs.describe_pair(ratings, draw_calibrated(unseen))
    algebra = resample("algebraic", unseen, resamples=200)
    assert rows["algebraic"] == pairs.describe_pair(ratings, algebra)
    for row in rows.values():
        assert row["truth"] == pytest.approx(right[0] - right[1])
        assert row["lower"] < row["estimate"] < row["upper"]
    width = {method: row["upper"] - row["lower"] for method, row in rows.items()}
    assert max(width[pairs.LABELLED], width["dawid_skene"]) < width["calibrated"]


def test_only_items_on_which_systems_differ_are_labelled():
    ratings = pairs.simulate_pair(np.random.default_rng(1), 0.0)
    labels = pairs.label_differing(ratings, np.random.SeedSequence(1)).truth
    labelled = labels >= 0
    assert labelled.sum() == pairs.LABELS
    assert (ratings.answers[labelled, 0] != ratings.answers[labelled, 1]).all()
    np.testing.assert_array_equal(labels[labelled], ratings.truth[labelled])


def test_errors_are_correlated_where_items_mislead():
    together = []
    for misleading in (0.0, 0.5):
        some = [pairs.simulate_pair(np.random.default_rng(seed), misleading) for seed in range(20)]
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
    (row,) = pairs.tabulate(rows).rows
    assert row[:3] == ("like", "m", 3)
    assert row[3].startswith(".333 (") and row[4] == ".267"
    assert row[5:8] == (".500 of 2", "1.000 of 1", "– of 0")
    assert row[8] == ".333"


def test_in_the_kept_table_of_real_pairs_only_calibrated_covers():
    rows = pd.read_csv(pairs.ROWS).query("design == 'like'")
    inside = (rows["lower"] <= rows["truth"] + 1e-4) & (rows["truth"] <= rows["upper"] + 1e-4)
    coverage = inside.groupby(rows["method"]).mean()
    is_calibrated = coverage.index.str.startswith("calibrated")
    assert coverage[is_calibrated].min() > 0.84 and coverage[~is_calibrated].max() < 0.7
