"""Groups of items by the algebra."""

import numpy as np
import pytest

from lehner import InputError, Ratings, Scenario, estimate_algebraic, simulate
from lehner.contrasts.groups import group_by_algebra, list_group_rows, make_column, take_groups
from tests.lehner.questions import collect_rows

SCENARIO = Scenario(
    n_categories=3, initial_rater_accuracy=(0.75,) * 3, n_items=400, base_rates="equal"
)


@pytest.fixture(scope="module")
def easy_and_hard():
    """30,000 items of two groups, in which the system is right in .95 and .7; other base rates."""
    parts = [
        Scenario(
            n_categories=3,
            initial_rater_accuracy=(0.75,) * 3,
            initial_system_accuracy=accuracy,
            n_items=n,
            base_rates=rates,
        )
        for accuracy, n, rates in ((0.95, 20_000, (0.5, 0.3, 0.2)), (0.7, 10_000, (0.2, 0.2, 0.6)))
    ]
    drawn = [simulate(part, seed) for seed, part in enumerate(parts, start=1)]
    codes = np.concatenate([data.codes for data in drawn])
    system = np.concatenate([data.system for data in drawn])
    groups = np.repeat(["easy", "hard"], [20_000, 10_000])
    return Ratings(codes, ["a", "b", "c"], system=system), groups


def in_groups(ratings, groups, **options):
    members = take_groups(ratings, make_column(groups, ratings))
    result = group_by_algebra(members, **options)
    return collect_rows(list_group_rows(result, grouping="group", level=0.9))


def test_groups_have_their_accuracies_and_base_rates(easy_and_hard):
    ratings, groups = easy_and_hard
    result = in_groups(ratings, groups, resamples=200)
    easy, hard = (result.value("system_accuracy", group=name) for name in ("easy", "hard"))
    sizes = result.select(quantity="system_accuracy")["n_items"]
    assert sizes.tolist() == [20_000, 10_000]
    assert easy.estimate == pytest.approx(0.95, abs=0.01)
    assert hard.estimate == pytest.approx(0.7, abs=0.02)
    rates = result.select(quantity="base_rates", group="hard")["estimate"].tolist()
    assert rates == pytest.approx([0.2, 0.2, 0.6], abs=0.02)
    of_rater = result.value("rater_accuracy", group="easy", rater="1")
    assert of_rater.estimate == pytest.approx(0.75, abs=0.01)
    (_, difference), *_ = result.select(quantity="system_accuracy_difference").iterrows()
    assert (difference["group"], difference["versus"]) == ("easy", "hard")
    assert difference["estimate"] == pytest.approx(easy.estimate - hard.estimate)
    assert difference["lower"] < 0.25 < difference["upper"]
    assert difference["probability"] == 1


def test_raters_may_be_less_accurate_in_a_group():
    """Else a system that is as good there would look worse."""
    parts = [
        simulate(
            Scenario(
                n_categories=3, initial_rater_accuracy=(p,) * 3, n_items=8000, base_rates="equal"
            ),
            seed,
        )
        for seed, p in enumerate((0.85, 0.6), start=1)
    ]
    codes = np.concatenate([part.codes for part in parts])
    system = np.concatenate([part.system for part in parts])
    ratings, groups = Ratings(codes, ["a", "b", "c"], system=system), np.repeat(["x", "y"], 8000)
    result = in_groups(ratings, groups, resamples=20)
    for name, accuracy in (("x", 0.85), ("y", 0.6)):
        of_rater = result.value("rater_accuracy", group=name, rater="1").estimate
        assert of_rater == pytest.approx(accuracy, abs=0.015)
        of_system = result.value("system_accuracy", group=name).estimate
        assert of_system == pytest.approx(0.9, abs=0.02)


def test_one_group_of_all_items_is_the_algebra():
    ratings = simulate(SCENARIO, 3)
    result = in_groups(ratings, ["all"] * 400, resamples=500)
    whole = estimate_algebraic(ratings, resamples=500)
    row = result.value("system_accuracy", group="all")
    assert row.estimate == pytest.approx(whole.system_accuracy.estimate)
    rates = result.select(quantity="base_rates")["estimate"].tolist()
    assert rates == pytest.approx(whole.base_rates.values)
    assert row.lower == pytest.approx(whole.system_accuracy.lower, abs=0.015)
    assert not (result.table["versus"] != "").any()


def test_a_small_group_at_chance_is_undefined_not_wrong():
    ratings = Ratings([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]], ["a", "b"], system=[0, 1, 0, 1, 0])
    result = in_groups(ratings, ["x", "x", "x", "x", "y"])
    assert result.value("system_accuracy", group="y").estimate is None
    assert result.value("system_accuracy_difference", group="x", versus="y").estimate is None


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        (["x"] * 3, "groups are given for 3 rows, but the ratings have 4"),
        (["", None, "", ""], "no item belongs to a group"),
        (["x", "x", "x", "y"], "the system answered no item of the group 'y'"),
    ],
)
def test_bad_groups_are_refused(groups, problem):
    ratings = Ratings([[0, 0], [1, 1], [0, 0], [1, 1]], ["a", "b"], system=[0, 1, 0, -1])
    with pytest.raises(InputError) as error:
        in_groups(ratings, groups)
    assert problem in str(error.value)
