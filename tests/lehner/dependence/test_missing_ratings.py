"""Raters who skip difficult items: when a warning is given, and when none is."""

import json

import numpy as np
import pytest
from scipy.stats import binom

import lehner
from experiments.simulations.warning_rates import draw
from lehner import Ratings
from lehner.core.seeds import generator
from lehner.dependence.missing_ratings import check_missing_ratings

CODE = "ratings-missing-by-difficulty"


def codes_of(ratings):
    return [one.code for one in lehner.estimate(ratings, "algebraic").warnings]


def test_raters_who_skip_difficult_items_are_told_of():
    ratings = draw("raters skip difficult items", 5, 2, 500, generator(1))
    compared = lehner.estimate(ratings, ["majority_agreement", "algebraic"])
    (warning,) = (one for one in compared.warnings if one.code == CODE)
    assert warning.severity == "limits" and "skip items that are difficult" in str(warning)
    assert CODE in json.dumps(compared.to_dict())


def test_accurate_raters_who_rate_fewer_items_explain_nothing():
    n_sets, process = 100, "unequal accuracy, 5% to 60% missing"
    tests = [
        check_missing_ratings(draw(process, 3, 4, 500, generator(seed))) for seed in range(n_sets)
    ]
    fired = sum(bool(one.warnings()) for one in tests)
    assert fired <= binom.ppf(0.999, n_sets, 0.01)


def test_the_slope_is_the_difference_in_agreement_where_all_raters_are_alike():
    """Items of two ratings agree in half of the cases, items of three always."""
    two = [[0, 0, -1], [0, 1, -1]] * 50
    ratings = Ratings([*two, *[[1, 1, 1]] * 50], ["a", "b"], anonymous=True)
    assert check_missing_ratings(ratings).slope == pytest.approx(0.5)


def test_rows_with_counts_give_what_their_items_give():
    ratings = draw("raters skip difficult items", 3, 2, 300, generator(1))
    patterns = ratings.collapse()
    assert patterns.n_rows < ratings.n_rows
    one, same = check_missing_ratings(ratings), check_missing_ratings(patterns)
    assert vars(same) == pytest.approx(vars(one))


def test_more_ratings_of_items_in_dispute_are_no_reason_to_warn():
    """A third rating where two disagree leaves ratings missing at random."""
    rng = np.random.default_rng(1)
    codes = np.where(rng.random((400, 3)) < 0.75, 0, 1)
    codes[codes[:, 0] == codes[:, 1], 2] = -1
    assert check_missing_ratings(Ratings(codes, ["a", "b"])).warnings() == ()


@pytest.mark.parametrize("codes", [[[0, 1], [1, 1]], [[0, -1], [-1, 1]], [[0, 0], [1, -1]]])
def test_nothing_is_tested_where_nothing_can_be_seen(codes):
    assert check_missing_ratings(Ratings(codes, ["a", "b"])) is None
