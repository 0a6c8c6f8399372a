"""How far a long computation is."""

import logging

import pytest

from lehner import Scenario, check_k_properties, estimate_algebraic, estimate_latent_class, simulate
from lehner.core import resampling
from lehner.k_properties import totals
from lehner.latent_class import em


@pytest.fixture
def said(caplog, monkeypatch):
    """What is logged, as if each look at the clock were two seconds after the one before."""
    caplog.set_level(logging.INFO, "lehner")
    seconds = iter(range(0, 10**6, 2))
    monkeypatch.setattr(resampling.time, "monotonic", lambda: next(seconds))
    return caplog


def test_proportion_and_time_left_are_told_every_five_seconds(said):
    tell = resampling.progress_of("resampling", 10)
    for done in range(11):
        tell(done)
    # At 6, 12 and 18 seconds, when 2, 5 and 8 of 10 are done; not at the end.
    expected = ["20% done, 24 s left", "50% done, 12 s left", "80% done, 4 s left"]
    assert said.messages == [f"resampling: {text}" for text in expected]


@pytest.mark.parametrize(
    ("what", "work"),
    [
        ("resampling", lambda one: estimate_algebraic(one, seed=1)),
        ("resampling", lambda one: estimate_latent_class(one, "dawid_skene", seed=1)),
        ("maximum likelihood", lambda one: estimate_latent_class(one, "dawid_skene", seed=1)),
        ("simulating", lambda one: check_k_properties(one, replicates=199, seed=1)),
    ],
)
def test_engines_tell_how_far_they_are(said, monkeypatch, what, work):
    monkeypatch.setattr(resampling, "RESAMPLED_ROWS_AT_ONCE", 10)
    monkeypatch.setattr(em, "POSTERIOR_CELLS_AT_ONCE", 10)
    monkeypatch.setattr(totals, "TOTALS_AT_ONCE", 10)
    work(simulate(Scenario(n_items=30), 1))
    told = [text for text in said.messages if text.startswith(f"{what}: ")]
    assert told and all(text.endswith(" left") and "% done" in text for text in told)
