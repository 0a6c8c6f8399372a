"""What the data cannot decide is said before sampling."""

import numpy as np
import pytest

import bayes_models
from bayes_models import MODELS, identify, methods
from bayes_models.models.log_odds import SCALES
from bayes_models.posterior import draws
from bayes_models.posterior.predictive import draw_from_prior
from bayes_models.sampling.fit import FOR_STUDIES
from lehner import InputError, Ratings, Scenario, estimate, simulate
from lehner.estimation.methods import find_method

EQUAL_ERRORS = {"common_error_spread": 0, "error_spread": 0, "system_error_spread": 0}


@pytest.mark.parametrize(
    ("model", "priors"),
    [
        ("one_coin", None),
        ("dawid_skene", None),
        ("relaxed_k", None),
        ("one_coin_by_rater", None),
        ("one_coin_by_rater", {"rater_spread": 0}),
        ("relaxed_k", dict.fromkeys(SCALES, 0)),
        ("relaxed_k", dict.fromkeys(SCALES, 0) | {"rater_spread": 0.6}),
        ("relaxed_k", EQUAL_ERRORS | {"difficulty_spread": 0}),
    ],
)
def test_the_count_is_the_dimension_of_what_the_prior_can_draw(model, priors):
    ratings = simulate(Scenario(n_categories=3, n_items=30), 1).with_truth(None)
    drawn = draw_from_prior(model, ratings, 60, priors=priors)
    cells = [drawn[name].values[0].reshape(60, -1) for name in ("base_rates", "confusion")]
    centred = np.hstack(cells) - np.hstack(cells).mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)
    dimension = (singular > 1e-8 * singular[0]).sum()
    assert identify(model, ratings, priors).parameters == dimension


def test_degrees_of_freedom_are_patterns_less_one_for_each_set_of_raters():
    codes = [[0, 1, -1]] * 50 + [[-1, 0, 1]] * 50 + [[0, -1, -1]] * 50
    ratings = Ratings(codes, ["a", "b"])
    # Two pairs of raters with 3 free probabilities each, and a rater alone with 1.
    assert identify("one_coin", ratings).degrees_of_freedom == 7
    few = Ratings(codes[:2], ["a", "b"])
    assert identify("one_coin", few).degrees_of_freedom == 2


def test_plenty_of_data_raise_no_warning():
    ratings = simulate(Scenario(n_categories=3, n_items=2000, base_rates="equal"), 1).with_truth(
        None
    )
    for model in MODELS:
        assert identify(model, ratings).warnings == ()


@pytest.mark.parametrize(
    ("priors", "errors"),
    [
        (EQUAL_ERRORS | {"distance_decay": 0}, 0),
        (EQUAL_ERRORS, 1),
        ({"error_spread": 0}, 3 + 3),
        ({"error_spread": 0, "system_error_spread": 0}, 3),
        ({"system_error_spread": 0}, 9 + 3),
        (None, 12),
    ],
)
def test_errors_that_raters_share_count_once(priors, errors):
    ratings = simulate(Scenario(n_categories=3, n_items=30), 1).with_truth(None)
    ordered = Ratings(
        ratings.votes, ratings.categories, ratings.raters, ratings.items, ratings.system,
        ordered=True,
    )  # fmt: skip
    assert identify("relaxed_k", ordered, priors).parameters == 2 + 12 + errors


def small_sample():
    return simulate(Scenario(n_categories=3, n_items=30), 1).with_truth(None)


@pytest.mark.parametrize(
    ("model", "priors", "worth"),
    [
        ("dawid_skene", None, "8 ratings"),
        ("dawid_skene", {"confusion": 40.0}, "120 ratings"),
        ("dawid_skene", {"confusion": [[90, 5, 5], [1, 1, 1], [10, 10, 10]]}, "30 to 100 ratings"),
    ],
)
def test_the_prior_is_worth_what_its_numbers_are(model, priors, worth):
    result = identify(model, small_sample(), priors).warnings
    (first, *_) = (str(warning) for warning in result if warning.code == "prior-outweighs-data")
    assert f"which counts as {worth}, outweighs the data" in first


def test_a_weak_prior_outweighs_nothing():
    result = identify("dawid_skene", small_sample(), {"confusion": 0.1}).warnings
    assert "prior-outweighs-data" not in [warning.code for warning in result]


def test_priors_that_are_none_are_refused():
    with pytest.raises(InputError, match="did you mean 'confusion'"):
        identify("dawid_skene", small_sample(), {"confuson": 1})
    with pytest.raises(InputError, match="above 0"):
        identify("dawid_skene", small_sample(), {"confusion": -1})


def test_two_ratings_of_an_item_do_not_tell_accuracy_from_agreement():
    codes = np.random.default_rng(1).integers(0, 3, (500, 2))
    report = identify("dawid_skene", Ratings(codes, list("abc")))
    assert "items-with-few-ratings" in [warning.code for warning in report.warnings]
    third = np.random.default_rng(2).integers(0, 3, 500)
    report = identify("dawid_skene", Ratings(codes, list("abc"), system=third))
    assert "items-with-few-ratings" not in [warning.code for warning in report.warnings]


def test_an_item_with_known_truth_needs_no_third_rating():
    codes = np.zeros((10, 2), dtype=int)
    truth = np.where(np.arange(10) < 4, 0, -1)
    (few, *_) = identify("one_coin", Ratings(codes, ["a", "b"], truth=truth)).warnings
    assert "60% of the items" in few.text


def test_hundreds_of_ratings_of_an_item_have_no_more_freedom_than_items():
    codes = np.random.default_rng(1).integers(0, 3, (5, 1000))
    assert identify("dawid_skene", Ratings(codes, list("abc"))).degrees_of_freedom == 5


# How models are fitted to so many raters that the default of `fit` would take hours.


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
