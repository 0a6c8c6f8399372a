"""Difficulty that may touch raters only: the warning of `relaxed_k`."""

from dataclasses import replace

import numpy as np
import xarray as xr

import lehner
from bayes_models.methods import ask_k_properties
from lehner import Scenario, simulate
from lehner.estimation.methods import get_method
from lehner.estimation.questions import Fit, Options
from tests.lehner.questions import collect_rows

CODE = "difficulty-of-system-assumed"
RATINGS = simulate(Scenario(), seed=1)


def asked(spread):
    """Ask an estimate with draws of the spread of difficulty, in place of a fit."""
    draws = abs(np.random.default_rng(1).normal(spread, 0.1, (2, 500)))
    posterior = xr.Dataset({"difficulty_spread": (("chain", "draw"), draws)})
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs = {"model": "relaxed_k", "priors": '{"difficulty_spread": 0.4}'}
    estimate = replace(lehner.estimate_algebraic(RATINGS), method="relaxed_k", draws=tree)
    fit = Fit(ratings=RATINGS, estimate=estimate, method=get_method(estimate.method))
    return {
        warning.code: warning for warning in collect_rows(ask_k_properties(fit, Options())).warnings
    }


def test_where_items_differ_in_difficulty_the_slope_is_to_be_looked_at():
    warning = asked(spread=2.0)[CODE]
    assert warning.severity == "limits" and "system_slope" in str(warning)


def test_no_warning_where_items_are_alike():
    assert CODE not in asked(spread=0.0)


def test_check_says_where_to_look_if_equal_difficulty_is_rejected():
    ratings = simulate(Scenario(n_items=1000, easiness=(-0.3, 0, 0.3)), seed=1)
    result = lehner.check_k_properties(ratings, replicates=199)
    assert result.tests["equal_difficulty"].verdict == "rejected"
    assert any("relaxed_k" in text and "system_slope" in text for text in result.verdict)
