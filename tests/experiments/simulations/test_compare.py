"""The simulation of compared groups, and what its committed table shows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import compare

TABLE = Path(compare.__file__).parent / "compare.csv"
RATES = np.array([0.8, 0.5, 0.4])


@pytest.mark.parametrize("process", compare.PROCESSES)
def test_items_and_ratings_have_the_rates_and_recalls(process):
    known = 20_000
    group, ratings = compare.draw_ratings(process, RATES, known, known, np.random.default_rng(1))
    for g, rate in enumerate(RATES):
        truth = ratings.truth[group == g]
        assert truth.mean() == pytest.approx(rate, abs=0.01)
        right = ratings.codes[group == g] == truth[:, None]
        for category in (0, 1):
            found = right[truth == category].mean(axis=0)
            less = compare.WORSE if g == 0 and process == compare.PROCESSES[1] else 0
            # Difficulty draws the proportions of right ratings toward a half.
            near = 0.08 if process == compare.PROCESSES[2] else 0.02
            assert found == pytest.approx(compare.RECALL[category] - less, abs=near)


def test_known_truths_are_as_many_in_each_group():
    group, ratings = compare.draw_ratings(
        compare.PROCESSES[0], RATES, 50, 20, np.random.default_rng(1)
    )
    assert np.bincount(group[ratings.truth >= 0]).tolist() == [20, 20, 20]


def test_what_the_documentation_says_of_the_table():
    table = pd.read_csv(TABLE)
    model = table[table.method == "dawid_skene"]
    assumed = model[model.process == compare.PROCESSES[0]].groupby("quantity")
    coverage = assumed.coverage.mean()
    assert 0.87 <= coverage["proportion"] <= 0.96 and 0.85 <= coverage["difference"] <= 0.95
    assert assumed.bias.mean()["false best"] < 0.15
    assert assumed.bias.mean()["raters-differ"] < 0.05
    others = model[model.process != compare.PROCESSES[0]]
    known, unknown = (
        others[others.quantity.eq("proportion") & others.known.eq(n)].groupby("process").coverage
        for n in (compare.N_KNOWN, 0)
    )
    assert (known.mean() > 0.85).all() and (unknown.mean() < known.mean()).all()
