"""One judge and some gold labels, as `estimate` and `compare` answer; and `lehner gate`."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

import lehner
from lehner import InputError, IntervalEstimate, Ratings, Verdict
from lehner.known_truths.one_judge import JUDGED_BY

TRUTH = [1] * 43 + [0] * 37 + [-1] * 320
SAID = [1] * 39 + [0] * 4 + [1] * 8 + [0] * 29 + [1] * 229 + [0] * 91
"""As in the case 35: 39 of 43 that pass and 29 of 37 that fail are judged right."""


def judge(**options):
    return Ratings(np.array(SAID)[:, None], ["fail", "pass"], ["judge"], truth=TRUTH, **options)


def make_judge(cells, n_answers):
    """A judge of "fail" and "pass"; `cells` counts labelled items by truth and answer."""
    truth, said = np.indices((2, 2)).reshape(2, -1).repeat(np.ravel(cells), axis=1)
    others = np.repeat([0, 1], np.array(n_answers) - np.sum(cells, axis=0))
    said, truth = np.append(said, others), np.append(truth, np.full(len(others), -1))
    return Ratings(said[:, None], ["fail", "pass"], ["judge"], truth=truth)


@pytest.mark.parametrize("n_answers", [(115, 485), (54, 66), (270, 330), (540, 66)])
def test_labelled_items_weigh_as_often_as_the_judge_gives_their_answer(n_answers):
    """Begg & Greenes (1983): of 120 labelled answers the judge fails 54, of all 115 of 600.

    The labelled alone have an accuracy of .783, and recalls of .750 and .850.
    """
    ratings = make_judge([[34, 6], [20, 60]], n_answers)
    fail, passed = np.array(n_answers) / sum(n_answers)
    joint = np.array([[34, 20], [6, 60]]) / [[54], [66]] * [[fail], [passed]]  # Answer by truth.
    results = lehner.estimate(ratings.with_system("judge"))
    compared = lehner.compare(ratings)
    for quantity in ("system_accuracy", "system_accuracy_in_sample"):
        assert results.value(quantity).estimate == pytest.approx(joint.trace())
    assert compared.value("rater_accuracy", rater="judge").estimate == pytest.approx(joint.trace())
    for code, name in enumerate(("fail", "pass")):
        recall = joint[code, code] / joint[:, code].sum()
        assert results.value("recall", category=name).estimate == pytest.approx(recall)
        value = compared.value("recall", rater="judge", category=name)
        assert value.estimate == pytest.approx(recall) and value.lower < recall < value.upper
        specificity = results.value("specificity", category=("pass", "fail")[code])
        assert specificity.estimate == pytest.approx(recall)
        precision = joint[code, code] / joint[code].sum()
        assert results.value("precision", category=name).estimate == pytest.approx(precision)
        rate = results.value("base_rates", category=name)
        assert rate.corrected and rate.estimate == pytest.approx(joint[:, code].sum())
    chance = joint.sum(axis=0) @ joint.sum(axis=1)
    kappa = (joint.trace() - chance) / (1 - chance)
    assert results.value("kappa_with_truth").estimate == pytest.approx(kappa)
    if n_answers == (115, 485):
        assert joint.trace() == pytest.approx(0.856, abs=0.0005)
    # Where the labelled are as the others are, nothing is said.
    doubted = n_answers in ((115, 485), (540, 66))
    for each in (results, compared):
        codes = {warning.code for warning in each.warnings}
        assert ("truths-not-random" in codes) == doubted, n_answers


def test_labels_of_one_answer_only_are_said_and_leave_the_rest_open():
    ratings = make_judge([[50, 0], [10, 0]], (131, 269))
    for results in (lehner.estimate(ratings.with_system("judge")), lehner.compare(ratings, "pass")):
        codes = [warning.code for warning in results.warnings]
        assert {"truths-not-random", "answer-unlabelled"} <= set(codes)
    results = lehner.estimate(ratings.with_system("judge"))
    value = results.value("system_accuracy")
    assert value.lower < 0.35 and value.upper > 0.9
    assert results.value("recall", category="pass").lower == 0


def doubt(ratings):
    """What `compare` says of whether labels are a random sample."""
    return {w.code: w.text for w in lehner.compare(ratings, methods="judge").warnings}.get(
        "truths-not-random", ""
    )


def test_labels_drawn_at_random_in_each_group_are_a_random_sample():
    """Groups differ in what the judge says of them, and in how many items are labelled."""
    rng, found = np.random.default_rng(5), 0
    groups = np.repeat(["a", "b"], 200)
    for _ in range(40):
        said = (rng.random(400) < np.where(groups == "a", 0.9, 0.4)).astype(int)
        order = np.concatenate([rng.permutation(200), rng.permutation(200)])
        truth = np.where(order < np.where(groups == "a", 70, 15), said, -1)
        ratings = Ratings(said[:, None], ["fail", "pass"], ["judge"], truth=truth)
        found += bool(doubt(ratings.with_populations(groups)))
    assert found <= 2 and "judge says" in doubt(ratings)


def test_labels_chosen_by_an_answer_of_ten_or_by_none_are_found():
    rng = np.random.default_rng(2)
    said = rng.integers(0, 10, 400)
    truth = np.where(rng.random(400) < 0.05 + 0.3 * (said < 4), said, -1)
    assert doubt(Ratings(said[:, None], list(range(10)), ["judge"], truth=truth))
    silent = Ratings(np.where(said < 4, -1, said)[:, None], list(range(10)), ["j"], truth=truth)
    assert "j gives no answer on" in doubt(silent)


@pytest.mark.parametrize("rejected", [False, True])
def test_whether_labels_are_random_is_fisher_s_test_of_two_answers(rejected):
    cells = [[5, 0], [0, 15 + 7 * rejected]]
    ratings = make_judge(cells, (30, 30))
    (of_fail, of_pass), n = np.diagonal(cells), 30
    p_value = fisher_exact([[of_fail, of_pass], [n - of_fail, n - of_pass]]).pvalue
    assert (p_value <= 0.005) == bool(doubt(ratings)) == rejected


def test_all_items_labelled_are_known_and_others_are_not():
    ratings = make_judge([[30, 5], [5, 60]], (35, 65))
    results = lehner.estimate(ratings.with_system("judge"))
    in_sample, expected = map(results.value, ("system_accuracy_in_sample", "system_accuracy"))
    assert in_sample.estimate == expected.estimate == pytest.approx(0.9)
    assert in_sample.lower is None and expected.lower < 0.86 < 0.93 < expected.upper
    (warning,) = lehner.compare(ratings, "pass").warnings
    assert warning.code == "proportions-known" and "all items have a gold label" in warning.text


def test_disjoint_intervals_of_methods_are_said():
    ratings = make_judge([[34, 6], [20, 60]], (115, 1085))
    (warning,) = [w for w in lehner.compare(ratings).warnings if w.code == "methods-disagree"]
    assert "post_stratified and gold_labels in all items" in warning.text


def test_accuracies_in_groups_of_items_and_their_difference():
    groups = np.where(np.arange(400) % 2, "a", "b")
    results = lehner.estimate(judge().with_system("judge"), groups=groups)
    said, truth, expected = np.array(SAID), np.array(TRUTH), {}
    for name in ("a", "b"):
        parts = [
            (inside.mean(), (truth[inside & (truth >= 0)] == answer).mean())
            for answer in (0, 1)
            for inside in [(said == answer) & (groups == name)]
        ]
        expected[name] = 2 * sum(share * right for share, right in parts)
        value = results.value("system_accuracy", grouping="group", group=name)
        assert value.estimate == pytest.approx(expected[name])
    (row,) = results.select(quantity="system_accuracy_difference").to_dict("records")
    assert row["estimate"] == pytest.approx(expected["a"] - expected["b"])


def test_groups_of_items_are_compared_by_what_one_judge_says_and_gold_labels():
    groups = np.where(np.arange(400) % 2, "a", "b")
    results = lehner.compare(judge(), "pass", groups)
    assert list(dict.fromkeys(results.table["method"])) == list(JUDGED_BY)
    for method in ("post_stratified", "rogan_gladen", "prediction_powered"):
        rates = results.select(quantity="base_rates", method=method)
        assert rates["corrected"].all() and rates["estimate"].between(0.5, 0.75).all()
        difference = results.select(quantity="base_rates_difference", method=method)
        assert len(difference) == 1 and difference["lower"].item() < 0 < difference["upper"].item()
    assert not results.select(quantity="base_rates", method="judge")["corrected"].any()
    assert {warning.code for warning in results.warnings} == {"favour-unseen"}


@pytest.mark.parametrize(
    ("n_labels", "said"), [(4, "cannot show whether"), (400, "of less than 0.")]
)
def test_what_favour_labels_would_not_show_is_said_or_that_they_show_none(n_labels, said):
    truth = np.where(np.arange(400) < n_labels, np.arange(400) // 2 % 2, -1)
    codes = np.where(np.arange(400) % 5, np.arange(400) // 2 % 2, 0)
    ratings = Ratings(codes[:, None], ["fail", "pass"], ["judge"], truth=truth)
    results = lehner.compare(ratings, "pass", np.where(np.arange(400) % 2, "a", "b"))
    (text,) = (x.text for x in results.warnings if x.code == "favour-unseen")
    assert said in text and "1.00" not in text


def test_a_judge_who_favours_a_group_is_said_to():
    truth = np.tile([0, 1], 100)
    groups = np.repeat(["own", "other"], 100)
    said = np.where((groups == "own") & (np.arange(200) % 4 == 0), 1, truth)
    ratings = Ratings(said[:, None], ["fail", "pass"], ["judge"], truth=truth)
    found = {warning.code for warning in lehner.compare(ratings, "pass", groups).warnings}
    assert "judge-differs" in found and "favour-unseen" not in found


def test_one_rater_needs_gold_labels_and_methods_for_one():
    with pytest.raises(InputError, match="there is 1 rater"):
        lehner.compare(judge().with_truth(None))
    with pytest.raises(InputError, match="dawid_skene needs several raters; choose among post"):
        lehner.compare(judge(), methods="dawid_skene")
    with pytest.raises(InputError, match="there is no rater"):
        lehner.estimate(judge().with_system("judge"), "algebraic")


# `lehner gate`: whether numbers pass, the exit codes of a pipeline, and the files.


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
