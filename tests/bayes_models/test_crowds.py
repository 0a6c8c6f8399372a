"""How models are fitted to so many raters that the default of `fit` would take hours."""

import numpy as np
import pytest

import bayes_models
from bayes_models import methods
from bayes_models.posterior import draws
from bayes_models.sampling.fit import FOR_STUDIES
from lehner import Ratings, estimate
from lehner.estimation.methods import find_method


def crowd(n_raters, n_items=60, seed=1):
    """Two categories, five ratings an item; the last rater has none."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_items)
    right = rng.random((n_items, n_raters)) < rng.uniform(0.6, 0.95, n_raters)
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    order = rng.random((n_items, n_raters - 1)).argsort(axis=1).argsort(axis=1)
    codes[:, :-1][order >= 5] = -1
    codes[:, -1] = -1
    system = np.where(rng.random(n_items) < 0.8, truth, 1 - truth)
    return Ratings(codes, ["no", "yes"], system=system)


def test_engine_and_draws_follow_from_the_number_of_raters_or_categories():
    as_in_studies = {
        name: FOR_STUDIES[name] for name in ("draws", "tune", "target_accept", "check")
    }
    for n_raters, model, expected in (
        (20, "dawid_skene", {}),
        (21, "dawid_skene", {"engine": "gibbs"}),
        (21, "relaxed_k", {"engine": "nuts", "target_accept": 0.85}),
        (101, "dawid_skene", {"engine": "gibbs"} | as_in_studies),
        (101, "relaxed_k", {"engine": "nuts"} | as_in_studies),
    ):
        assert methods.choose_options(model, crowd(n_raters)) == expected
    labels = [str(k) for k in range(101)]
    for n_categories, expected in ((21, {}), (101, as_in_studies)):
        ratings = Ratings([[0, 0]], labels[:n_categories], system=[0])
        options = methods.choose_options("dawid_skene", ratings)
        assert options == {"engine": "gibbs"} | expected


def test_an_estimate_of_a_crowd_says_its_engine_and_is_that_of_a_fit():
    ratings = crowd(21)
    estimate = find_method("dawid_skene").fit(ratings, level=0.9, seed=1)
    assert estimate.diagnostics["engine"] == "gibbs" and estimate.diagnostics["ess_bulk"] > 400
    tree = bayes_models.fit("dawid_skene", ratings, engine="gibbs", seed=1)
    mean = float(tree["posterior"]["system_accuracy"].mean())
    assert estimate.system_accuracy.estimate == mean
    # Who rated nothing is as the prior says: right with a mean probability of .6.
    confusion = tree["posterior"]["confusion"].isel(rater=20).mean(("chain", "draw"))
    np.testing.assert_allclose(confusion, [[0.6, 0.4], [0.4, 0.6]], atol=0.02)


def test_a_model_beyond_the_memory_has_no_estimate_beside_those_of_others(monkeypatch):
    monkeypatch.setattr(draws, "_measure_memory", lambda: 1e6)
    result = estimate(crowd(21), ["majority_agreement", "dawid_skene"])
    majority, model = result.fits.values()
    assert majority.system_accuracy.estimate > 0
    assert model.system_accuracy.estimate is None
    assert model.warnings[0].code == "too-large"
    assert "GB of memory" in str(model.warnings[0])


@pytest.mark.slow
def test_a_crowd_by_gibbs_is_within_a_tenth_of_a_posterior_deviation_of_nuts():
    ratings = crowd(25, 200)
    options = {"checks": False, "log_likelihood": False, "check": "estimands"}
    ours, theirs = (
        bayes_models.fit("dawid_skene", ratings, engine=engine, draws=draws, **options)["posterior"]
        for engine, draws in (("gibbs", 10_000), ("nuts", 2000))
    )
    for name in ("system_accuracy", "system_accuracy_in_sample", "base_rates", "accuracy"):
        a, b = (posterior[name].mean(("chain", "draw")) for posterior in (ours, theirs))
        assert (abs(a - b) < 0.1 * theirs[name].std(("chain", "draw"))).all(), name
