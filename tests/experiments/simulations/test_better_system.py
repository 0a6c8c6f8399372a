"""Is P(better) what it says: the table of bins, and what was found."""

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.simulations import better_system

TABLE = Path(better_system.__file__).parent / "better_system.csv"


def test_probabilities_that_are_right_have_bins_that_say_so():
    rng = np.random.default_rng(1)
    probability = rng.random(40_000)
    drawn = (rng.random(40_000) < probability).astype(float)
    rows = pd.DataFrame({"probability": probability, "better": drawn})
    table = better_system.reliability(rows.assign(method="x", estimand="y"))
    z = (table["share_better"] - table["probability"]) / table["standard_error"]
    assert (z.abs() < 3.5).all()
    whole = table[table["bin"] == "all"].iloc[0]
    # The mean of p (1 - p) for p uniform.
    assert abs(whole["brier"] - 1 / 6) < 4 * whole["brier_se"]
    assert table.loc[table["bin"] != "all", "n"].sum() == 40_000


def test_the_committed_table_is_of_all_methods():
    table = pd.read_csv(TABLE)
    assert set(table["method"]) == {"algebraic", "dawid_skene_ml", "dawid_skene"}
    whole = table[(table["bin"] == "all") & (table["estimand"] == "system_accuracy")]
    assert (whole["brier"] < 0.25).all()
