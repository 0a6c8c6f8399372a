"""Which of two systems is better: the kept table."""

import pandas as pd


def test_in_the_kept_table_of_real_pairs_only_learned_prior_covers():
    rows = pd.read_csv("experiments/benchmarks/real/pairs.csv").query("design == 'like'")
    inside = (rows["lower"] <= rows["truth"] + 1e-4) & (rows["truth"] <= rows["upper"] + 1e-4)
    coverage = inside.groupby(rows["method"]).mean()
    is_learned_prior = coverage.index.str.startswith("learned_prior")
    assert coverage[is_learned_prior].min() > 0.84 and coverage[~is_learned_prior].max() < 0.7
