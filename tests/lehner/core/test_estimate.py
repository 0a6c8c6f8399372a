"""Estimate, draws and seeds: what they say, in plain types, and which numbers they give."""

import json

import numpy as np
import pytest

import lehner
from lehner import IntervalEstimate
from lehner.contrasts.groups import group_by_likelihood
from lehner.core.arrays import derive_seeds
from lehner.core.estimate import Draws, join_parts, to_plain


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
