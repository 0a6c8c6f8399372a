"""What the data cannot decide is said before sampling."""

import numpy as np
import pytest

from bayes_models import MODELS, identify
from bayes_models.calibration import prior_draws
from lehner import Ratings, Scenario, load_dataset, simulate


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("one_coin", 2 + 2),
        ("one_coin_by_rater", 2 + 4),
        ("pooled", 2 + 12),
        ("class_conditional", 2 + 12),
        ("dawid_skene", 2 + 24),
        ("tap", 2 + 12),
        ("relaxed_k", 2 + 24),
    ],
)
def test_parameters_are_base_rates_and_free_cells_of_confusion_matrices(model, parameters):
    ratings = simulate(Scenario(n_categories=3, n_items=100), 1)
    assert identify(model, ratings).parameters == parameters


@pytest.mark.parametrize("model", ["one_coin", "one_coin_by_rater", "pooled", "class_conditional"])
def test_the_count_is_the_dimension_of_what_the_prior_can_draw(model):
    ratings = simulate(Scenario(n_categories=3, n_items=30), 1)
    drawn = prior_draws(model, ratings, 60)
    cells = [drawn[name].values[0].reshape(60, -1) for name in ("base_rates", "confusion")]
    centred = np.hstack(cells) - np.hstack(cells).mean(axis=0)
    singular = np.linalg.svd(centred, compute_uv=False)
    dimension = (singular > 1e-8 * singular[0]).sum()
    assert identify(model, ratings).parameters == dimension


def test_degrees_of_freedom_are_patterns_less_one_for_each_set_of_raters():
    codes = [[0, 1, -1]] * 50 + [[-1, 0, 1]] * 50 + [[0, -1, -1]] * 50
    ratings = Ratings(codes, ["a", "b"])
    # Two pairs of raters with 3 free probabilities each, and a rater alone with 1.
    assert identify("one_coin", ratings).degrees_of_freedom == 7
    few = Ratings(codes[:2], ["a", "b"])
    assert identify("one_coin", few).degrees_of_freedom == 2


def test_plenty_of_data_raise_no_warning():
    ratings = simulate(Scenario(n_categories=3, n_items=2000, base_rates="equal"), 1)
    for model in MODELS:
        assert identify(model, ratings).warnings() == ()


def test_small_data_are_said_to_leave_it_to_the_prior():
    warnings = identify("dawid_skene", load_dataset("lehner_table2")).warnings()
    assert any("63 parameters for 10 degrees of freedom" in text for text in warnings)
    assert any("outweighs the data" in text and "D (" in text for text in warnings)


def test_two_ratings_of_an_item_do_not_tell_accuracy_from_agreement():
    codes = np.random.default_rng(1).integers(0, 3, (500, 2))
    report = identify("dawid_skene", Ratings(codes, list("abc")))
    assert report.too_few == 1
    assert any("fewer than three ratings" in text for text in report.warnings())
    third = np.random.default_rng(2).integers(0, 3, 500)
    assert identify("dawid_skene", Ratings(codes, list("abc"), system=third)).too_few == 0


def test_an_item_with_known_truth_needs_no_third_rating():
    codes = np.zeros((10, 2), dtype=int)
    truth = np.where(np.arange(10) < 4, 0, -1)
    assert identify("one_coin", Ratings(codes, ["a", "b"], truth=truth)).too_few == 0.6


def test_expected_ratings_sum_to_the_ratings():
    ratings = simulate(Scenario(missing=0.3), 2)
    support = identify("dawid_skene", ratings).support
    assert float(support.sel(rater=list(ratings.raters)).sum()) == pytest.approx(ratings.n_ratings)
    assert float(support.sel(rater="system").sum()) == pytest.approx((ratings.system >= 0).sum())


def test_hundreds_of_ratings_of_an_item_have_no_more_freedom_than_items():
    codes = np.random.default_rng(1).integers(0, 3, (5, 1000))
    assert identify("dawid_skene", Ratings(codes, list("abc"))).degrees_of_freedom == 5
