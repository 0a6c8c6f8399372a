"""The system in detail from posterior draws."""

import warnings

import numpy as np
import pytest

import bayes_models
import lehner
from tests.lehner.performance.test_system_performance import check_gaps, with_gaps
from tests.lehner.questions import performance


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
