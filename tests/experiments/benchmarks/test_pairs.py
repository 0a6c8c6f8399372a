"""Which of two systems is better: what is said of a pair, its measures, and the kept table."""

import numpy as np
import pandas as pd
import pytest

from experiments.benchmarks.real import fits
from tests.experiments.benchmarks.test_real_benchmark import write_rte


def test_a_pair_is_compared_on_its_items_without_their_truth(tmp_path):
    write_rte(tmp_path)
    asked = "rte", "like"
    rows = {
        method: pd.DataFrame(fits.compare_systems(1, str(tmp_path), *asked, method, pairs=2))
        for method in ("majority_agreement", "learned_prior")
    }
    assert rows["learned_prior"]["truth"].tolist() == rows["majority_agreement"]["truth"].tolist()
    for table in rows.values():
        assert len(table) == 2 and (table["lower"] < table["estimate"]).all()
        assert table["pair"].nunique() == 2
    width = {name: (table["upper"] - table["lower"]).mean() for name, table in rows.items()}
    assert width["majority_agreement"] < width["learned_prior"]


def test_how_often_the_better_one_is_named_by_hand():
    rows = pd.DataFrame(
        {
            "design": "like",
            "method": "m",
            "truth": [0.1, -0.2, 0.3, -0.1],
            "estimate": [0.2, 0.2, 0.2, np.nan],
            "lower": [0.0, 0.0, 0.0, np.nan],
            "upper": [0.3, 0.3, 0.2, np.nan],
            "probability": [0.95, 0.92, 0.6, np.nan],
        }
    )
    (row,) = fits.tabulate_pairs(rows).to_dict("records")
    assert (row["design"], row["method"], row["n"]) == ("like", "m", 3)
    assert row["coverage"] == pytest.approx(1 / 3)
    assert (row["sure"], row["sure_and_right"]) == (0.5, 0.5)


def test_in_the_kept_table_of_real_pairs_only_learned_prior_covers():
    rows = pd.read_csv("experiments/benchmarks/real/pairs.csv").query("design == 'like'")
    inside = (rows["lower"] <= rows["truth"] + 1e-4) & (rows["truth"] <= rows["upper"] + 1e-4)
    coverage = inside.groupby(rows["method"]).mean()
    is_learned_prior = coverage.index.str.startswith("learned_prior")
    assert coverage[is_learned_prior].min() > 0.84 and coverage[~is_learned_prior].max() < 0.7
