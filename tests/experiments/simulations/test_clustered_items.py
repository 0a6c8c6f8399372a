"""The simulation of clustered items: what it draws, and what was found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import clustered_items

TABLE = Path(clustered_items.__file__).parent / "clustered_items.csv"


@pytest.mark.parametrize("correlation", clustered_items.CORRELATIONS)
def test_right_answers_of_a_cluster_correlate(correlation):
    rng = np.random.default_rng(1)
    ratings = clustered_items.draw_clustered(correlation, 2, rng, n_items=60_000)
    right = ratings.answers[:, 0] == ratings.truth
    assert right.mean() == pytest.approx(clustered_items.SYSTEM, abs=0.01)
    assert np.corrcoef(right[::2], right[1::2])[0, 1] == pytest.approx(correlation, abs=0.02)
    first, second = (ratings.codes[:, j] == ratings.truth for j in range(2))
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0, abs=0.02)


def test_intervals_hold_with_clusters_and_not_without():
    table = pd.read_csv(TABLE)
    expected = table[(table["quantity"] != "system_accuracy_in_sample")]
    assert expected[expected["cluster"]].groupby("method")["coverage"].mean().min() > 0.86
    assert expected.query("cluster")["coverage"].min() >= 0.8
    worst = expected.query("not cluster and correlation == .6 and size == 20")
    assert worst["coverage"].max() < 0.6
