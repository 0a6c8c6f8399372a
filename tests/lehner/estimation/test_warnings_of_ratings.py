"""Difficulty that may touch raters only: the warning of `relaxed_k`, and what silences it."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import lehner
from lehner import Scenario, simulate
from lehner.estimation.methods import find_method
from lehner.estimation.questions import Fit, Options, ask_k_properties
from tests.lehner.told import told

CODE = "difficulty-of-system-assumed"
RATINGS = simulate(Scenario(), seed=1)


def asked(spread, slopes=()):
    """Ask an estimate with draws of the spread of difficulty, in place of a fit."""
    draws = abs(np.random.default_rng(1).normal(spread, 0.1, (2, 500)))
    posterior = xr.Dataset({"difficulty_spread": (("chain", "draw"), draws)})
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs = {"model": "relaxed_k", "priors": '{"difficulty_spread": 0.4}'}
    estimate = replace(lehner.estimate_algebraic(RATINGS), method="relaxed_k", draws=tree)
    at_slopes = dict.fromkeys(slopes, estimate)
    fit = Fit(ratings=RATINGS, estimate=estimate, method=find_method(estimate), at_slopes=at_slopes)
    return {one.code: one for one in told(ask_k_properties(fit, Options())).warnings}


def test_where_items_differ_in_difficulty_the_slope_is_to_be_looked_at():
    warning = asked(spread=2.0)[CODE]
    assert warning.severity == "limits" and "sensitivity=True" in str(warning)


@pytest.mark.parametrize(("spread", "slopes"), [(0.0, ()), (2.0, (0.0, 1.0))])
def test_no_warning_where_items_are_alike_or_slopes_were_computed(spread, slopes):
    assert CODE not in asked(spread, slopes)


def test_check_says_where_to_look_if_equal_difficulty_is_rejected():
    ratings = simulate(Scenario(n_items=1000, easiness=(-0.3, 0, 0.3)), seed=1)
    found = lehner.check_k_properties(ratings, replicates=199)
    assert found.tests["equal_difficulty"].verdict == "rejected"
    assert any("relaxed_k" in text and "sensitivity=True" in text for text in found.verdict)
