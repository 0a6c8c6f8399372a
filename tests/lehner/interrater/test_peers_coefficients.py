"""Chance agreement: published numbers."""

import numpy as np
import pytest

from lehner import agreement, load_dataset

ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]


def random_ratings(n=80, raters=4, k=3, seed=1, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=(n, 1))
    codes = np.where(rng.random((n, raters)) < 0.6, truth, rng.integers(k, size=(n, raters)))
    return np.where(rng.random(codes.shape) < missing, -1, codes)


def test_chance_agreement_is_that_of_irrcac():
    # Its README: distrib.6raters, the first 15 of Fleiss's 30 patients.
    result = agreement(load_dataset("fleiss1971").take(np.arange(15)))
    expected = {
        "gwet_ac1": 0.1914815,
        "fleiss_kappa": 0.2340741,
        "krippendorff_alpha": 0.2340741,
        "brennan_prediger_kappa": 0.2,
    }
    for name, chance in expected.items():
        assert result[name].chance_agreement == pytest.approx(chance, abs=5e-8)
    assert result["percent_agreement"].chance_agreement is None
