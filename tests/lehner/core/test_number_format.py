"""Printed numbers are read back as the numbers; estimates, draws and seeds."""

import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lehner
from lehner import IntervalEstimate
from lehner.contrasts.groups import group_by_likelihood
from lehner.core.arrays import derive_seeds
from lehner.core.estimate import Draws, join_parts, to_plain
from lehner.core.text import DASH, format_p, to_decimal, to_percent, to_short, with_interval

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64) | st.floats(-1000, 1000)
DIGITS = st.integers(0, 6)
SHARES = st.floats(0, 1)


def hard(test):
    """Try numbers that went wrong, or may."""
    for value in (10.25, -20.0, 1e-17, 999.995, -0.0004, 0.5, 1.0, -0.25, 100.0, 0.0, -0.0, 20.05):
        test = example(value=value, digits=2)(example(value=value, digits=3)(test))
    return test


def half_a_unit(digits):
    return Decimal(5).scaleb(-digits - 1)


@hard
@given(value=NUMBERS, digits=DIGITS)
@pytest.mark.parametrize("write", [to_decimal, to_short])
def test_a_number_is_read_back_to_half_a_unit_of_its_last_digit(write, value, digits):
    text = write(value, digits).replace("−", "-")
    read = Decimal(text)
    assert abs(read - Decimal(value)) <= half_a_unit(digits)
    assert len(text.partition(".")[2]) == digits
    # A sign stands where the number that is shown has one, and nowhere else.
    assert text.startswith("-") == (read < 0)
    assert not (read < 0 < value) and not (value < 0 < read)


@hard
@given(value=NUMBERS, digits=DIGITS)
def test_a_difference_has_its_sign_unless_it_rounds_to_zero(value, digits):
    text = to_decimal(value, digits, sign=True)
    assert Decimal(text) == Decimal(to_decimal(value, digits))
    if Decimal(text) == 0:
        assert text[0] == "0"
    else:
        assert text[0] == ("+" if value > 0 else "-")


@given(value=NUMBERS, digits=st.integers(1, 6))
def test_only_a_zero_before_the_point_is_left_out(value, digits):
    long, less = to_decimal(value, digits).lstrip("-"), to_short(value, digits).lstrip("−")
    assert less == (long[1:] if long.startswith("0.") else long)


@example(share=0.0, digits=2)
@example(share=1.0, digits=3)
@example(share=0.00999999999, digits=2)
@given(share=SHARES, digits=st.integers(1, 4))
def test_a_probability_is_never_0_or_1(share, digits):
    text = format_p(share, digits)
    if text[0] in "<>":
        limit = Decimal(text[2:])
        assert limit == (
            Decimal(1).scaleb(-digits) if text[0] == "<" else 1 - Decimal(1).scaleb(-digits)
        )
        assert share < limit if text[0] == "<" else share > limit
    else:
        assert abs(Decimal(text) - Decimal(share)) <= half_a_unit(digits)
        assert 0 < Decimal(text) < 1


@given(share=SHARES)
@example(share=0.995)
@example(share=0.9999)
@example(share=1e-17)
@example(share=0.1 + 0.2)
def test_a_level_is_printed_with_all_its_digits(share):
    text = to_percent(share)
    assert text.endswith("%") and "E" not in text
    assert float(Decimal(text[:-1]) / 100) == share


@given(share=SHARES, digits=st.integers(0, 3))
@example(share=0.004, digits=0)
@example(share=0.99999, digits=1)
@example(share=0.005, digits=0)
def test_a_share_is_rounded_but_not_to_none_or_all(share, digits):
    text = to_percent(share, digits).removesuffix("%")
    if text[0] == "<":
        assert 0 < 100 * share < float(text[2:])
    elif text[0] == ">":
        assert float(text[2:]) < 100 * share < 100
    else:
        assert abs(Decimal(text) - 100 * Decimal(share)) <= half_a_unit(digits) + Decimal("1e-12")
        assert (float(text) in (0, 100)) <= (share in (0, 1))


def test_what_is_not_known_is_a_dash_and_infinity_is_said():
    assert to_decimal(None) == to_short(math.nan) == format_p(None) == DASH
    assert (to_decimal(math.inf), to_short(-math.inf)) == ("∞", "−∞")
    assert with_interval(None, 0.1, 0.2) == DASH


def test_an_interval_has_both_ends_in_one_format():
    assert with_interval(10.25, -20, None) == "10.250"
    assert with_interval(10.25, -20, 100.005, to_short) == "10.250 [−20.000, 100.005]"


# Estimate, draws and seeds: what they say, in plain types, and which numbers they give.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"kappa": np.nan}, {"kappa": None}),
        ({"n": np.int64(3), "ok": np.bool_(True), 1: -np.inf}, {"n": 3, "ok": True, "1": None}),
        (
            {"r_hat": np.array([1.0, np.nan]), "of": {"ess": (2,)}},
            {"r_hat": [1.0, None], "of": {"ess": [2]}},
        ),
    ],
)
def test_plain_values_are_those_of_json(value, expected):
    assert json.loads(json.dumps(to_plain(value), allow_nan=False)) == expected


def test_a_plain_interval_has_none_where_it_is_undefined():
    undefined = IntervalEstimate(estimate=np.nan, lower=np.nan, upper=np.float32(1))
    shown = to_plain(undefined)
    assert (shown["estimate"], shown["lower"], shown["upper"]) == (None, None, 1.0)


def test_draws_are_labelled_with_groups_before_the_dimensions_of_a_quantity():
    ratings = lehner.load_dataset("anesthesia", system="2")
    ratings = ratings.with_populations(np.where(np.arange(ratings.n_rows) % 2, "odd", "even"))
    draws = group_by_likelihood(ratings, resamples=3)
    assert [*draws.list_coords("base_rates")] == ["group", "category"]
    assert [*draws.list_coords("rater_recall")] == ["rater", "category"]
    assert [*draws.list_coords("system_accuracy")] == ["group"]


def test_parts_of_draws_are_joined_in_order():
    parts = [{"base_rates": np.full((n, 2), float(n))} for n in (1, 3)]
    assert join_parts(parts, 4)["base_rates"][:, 0].tolist() == [1, 3, 3, 3]


def test_arrays_of_draws_have_one_layout_in_memory():
    draws = Draws(point={"confusion": np.eye(2).T}, drawn={"confusion": np.ones((2, 2, 3)).T})
    assert draws.drawn["confusion"].flags.c_contiguous


def streams(seeds):
    return [tuple(seed.generate_state(4)) for seed in seeds]


def test_children_are_those_that_numpy_spawns_and_no_two_are_alike():
    ours = streams(derive_seeds(20150501, 200))
    assert ours == streams(np.random.SeedSequence(20150501).spawn(200))
    assert len(set(ours)) == 200


def test_children_of_children_are_their_own_streams():
    first, second = derive_seeds(7, 2)
    families = streams([*derive_seeds(first, 20), *derive_seeds(second, 20), first, second])
    assert len(set(families)) == len(families)


def test_a_generator_gives_other_children_each_time_and_a_number_the_same():
    rng = np.random.default_rng(3)
    assert streams(derive_seeds(rng, 3)) != streams(derive_seeds(rng, 3))
    assert streams(derive_seeds(3, 3)) == streams(derive_seeds(3, 5))[:3]
