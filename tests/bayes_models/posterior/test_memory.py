"""Draws beyond the memory are refused, and a second try keeps what memory holds."""

import numpy as np
import pytest

import bayes_models
import lehner
from bayes_models.posterior import draws
from lehner import load_dataset


@pytest.mark.parametrize("engine", ["nuts", "gibbs"])
def test_draws_that_need_more_memory_than_there_is_are_refused(monkeypatch, engine):
    monkeypatch.setattr(draws, "_measure_memory", lambda: 1e6)
    with pytest.raises(lehner.InputError, match=r"dawid_skene: draws need \d+\.\d GB of memory"):
        bayes_models.fit("dawid_skene", load_dataset("anesthesia"), engine=engine, draws=10_000)


def test_gibbs_sampling_again_keeps_the_draws_that_memory_holds(monkeypatch):
    ratings = load_dataset("anesthesia")
    options = {"engine": "gibbs", "seed": 1, "draws": 50, "chains": 2, "checks": False}
    with pytest.warns(bayes_models.ConvergenceWarning):
        longer = bayes_models.fit("dawid_skene", ratings, **options)
    monkeypatch.setattr(draws, "MOST_BYTES", 1.0)
    with pytest.warns(bayes_models.ConvergenceWarning):
        thinned = bayes_models.fit("dawid_skene", ratings, **options)
    assert longer.posterior.sizes["draw"] == 200
    assert thinned.posterior.sizes["draw"] == 50
    for name in ("base_rates", "confusion"):
        every_fourth = longer.posterior[name].values[:, 3::4]
        np.testing.assert_array_equal(thinned.posterior[name].values, every_fourth)
