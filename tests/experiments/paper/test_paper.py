"""The paper's numbers come out, or are known not to."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from experiments.paper import FIGURES, replicate_paper, simulate_figure
from experiments.paper import __main__ as command
from experiments.paper.numbers import PRINTED, compare_printed, judge

MISPRINTS = {
    "ratings in category B": (11, 10),
    "ratings in category C": (11, 10),
    "ratings in category D": (11, 9),
    'P("A") at P(A) = .325, P_c = .5': (0.725, 11 / 40),
    "bin .8-.9, accuracy": (0.776, 0.7714),
    "bin .5-.6, agreement": (0.333, 1),
    "bin .5-.6, accuracy": (0.452, 1),
    "lower end of the last bin": (0.2, 0.3),
}


@pytest.fixture(scope="module")
def numbers():
    return replicate_paper(runs=200)


def test_numbers_without_chance_match_to_the_last_digit_or_are_known_misprints(numbers):
    exact = numbers[numbers["z"].isna()]
    assert len(exact) == 134
    for number in exact.itertuples():
        if number.quantity in MISPRINTS:
            printed, ours = MISPRINTS[number.quantity]
            assert number.verdict == "misprint"
            assert number.printed == pytest.approx(printed)
            assert number.ours == pytest.approx(ours, abs=5e-5)
        else:
            assert number.verdict == "matches", number
            assert round(number.ours, number.digits) == pytest.approx(number.printed), number


def test_one_number_cannot_be_matched(numbers):
    (unmatched,) = numbers[numbers["verdict"] == "cannot be matched"].itertuples()
    assert unmatched.quantity == "share within .1 of the truth, 200 items, kappa .3"
    assert unmatched.ours == pytest.approx(0.81, abs=0.03)


def test_kappas_are_those_of_an_independent_program(numbers):
    """Where the K-properties hold, the theory; else a prototype that shares no code with ours."""
    kappas = dict.fromkeys((9, 12), 0.1316) | dict.fromkeys((8, 10, 13), 0.3024)
    kappas |= dict.fromkeys((11, 14), 0.5786)
    for number in numbers.itertuples():
        if number.quantity == "kappa" and number.place.startswith("Figure"):
            figure = int(number.place.split()[1])
            accuracy = FIGURES[figure].initial_rater_accuracy[0]
            expected = kappas.get(figure, ((accuracy - 0.2) / 0.8) ** 2)
            assert abs(number.ours - expected) < 4 * number.standard_error + 0.001


def test_biases_of_single_violations_are_those_of_an_independent_program(numbers):
    biases = numbers[numbers["quantity"].str.startswith("bias by")].itertuples()
    for number, expected in zip(biases, (0.0228, -0.0555, -0.027, -0.067), strict=True):
        assert abs(number.ours - expected) < 4 * number.standard_error + 0.004


def test_a_table_has_a_row_for_each_number(numbers):
    assert len(numbers) == len(PRINTED) == 158
    simulated = numbers[numbers.z.notna()]
    assert (simulated.standard_error > 0).all()


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"ours": 0.5004}, "matches"),
        ({"ours": 0.5006}, "cannot be matched"),
        ({"ours": 0.51, "standard_error": 0.001}, "cannot be matched"),
        ({"ours": 0.51, "standard_error": 0.001, "printed_standard_error": 0.01}, "matches"),
        ({"ours": 0.9, "standard_error": 0.001, "at_least": "yes"}, "matches"),
        ({"ours": 0.4, "standard_error": 0.001, "at_least": "yes"}, "cannot be matched"),
        ({"ours": 0.9, "misprint": "it is"}, "misprint"),
    ],
)
def test_the_verdict_follows_from_rounding_and_standard_errors(changes, verdict):
    row = {"place": "here", "quantity": "x", "printed": "0.500", "at_least": "", "misprint": ""}
    row |= {name: changes.pop(name) for name in ("at_least", "misprint") if name in changes}
    table = pd.DataFrame([row]).set_index(["place", "quantity"])
    (judged,) = judge([compare_printed("here", "x", **changes)], table)["verdict"]
    assert judged == verdict


def test_a_figure_has_the_papers_runs():
    runs = simulate_figure(FIGURES[8])
    assert runs.sizes["run"] == 50
    assert np.unique(runs.preset, return_counts=True)[1].tolist() == [10] * 5
    expected = [0.1333, 0.3, 0.5, 0.7, 0.8667]
    np.testing.assert_allclose(np.unique(runs.system_accuracy.round(4)), expected)
    many = simulate_figure(FIGURES[8], 1000)
    presets = np.unique(many.preset)
    first = np.concatenate([np.flatnonzero(many.preset.values == p)[:10] for p in presets])
    np.testing.assert_array_equal(many.algebraic_paper.values[first], runs.algebraic_paper.values)


@pytest.fixture
def run_paper(run):
    return partial(run, main=command.main)


def test_the_command_prints_the_page_and_writes_it(run_paper, tmp_path, numbers, monkeypatch):
    monkeypatch.setattr(command, "replicate_paper", lambda *arguments: numbers)
    code, out, _ = run_paper("--runs", "50", "--output", str(tmp_path / "all"))
    assert code == 0 and "158 printed numbers: 149 match, 8 are misprints" in out
    kept = pd.read_csv(tmp_path / "all" / "replication.csv")
    assert len(kept) == 158 and kept["verdict"][0] == "matches"
    assert "158 printed numbers" in (tmp_path / "all" / "replication.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--runs", "7"], "there are 7 runs; give a multiple of 5"),
        (["--runs", "0"], "0 runs"),
        (["--seed", "-1"], "--seed is -1"),
    ],
)
def test_the_command_refuses_bad_options(run_paper, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run_paper(*options)
    assert (code, out) == (2, "") and not list(tmp_path.iterdir())
    assert message in err and len(err.strip().splitlines()) == 1
