"""What the command says about shared mistakes."""

import json

import pandas as pd
import pytest

from lehner import Estimate, IntervalEstimate, Ratings, Scenario, simulate
from lehner.dependence.sensitivity import CURVE
from lehner.estimation.question import Options
from lehner.estimation.sensitivity import SENSITIVITY

ALGEBRA = ["--method", "majority_agreement", "--method", "algebraic"]


@pytest.fixture(scope="module")
def copied_file(tmp_path_factory):
    scenario = Scenario(
        n_items=300,
        initial_rater_accuracy=(0.6,) * 4,
        copying=(0, 0.5, 0, 0),
        base_rates="equal",
    )
    file = tmp_path_factory.mktemp("ratings") / "ratings.csv"
    simulate(scenario, 1).to_wide().drop(columns="truth").to_csv(file, index=False)
    return file


def test_every_estimate_has_a_sensitivity_and_the_data_a_dependence(run, copied_file):
    code, out, _ = run("estimate", copied_file, *ALGEBRA, "--json")
    found = json.loads(out)
    assert code == 0
    for estimate in found["estimates"]:
        y, x = estimate["system_accuracy"], estimate["sensitivity"]
        assert x["misleading_share"] == 0.1
        # Categories between which the system's errors differ change it a little.
        same = 0.9 * y["estimate"] + 0.1 * (1 - y["estimate"]) / 4
        assert x["estimate"] == pytest.approx(same, abs=0.01)
        assert x["system_slope"] is None
    dependence = found["dependence"]
    assert dependence["pairs"][0]["raters"] == ["Rater 1", "Rater 2"]
    assert dependence["pairs"][0]["stands_out"]
    assert dependence["effective_raters"]["source"] == "pairs that stand out"


def test_the_table_says_it_in_numbers_and_the_figure_has_its_table(run, copied_file, tmp_path):
    options = (*ALGEBRA, "--output", tmp_path / "out")
    code, out, _ = run("estimate", "--full", copied_file, *options)
    assert code == 0
    lines = out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("What the system's accuracy"))
    head = next(line for line in lines[at:] if line.startswith("method"))
    assert head.split() == "method nobody misled system too raters alone".split()
    assert "10% of the items" in lines[at] and "cannot tell" in out
    assert "Rater 1 and Rater 2 agree on" in out
    curve = pd.read_csv(tmp_path / "out" / "shared_mistakes.csv")
    assert len(curve) == 2 * len(CURVE)
    assert (tmp_path / "out" / "shared_mistakes.png").stat().st_size > 1000


def test_estimates_by_slope_go_with_relaxed_k():
    value = IntervalEstimate(estimate=0.8, lower=0.7, upper=0.9, level=0.9)
    estimates = {
        name: Estimate(
            method=name,
            system="system",
            system_accuracy=value,
            system_accuracy_in_sample=value,
        )
        for name in ("relaxed_k", "one_coin")
    }
    slopes = dict.fromkeys((0.0, 1.0), estimates["relaxed_k"])
    ratings = Ratings([[0, 1], [1, 1]], ["no", "yes"], system=[0, 1])
    found = {}
    for name, one in estimates.items():
        answer = SENSITIVITY.answer(ratings, one, Options(slopes=slopes))
        found |= {name: SENSITIVITY.to_dict(answer)["sensitivity"]}
    assert found["one_coin"]["system_slope"] is None
    assert list(found["relaxed_k"]["system_slope"]) == ["0", "1"]
    assert found["relaxed_k"]["system_slope"]["0"]["upper"] == 0.9
