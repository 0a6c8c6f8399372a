"""Light's kappa, Bangdiwala's B, chance agreement: published numbers."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from lehner import Ratings, agreement, agreement_of_table, load_dataset

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
    assert found.p_value is None and found.interpretation is None


def test_bangdiwalas_b_is_of_two_raters_and_without_weights():
    names = {c.name for c in agreement(Ratings(random_ratings(), "abc")).coefficients}
    assert "bangdiwala_b" not in names
    two = Ratings(random_ratings(raters=2), "abc", ordered=True)
    found = [c for c in agreement(two).coefficients if c.name == "bangdiwala_b"]
    assert [c.weights for c in found] == ["identity"]


# ----- Light -----


@pytest.mark.parametrize("weights", ["identity", "linear"])
def test_lights_kappa_is_the_mean_of_cohens(weights):
    codes = random_ratings()
    found = agreement(Ratings(codes, "abc", ordered=True), weights=weights)["light_kappa"]
    one_by_one = [
        cohen_kappa_score(one, other, weights=None if weights == "identity" else weights)
        for one, other in combinations(codes.T, 2)
    ]
    assert found.estimate == pytest.approx(np.mean(one_by_one), abs=1e-12)


def test_lights_kappa_of_two_raters_is_cohens():
    found = agreement(Ratings(random_ratings(raters=2, missing=0.2), "abc"))
    one, other = found["light_kappa"], found["cohen_kappa"]
    assert one.estimate == pytest.approx(other.estimate, abs=1e-12)
    assert one.chance_agreement == pytest.approx(other.chance_agreement, abs=1e-12)
    assert one.standard_error == pytest.approx(other.standard_error, rel=0.01)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_lights_error_is_that_of_the_jackknife(missing):
    codes = random_ratings(n=150, missing=missing)
    left_out = [
        agreement(Ratings(np.delete(codes, i, axis=0), "abc"))["light_kappa"].estimate
        for i in range(150)
    ]
    jackknife = np.sqrt(149 / 150 * ((left_out - np.mean(left_out)) ** 2).sum())
    found = agreement(Ratings(codes, "abc"))["light_kappa"]
    assert found.standard_error == pytest.approx(jackknife, rel=0.03)


def test_the_system_is_no_rater_in_lights_kappa():
    codes = random_ratings(raters=3)
    alone = agreement(Ratings(codes, "abc"))["light_kappa"]
    beside = agreement(Ratings(codes, "abc", system=np.zeros(80, int)))["light_kappa"]
    assert alone == beside


def test_pairs_without_a_kappa_are_left_out_of_lights():
    codes = np.column_stack([np.zeros((6, 2), int), [0, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 0]])
    found = agreement(Ratings(codes, "ab"))["light_kappa"]
    pairs = [pair for pair in combinations(range(4), 2) if pair != (0, 1)]
    kappas = [cohen_kappa_score(codes[:, a], codes[:, b]) for a, b in pairs]
    assert found.estimate == pytest.approx(np.mean(kappas))
    assert found.note == "without 1 pair of raters whose chance agreement is 1"


def test_a_crowd_has_no_lights_kappa():
    # Kappas of one or two items are 0 or undefined, and so would be their mean.
    codes = np.full((60, 20), -1)
    for i, row in enumerate(codes):
        row[[i % 20, (i + 3) % 20, (i + 7) % 20]] = i % 3
    found = agreement(Ratings(codes, "abc"))["light_kappa"]
    assert found.estimate is None
    assert found.note.startswith("undefined: two raters have 0.9 items in common on average")


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
