"""Two categories: the positive one, predictive values, likelihood ratios, raters compared."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr
from sklearn.metrics import class_likelihood_ratios, precision_score, recall_score

import lehner
from lehner import InputError, Ratings, Scenario, estimate_latent_class
from lehner.performance.measures import find_positive, measure_performance
from tests.lehner.questions import diagnostic_accuracy, performance

MEASURES = ("sensitivity", "specificity", "positive_predictive_value", "negative_predictive_value")
RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")


def scikit_learns(truth, answers):
    """Measures of the positive category 1 by scikit-learn."""
    ratios = class_likelihood_ratios(truth, answers, replace_undefined_by=np.nan)
    return dict(
        zip(
            (*MEASURES, *RATIOS),
            (
                recall_score(truth, answers),
                recall_score(truth, answers, pos_label=0),
                precision_score(truth, answers),
                precision_score(truth, answers, pos_label=0),
                *ratios,
            ),
            strict=True,
        )
    )


@pytest.fixture(scope="module")
def unanimous():
    """Two raters who are always right, a third who is not, and a system that is not."""
    rng = np.random.default_rng(1)
    truth = (rng.random(400) < 0.3).astype(int)
    third, system = (np.where(rng.random(400) < p, truth, 1 - truth) for p in (0.7, 0.85))
    right = np.column_stack([truth] * 3)
    ratings = Ratings(
        np.column_stack([right, third]), ["benign", "malignant"], system=system, truth=truth
    )
    return ratings, truth, third


def test_where_the_truth_is_known_the_measures_are_scikit_learns(unanimous):
    ratings, truth, third = unanimous
    result = performance(ratings, estimate_latent_class(ratings, resamples=40, restarts=0))
    for rater, answers in (("", ratings.system), ("4", third)):
        shown = diagnostic_accuracy(result, rater)
        expected = scikit_learns(truth, answers)
        assert list(shown) == list(expected)
        for name, value in expected.items():
            assert shown[name].estimate == pytest.approx(value, rel=1e-6), name
            assert shown[name].lower < value < shown[name].upper, name


def test_the_other_category_may_be_positive(unanimous):
    ratings, truth, _ = unanimous
    estimate = lehner.majority_agreement(ratings)
    result = diagnostic_accuracy(performance(ratings, estimate), positive="benign")
    expected = scikit_learns(1 - truth, 1 - ratings.system)
    assert {name: measure.estimate for name, measure in result.items()} == pytest.approx(expected)


def test_a_likelihood_ratio_over_zero_is_infinite_and_null_in_json(unanimous):
    ratings, *_ = unanimous
    result = performance(ratings, estimate_latent_class(ratings, resamples=40, restarts=0))
    ratio = diagnostic_accuracy(result, "1")["positive_likelihood_ratio"]
    assert ratio.estimate == ratio.upper == np.inf and 10 < ratio.lower < np.inf
    assert str(ratio).startswith("∞ [") and str(ratio).endswith(", ∞]")
    rows = json.loads(result.to_json())["rows"]
    names = {"quantity": "positive_likelihood_ratio", "rater": "1", "category": "malignant"}
    (of_rater,) = (row for row in rows if names.items() <= row.items())
    shown = [of_rater[name] for name in ("estimate", "lower", "upper")]
    assert shown == [None, ratio.lower, None]
    assert any("specificity may be 1" in str(warning) for warning in result.warnings)


@pytest.mark.parametrize("answers", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
def test_undefined_and_infinite_measures_are_those_that_divide_by_zero(answers):
    truth, answers = np.array([0, 0, 1, 1]), np.array(answers)
    table = np.array([[np.mean(answers[truth == k] == j) for j in (0, 1)] for k in (0, 1)])
    result = measure_performance([0.5, 0.5], table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = scikit_learns(truth, answers)
    shown = {name: float(result[name][1]) for name in RATIOS}
    for name, value in shown.items():
        assert value == pytest.approx(expected[name], nan_ok=True) or value == np.inf
    never = answers.max() == 0
    assert np.isnan(result["precision"][1]) == np.isnan(shown[RATIOS[0]]) == never
    assert np.isnan(shown[RATIOS[1]]) == (answers.min() == 1)
    assert (shown[RATIOS[0]] == np.inf) == (answers.tolist() == [0, 0, 1, 1])


def hand_made(ratings, accuracies, n_draws=4000):
    """Draws as `bayes_models.fit` keeps them, of independent Beta distributions."""

    rng, (a, b) = np.random.default_rng(1), np.transpose(accuracies)
    right = rng.beta(a[:, None], b[:, None], (2, n_draws // 2, len(a), 2))
    base = rng.dirichlet([30.0, 10.0], (2, n_draws // 2))
    confusion = np.where(np.eye(2), right[..., None], 1 - right[..., None])
    dims = ("chain", "draw", "rater", "category", "response")
    posterior = xr.Dataset(
        {
            "base_rates": (("chain", "draw", "category"), base),
            "confusion": (dims, confusion),
            "accuracy": (dims[:3], (base[:, :, None] * right).sum(axis=-1)),
        }
    )
    accuracy = lehner.IntervalEstimate(estimate=0.8, lower=0.7, upper=0.9, level=0.9)
    return lehner.Estimate(
        method="dawid_skene",
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        arrays={"rater_accuracy": xr.DataArray(np.zeros(3), {"rater": ["x"] * 3})},
        draws=xr.DataTree.from_dict({"posterior": posterior}),
    )


@pytest.fixture(scope="module")
def drawn():
    scenario = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3, n_items=50)
    ratings = lehner.simulate(scenario, 1)
    return ratings, hand_made(ratings, [(80, 20), (60, 40), (75, 25), (90, 10)])


def test_of_draws_measures_are_means_and_likelihood_ratios_medians(drawn):
    """By hand, from the draws; the median of a Beta's odds is known within Monte Carlo error."""
    ratings, estimate = drawn
    result = performance(ratings, estimate, positive="B")
    posterior = estimate.draws["posterior"]
    for place, name in enumerate(ratings.raters):
        right = posterior["confusion"].values.reshape(-1, 4, 2, 2)[:, place]
        base = posterior["base_rates"].values.reshape(-1, 2)
        sensitivity, specificity = right[:, 1, 1], right[:, 0, 0]
        positive = base[:, 1] * sensitivity + base[:, 0] * (1 - specificity)
        shown = diagnostic_accuracy(result, name, "B")
        by_hand = {
            "sensitivity": sensitivity,
            "specificity": specificity,
            "positive_predictive_value": base[:, 1] * sensitivity / positive,
            "negative_predictive_value": base[:, 0] * specificity / (1 - positive),
        }
        for measure, values in by_hand.items():
            assert shown[measure].estimate == pytest.approx(values.mean())
            ends = np.quantile(values, [0.05, 0.95])
            assert [shown[measure].lower, shown[measure].upper] == pytest.approx(ends)
        ratio = sensitivity / (1 - specificity)
        assert shown["positive_likelihood_ratio"].estimate == pytest.approx(
            np.median(ratio), rel=1e-3
        )
        assert shown["positive_likelihood_ratio"].upper == pytest.approx(
            np.quantile(ratio, 0.95), rel=0.01
        )


