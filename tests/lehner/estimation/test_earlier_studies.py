"""Earlier studies as tables and files."""

import numpy as np
import pytest

from lehner import InputError, Ratings, estimate
from lehner.estimation.raters import read_studies

RATINGS = Ratings(
    [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 1, 0]],
    ["benign", "malignant"],
    ["ana", "a_b & c", "../x"],
    system=[0, 1, 1, 0],
    systems=["gpt"],
)


def test_a_file_is_read_by_the_names_of_its_rows_and_columns(tmp_path):
    path = tmp_path / "earlier.csv"
    path.write_text("truth,malignant,benign\nmalignant,84,16\nbenign,30,170\n")
    for study in (path, str(path), [[170, 30], [16, 84]]):
        result = read_studies({"a_b & c": study}, RATINGS)
        assert result["a_b & c"].tolist() == [[170, 30], [16, 84]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"anna": np.ones((2, 2))}, "did you mean 'ana'"),
        ({"ana": [[1, 2]]}, "2 rows"),
        ({"ana": [[1, 2], [3, -1]]}, "0 or more"),
        ({"ana": [[1, 2], [3, "many"]]}, "0 or more"),
        ({"ana": None}, "2 rows"),
        ({"ana": "nowhere.csv"}, "no such file"),
    ],
)
def test_what_is_no_study_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        read_studies(given, RATINGS)


def test_methods_without_priors_are_refused():
    with pytest.raises(InputError, match="no method takes earlier studies; add"):
        estimate(RATINGS, "algebraic", earlier_studies={"ana": np.ones((2, 2))})
