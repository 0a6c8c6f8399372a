"""Measures of a classifier against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn import metrics

from lehner.performance.measures import measure_performance


def of_answers(truth, answers, k):
    table = metrics.confusion_matrix(truth, answers, labels=range(k))
    rows = table.sum(axis=1, keepdims=True)
    return measure_performance(table.sum(axis=1) / table.sum(), table / rows)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_measures_are_scikit_learns(k):
    rng = np.random.default_rng(k)
    truth = np.append(np.arange(k), rng.integers(k, size=300))
    answers = np.where(rng.random(len(truth)) < 0.6, truth, rng.integers(k, size=len(truth)))
    result = of_answers(truth, answers, k)
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(truth, answers)
    assert result["precision"] == pytest.approx(precision)
    assert result["recall"] == pytest.approx(recall)
    assert result["f1"] == pytest.approx(f1)
    others = [np.mean(answers[truth != c] != c) for c in range(k)]
    assert result["specificity"] == pytest.approx(others)
    assert result["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(truth, answers)
    )
    assert result["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, answers))
    assert result["kappa_with_truth"] == pytest.approx(metrics.cohen_kappa_score(truth, answers))


def test_what_divides_zero_by_zero_is_undefined_and_no_more():
    nan = np.nan
    result = measure_performance([0.5, 0.5, 0.0], [[0.9, 0.1, 0], [0.2, 0.8, 0], [nan, nan, nan]])
    assert np.isnan([result[name][2] for name in ("recall", "precision", "f1")]).all()
    assert result["specificity"][2] == 1
    assert result["balanced_accuracy"] == pytest.approx(0.85)
    assert np.isfinite(result["mcc"]) and np.isfinite(result["kappa_with_truth"])
    constant = measure_performance([0.5, 0.5], [[1, 0], [1, 0]])
    assert np.isnan(constant["mcc"]) and constant["kappa_with_truth"] == 0


def test_replicates_are_computed_at_once():
    rng = np.random.default_rng(1)
    rates, confusion = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), (4, 3))
    together = measure_performance(rates, confusion)
    for i in range(4):
        for name, values in measure_performance(rates[i], confusion[i]).items():
            assert together[name][i] == pytest.approx(values), name


@pytest.mark.parametrize("dust", [0.0, 1e-17, 1e-13, -1e-17])
def test_a_share_within_rounding_error_is_a_category_that_does_not_occur(dust):
    rows = [[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.5, 0.25, 0.25]]
    exact = measure_performance([0.4, 0.6, 0.0], rows)
    result = measure_performance([0.4, 0.6 - dust, dust], rows)
    assert result["balanced_accuracy"] == pytest.approx((0.9 + 0.6) / 2)
    for name, values in exact.items():
        assert result[name] == pytest.approx(values, nan_ok=True), name
    # One item in a billion is no rounding error.
    rare = measure_performance([0.4, 0.6 - 1e-9, 1e-9], rows)
    assert rare["balanced_accuracy"] == pytest.approx((0.9 + 0.6 + 0.25) / 3)


def test_an_unknown_row_of_a_category_that_occurs_makes_averages_unknown():
    result = measure_performance([0.5, 0.5], [[0.9, 0.1], [np.nan, np.nan]])
    assert result["recall"][0] == 0.9
    assert np.isnan([result["recall"][1], result["balanced_accuracy"], result["mcc"]]).all()
