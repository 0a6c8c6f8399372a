"""Latent-class models by maximum likelihood as methods of the command."""

from lehner import simulate
from lehner.simulation.scenario import Scenario
from tests.rows import one_row, pick_rows


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
