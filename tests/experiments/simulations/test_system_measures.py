"""The simulations of the system's measures and of groups: what they draw, and what was found."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import item_groups, system_measures
from experiments.simulations.system_measures import simulate_cell

FOLDER = Path(system_measures.__file__).parent


def test_answers_have_the_matrix_of_the_cell():
    cell = system_measures.CELLS["K 3, raters .7, K-properties hold"]
    cell = replace(cell, raters=replace(cell.raters, n_items=20_000))
    ratings, _ = simulate_cell(cell, *np.random.SeedSequence(1).spawn(2))
    assert ratings.truth is None
    shares = np.bincount(ratings.system, minlength=3) / 20_000
    assert shares == pytest.approx(cell.base_rates @ np.array(cell.confusion), abs=0.015)


def test_groups_have_the_accuracies_of_the_cell():
    cell = item_groups.CELLS["system and raters are worse"]
    group, truth, ratings = item_groups.draw_groups(cell, 30_000, np.random.default_rng(1))
    assert group.sum() == 10_000
    for g in range(2):
        right = (ratings.system == truth)[group == g].mean()
        assert right == pytest.approx(cell.system[g], abs=0.015)
        raters = (ratings.codes == truth[:, None])[group == g].mean(axis=0)
        assert raters == pytest.approx(cell.raters[g], abs=0.015)
        rates = np.bincount(truth[group == g]) / (group == g).sum()
        assert rates == pytest.approx(item_groups.BASE_RATES[g], abs=0.015)


@pytest.mark.parametrize(("name", "n_cells"), [("system_measures", 3), ("item_groups", 3)])
def test_the_tables_have_every_cell_with_monte_carlo_errors(name, n_cells):
    table = pd.read_csv(FOLDER / f"{name}.csv")
    assert table["cell"].nunique() == n_cells
    assert set(table["method"]) == {"algebraic", "dawid_skene"}
    assert (table["coverage_se"] > 0).all() and (table["n"] >= 40).all()


def test_intervals_of_recall_hold_where_the_methods_assumptions_do():
    table = pd.read_csv(FOLDER / "system_measures.csv").query("quantity in ('recall', 'precision')")
    assert set(table["items"]) == {50, 200, 1000}
    hold = table["cell"].str.contains("hold")
    assert (table[hold]["coverage"] > 0.85).all()
    assert (table.query("method == 'dawid_skene'")["coverage"] > 0.85).all()
    assert (table[hold & (table["items"] == 1000)]["bias"].abs() < 0.01).all()
