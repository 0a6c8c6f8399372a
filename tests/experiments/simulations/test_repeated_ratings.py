"""The simulation of repeated ratings: rules and methods are those of lehner; what was found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import repeated_ratings
from experiments.simulations.repeated_ratings import PROCESSES, RULES, draw_counts
from lehner import Ratings, estimate_algebraic, fit_latent_class
from lehner.data.flat import FlatRatings

TABLE = Path(repeated_ratings.__file__).parent / "repeated_ratings.csv"


def drawn(process, k, seed):
    rng = np.random.default_rng(seed)
    counts, first, system = draw_counts(PROCESSES[process], k, rng)
    item, rater, category = (
        np.repeat(index, counts[counts > 0].astype(int)) for index in np.nonzero(counts)
    )
    flat = FlatRatings(item_index=item, rater_index=rater, category_index=category)
    ratings = Ratings(flat, range(k), range(3), range(len(system)), system)
    return counts, first, ratings, rng


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("process", ["each twice, 50% copied", "one to five times, 50% copied"])
def test_the_most_frequent_rating_and_every_rating_are_what_lehner_counts(process, k):
    counts, first, ratings, rng = drawn(process, k, seed=k)
    for rule, one in (
        ("most frequent", ratings),
        ("every rating", ratings.with_independent_repeats()),
    ):
        votes, shares = RULES[rule](counts, first)
        np.testing.assert_array_equal(votes.sum(axis=1), one.votes())
        found = repeated_ratings.by_algebra(votes, shares, ratings.system, rng)
        expected = estimate_algebraic(one, interval=None).system_accuracy.estimate
        assert found.estimate == pytest.approx(expected, abs=1e-9)
        found = repeated_ratings.by_maximum_likelihood(votes, ratings.system)
        expected = fit_latent_class(one).accuracy.sel(rater="system")
        assert found.estimate == pytest.approx(float(expected), abs=2e-3)


def test_copies_have_one_vote_by_every_rule_but_one():
    counts, first, _, _ = drawn("each twice, 100% copied", 3, seed=1)
    for name, rule in RULES.items():
        votes, _ = rule(counts, first)
        expected = counts if name == "every rating" else first
        np.testing.assert_allclose(votes, expected, atol=1e-12)


def test_the_rule_of_lehner_is_right_whether_repeats_are_copies_or_independent():
    table = pd.read_csv(TABLE).query("method == 'algebraic'").set_index(["process", "rule"])
    assert (table["n"] == 200).all() and (table["bias_se"] > 0).all()
    for share in ("0%", "25%", "50%", "75%", "100%"):
        cell = table.loc[f"each twice, {share} copied"]
        assert (cell.loc["most frequent", "coverage"] > 0.85).all()
        assert (cell.loc["most frequent", "bias"].abs() < 0.01).all()
    independent, copied = (f"each twice, {share} copied" for share in ("0%", "100%"))
    assert (table.loc[(independent, "1/m each"), "coverage"] < 0.1).all()
    assert (table.loc[(copied, "every rating"), "coverage"] < 0.1).all()
