"""Earlier studies as tables, files and sensitivities with intervals."""

import numpy as np
import pytest
from scipy import stats

from lehner import InputError, Ratings, estimate
from lehner.estimation.earlier_studies import matched_beta, read_studies

RATINGS = Ratings(
    [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 1, 0]],
    ["benign", "malignant"],
    ["ana", "a_b & c", "../x"],
    system=[0, 1, 1, 0],
    systems=["gpt"],
)


@pytest.mark.parametrize(("successes", "failures"), [(46.5, 46.5), (170, 30), (3, 2), (990, 4)])
def test_a_beta_distribution_is_found_from_its_mean_and_interval(successes, failures):
    known = stats.beta(successes, failures)
    assert matched_beta(known.mean(), *known.ppf([0.025, 0.975])) == pytest.approx(
        (successes, failures), rel=1e-6
    )


def test_a_study_of_200_items_counts_as_about_200():
    """Wilson's interval of 170 of 200."""
    found = stats.binomtest(170, 200).proportion_ci(method="wilson")
    assert sum(matched_beta(0.85, found.low, found.high)) == pytest.approx(200, rel=0.03)


def test_a_file_is_read_by_the_names_of_its_rows_and_columns(tmp_path):
    path = tmp_path / "earlier.csv"
    path.write_text("truth,malignant,benign\nmalignant,84,16\nbenign,30,170\n")
    for study in (path, str(path), [[170, 30], [16, 84]]):
        found = read_studies({"a_b & c": study}, RATINGS)
        assert found["a_b & c"].tolist() == [[170, 30], [16, 84]]


def test_sensitivity_is_of_the_positive_category():
    text = "specificity 0.92 (0.88 to 0.95) and sensitivity .85 (.80 to .90)"
    found = read_studies({"gpt": text}, RATINGS)["gpt"]
    assert found[1, 1] / found[1].sum() == pytest.approx(0.85)
    assert found[0, 0] / found[0].sum() == pytest.approx(0.92)
    other = read_studies({"gpt": text}, RATINGS, "benign")["gpt"]
    assert other == pytest.approx(found[::-1, ::-1])
    alone = read_studies({"gpt": "sensitivity .85 (.80 to .90)"}, RATINGS)["gpt"]
    assert alone[0].tolist() == [0, 0] and alone[1] == pytest.approx(found[1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"anna": np.ones((2, 2))}, "did you mean 'ana'"),
        ({"ana": [[1, 2]]}, "2 rows"),
        ({"ana": [[1, 2], [3, -1]]}, "0 or more"),
        ({"ana": [[1, 2], [3, "many"]]}, "0 or more"),
        ({"ana": None}, "2 rows"),
        ({"ana": "nowhere.csv"}, "no such file"),
        ({"ana": "sensitivity .85"}, "not read as sensitivity"),
        ({"ana": "sensitivity 85% (80 to 90)"}, "not read as sensitivity"),
        ({"ana": "sensitivity .85 (.9 to .95)"}, "around its number"),
        ({"ana": "sensitivity .8.5 (.7 to .9)"}, "not read as sensitivity"),
        ({"ana": "sensitivity 85 (80 to 90)"}, "around its number"),
        ({"ana": "sensitivity .5 (.01 to .99)"}, "no Beta"),
        ({"ana": "sensitivity .5 (.5 to .5)"}, "no Beta"),
        ({"ana": "sensitivity 1 (.9 to 1)"}, "no Beta"),
        ({"ana": "sensitivity .8 (.7 to .9) and sensitivity .8 (.7 to .9)"}, "not read as"),
    ],
)
def test_what_is_no_study_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        read_studies(given, RATINGS)


def test_sensitivity_needs_two_categories():
    ratings = Ratings([[0, 1], [2, 2]], list("abc"), ["ana", "ben"])
    with pytest.raises(InputError, match="there are 3"):
        read_studies({"ana": "sensitivity .85 (.80 to .90)"}, ratings)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"study_weight": 1.5}, "study_weight is 1.5"), ({}, "add one_coin_by_rater or dawid_skene")],
)
def test_a_wrong_weight_and_methods_without_priors_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        estimate(RATINGS, "algebraic", earlier_studies={"ana": np.ones((2, 2))}, **options)
