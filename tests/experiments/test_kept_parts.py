"""What is kept in a folder is used for what it was computed with, and for nothing else."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from experiments.benchmarks import estimators
from experiments.calibration import command as calibration
from experiments.k_properties.power import write_power
from lehner.seeds import generator


@pytest.fixture
def ranks(monkeypatch):
    """Draw ranks at random instead of fitting models."""

    def write_part(name, seed, path):
        drawn = generator(seed).random((calibration.PART, 4))
        pd.DataFrame(drawn, columns=list("abcd")).to_csv(path, index=False)

    monkeypatch.setattr(calibration, "_write_part", write_part)


def test_each_seed_of_a_calibration_has_its_own_ranks(ranks, tmp_path):
    def table(seed, folder):
        path, _ = calibration.write_calibration(["one_coin"], 200, tmp_path / folder, seed)
        return path.read_text()

    first = table(1, "one")
    assert table(2, "one") == table(2, "two") != first
    assert table(1, "one") == first


def test_a_calibration_takes_more_than_a_thousand_parts(ranks, tmp_path, monkeypatch):
    monkeypatch.setattr(calibration, "PART", 1)
    path, _ = calibration.write_calibration(["one_coin"], 1001, tmp_path, 1)
    assert (pd.read_csv(path)["simulations"] == 1001).all()


def test_each_seed_of_the_tests_power_has_its_own_rates(tmp_path):
    def table(seed, folder):
        *_, path, _ = write_power(tmp_path / folder, ["raters .4 .6 .8"], [50], 10, seed)
        return path.read_text()

    first = table(11, "one")
    assert table(1, "one") == table(1, "two") != first
    assert table(11, "one") == first


def test_each_number_of_replicates_has_its_own_estimates(tmp_path, monkeypatch):
    def rows(figure, accuracy, replicates):
        for replicate in range(replicates):
            for estimand in estimators.ESTIMANDS:
                yield {
                    "figure": figure,
                    "system": accuracy,
                    "replicate": replicate,
                    "method": estimators.PEER,
                    "estimand": estimand,
                    "estimate": 0.5 + 0.1 * replicate,
                    "lower": 0.0,
                    "upper": 1.0,
                    "truth": 0.5,
                }

    monkeypatch.setattr(estimators, "_rows", rows)
    monkeypatch.setattr(
        estimators, "ProcessPoolExecutor", lambda workers, mp_context: ThreadPoolExecutor(workers)
    )
    for replicates in (2, 3, 2):
        arguments = ["estimators", tmp_path, "--figure", 3, "--replicates", replicates]
        monkeypatch.setattr(sys, "argv", list(map(str, arguments)))
        estimators.main()
        table = pd.read_csv(tmp_path / "estimators.csv")
        assert (table["n"] == replicates * len(estimators.SYSTEM_ACCURACIES)).all()
    np.testing.assert_allclose(table["bias"], 0.05)
