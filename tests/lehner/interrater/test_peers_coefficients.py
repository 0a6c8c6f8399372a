"""Bangdiwala's B, chance agreement: published numbers."""

import numpy as np
import pytest

from lehner import Ratings, agreement, load_dataset
from tests.lehner.interrater.tables import agreement_of_table

ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def random_ratings(n=80, raters=4, k=3, seed=1, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=(n, 1))
    codes = np.where(rng.random((n, raters)) < 0.6, truth, rng.integers(k, size=(n, raters)))
    return np.where(rng.random(codes.shape) < missing, -1, codes)


# ----- Bangdiwala -----


def test_bangdiwalas_b_is_that_of_irrcac():
    # irrCAC 1.0, README; its variance is over n.
    found = agreement_of_table(ABSTRACTORS)["bangdiwala_b"]
    assert found.estimate == pytest.approx(0.8059604, abs=5e-8)
    assert found.standard_error == pytest.approx(0.05449465 * np.sqrt(100 / 99), abs=1e-8)
    assert found.p_value is None


def test_bangdiwalas_b_is_of_two_raters_and_without_weights():
    names = {c.name for c in agreement(Ratings(random_ratings(), "abc")).coefficients}
    assert "bangdiwala_b" not in names
    two = Ratings(random_ratings(raters=2), "abc", ordered=True)
    found = [c for c in agreement(two).coefficients if c.name == "bangdiwala_b"]
    assert [c.weights for c in found] == ["identity"]


# ----- Chance agreement -----


def test_chance_agreement_is_that_of_irrcac():
    # Its README: distrib.6raters, the first 15 of Fleiss's 30 patients.
    found = agreement(load_dataset("fleiss1971").take(np.arange(15)))
    expected = {
        "gwet_ac1": 0.1914815,
        "fleiss_kappa": 0.2340741,
        "krippendorff_alpha": 0.2340741,
        "brennan_prediger_kappa": 0.2,
    }
    for name, chance in expected.items():
        assert found[name].chance_agreement == pytest.approx(chance, abs=5e-8)
    assert found["percent_agreement"].chance_agreement is None
