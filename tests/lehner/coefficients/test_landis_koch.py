"""The labels of Landis & Koch and their probabilities."""

import numpy as np
import pytest
import scipy.stats

from lehner.coefficients.landis_koch import LABELS, landis_koch_label, landis_koch_probability


@pytest.mark.parametrize(
    ("coefficient", "label"),
    [
        (-1, "poor"),
        (-1e-6, "poor"),
        (0, "slight"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.4, "fair"),
        (0.41, "moderate"),
        (0.6, "moderate"),
        (0.61, "substantial"),
        (0.8, "substantial"),
        (0.81, "almost perfect"),
        (1, "almost perfect"),
    ],
)
def test_labels_are_those_of_the_papers_table(coefficient, label):
    assert landis_koch_label(coefficient) == label


@pytest.mark.parametrize(("coefficient", "error"), [(0.775, 0.143), (0.98, 0.2), (-0.7, 0.5)])
def test_probabilities_are_those_of_a_truncated_normal(coefficient, error):
    ends = np.array([-1, 0, 0.2, 0.4, 0.6, 0.8, 1])
    normal = scipy.stats.truncnorm(
        (-1 - coefficient) / error, (1 - coefficient) / error, coefficient, error
    )
    found = landis_koch_probability(coefficient, error)
    assert list(found) == list(LABELS)
    assert list(found.values()) == pytest.approx(np.diff(normal.cdf(ends)))
    assert sum(found.values()) == pytest.approx(1)


def test_membership_probabilities_of_ac1_are_those_of_irrcac():
    # The R package irrCAC 1.0, vignette on benchmarking: AC1 .77544, standard error .14295;
    # cumulative probabilities from almost perfect down.
    found = landis_koch_probability(0.77544, 0.14295)
    cumulative = np.cumsum([found[name] for name in reversed(LABELS)])
    expected = [0.39674, 0.88336, 0.99542, 0.99997]
    assert cumulative[:4] == pytest.approx(expected, abs=1e-5)


def test_a_weighted_coefficient_below_minus_1_is_poor_for_sure():
    found = landis_koch_probability(-1.951, 0.049)
    assert found["poor"] == pytest.approx(1)
    assert sum(found.values()) == pytest.approx(1)
