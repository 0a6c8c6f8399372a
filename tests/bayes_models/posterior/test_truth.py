"""The posterior of true categories against enumeration; checks and measures of draws."""

import json
import tracemalloc
import warnings

import numpy as np
import pytest
import xarray as xr

import bayes_models
import lehner
from bayes_models import check_predictions
from bayes_models.posterior import draws
from bayes_models.posterior import draws as truth
from bayes_models.posterior.draws import add_truth
from bayes_models.posterior.predictive import _measure_agreement
from lehner import Ratings, Scenario, draw_true_parameters, load_dataset, simulate
from tests.bayes_models.models.test_likelihood import as_lists, random_parameters, random_ratings
from tests.lehner.performance.test_system_performance import check_gaps, with_gaps
from tests.lehner.questions import performance
from tests.reference.dawid_skene import log_likelihood, truth_probabilities


def posterior_of(base_rates, confusion, draws=1, **coords):
    """A posterior that repeats the given parameters in every draw."""
    dims = {"base_rates": ("category",), "confusion": ("rater", "category", "response")}
    repeated = {
        name: (("chain", "draw", *dims[name]), np.broadcast_to(values, (2, draws, *values.shape)))
        for name, values in {"base_rates": base_rates, "confusion": confusion}.items()
    }
    coords |= {"draw": np.arange(draws), "category": list("abcdef")[: len(base_rates)]}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(repeated, {"chain": [0, 1]} | coords)})


@pytest.mark.parametrize("seed", range(4))
def test_truths_and_item_log_likelihoods_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    ratings = random_ratings(rng)
    base_rates, confusion = random_parameters(rng, ratings.n_raters + 1, 3)
    tree = posterior_of(base_rates, confusion)
    add_truth(tree, ratings, ratings.to_patterns(), rng)
    expected = truth_probabilities(as_lists(ratings), base_rates, confusion)
    np.testing.assert_allclose(tree["truth"]["truth_probabilities"], expected, atol=1e-10)
    per_item = [log_likelihood([item], base_rates, confusion) for item in as_lists(ratings)]
    np.testing.assert_allclose(tree["log_likelihood"]["ratings"][0, 0], per_item, atol=1e-10)
    assert list(tree["truth"]["item"].values) == list(ratings.items)


def test_accuracy_in_the_sample_counts_right_answers_among_those_given():
    rng = np.random.default_rng(0)
    ratings = random_ratings(rng)
    base_rates, confusion = random_parameters(rng, ratings.n_raters + 1, 3)
    tree = posterior_of(base_rates, confusion, draws=20_000)
    add_truth(tree, ratings, ratings.to_patterns(), rng)
    truth = np.array(truth_probabilities(as_lists(ratings), base_rates, confusion))
    answered = np.flatnonzero(ratings.system >= 0)
    right = truth[answered, ratings.system[answered]]
    draws = tree["posterior"]["system_accuracy_in_sample"].values.ravel()
    # Items are independent given the parameters: a Poisson-binomial count.
    spread = np.sqrt((right * (1 - right)).sum()) / len(answered)
    assert draws.mean() == pytest.approx(right.mean(), abs=5 * spread / np.sqrt(draws.size))
    assert draws.std() == pytest.approx(spread, rel=0.03)
    assert set(np.round(draws * len(answered), 9)) <= set(range(len(answered) + 1))


def test_grouped_rows_count_as_their_items():
    grouped = Ratings([[0, 0, 1], [1, 2, 1]], ["a", "b", "c"], system=[0, 1], counts=[1, 3])
    single = grouped.to_ungrouped()
    base_rates, confusion = random_parameters(np.random.default_rng(1), 4, 3)
    trees = []
    for ratings in (single, grouped):
        tree = posterior_of(base_rates, confusion, draws=5)
        add_truth(tree, ratings, ratings.to_patterns(), np.random.default_rng(2))
        trees.append(tree)
    first, two = trees
    np.testing.assert_allclose(first["log_likelihood"]["ratings"], two["log_likelihood"]["ratings"])
    np.testing.assert_allclose(
        first["posterior"]["system_accuracy_in_sample"],
        two["posterior"]["system_accuracy_in_sample"],
    )
    np.testing.assert_allclose(
        first["truth"]["truth_probabilities"][:2], two["truth"]["truth_probabilities"]
    )


def test_without_a_system_there_is_no_accuracy_in_the_sample():
    ratings = random_ratings(np.random.default_rng(0), system=False)
    tree = posterior_of(*random_parameters(np.random.default_rng(1), ratings.n_raters, 3))
    add_truth(tree, ratings, ratings.to_patterns(), np.random.default_rng(2))
    assert "system_accuracy_in_sample" not in tree["posterior"]


