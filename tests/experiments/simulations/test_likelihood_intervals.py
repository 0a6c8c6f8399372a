"""The simulation of intervals by maximum likelihood: what it draws, and what was found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import likelihood_intervals

TABLE = Path(likelihood_intervals.__file__).parent / "likelihood_intervals.csv"


def test_systems_have_the_matrix_of_the_cell():
    cell = likelihood_intervals.equal_errors(5, 20_000, (0.7, 0.85), 0.6)
    data, answers = np.random.SeedSequence(1).spawn(2)
    ratings, truth = likelihood_intervals.simulate_cell(cell, data, answers)
    assert ratings.truth is None
    assert (ratings.system == truth).mean() == pytest.approx(0.6, abs=0.015)
    assert (ratings.codes == truth[:, None]).mean(axis=0) == pytest.approx([0.7, 0.85], abs=0.015)
    wrong = ratings.system[(truth == 0) & (ratings.system != 0)]
    shares = np.bincount(wrong, minlength=5)[1:] / len(wrong)
    assert shares == pytest.approx(np.full(4, 0.25), abs=0.05)


def test_the_table_has_every_cell_with_monte_carlo_errors():
    table = pd.read_csv(TABLE)
    assert set(table["cell"]) == set(likelihood_intervals.CELLS)
    assert set(table["quantity"]) == {"accuracy", "accuracy in the sample", "recall", "precision"}
    assert (table["coverage_se"] > 0).all()


def test_intervals_hold_more_often_than_those_of_resamples_alone():
    # Resamples alone: .67 and .50 (3 categories, 50 items), .67 and .39 (5, 200), of the accuracy
    # and that in the sample.
    table = pd.read_csv(TABLE).query("method == 'dawid_skene_ml'").set_index(["cell", "quantity"])
    for cell in (
        "K 3, 50 items, 5 raters 0.7, system 0.9",
        "K 5, 200 items, 5 raters 0.7, system 0.9",
    ):
        assert table.loc[(cell, "accuracy in the sample"), "coverage"] > 0.7
        assert table.loc[(cell, "recall"), "coverage"] > 0.8
