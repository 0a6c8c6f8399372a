"""Agreement weights against their definitions."""

import krippendorff
import numpy as np
import pytest

from lehner import InputError, Ratings, agreement
from lehner.interrater.coefficients import WEIGHTS, find_all_weights, find_weights
from tests.lehner.interrater.tables import agreement_of_table, find


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_weights_are_1_for_the_same_0_for_the_most_different_and_symmetric(name, k):
    matrix = find_weights(name, range(1, k + 1), ordered=True).matrix
    assert (np.diag(matrix) == 1).all()
    assert matrix.min() == 0
    assert (matrix == matrix.T).all()


def test_ordinal_weights_are_gwets():
    # Gwet (2014), section 3.5: 1 − C(|k − l| + 1, 2) / C(K, 2).
    matrix = find_weights("ordinal", "abcd", ordered=True).matrix
    assert matrix[0].tolist() == pytest.approx([1, 1 - 1 / 6, 1 - 3 / 6, 0])


def test_interval_and_ratio_weights_go_by_the_numbers_of_the_categories():
    assert find_weights("interval", [0, 1, 10], ordered=True).matrix[0, 1] == 1 - 1 / 100
    matrix = find_weights("ratio", [0, 1, 3], ordered=True).matrix
    assert matrix[1, 2] == pytest.approx(1 - (2 / 4) ** 2)
    assert matrix[0, 1] == 0


# R's and Python's irrCAC (0.4.4) of its data cac.raw4raters, categories 1 to 5.
FOUR_RATERS = """
1 1 . 1
2 2 3 2
3 3 3 3
3 3 3 3
2 2 2 2
1 2 3 4
4 4 4 4
1 1 2 1
2 2 2 2
. 5 5 5
. . 1 1
. . 3 .
"""
NAMES = ("fleiss_kappa", "gwet_ac2", "cohen_kappa", "krippendorff_alpha", "brennan_prediger_kappa")
IRRCAC = {
    "ratio": [
        (0.8213383, 0.7431731),
        (0.8573676, 0.6782981),
        (0.8119652, 0.7559754),
        (0.7974028, 0.7570954),
        (0.8402367, 0.7127931),
    ]
}


@pytest.mark.parametrize("weights", IRRCAC)
def test_weighted_coefficients_and_chance_agreement_are_those_of_irrcac(weights):
    rows = [row.replace(".", "0").split() for row in FOUR_RATERS.strip().splitlines()]
    result = agreement(Ratings(np.array(rows, int) - 1, range(1, 6)), weights=weights)
    for name, (estimate, chance) in zip(NAMES, IRRCAC[weights], strict=True):
        assert find(result, name, weights).estimate == pytest.approx(estimate, abs=1e-7)
        expected = find(result, f"{name}_chance", weights).estimate
        assert expected == pytest.approx(chance, abs=1e-7)


def test_weights_by_position_and_by_value_differ_where_the_numbers_are_unequally_spaced():
    def row(name):
        return find_weights(name, [1, 2, 4], ordered=True).matrix[0].tolist()

    assert row("linear") == pytest.approx([1, 1 / 2, 0])
    assert row("linear_by_value") == pytest.approx([1, 2 / 3, 0])
    assert row("interval") == pytest.approx([1, 8 / 9, 0])
    result = agreement(Ratings([[0, 1], [2, 2], [1, 2]], [1, 2, 4]), weights=["linear", "ordinal"])
    (note,) = (w for w in result.warnings if w.code == "weights-by-position")
    assert str(note) == (
        "linear weights depend on the order of the categories, not on their values, which are not "
        "equally spaced; weights by value are linear_by_value"
    )
    even = agreement(Ratings([[0, 1], [2, 2]], [1, 2, 3]), weights="linear")
    assert "weights-by-position" not in {w.code for w in even.warnings}


def test_decimal_categories_are_numbers():
    columns = {"a": [0.5, 1, 10, 2.5, 1, 0.5], "b": [0.5, 2.5, 10, 2.5, 1, 1]}
    ratings = Ratings.from_wide(columns)
    assert ratings.categories == ("0.5", "1", "2.5", "10")
    alpha = krippendorff.alpha(list(columns.values()), level_of_measurement="interval")
    result = find(agreement(ratings, weights="interval"), "krippendorff_alpha", "interval")
    assert result.estimate == pytest.approx(alpha, abs=1e-12)
    name = "linear_by_value"
    linear = find(agreement(ratings, weights=name), "brennan_prediger_kappa", name)
    matrix = 1 - np.abs(np.subtract.outer([0.5, 1, 2.5, 10], [0.5, 1, 2.5, 10])) / 9.5
    right = 1 - (1.5 + 0.5) / 9.5 / 6
    assert linear.estimate == pytest.approx((right - matrix.mean()) / (1 - matrix.mean()))
    with pytest.raises(InputError, match=r"need different numbers, and these are 1\.1, 1\.10"):
        find_weights("interval", ["1.1", "1.10"], ordered=True)


def test_default_weights_follow_the_scale():
    assert [w.name for w in find_all_weights(None, "abc", ordered=False)] == ["identity"]
    names = [w.name for w in find_all_weights(None, "abc", ordered=True)]
    assert names == ["identity", "linear", "quadratic", "ordinal"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("linaer", "no kind of weights 'linaer'; did you mean 'linear'"),
        ("linear", "weights 'linear' need ordered categories.* a, b, c is their order"),
        ("interval", "weights 'interval' need categories that are numbers, and these are a, b, c"),
        (["identity", 3], "weights is 3; choose among identity"),
        ([], "there are no weights"),
        ("linear_by_value", "need categories that are numbers, and these are a, b, c"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        agreement(Ratings([[0, 1], [1, 2]], "abc"), weights=weights)


def test_ratio_weights_need_numbers_from_0_up():
    with pytest.raises(InputError, match="numbers from 0 up, and the least is -1"):
        agreement(Ratings([[0, 1]], [-1, 1]), weights="ratio")


def test_weighted_coefficients_of_a_table():
    table = np.array([[40, 5, 1], [10, 30, 4], [2, 3, 5]])
    weights = np.array([[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]])
    share = table / table.sum()
    row, column = share.sum(axis=1), share.sum(axis=0)
    right, chance = (weights * share).sum(), row @ weights @ column
    result = agreement_of_table(table, weights="quadratic")

    def estimate(name):
        return result.value(name, weights="quadratic").estimate

    assert estimate("percent_agreement") == pytest.approx(right, abs=1e-12)
    assert estimate("cohen_kappa") == pytest.approx((right - chance) / (1 - chance))
    both = (row + column) / 2
    for name, chance in (
        ("brennan_prediger_kappa", weights.mean()),
        ("scott_pi", both @ weights @ both),
        ("gwet_ac2", weights.sum() / 6 * (both @ (1 - both))),
    ):
        assert estimate(name) == pytest.approx((right - chance) / (1 - chance), abs=1e-12)
        assert estimate(f"{name}_chance") == pytest.approx(chance, abs=1e-12)
    # Krippendorff's draws the second of 200 ratings from the 199 that are left.
    expected = (1 - both @ weights @ both) * 200 / 199
    assert estimate("krippendorff_alpha") == pytest.approx(1 - (1 - right) / expected)
