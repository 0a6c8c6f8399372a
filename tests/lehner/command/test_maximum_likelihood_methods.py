"""Latent-class models by maximum likelihood as methods of the command and of studies."""

import pytest

from lehner import estimate_latent_class, simulate
from lehner.simulation.scenario import Scenario
from lehner.study import run_study
from tests.rows import one_row, pick_rows

STUDY = """
name = "by likelihood"
seed = 1
replicates = 3
methods = [
    { name = "one_coin_ml", resamples = 30 },
    { name = "pooled_ml", interval = "none" },
]
[[scenarios]]
name = "one"
n_items = 120
n_categories = 3
"""


def test_known_truths_in_a_model_do_not_correct_it_again(run, tmp_path):
    ratings = simulate(Scenario(n_items=80, n_categories=2), 1).to_wide()
    ratings.loc[20:, "truth"] = None
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    options = ("estimate", tmp_path / "ratings.csv", "--method", "one_coin_ml", "--json")
    apart, within = run(*options)[1], run(*options, "--truths-in-model")[1]
    assert one_row(apart, "prediction_powered", corrected=...)["n_items"] == 20
    assert not pick_rows(within, "prediction_powered", corrected=...)
    assert not pick_rows(within, "system_accuracy")
    assert one_row(within, "system_accuracy", corrected=True)["estimate"] > 0


def test_a_study_takes_them_with_options(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    result = run_study(tmp_path / "study.toml", tmp_path / "out")
    assert (result["status"] == "ok").all() and len(result) == 12
    rows = result[(result["method"] == "one_coin_ml") & (result["estimand"] == "system_accuracy")]
    assert (rows["lower"] < rows["upper"]).all() and (rows["upper"] <= 1).all()
    other = result[result["method"] == "pooled_ml"]
    assert other["lower"].isna().all() and other["estimate"].notna().all()
    scenario, seed = Scenario(n_items=120, n_categories=3), int(rows["seed"].iloc[0])
    data = simulate(scenario, seed).with_truth(None)
    again = estimate_latent_class(data, "one_coin", interval=None).system_accuracy.estimate
    assert rows["estimate"].iloc[0] == pytest.approx(again)
