"""Estimate: what it says, in plain types."""

import json

import numpy as np
import pytest

from lehner import IntervalEstimate
from lehner.core.estimate import to_plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"kappa": np.nan}, {"kappa": None}),
        ({"n": np.int64(3), "ok": np.bool_(True), 1: -np.inf}, {"n": 3, "ok": True, "1": None}),
        (
            {"r_hat": np.array([1.0, np.nan]), "of": {"ess": (2,)}},
            {"r_hat": [1.0, None], "of": {"ess": [2]}},
        ),
    ],
)
def test_plain_values_are_those_of_json(value, expected):
    assert json.loads(json.dumps(to_plain(value), allow_nan=False)) == expected


def test_a_plain_interval_has_none_where_it_is_undefined():
    undefined = IntervalEstimate(estimate=np.nan, lower=np.nan, upper=np.float32(1))
    shown = to_plain(undefined)
    assert (shown["estimate"], shown["lower"], shown["upper"]) == (None, None, 1.0)
