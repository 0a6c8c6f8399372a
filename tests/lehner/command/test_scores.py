"""`lehner scores`, as a user types it: one number wherever it stands."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from lehner import read_ratings, score_performance
from lehner.performance.scores import MEASURES, read_curve
from lehner.report.figures import plot_calibration

score_quickly = partial(score_performance, resamples=20)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write scores and ratings; the command takes few resamples."""
    monkeypatch.setattr("lehner.score_performance", score_quickly)
    rng = np.random.default_rng(5)
    truth = rng.random(120) < 0.4
    right = rng.random((120, 3)) < 0.75
    rated = np.where(right, truth[:, None], ~truth[:, None])
    table = pd.DataFrame(np.where(rated, "yes", "no"), columns=["ana", "ben", "cai"])
    table.insert(0, "item", [f"i{k}" for k in range(120)])
    table["gold"] = np.where(rng.random(120) < 0.3, np.where(truth, "yes", "no"), "")
    table["p_yes"] = (1 / (1 + np.exp(-2 * (rng.normal(size=120) + 1.5 * truth - 1)))).round(3)
    path = tmp_path / "scored.csv"
    table.to_csv(path, index=False)
    return path


def test_screen_files_json_and_python_say_the_same(run, file, tmp_path):
    arguments = ["scores", file, "--score", "p_yes", "--truth", "gold"]
    code, screen, err = run(*arguments, "--output", tmp_path / "out")
    assert code == 0 and err.count("wrote") == 5
    assert "p_yes as the probability of yes, 120 items" in screen
    text = json.loads(run(*arguments, "--json")[1])
    ratings = read_ratings(file, truth="gold", raters=["ana", "ben", "cai"])
    values = pd.read_csv(file)["p_yes"]
    result = score_quickly(ratings, values)
    assert text["rows"] == result.to_dict()["rows"]
    rows = pd.read_csv(tmp_path / "out" / "scores.csv", keep_default_na=False)
    rows = rows[rows["grouping"] == ""].set_index(["quantity", "method"])
    latex = (tmp_path / "out" / "scores.tex").read_text()
    for name in MEASURES:
        measure = result.value(name, method="", category="yes")
        alone = result.value(name, method="gold_labels", category="yes")
        for value, method in ((measure, ""), (alone, "gold_labels")):
            assert float(rows.loc[(name, method), "estimate"]) == pytest.approx(value.estimate)
        assert f"{measure.estimate:.3f} [{measure.lower:.3f}, {measure.upper:.3f}]*" in screen
        assert f"{measure.estimate:.3f} [{measure.lower:.3f}, {measure.upper:.3f}]*".replace(
            "-", "$-$"
        ) in latex.replace("−", "-").replace("-", "$-$").replace("$$-$$", "$-$")
    curve = pd.read_csv(tmp_path / "out" / "calibration.csv", index_col="score")
    assert curve["probability"].to_numpy() == pytest.approx(read_curve(result)["probability"])


def read_rows(text):
    """Read the measures in JSON, with what can differ between processors."""
    return {
        (row["quantity"], row["method"]): pytest.approx(row["estimate"])
        for row in json.loads(text)["rows"]
        if not row["grouping"]
    }


def test_a_row_per_rating_has_the_score_of_its_item(run, file, tmp_path):
    wide = pd.read_csv(file).drop(columns="gold")
    long = wide.melt(["item", "p_yes"], var_name="rater", value_name="rating")
    long.to_csv(tmp_path / "long.csv", index=False)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    both = [
        read_rows(run("scores", tmp_path / name, "--score", "p_yes", "--json")[1])
        for name in ("wide.csv", "long.csv")
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("value", ["1.5", "-0.1", "high", "inf"])
def test_a_wrong_score_is_one_line_that_names_it(run, file, tmp_path, value):
    table = pd.read_csv(file, dtype=str)
    table.loc[6, "p_yes"] = value
    table.to_csv(tmp_path / "wrong.csv", index=False)
    code, out, err = run("scores", tmp_path / "wrong.csv", "--score", "p_yes", "--truth", "gold")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(text in err for text in ("wrong.csv", "p_yes", "'i6'", repr(value)))


def test_confidence_in_an_answer_is_no_probability_of_a_category(run, file, tmp_path):
    table = pd.read_csv(file)
    table["gpt"] = np.where(table["p_yes"] >= 0.5, "yes", "no")
    table["sure"] = np.maximum(table["p_yes"], 1 - table["p_yes"])
    table.to_csv(tmp_path / "sure.csv", index=False)
    file = tmp_path / "sure.csv"
    words = ["scores", file, "--truth", "gold", "--raters", "ana,ben,cai", "--json"]
    expected = run(*words, "--score", "p_yes")[1]
    for system in ([], ["--system", "gpt"]):
        code, out, err = run(*words, "--score", "sure", *system)
        assert (code, out) == (2, "") and "(--score-of answer, --system)" in err
    code, out, err = run(*words, "--score", "sure", "--system", "gpt", "--score-of", "answer")
    assert code == 0, err
    assert read_rows(out) == read_rows(expected)
    assert run(*words, "--score", "sure", "--score-of", "category")[0] == 0


def test_the_figure_shows_the_curve_its_band_and_the_diagonal(file):
    ratings = read_ratings(file, truth="gold", raters=["ana", "ben", "cai"])
    result = score_performance(ratings, pd.read_csv(file)["p_yes"], resamples=5)
    (ax,) = plot_calibration(result, 0.5).axes
    diagonal, curve, threshold = ax.get_lines()
    assert curve.get_ydata() == pytest.approx(read_curve(result)["probability"].to_numpy())
    assert list(diagonal.get_ydata()) == [0, 1] and set(threshold.get_xdata()) == {0.5}
