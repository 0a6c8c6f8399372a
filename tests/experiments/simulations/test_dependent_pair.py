"""The simulation of a named pair: what it draws, and what was found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import dependent_pair

TABLE = Path(dependent_pair.__file__).parent / "dependent_pair.csv"
KEYS = ["copied", "raters", "categories", "method", "quantity"]


@pytest.mark.parametrize("copied", dependent_pair.COPIED)
def test_the_system_repeats_the_first_rater(copied, monkeypatch):
    monkeypatch.setattr(dependent_pair, "N_ITEMS", 40_000)
    ratings, expected = dependent_pair.draw_copies(copied, 3, 4, np.random.default_rng(1))
    right = (ratings.codes == ratings.truth[:, None]).mean(axis=0)
    of_system = (ratings.system == ratings.truth).mean()
    assert of_system == pytest.approx(expected, abs=0.01)
    own = (of_system - copied * right[0]) / (1 - copied)
    chance = own * right[0] + (1 - own) * (1 - right[0]) / 3
    same = (ratings.codes[:, 0] == ratings.system).mean()
    assert same == pytest.approx(copied + (1 - copied) * chance, abs=0.01)


@pytest.fixture(scope="module")
def by_naming():
    table = pd.read_csv(TABLE).set_index([*KEYS, "named"])
    return {named: table.xs(named, level="named") for named in (True, False)}


def test_intervals_hold_where_the_pair_is_named_rightly(by_naming):
    named, without = (by_naming[one].xs(0.35, level="copied") for one in (True, False))
    assert named["coverage"].groupby("quantity").mean().min() >= 0.85
    assert without["coverage"].mean() < 0.25 and named["coverage"].min() > 0.75
    in_sample = named.xs("system_accuracy_in_sample", level="quantity")
    assert in_sample["coverage"].min() >= 0.85


def test_a_pair_that_is_named_wrongly_does_no_harm(by_naming):
    named, without = (by_naming[one].xs(0.0, level="copied")["rmse"] for one in (True, False))
    assert (named / without).max().round(2) <= 1.15
