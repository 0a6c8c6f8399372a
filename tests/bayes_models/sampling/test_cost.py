"""Fits that take long or much memory are announced; nothing changes in their draws."""

import logging
import re
import time

import numpy as np
import pytest

import bayes_models
import lehner
from bayes_models.sampling import cost, gibbs
from lehner import load_dataset

SIZES = {"model": "m", "n_parameters": 75, "n_values": 100, "chains": 4, "cores": 2}


def _slow(**options: int) -> int:
    time.sleep(0.1)
    return 10


def test_time_is_that_of_steps_draws_and_chains_in_turn(caplog):
    cost.warn_of_cost(_slow, n_terms=30_000, draws=1200, **SIZES)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    # .01 s a step, 15 steps a draw, 1,200 draws, and 4 chains two at a time.
    minutes = float(re.search(r"about (\d+) min", record.getMessage()).group(1))
    assert minutes == pytest.approx(6, abs=2)
    assert "dawid_skene_ml" in record.getMessage()


def test_large_draws_are_announced_though_steps_are_not_timed(caplog):
    sizes = SIZES | {"n_values": 100_000}
    cost.warn_of_cost(pytest.fail, n_terms=10, draws=2000, **sizes)
    assert "19.2 GB" in caplog.text


def test_gibbs_sampling_of_many_categories_is_announced(monkeypatch, caplog):
    n_categories, rng = 60, np.random.default_rng(1)
    codes = rng.integers(n_categories, size=(100, 5))
    names = [str(one) for one in range(n_categories)]
    observed = bayes_models.observe(lehner.Ratings(codes, names, system=codes[:, 0]))
    monkeypatch.setattr(gibbs, "_sweeps", lambda *_: None)
    options = {"seed": 1, "draws": 100, "tune": 0, "chains": 2}
    gibbs.sample_conjugate("dawid_skene", observed, **options)
    assert not caplog.records
    monkeypatch.setattr(cost, "LARGE", 6 * n_categories**2 * 200 * 8 * cost.COPIES["gibbs"])
    gibbs.sample_conjugate("dawid_skene", observed, **options)
    assert "dawid_skene: sampling will take about 1 min or more, and 0.1 GB" in caplog.text


@pytest.mark.parametrize("engine", ["nuts", "gibbs"])
def test_draws_that_need_more_memory_than_there_is_are_refused(monkeypatch, engine):
    monkeypatch.setattr(cost, "_memory_of_computer", lambda: 1e6)
    with pytest.raises(lehner.InputError, match=r"dawid_skene: draws need \d+\.\d GB of memory"):
        bayes_models.fit("dawid_skene", load_dataset("anesthesia"), engine=engine, draws=10_000)


def test_gibbs_sampling_again_keeps_the_draws_that_memory_holds(monkeypatch):
    ratings = load_dataset("anesthesia")
    options = {"engine": "gibbs", "seed": 1, "draws": 50, "chains": 2, "checks": False}
    with pytest.warns(bayes_models.ConvergenceWarning):
        longer = bayes_models.fit("dawid_skene", ratings, **options)
    monkeypatch.setattr(cost, "LARGE", 1.0)
    with pytest.warns(bayes_models.ConvergenceWarning):
        thinned = bayes_models.fit("dawid_skene", ratings, **options)
    assert longer.posterior.sizes["draw"] == 200
    assert thinned.posterior.sizes["draw"] == 50
    for name in ("base_rates", "confusion"):
        every_fourth = longer.posterior[name].values[:, 3::4]
        np.testing.assert_array_equal(thinned.posterior[name].values, every_fourth)


def test_small_fits_are_not_announced(caplog):
    cost.warn_of_cost(pytest.fail, n_terms=10, draws=1200, **SIZES)
    cost.warn_of_cost(lambda **options: 10**6, n_terms=30_000, draws=1200, **SIZES)
    assert not caplog.records


def test_draws_are_the_same_after_an_announcement(table_2_fit, monkeypatch, caplog):
    monkeypatch.setattr(cost, "FEW_TERMS", 0)
    monkeypatch.setattr(cost, "LONG", 0.0)
    again = bayes_models.fit("dawid_skene", load_dataset("lehner_table2"), seed=1)
    assert "sampling will take about" in caplog.text
    ours, theirs = (one["posterior"]["system_accuracy"].values for one in (again, table_2_fit))
    np.testing.assert_array_equal(ours, theirs)