def test_raters_with_one_accuracy_are_said_to_be_alike():
    ratings = lehner.load_dataset("lehner_table2")
    for estimate in (
        lehner.estimate_algebraic(ratings),
        estimate_latent_class(ratings, "one_coin", resamples=20, restarts=0),
    ):
        result = performance(ratings, estimate, resamples=20)
        assert result.table["probability"].isna().all()
        assert any(warning.code == "raters-alike" for warning in result.warnings)
    result = performance(ratings, lehner.majority_agreement(ratings))
    assert (result.table["rater"] == "").all()


def test_with_more_categories_raters_have_recall_by_category():
    ratings = lehner.load_dataset("anesthesia", system="2")
    estimate = estimate_latent_class(ratings, resamples=20, restarts=0)
    result = performance(ratings, estimate)
    matrices = estimate.confusion.values[:-1]
    shown = result.table.query("quantity == 'recall' and rater != ''")["estimate"]
    expected = np.diagonal(matrices, axis1=1, axis2=2).ravel()
    assert shown.to_numpy() == pytest.approx(expected, nan_ok=True)
    of_raters = result.table[result.table["rater"] != ""]
    assert set(of_raters["quantity"]) <= {"recall", "rater_accuracy"}


def test_of_a_category_that_nobody_gives_numbers_are_missing_with_a_reason():
    rng = np.random.default_rng(1)
    raters = np.zeros((60, 3), dtype=int)
    ratings = Ratings(raters, ["no", "yes"], system=(rng.random(60) < 0.1).astype(int))
    result = performance(ratings, estimate_latent_class(ratings, resamples=20, restarts=0))
    result.to_json()
    for rater in ("", "1"):
        shown = diagnostic_accuracy(result, rater)
        assert shown["sensitivity"].estimate is None
        assert shown["positive_likelihood_ratio"].estimate is None
    texts = [str(warning) for warning in result.warnings]
    assert any("all raters" in text and "yes" in text for text in texts)
    assert any("never answered yes" in text for text in texts)


@pytest.mark.parametrize(
    ("names", "positive", "chosen_by"),
    [
        (("benign", "malignant"), "malignant", "name"),
        (("Yes", "No"), "Yes", "name"),
        (("healthy", "flu"), "flu", "name"),
        ((0, 1), 1, "name"),
        ((1, 2), 2, "rarer"),
        ((False, True), "True", "name"),
        (("good", "bad"), "bad", "rarer"),
        (("yes", "true"), "true", "rarer"),
    ],
)
def test_the_positive_category_is_guessed_and_said(names, positive, chosen_by):
    ratings = Ratings([[0, 0, 1], [0, 0, 0]], names)
    result = find_positive(ratings)
    assert (result.name, result.chosen_by) == (positive, chosen_by)
    assert str(positive) in str(result) and f"positive='{result.negative}'" in str(result)
    assert find_positive(ratings, result.negative).name == result.negative
    assert str(find_positive(ratings, result.negative)) == f"positive category: {result.negative}"


def test_what_is_no_positive_category_is_refused():
    two, four = Ratings([[0, 1]], ["a", "b"]), lehner.load_dataset("lehner_table2")
    with pytest.raises(InputError, match="positive is 'c', which is no category; choose a or b"):
        find_positive(two, "c")
    with pytest.raises(InputError, match="there are 4 categories"):
        lehner.estimate(four, "majority_agreement", given=lehner.Given(positive="A"))
    assert find_positive(four) is None
