"""Samplers tell how far they are, and Gibbs sampling in parts gives the same draws."""

import logging
import re

import numpy as np
import pytest

import bayes_models
from bayes_models.sampling import gibbs
from lehner import Ratings, Scenario, agreement, estimate, load_dataset, simulate
from lehner.core import resampling as progress

pytestmark = pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")

FEW = {"draws": 40, "tune": 10, "chains": 2, "tries": 1, "checks": False}


def test_sweeps_in_parts_are_the_same_sweeps(caplog, monkeypatch):
    ratings = load_dataset("anesthesia")
    whole = bayes_models.fit("dawid_skene", ratings, engine="gibbs", cores=2, **FEW)
    caplog.set_level(logging.INFO, "lehner")
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(gibbs, "CELLS_AT_ONCE", 1)
    in_parts = bayes_models.fit("dawid_skene", ratings, engine="gibbs", cores=1, **FEW)
    assert np.array_equal(in_parts["posterior"]["confusion"], whole["posterior"]["confusion"])
    message = [text for text in caplog.messages if text.startswith("dawid_skene: sampling: ")]
    # After each of 50 sweeps of two chains but the last.
    assert len(message) == 99 and message[-1].startswith("dawid_skene: sampling: 99% done, ")


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2])
def test_nuts_tells_how_far_it_is(caplog, monkeypatch, cores):
    caplog.set_level(logging.INFO, "lehner")
    monkeypatch.setattr(progress, "EVERY", 0.0)
    longer = FEW | {"draws": 5000, "tune": 200, "cores": cores}
    bayes_models.fit(
        "one_coin", simulate(Scenario(n_items=100), 1).with_truth(None), **longer, progressbar=False
    )
    message = [text for text in caplog.messages if text.startswith("one_coin: sampling: ")]
    shares = [int(text.split()[2].removesuffix("%")) for text in message]
    assert shares and shares == sorted(shares) and shares[-1] <= 100


def test_what_is_done_for_each_pair_or_system_says_how_far_it_is(monkeypatch, caplog):
    """Many raters and many systems take minutes, though no single step does."""
    monkeypatch.setattr(progress, "EVERY", -1.0)
    caplog.set_level(logging.INFO, "lehner")
    ratings = simulate(Scenario(n_items=30, initial_rater_accuracy=(0.8,) * 4), 1).with_truth(None)
    agreement(ratings)
    assert re.findall(r"pairs of raters: (\d+)% done", caplog.text) == ["40", "70", "90"]
    votes = np.random.default_rng(1).integers(0, 2, (30, 3))
    answers = np.stack([votes[:, 0]] * 3, axis=1)
    answers[[0, 1], [0, 1]] = -1
    several = Ratings(votes, ["no", "yes"], system=answers)
    estimate(several, ["majority_agreement", "algebraic"])
    for what, parts in (("systems", 2), ("fits", 11), ("pairs of systems", 4)):
        assert len(re.findall(rf"(?<!of ){what}: \d+% done", caplog.text)) == parts, what
    assert len(re.findall(r"answers: \d+% done", caplog.text)) > 40
