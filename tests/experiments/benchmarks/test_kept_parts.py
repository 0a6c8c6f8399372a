"""What is kept in a folder is used for what it was computed with, and for nothing else."""

import sys

import numpy as np
import pandas as pd
import pytest

from experiments.benchmarks import estimators
from experiments.benchmarks.processes import PROCESSES, SETTINGS


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