@pytest.mark.parametrize(("wanted", "most"), [(False, 50_000_000), (True, 0)])
def test_item_log_likelihoods_that_are_not_kept_take_no_memory(wanted, most, monkeypatch):
    monkeypatch.setattr(truth, "CELLS_AT_ONCE", 100_000)
    monkeypatch.setattr(truth, "MOST_LOG_LIKELIHOODS", most)
    rng = np.random.default_rng(1)
    ratings = Ratings(rng.integers(0, 3, (500, 12)), ["a", "b", "c"])
    tree = posterior_of(*random_parameters(rng, 12, 3), draws=1000)
    patterns = ratings.to_patterns()
    tracemalloc.start()
    add_truth(tree, ratings, patterns, rng, log_likelihood=wanted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "log_likelihood" not in tree
    np.testing.assert_allclose(tree["truth"]["truth_probabilities"].sum("category"), 1)
    assert peak < 2000 * len(patterns.counts) * 8


def test_probabilities_of_many_items_are_means_of_fewer_draws(monkeypatch):
    ratings = random_ratings(np.random.default_rng(0), system=False)
    means = []
    for most in (50_000_000, 50):
        tree = posterior_of(
            *random_parameters(np.random.default_rng(1), ratings.n_raters, 3), draws=40
        )
        monkeypatch.setattr(truth, "MOST_TRUTHS", most)
        rng = np.random.default_rng(2)
        add_truth(tree, ratings, ratings.to_patterns(), rng, log_likelihood=False)
        means.append(tree["truth"]["truth_probabilities"])
    np.testing.assert_allclose(*means, atol=1e-12)
    np.testing.assert_allclose(means[1].sum("category"), 1.0)


# Checks that must name raters who share mistakes, and nobody else.


def fit_at_the_truth(scenario, seed):
    """A posterior that is certain of the parameters the ratings were drawn from."""
    true = draw_true_parameters(scenario, seed)
    confusion = true["confusion"].isel(level=0).values
    return posterior_of(true["base_rates"].values, confusion, 100, rater=true["rater"].values)


def test_raters_who_copy_are_named_and_only_they():
    scenario = Scenario(n_items=400, copying=(0, 0.4, 0))
    result = check_predictions(fit_at_the_truth(scenario, 1), simulate(scenario, 1))
    (warning,) = result.list_warnings()
    assert warning.code == "agreement-not-predicted" and "Rater 1 and Rater 2" in str(warning)


def test_false_alarms_are_rare():
    scenario = Scenario(n_items=200)
    alarms = [
        len(
            check_predictions(
                fit_at_the_truth(scenario, s), simulate(scenario, s), draws=100
            ).list_warnings()
        )
        for s in range(20)
    ]
    # A hundredth of the data sets at most.
    assert sum(a > 0 for a in alarms) <= 2


def test_predicted_agreement_is_that_of_the_parameters():
    scenario = Scenario(n_items=300, initial_rater_accuracy=(0.5, 0.7, 0.9), base_rates="equal")
    result = check_predictions(fit_at_the_truth(scenario, 2), simulate(scenario, 2))
    expected = 0.5 * 0.7 + 0.5 * 0.3 / 4
    predicted = float(result.table["agreement_predicted"][0, 1])
    assert predicted == pytest.approx(expected, abs=0.01)
    assert float(result.table["agreement_sd"][0, 1]) == pytest.approx(
        np.sqrt(expected * (1 - expected) / 300), rel=0.2
    )


def test_agreement_counts_pairs_of_ratings():
    ratings = Ratings([[0, 0, -1], [0, 1, 1], [1, 1, 1]], ["a", "b"], counts=[1, 1, 2])
    shares, items = _measure_agreement(ratings.to_patterns())
    assert shares[0, 1] == pytest.approx(3 / 4)
    assert shares[1, 2] == pytest.approx(1)
    assert (items[0, 1], items[1, 2]) == (4, 3)


def test_raters_who_never_met_have_no_check():
    codes = [[0, -1, 0], [-1, 1, 1]] * 50
    ratings = Ratings(codes, ["a", "b"])
    scenario = Scenario(n_categories=2, n_items=100)
    tree = fit_at_the_truth(scenario, 1)
    tree["posterior"] = xr.DataTree(tree["posterior"].to_dataset().isel(rater=slice(0, 3)))
    table = check_predictions(tree, ratings, draws=20).table
    assert np.isnan(float(table["agreement"][0, 1])) and np.isfinite(
        float(table["agreement"][0, 2])
    )


# The system in detail from posterior draws.


def test_measures_are_computed_draw_by_draw(table_2_fit):
    ratings = lehner.load_dataset("lehner_table2")
    estimate = bayes_models.estimate_from_draws(table_2_fit)
    result = performance(ratings, estimate, level=0.8)
    posterior = table_2_fit["posterior"].to_dataset()
    system = posterior["rater"].values[-1]
    rates = posterior["base_rates"].rename(true_category="category")
    rows = posterior["confusion"].sel(rater=system)
    joint = rates.sel(category="B") * rows.sel(category="B", response="B")
    answered = (rates * rows.sel(response="B")).sum("category")
    by_hand = (joint / answered).values
    shown = result.value("precision", category="B")
    assert shown.estimate == pytest.approx(by_hand.mean())
    assert [shown.lower, shown.upper] == pytest.approx(np.quantile(by_hand, [0.1, 0.9]))
    recall = rows.sel(category="C", response="C")
    assert result.value("recall", category="C").estimate == pytest.approx(float(recall.mean()))
    accuracy = estimate.system_accuracy
    raters = result.select(quantity="rater_accuracy")["estimate"].to_numpy()
    assert raters == pytest.approx(estimate.rater_accuracy.values)
    assert shown.kind == accuracy.kind


def test_what_is_never_answered_or_never_true_is_undefined_though_draws_are_never_zero():
    ratings = with_gaps()
    short = {"engine": "gibbs", "chains": 2, "draws": 500, "tries": 1, "checks": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        tree = bayes_models.fit("dawid_skene", ratings, seed=1, **short)
    check_gaps(performance(ratings, bayes_models.estimate_from_draws(tree)))


# Draws beyond the memory are refused, and not tried a second time.


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
