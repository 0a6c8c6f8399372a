"""Naming a dependent pair."""

import numpy as np
import pytest

from lehner import InputError, Ratings

RATINGS = Ratings(
    [[0, 0, 1], [1, 1, 0]], ["no", "yes"], ["ana", "ben", "cai"], system=[[0, 1], [1, 1]],
    systems=["gpt", "base"],
)  # fmt: skip


def test_the_pair_stays_with_the_ratings_and_is_found_by_its_names():
    pair = RATINGS.with_dependent_pair(("ana", "gpt"))
    of_system = pair.select_system("gpt")
    assert of_system.dependent_index == (0, 3) == of_system.take([0]).to_patterns().dependent
    assert of_system.to_grouped().to_ungrouped().with_truth(None).dependent == ("ana", "gpt")
    assert pair.select_system("base").dependent_index is None
    assert pair.with_dependent_pair(None).dependent_index is None
    assert RATINGS.with_dependent_pair(("gpt", "base")).select_system("gpt").dependent_index is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["ana"], "the dependent pair is ana"),
        (["ana", "ana"], "the dependent pair is ana, ana"),
        (["ana", "ben", "cai"], "the dependent pair is ana, ben, cai"),
        (["ana", "gtp"], "there is no rater or system 'gtp'.*did you mean 'gpt'"),
    ],
)
def test_other_names_are_refused(names, message):
    with pytest.raises(InputError, match=message):
        RATINGS.with_dependent_pair(names)


def test_anonymous_raters_are_no_pair():
    counts = Ratings.from_counts(np.array([[2, 1], [0, 3]]), categories=["no", "yes"])
    with pytest.raises(InputError, match="unknown who gave which rating"):
        counts.with_dependent_pair(("1", "2"))
