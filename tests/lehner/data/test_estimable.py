"""What methods ask of ratings: what cannot be estimated is refused, and arrays have names."""

import numpy as np
import pytest

from lehner import InputError, Ratings, estimate_algebraic, estimate_learned_prior
from lehner import estimate as estimate_all
from lehner.data.estimable import label_array, require_estimable

GOOD = {
    "codes": [[0, 1], [1, -1]],
    "categories": ["a", "b"],
    "raters": ["Ann", "Bo"],
    "system": [0, -1],
}


def repeated_by_one_rater():
    data = {"item": [1, 1, 1, 2], "rater": ["x", "x", "AI", "y"], "rating": list("abab")}
    return Ratings.from_long(data | {"o": [1, 2, 1, 1]}, occasion="o", system="AI")


def test_the_least_that_can_be_estimated_is_accepted():
    require_estimable(Ratings(**GOOD))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": None}, "is the system.*Ann, Bo"),
        ({"system": [-1, -1]}, "the system answered no item"),
        ({"codes": [[0], [1]], "raters": ["Ann"]}, "1 rater besides the system"),
        ({"codes": np.empty((2, 0), dtype=int), "raters": []}, "there is no rater"),
        ({"codes": [[0, 0], [0, -1]], "categories": ["a"]}, "the only category is a"),
        ({"codes": [[0, -1], [-1, 1]]}, "no item was rated by two raters"),
        ({"codes": [[-1, -1], [-1, -1]]}, "no item was rated by two raters"),
        ({"counts": [0, 0]}, "."),
        ({"counts": [0, 5]}, "."),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, message):
    with pytest.raises(InputError, match=message) as caught:
        require_estimable(Ratings(**(GOOD | change)))
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.remedy


def test_two_ratings_by_one_rater_are_not_two_raters():
    ratings = repeated_by_one_rater()
    assert (ratings.n_raters, ratings.n_ratings) == (2, 3)
    with pytest.raises(InputError, match="no item was rated by two raters"):
        require_estimable(ratings)


def test_labelled_arrays_carry_the_names():
    ratings = Ratings([[0, 1]], [7, 8], [1, 2], ["p"])
    array = label_array([[0.25, 0.75]], ratings, "item", "category")
    assert float(array.sel(item="p", category=8)) == 0.75
    assert label_array([0.1, 0.9], ratings, "rater").rater.values.tolist() == ["1", "2"]


def test_a_system_is_not_estimated_by_ratings_of_other_items():
    """It was 1.000 [0.000, 1.000]."""
    codes, system = np.full((40, 3), -1), np.full(40, -1)
    codes[:20], system[20:] = [[0, 1, 0]], 1
    ratings = Ratings(codes, ["no", "yes"], system=system)
    for estimate in (estimate_all, estimate_algebraic, estimate_learned_prior):
        with pytest.raises(InputError, match="both a rating and an answer"):
            estimate(ratings)
    truth = np.where(np.arange(40) == 30, 1, -1)
    require_estimable(ratings.with_truth(truth))
