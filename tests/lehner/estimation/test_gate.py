"""`lehner gate`: whether numbers pass, the exit codes of a pipeline, and the files."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import InputError, IntervalEstimate, Ratings, Verdict

HOSTILE = "v<2>&\"'\x1b[31m"


def judged(names=("v1", "v2")):
    """Two groups of answers that a judge called pass or fail, with human labels of some."""
    rng, number, word = np.random.default_rng(1), np.arange(600), np.array(["fail", "pass"])
    truth = rng.random(600) < np.repeat([0.9, 0.5], 300)
    said = truth ^ (rng.random(600) < 0.1)
    human = np.where(number % 300 < 80, word[truth.astype(int)], "")
    columns = {"version": np.repeat(names, 300), "judge": word[said.astype(int)], "human": human}
    return pd.DataFrame({"item": [f"i{k}" for k in number]} | columns)


@pytest.fixture
def path(tmp_path):
    judged().to_csv(tmp_path / "judged.csv", index=False)
    return tmp_path / "judged.csv"


READ = "--raters judge --truth human --item item --group version --good pass".split()


def write(estimate, lower, upper, at_least=0.8, n_labels=100):
    value = IntervalEstimate(estimate, lower, upper, level=0.9)
    return Verdict(quantity="rate", value=value, at_least=at_least, n_labels=n_labels)


def test_a_number_passes_fails_or_is_open_by_the_ends_of_its_interval():
    assert write(0.9, 0.8, 0.95).outcome == "passes"
    assert write(0.7, 0.6, 0.79).outcome == "fails"
    assert write(1.0, 0.9, 1.0, at_least=1.0).outcome == "open"
    assert write(0.8, 0.7, 0.9).outcome == "open" == write(None, None, None).outcome
    assert write(0.9, 0.85, 0.95).labels_needed == 0
    # Half the way to the border: four times the labels.
    assert write(0.85, 0.75, 0.95).labels_needed == 300
    assert write(0.75, 0.65, 0.85).labels_needed == 300
    assert write(0.8, 0.7, 0.9).labels_needed is None
    assert write(0.85, 0.75, 0.95, n_labels=0).labels_needed is None


def test_rates_are_those_of_compare_and_a_difference_turns_with_its_groups(path):
    ratings = lehner.read_ratings(path, raters=["judge"], truth="human", item="item")
    groups = judged()["version"].to_numpy(str)
    results = lehner.compare(ratings, "pass", groups, "post_stratified")
    verdicts = lehner.gate(ratings, 0.65, good="pass", groups=groups)
    rates = results.select(quantity="base_rates")
    lower = [verdict.value.lower + 0.5 / 80 for verdict in verdicts]
    assert lower == pytest.approx(list(rates["lower"]))
    assert [verdict.outcome for verdict in verdicts] == ["passes", "fails"]
    assert [verdict.n_labels for verdict in verdicts] == [80, 80]
    (first,) = lehner.gate(ratings, 0.2, good="pass", groups=groups, than="v2")
    (second,) = lehner.gate(ratings, -0.2, good="pass", groups=groups, than="v1")
    assert (first.value.lower, first.value.upper) == pytest.approx(
        (-second.value.upper, -second.value.lower)
    )
    assert (first.outcome, second.outcome, first.n_labels) == ("passes", "fails", 160)


def test_systems_rest_on_gold_labels_and_not_on_raters_who_err_together():
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=400)
    right = rng.random((400, 2)) < [0.95, 0.6]
    answers = np.where(right, truth[:, None], 1 - truth[:, None])
    # Raters say what the second system says.
    raters = np.repeat(answers[:, [1]], 3, axis=1)
    shown = np.where(np.arange(400) < 120, truth, -1)
    ratings = Ratings(raters, ["no", "yes"], system=answers, truth=shown, systems=["new", "old"])
    new, old = lehner.gate(ratings, 0.8)
    assert (new.outcome, old.outcome) == ("passes", "fails")
    (difference,) = lehner.gate(ratings, 0, than="old")
    assert difference.outcome == "passes" and difference.n_labels == 120
    (blind, _) = lehner.gate(ratings.with_truth(None), 0.8)
    assert blind.outcome == "open" and blind.n_labels == 0 and blind.labels_needed is None


@pytest.mark.parametrize(
    ("at_least", "code", "words"), [(0.3, 0, "passes"), (0.65, 1, "fails"), (0.5, 3, "open")]
)
def test_the_exit_code_is_that_of_the_gravest_number(run, path, at_least, code, words):
    found, out, _ = run("gate", path, *READ, "--at-least", at_least)
    assert found == code and words in out and len(out.splitlines()) == 2


def test_files_say_what_the_screen_says_whatever_the_names(run, tmp_path):
    path = tmp_path / "judged.csv"
    judged(names=("v1", HOSTILE)).to_csv(path, index=False)
    junit = tmp_path / "junit.xml"
    code, out, _ = run("gate", path, *READ, "--at-least", 0.65, "--junit", junit, "--json")
    verdicts = json.loads(out)["verdicts"]
    _, screen, _ = run("gate", path, *READ, "--at-least", 0.65)
    assert code == 1 and "\x1b" not in screen
    first, second = ElementTree.parse(junit).getroot()
    assert not list(first) and second[0].tag == "failure"
    assert second[0].get("message") == screen.splitlines()[1]
    assert [verdict["outcome"] for verdict in verdicts] == ["passes", "fails"]
    lower = verdicts[0]["value"]["lower"]
    assert f"[{lower:.3f}" in screen


def test_several_judges_count_as_their_majority_and_a_tie_as_no_answer():
    truth = np.tile([0, 1, 1, 1], 50)
    judges = np.c_[truth, truth, 1 - truth]
    shown = np.where(np.arange(200) < 60, truth, -1)
    one = Ratings(judges[:, :1], ["bad", "good"], truth=shown)
    several = Ratings(judges, ["bad", "good"], truth=shown)
    (by_one,), (by_most,) = (lehner.gate(x, 0.6, good="good") for x in (one, several))
    assert by_one == by_most and by_one.outcome == "passes"
    tied = np.where(np.arange(200) % 3, truth, 1 - truth)
    tied = Ratings(np.c_[truth, tied], ["bad", "good"], truth=shown)
    assert lehner.gate(tied, 0.6, good="good")[0].value.lower < by_one.value.lower


def test_labels_that_the_answers_chose_are_told_with_the_verdict(run, tmp_path):
    table = judged()
    table["human"] = np.where(table["judge"] == "pass", table["human"], "")
    table.to_csv(tmp_path / "chosen.csv", index=False)
    _, out, err = run("gate", tmp_path / "chosen.csv", *READ, "--at-least", 0.6, "--json")
    cautions = json.loads(out)["verdicts"][0]["cautions"]
    assert any("not a random sample" in caution for caution in cautions)
    assert err.count("Caution: ") == len(cautions)


def test_a_difference_at_any_time_needs_labels_only_where_systems_differ():
    truth = np.tile([0, 1], 100)
    old = np.where(np.arange(200) % 10 == 3, 1 - truth, truth)
    shown = np.where((truth != old) | (np.arange(200) < 50), truth, -1)
    ratings = Ratings(
        np.empty((200, 0)), [0, 1], system=np.c_[truth, old], truth=shown, systems=["new", "old"]
    )
    (verdict,) = lehner.gate(ratings, 0.1, than="old", anytime=True)
    value = verdict.value
    assert (value.estimate, value.lower, value.upper) == pytest.approx((0.1, 0.1, 0.1))
    assert verdict.outcome == "passes" and "anytime" in verdict.quantity
    (turned,) = lehner.gate(ratings, 0, than="new", anytime=True)
    assert turned.outcome == "fails" and turned.value.estimate == pytest.approx(-0.1)


def test_rates_at_any_time_are_wider_and_those_of_two_groups_hold_together(path):
    ratings = lehner.read_ratings(path, raters=["judge"], truth="human", item="item")
    asked = {"good": "pass", "groups": judged()["version"].to_numpy(str)}
    usual, often = (lehner.gate(ratings, 0.7, anytime=x, **asked) for x in (False, True))
    for first, second in zip(usual, often, strict=True):
        widths = [x.value.upper - x.value.lower for x in (first, second)]
        assert widths[0] < widths[1] < 2 * widths[0]
        assert first.outcome == second.outcome and first.n_labels == second.n_labels
    few = ratings.with_truth(np.where(np.arange(600) == 1, ratings.truth, -1))
    assert lehner.gate(few, 0.5, good="pass")[0].value.lower >= 0
    (difference,) = lehner.gate(ratings, 0, than="v2", anytime=True, **asked)
    assert difference.value.lower < often[0].value.lower - often[1].value.upper


def test_bad_requests_say_what_to_do(run, path):
    ratings = lehner.read_ratings(path, raters=["judge"], truth="human", item="item")
    asked = {"good": "pass", "groups": judged()["version"].to_numpy(str)}
    for more, words in (
        ({"good": None}, "which number is tested"),
        ({"than": "v3"}, "v2"),
        ({"at_least": 80}, "at_least"),
        ({"at_least": -0.1}, "between 0 and 1"),
        ({"at_least": float("nan")}, "at_least"),
        ({"certainty": 0.4}, "certainty"),
        ({"groups": np.full(600, "v1"), "than": "v1"}, "nothing to compare"),
    ):
        with pytest.raises(InputError, match=words):
            lehner.gate(ratings, **{"at_least": 0.5} | asked | more)
    with pytest.raises(InputError, match="no item has a gold label"):
        lehner.gate(ratings.with_truth(None), 0.5, anytime=True, **asked)
    with pytest.raises(InputError, match="drawn one by one"):
        lehner.gate(ratings.replace(cluster=np.arange(600) // 2), 0.5, anytime=True, **asked)
    code, _, err = run("gate", path, *READ)
    assert code == 2 and "--at-least" in err
