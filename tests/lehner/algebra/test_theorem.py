"""Whoever breaks the K-structure gets a counterexample, and nobody else."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.theorem_1 import counterexample

KINDS = ("any", "raters alike", "items unequal", "K-structure", "with zeros", "never right")


@st.composite
def raters(draw):
    """Selection vectors (item, rater, category) of a kind, and the true categories."""
    n, j, k = (draw(st.integers(*bounds)) for bounds in ((1, 4), (2, 5), (2, 5)))
    kind = draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    truth = rng.integers(0, k, n)
    selection = rng.dirichlet(np.ones(k), (n, j))
    if kind == "raters alike":
        selection = np.repeat(selection[:, :1], j, axis=1)
    if kind in ("items unequal", "K-structure"):
        accuracy = np.repeat(rng.random(), n) if kind == "K-structure" else rng.random(n)
        right = np.eye(k)[truth]
        vector = accuracy[:, None] * right + (1 - accuracy)[:, None] * (1 - right) / (k - 1)
        selection = np.repeat(vector[:, None], j, axis=1)
    if kind == "with zeros":
        selection = np.eye(k)[rng.integers(0, k, (n, j))]
    if kind == "never right":
        selection[np.arange(n), :, truth] = 0
        selection /= selection.sum(axis=2, keepdims=True)
    return kind, selection, truth


def accuracy_of(selection, truth):
    return np.mean([vector[z] for item, z in zip(selection, truth, strict=True) for vector in item])


def agreement_of(selection):
    return np.mean(
        [
            sum(p * q for p, q in zip(first, other, strict=True))
            for item in selection
            for first, other in combinations(item, 2)
        ]
    )


def has_k_structure(selection, truth):
    k = selection.shape[2]
    accuracy = accuracy_of(selection, truth)
    right = np.eye(k)[truth][:, None]
    return np.allclose(selection, accuracy * right + (1 - accuracy) * (1 - right) / (k - 1))


@given(raters())
def test_agreement_and_accuracy_come_apart_unless_the_structure_holds(case):
    kind, selection, truth = case
    result = counterexample(selection, truth)
    none_below = accuracy_of(selection, truth) == 0 and agreement_of(selection) == 0
    if has_k_structure(selection, truth) or none_below:
        assert result is None
        return
    if kind == "items unequal" and np.ptp(selection.max(axis=(1, 2))) < 1e-4:
        return  # equal but for rounding
    constructed = result.constructed
    assert constructed.min() >= 0
    np.testing.assert_allclose(constructed.sum(axis=2), 1)
    before = accuracy_of(selection, truth), agreement_of(selection)
    after = accuracy_of(constructed, truth), agreement_of(constructed)
    assert (after[0] - before[0]) * (after[1] - before[1]) < 0
    np.testing.assert_allclose([result.accuracy[0], result.agreement[0]], before, atol=1e-12)
    np.testing.assert_allclose([result.accuracy[1], result.agreement[1]], after, atol=1e-12)


@given(raters())
def test_the_lemma_names_the_first_property_that_fails(case):
    kind, selection, truth = case
    result = counterexample(selection, truth)
    if result is None:
        return
    if result.lemma == 1:
        assert np.ptp(selection, axis=1).max() > 1e-7
    else:
        assert np.ptp(selection, axis=1).max() < 1e-5
    expected = {"any": 1, "items unequal": 3}
    if kind in expected:
        assert result.lemma == expected[kind]


def test_the_lemmas_in_turn():
    differ = counterexample([[[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]]], [0])
    assert differ.lemma == 1 and differ.accuracy[1] < differ.accuracy[0]
    uneven = counterexample([[[0.6, 0.3, 0.1]] * 2], [0])
    assert uneven.lemma == 2 and uneven.accuracy[1] > uneven.accuracy[0]
    items = counterexample([[[0.6, 0.2, 0.2]] * 2, [[0.1, 0.8, 0.1]] * 2], [0, 1])
    assert items.lemma == 3 and items.accuracy[1] > items.accuracy[0]


def test_sums_off_by_rounding_are_no_unequal_errors():
    off = [0.6, 0.2000002, 0.2000002]
    assert counterexample([[off] * 2], [0]) is None
    assert counterexample([[off] * 2, [[0.6, 0.2, 0.2]] * 2], [0, 0]) is None


def test_constructed_probabilities_sum_to_1_where_the_given_ones_are_off_by_rounding():
    given_ones = [[[0.5, 0.3, 0.2000004], [0.7, 0.2, 0.1000004]]]
    result = counterexample(given_ones, [0])
    assert result.lemma == 1
    np.testing.assert_allclose(result.constructed.sum(axis=2), 1, rtol=0, atol=1e-14)
