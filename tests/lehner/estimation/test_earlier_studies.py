"""Earlier studies as tables and files."""

import numpy as np
import pytest

from bayes_models import make_power_prior, read_studies
from lehner import Given, InputError, Ratings, estimate

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
        result = read_studies({"a_b & c": study, "another": "nowhere.csv"}, RATINGS)
        assert np.asarray(result["a_b & c"]).tolist() == [[170, 30], [16, 84]]


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ({"ana": [[1, 2]]}, "2 by 2"),
        ({"ana": [[1, 2], [3, -1]]}, "0 or more"),
        ({"ana": [[1, 2], [3, "many"]]}, "0 or more"),
        ({"ana": [[1, 2], [np.nan, 3]]}, "0 or more"),
        ({"ana": None}, "2 by 2"),
        ({"ana": "nowhere.csv"}, "no such file"),
    ],
)
def test_what_is_no_study_is_refused(study, said):
    with pytest.raises(InputError, match=said):
        make_power_prior(RATINGS, read_studies(study, RATINGS))


def test_a_study_of_nobody_is_refused():
    with pytest.raises(InputError, match="did you mean 'ana'"):
        estimate(RATINGS, "dawid_skene", given=Given(earlier_studies={"anna": np.ones((2, 2))}))


def test_methods_without_priors_are_refused():
    with pytest.raises(InputError, match="no method takes earlier studies; add"):
        estimate(RATINGS, "algebraic", given=Given(earlier_studies={"ana": np.ones((2, 2))}))
