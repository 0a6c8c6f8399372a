"""What is kept in a folder is used for what it was computed with, and for nothing else."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments.benchmarks import estimators
from experiments.benchmarks.processes import PROCESSES, SETTINGS
from experiments.calibration import calibration_command as calibration
from experiments.simulations.power import SIMULATION
from experiments.simulations.simulation import run_simulation
from lehner.core.seeds import generator


@pytest.fixture
def undrawn(monkeypatch):
    """Draw no figures, which take longer than all else; others draw them."""
    monkeypatch.setattr(calibration, "write_figure", lambda *_: ())
    for name in ("plot_coverage", "plot_ranks"):
        monkeypatch.setattr(calibration, name, lambda _: None)


@pytest.fixture
def ranks(monkeypatch):
    """Draw ranks at random instead of fitting models."""

    def simulate(name, design, seed):
        drawn = generator(seed).random((calibration.PART, 4))
        return pd.DataFrame(drawn, columns=list("abcd"))

    monkeypatch.setattr(calibration, "_simulate", simulate)


def test_each_seed_of_a_calibration_has_its_own_ranks(ranks, undrawn, tmp_path):
    def table(seed, folder):
        path, *_ = calibration.write_calibration(["one_coin"], None, 200, tmp_path / folder, seed)
        return path.read_text()

    first = table(1, "one")
    assert table(2, "one") == table(2, "two") != first
    assert table(1, "one") == first


def test_ranks_of_models_calibrated_before_stay_in_the_table_and_the_figure(ranks, tmp_path):
    calibration.write_calibration(["pooled"], None, 100, tmp_path, 1)
    earlier = pd.read_csv(tmp_path / "ranks.csv")
    calibration.write_calibration(["one_coin"], ["K2_J2_n20"], 200, tmp_path, 1)
    both = pd.read_csv(tmp_path / "ranks.csv").groupby(["model", "design"], sort=False)
    assert list(both.groups) == [("one_coin", "K2_J2_n20"), ("pooled", "K3_J3_n40_missing")]
    kept = both.get_group(("pooled", "K3_J3_n40_missing"))
    np.testing.assert_array_equal(kept, earlier)
    assert len(both.get_group(("one_coin", "K2_J2_n20"))) == 200


def test_a_calibration_takes_more_than_a_thousand_parts(ranks, undrawn, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "PART", 1)
    path, *_ = calibration.write_calibration(["one_coin"], None, 1001, tmp_path, 1)
    assert (pd.read_csv(path)["simulations"] == 1001).all()


def test_each_seed_of_the_tests_power_has_its_own_rates(tmp_path):
    designs = [design for design in SIMULATION.designs if design.place == (4, 50)]
    one = replace(SIMULATION, designs=designs, plot=None)

    def table(seed, folder):
        list(run_simulation("power", one, tmp_path / folder, 10, seed))
        return (tmp_path / folder / "power.csv").read_text()

    first = table(11, "one")
    assert table(1, "one") == table(1, "two") != first
    assert table(11, "one") == first


def test_each_number_of_replicates_has_its_own_estimates(tmp_path, monkeypatch):
    def rows(setting, method, accuracy, replicates, seed):
        for replicate in range(replicates):
            for estimand in estimators.ESTIMANDS:
                yield {
                    "replicate": replicate,
                    "estimand": estimand,
                    "estimate": 0.5 + 0.1 * replicate,
                    "lower": 0.0,
                    "upper": 1.0,
                    "truth": 0.5,
                    "categories": 5,
                    "converged": True,
                    "warned": False,
                    "seconds": 1.0,
                }

    monkeypatch.setattr(estimators, "_rows", rows)
    for data_sets in (10, 15, 9):
        arguments = ["estimators", tmp_path, "--setting", "figure 3", "--data-sets", data_sets]
        arguments += ["--method", "algebraic", "one_coin", "--workers", "1"]
        monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
        estimators.main()
        table = pd.read_csv(tmp_path / "estimators.csv")
        assert (table["n"] == -(-data_sets // 5) * 5).all()
        text = (tmp_path / "estimators.md").read_text()
        assert f"| figure 3 | {table['rmse'][0]:.3f}".replace("0.", ".") in text
        assert sorted(set(table["method"])) == ["algebraic", "one_coin"]
        np.testing.assert_allclose(table["bias"], 0.05 * (table["n"] // 5 - 1))


def test_every_method_sees_the_same_data_with_the_accuracy_that_is_said():
    for name in ("figure 9", "raters 0.7, 100 items, base rate 0.2", "K favourite category"):
        setting = SETTINGS[name]
        one, expected = setting.draw(0.9, np.random.SeedSequence(1))
        two, _ = setting.draw(0.9, np.random.SeedSequence(1))
        assert one.equals(two)
        assert 0 < expected < 1 and one.truth is not None


@pytest.mark.parametrize("name", PROCESSES)
def test_the_system_of_a_process_is_as_accurate_as_expected(name):
    errors = []
    for i in range(200):
        ratings, expected = PROCESSES[name]((0.3, 0.6, 0.9)[i % 3], np.random.default_rng([1, i]))
        errors.append(np.mean(ratings.system == ratings.truth) - expected)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors))
