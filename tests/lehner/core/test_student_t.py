"""Student's t distribution against closed forms and SciPy."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lehner.core.resampling import t_quantile, t_survival

DF = [1, 1.5, 2, 3, 4, 9, 30.5, 199, 1999, 2001, 1e5]


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("t", [0.01, 0.5, 0.99, 1.01, 2, 5, 30, 1e4])
def test_tail_is_that_of_scipy(t, df):
    expected = scipy.stats.t.sf(t, df)
    if expected > 1e-280:
        assert t_survival(t, df) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("df", DF)
@pytest.mark.parametrize("p", [0.51, 0.75, 0.95, 0.975, 0.9995, 1 - 1e-6])
def test_quantile_is_that_of_scipy(p, df):
    assert t_quantile(p, df) == pytest.approx(scipy.stats.t.ppf(p, df), rel=1e-9)
    assert t_quantile(1 - p, df) == pytest.approx(-t_quantile(p, df), rel=1e-9)


@given(st.floats(1e-9, 1e6))
def test_one_degree_of_freedom_is_cauchy_and_two_have_a_root(t):
    assert t_survival(t, 1) == pytest.approx(math.atan2(1, t) / math.pi, rel=1e-12)
    root = math.sqrt(2 + t * t)
    assert t_survival(t, 2) == pytest.approx(1 / (root * (root + t)), rel=1e-12)


@given(st.floats(0.5001, 0.9999), st.floats(1, 1e6))
def test_quantile_has_its_probability(p, df):
    assert 1 - t_survival(t_quantile(p, df), df) == pytest.approx(p, rel=1e-10)


def test_ends_and_middle():
    assert (t_survival(0, 3), t_survival(np.inf, 3), t_survival(-np.inf, 3)) == (0.5, 0, 1)
    assert t_survival(-2, 3) == 1 - t_survival(2, 3)
    assert t_quantile(0.5, 3) == 0
