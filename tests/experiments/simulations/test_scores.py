"""What the simulation of scores draws, and that its table says what the guide says of it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.simulations import scores
from lehner.scores.monotone_score import ScoreRanks
from lehner.scores.performance import MEASURES, score_measures

TABLE = pd.read_csv(Path(scores.__file__).with_name("scores.csv"))


@pytest.mark.parametrize("process", scores.PROCESSES)
def test_only_shared_mistakes_make_raters_err_where_scores_do(process):
    apart = []
    for seed in range(40):
        ratings, drawn = scores.draw_scores(process, np.random.default_rng(seed))
        right = (ratings.codes == ratings.truth[:, None]).mean(axis=1)
        apart.append(np.corrcoef(right, np.abs(drawn - ratings.truth))[0, 1])
    error = np.std(apart) / np.sqrt(40)
    if process == "independent":
        assert abs(np.mean(apart)) < 3 * error + 0.02
    else:
        assert np.mean(apart) < -0.1


def test_the_scores_have_the_auc_of_the_guide():
    auc = []
    for seed in range(40):
        ratings, drawn = scores.draw_scores("independent", np.random.default_rng(seed))
        truth, ranks = ratings.truth.astype(float), ScoreRanks.of(drawn)
        found = score_measures(truth, ranks, np.ones(len(drawn)), 0.5, (1, 1))
        auc.append(found[MEASURES.index("auc")])
    assert np.mean(auc) == pytest.approx(0.86, abs=0.01)


def test_intervals_hold_with_known_truths_and_without_only_if_mistakes_are_independent():
    ours = TABLE[TABLE.method == "scores"]
    assert ours[ours.known > 0].coverage.between(0.88, 0.96).all()
    without = ours[ours.known == 0]
    assert without[without.process == "independent"].coverage.min() >= 0.9
    misled = without[without.process == "misleading"]
    assert misled.coverage.min() == pytest.approx(0.19)
    alone = TABLE[TABLE.method == "known items alone"].set_index(["process", "quantity"]).rmse
    with_truths = ours[ours.known > 0].set_index(["process", "quantity"]).rmse
    shown = ["auc", "sensitivity", "specificity", "brier_score"]
    ratio = (with_truths / alone).unstack()[shown].stack()
    assert ratio.round(1).min() == 0.4 and ratio.max() < 0.8
