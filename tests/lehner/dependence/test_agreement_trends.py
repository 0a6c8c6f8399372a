"""Raters who skip difficult items, or tire: when a warning is given, and when none is."""

import json

import numpy as np
import pytest
from scipy.stats import binom

import lehner
from lehner import Ratings
from lehner.core.arrays import make_rng
from lehner.dependence.trends import find_trend_by_number, find_trend_by_order, warn_of_trends
from tests.reference.behaviours import draw

CODE = "ratings-missing-by-difficulty"


def codes_of(ratings):
    return [warning.code for warning in lehner.estimate(ratings, "algebraic").warnings]


def test_raters_who_skip_difficult_items_are_told_of():
    ratings = draw("raters skip difficult items", 5, 2, 500, make_rng(1))
    compared = lehner.estimate(ratings, ["majority_agreement", "algebraic"])
    (warning,) = (warning for warning in compared.warnings if warning.code == CODE)
    assert warning.severity == "limits" and "skip items that are difficult" in str(warning)
    assert CODE in json.dumps(compared.to_dict())


@pytest.mark.slow
def test_accurate_raters_who_rate_fewer_items_explain_nothing():
    n_sets, process = 100, "unequal accuracy, 5% to 60% missing"
    tests = [
        find_trend_by_number(draw(process, 3, 4, 500, make_rng(seed))) for seed in range(n_sets)
    ]
    fired = sum(test.p_value <= 0.01 for test in tests)
    assert fired <= binom.ppf(0.999, n_sets, 0.01)


def test_the_slope_is_the_difference_in_agreement_where_all_raters_are_alike():
    """Items of two ratings agree in half of the cases, items of three always."""
    two = [[0, 0, -1], [0, 1, -1]] * 50
    ratings = Ratings([*two, *[[1, 1, 1]] * 50], ["a", "b"], anonymous=True)
    assert find_trend_by_number(ratings).slope == pytest.approx(0.5)


def test_rows_with_counts_give_what_their_items_give():
    ratings = draw("raters skip difficult items", 3, 2, 300, make_rng(1))
    patterns = ratings.collapse()
    assert patterns.n_rows < ratings.n_rows
    trend, same = find_trend_by_number(ratings), find_trend_by_number(patterns)
    assert vars(same) == pytest.approx(vars(trend))


def test_more_ratings_of_items_in_dispute_are_no_reason_to_warn():
    """A third rating where two disagree leaves ratings missing at random."""
    rng = np.random.default_rng(1)
    codes = np.where(rng.random((400, 3)) < 0.75, 0, 1)
    codes[codes[:, 0] == codes[:, 1], 2] = -1
    assert list(warn_of_trends(Ratings(codes, ["a", "b"]))) == []


@pytest.mark.parametrize("codes", [[[0, 1], [1, 1]], [[0, -1], [-1, 1]], [[0, 0], [1, -1]]])
def test_nothing_is_tested_where_nothing_can_be_seen(codes):
    assert find_trend_by_number(Ratings(codes, ["a", "b"])) is None


def draw_in_order(seed, first, last, n=300):
    """Three raters, who are right less and less often, and a system that is right in .8."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    accuracy = np.linspace(first, last, n)[:, None] + np.array([-0.1, 0, 0.1, 0])
    accuracy[:, 3] = 0.8
    right = rng.random((n, 4)) < accuracy
    codes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (n, 4))) % 3)
    return Ratings(codes[:, :3], ["a", "b", "c"], system=codes[:, 3])


@pytest.mark.slow
def test_raters_who_tire_are_told_of_and_others_are_not():
    """Raters who fall from .85 to .55 are named in nearly all data sets."""
    result = {
        ends: [
            "agreement-falls"
            in [trend.code for trend in warn_of_trends(draw_in_order(seed, *ends))]
            for seed in range(200)
        ]
        for ends in ((0.85, 0.55), (0.7, 0.7), (0.55, 0.85))
    }
    assert np.mean(result[0.85, 0.55]) >= 0.95
    assert sum(result[0.7, 0.7]) <= binom.ppf(0.999, 200, 0.01)
    assert not any(result[0.55, 0.85])


@pytest.mark.slow
def test_a_rater_of_the_first_items_alone_explains_nothing():
    """A poor rater of the second half lowers agreement there, and nobody tires."""
    fired = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        right = rng.random((300, 4)) < np.array([0.9, 0.8, 0.5, 0.8])
        codes = np.where(right, 0, 1)
        codes[:150, 2] = -1
        trend = find_trend_by_order(Ratings(codes[:, :3], ["a", "b"], system=codes[:, 3]))
        fired += trend.p_value <= 0.01
    assert fired <= binom.ppf(0.999, 100, 0.01)


def test_rows_with_counts_have_no_order():
    assert find_trend_by_order(draw_in_order(1, 0.9, 0.5).collapse()) is None
