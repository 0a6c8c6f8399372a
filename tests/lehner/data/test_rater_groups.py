"""Groups of raters stay with their raters, and are refused where they belong to nobody."""

import numpy as np
import pandas as pd
import pytest

from lehner import InputError, Ratings

CODES = [[0, 0, 1, 1], [1, 1, 0, 1], [0, -1, 0, 0]]
GROUPS = {"Ann": "expert", "Cy": "crowd", "Di": "expert"}


@pytest.fixture
def ratings():
    named = Ratings(CODES, ["no", "yes"], ["Ann", "Bo", "Cy", "Di"])
    return named.with_rater_groups(GROUPS)


def test_each_rater_has_a_group_or_none(ratings):
    assert ratings.rater_group == ("expert", "", "crowd", "expert")
    assert ratings.rater_groups == ("crowd", "expert")
    assert repr(ratings).endswith("2 groups of raters")
    assert ratings.with_rater_groups(None).rater_group == ()


def test_missing_labels_are_no_group():
    ratings = Ratings(CODES, ["no", "yes"])
    groups = pd.Series(["a", None, np.nan, 2], index=list("1234")).to_dict()
    assert ratings.with_rater_groups(groups).rater_group == ("a", "", "", "2")


def test_groups_stay_with_the_raters(ratings):
    """A rater who becomes a system leaves the group, and a system that rates has none."""
    system = ratings.with_system("Cy")
    assert system.raters == ("Ann", "Bo", "Di")
    assert system.rater_group == ("expert", "", "expert")
    assert system.rater_groups == ("expert",)
    two = ratings.with_system("Ann", "Di")
    assert two.for_system("Ann").rater_group == ("", "crowd")
    assert ratings.take([2, 0]).collapse().expand().rater_group == ratings.rater_group


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"An": "expert"}, "there is no rater 'An'; did you mean 'Ann'"),
        ({"Ann": None}, "no rater belongs to a group"),
        ({}, "no rater belongs to a group"),
        (["expert", "crowd"], "groups of raters are given as list"),
    ],
)
def test_bad_groups_are_refused(ratings, groups, message):
    with pytest.raises(InputError, match=message):
        ratings.with_rater_groups(groups)


def test_groups_need_a_name_for_each_rater_and_raters_with_names():
    votes = Ratings.from_counts([[3, 0], [1, 2]], ["no", "yes"])
    with pytest.raises(InputError, match="it is unknown who gave which rating"):
        votes.with_rater_groups({"1": "expert"})
