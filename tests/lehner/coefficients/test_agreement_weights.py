"""Agreement weights against their definitions."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from lehner import InputError, Ratings, agreement, agreement_of_table
from lehner.coefficients.weights import WEIGHTS, find_all_weights, find_weights


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_weights_are_1_for_the_same_0_for_the_most_different_and_symmetric(name, k):
    matrix = find_weights(name, range(1, k + 1), ordered=True).matrix
    assert (np.diag(matrix) == 1).all()
    assert matrix.min() == 0
    assert (matrix == matrix.T).all()


def test_weights_of_two_categories_are_all_alike():
    for name in WEIGHTS:
        assert find_weights(name, [1, 2], ordered=True).matrix.tolist() == [[1, 0], [0, 1]]


def test_ordinal_weights_are_gwets():
    # Gwet (2014), section 3.5: 1 − C(|k − l| + 1, 2) / C(K, 2).
    matrix = find_weights("ordinal", "abcd", ordered=True).matrix
    assert matrix[0].tolist() == pytest.approx([1, 1 - 1 / 6, 1 - 3 / 6, 0])


def test_interval_and_ratio_weights_go_by_the_numbers_of_the_categories():
    assert find_weights("interval", [0, 1, 10], ordered=True).matrix[0, 1] == 1 - 1 / 100
    matrix = find_weights("ratio", [0, 1, 3], ordered=True).matrix
    assert matrix[1, 2] == pytest.approx(1 - (2 / 4) ** 2)
    assert matrix[0, 1] == 0


def test_default_weights_follow_the_scale():
    assert [w.name for w in find_all_weights(None, "abc", ordered=False)] == ["identity"]
    names = [w.name for w in find_all_weights(None, "abc", ordered=True)]
    assert names == ["identity", "linear", "quadratic", "ordinal"]


def test_nominal_is_another_name_of_identity():
    ratings, table = Ratings([[0, 1], [1, 1], [2, 2]], "abc"), [[5, 1], [2, 3]]
    for one, two in (
        (agreement(ratings, weights="nominal"), agreement(ratings, weights="identity")),
        (agreement_of_table(table, weights="nominal"), agreement_of_table(table)),
    ):
        assert [c.name for c in one.coefficients] == [c.name for c in two.coefficients]
        assert [c.estimate for c in one.coefficients] == [c.estimate for c in two.coefficients]


def test_given_weights_are_used():
    codes = np.random.default_rng(1).integers(3, size=(50, 2))
    matrix = 1 - np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
    found = agreement(Ratings(codes, "abc"), weights=matrix)["cohen_kappa"]
    assert found.weights == "given"
    assert found.estimate == pytest.approx(cohen_kappa_score(*codes.T, weights="linear"), abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("linaer", "no kind of weights 'linaer'; did you mean 'linear'"),
        ("linear", "weights 'linear' need ordered categories.* a, b, c is their order"),
        ("interval", "weights 'interval' need categories that are numbers, and these are a, b, c"),
        (np.eye(2), r"shape \(2, 2\)"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], "not all between 0 and 1"),
        (np.full((3, 3), np.nan), "not all between 0 and 1"),
        (np.zeros((3, 3)), "not 1 for the same"),
        (["identity", 3], "not a matrix of numbers"),
        ([], "there are no weights"),
        (3, r"shape \(\)"),
        ([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], "not symmetric, and raters have no order"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        agreement(Ratings([[0, 1], [1, 2]], "abc"), weights=weights)


def test_ratio_weights_need_numbers_from_0_up():
    with pytest.raises(InputError, match="numbers from 0 up, and the least is -1"):
        agreement(Ratings([[0, 1]], [-1, 1]), weights="ratio")


def test_weights_of_a_table_need_not_be_symmetric():
    # Costs c of taking actual class j for i: 1 − c / max c (CPTtools, fcKappa).
    table = np.array([[40, 5, 1], [10, 30, 4], [2, 3, 5]])
    weights = np.array([[1, 0.5, 0], [0.8, 1, 0.2], [0.4, 0.6, 1]])
    share = table / table.sum()
    row, column = share.sum(axis=1), share.sum(axis=0)
    right, chance = (weights * share).sum(), row @ weights @ column
    found = agreement_of_table(table, weights=weights)
    assert found["accuracy"].estimate == pytest.approx(right, abs=1e-12)
    assert found["cohen_kappa"].estimate == pytest.approx((right - chance) / (1 - chance))
    for name, best in (("estimated", (row @ weights).max()), ("actual", (weights @ column).max())):
        value = found[f"goodman_kruskal_lambda[{name}]"].estimate
        assert value == pytest.approx((right - best) / (1 - best))
    assert found["scott_pi"].estimate is None
    assert "not symmetric" in found["scott_pi"].note
