"""Draws beyond the memory are refused, and not tried a second time."""

import json

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


def test_there_is_no_second_try_that_memory_does_not_hold(monkeypatch):
    options = {"engine": "gibbs", "draws": 50, "chains": 2, "checks": False}
    monkeypatch.setattr(draws, "_measure_memory", lambda: 2e5)
    with pytest.warns(bayes_models.ConvergenceWarning):
        tree = bayes_models.fit("dawid_skene", load_dataset("anesthesia"), **options)
    assert tree.posterior.sizes["draw"] == 50
    assert json.loads(tree.attrs["diagnostics"])["tries"] == 1
