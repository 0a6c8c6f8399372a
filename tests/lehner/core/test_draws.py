"""The container of draws: what its dimensions are, and how its parts are joined."""

import numpy as np

import lehner
from lehner.contrasts.groups import group_by_likelihood
from lehner.core.estimate import Draws, join_parts


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
