"""The simulation of truths found out with unequal probabilities: what it draws, what was found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import unequal_truths
from lehner import simulate

TABLE = Path(unequal_truths.__file__).parent / "unequal_truths.csv"


@pytest.mark.parametrize("design", unequal_truths.DESIGNS)
def test_items_are_chosen_with_the_probabilities_given(design):
    ratings, rng = simulate(unequal_truths.BASE, 1), np.random.default_rng(1)
    drawn = [unequal_truths.draw_known(ratings, design, 30, rng) for _ in range(2000)]
    known, chances = (np.array(one) for one in zip(*drawn, strict=True))
    assert (chances == chances[0]).all() and chances[0].sum() == pytest.approx(30, abs=1.5)
    assert np.ptp(chances[0]) > 0 or design == "equal"
    assert known.mean(axis=0) == pytest.approx(chances[0], abs=0.05)


def test_intervals_hold_with_weights_and_those_of_known_positives_not_without():
    table = pd.read_csv(TABLE)
    weighted = table[table["method"] == "weighted"]
    assert weighted.groupby("quantity")["coverage"].mean().min() > 0.88
    assert weighted["coverage"].min() > 0.8
    # With few known items the beta distribution's prior counts, and draws the estimate to .5.
    many = weighted[weighted["known"] == 60]
    assert (many["bias"].abs() < 4 * many["bias_se"] + 0.01).all()
    alone = "design == 'positives' and quantity == 'accuracy, known items alone'"
    without = table[table["method"] == "without weights"].query(alone)
    assert without["coverage"].max() < 0.75 and without["bias"].max() < -0.08
