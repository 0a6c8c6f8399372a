"""Precision and accuracy in groups, corrected by the known truths of these items."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from experiments.estimate.details_figure import plot_confusion
from experiments.estimate.report import render
from experiments.estimate.screen import screen
from experiments.reporting.terminal import as_text
from lehner import (
    Ratings,
    Scenario,
    correct_by_truth,
    estimate_algebraic,
    estimate_latent_class,
    majority_agreement,
    probabilities_right,
    simulate,
)
from lehner.estimation.estimate import compare
from lehner.groups.membership import GroupColumn
from lehner.performance.corrected import correct_measures

SCENARIO = Scenario(
    n_categories=3,
    n_items=600,
    initial_rater_accuracy=(0.7, 0.7, 0.7),
    misleading=0.3,
    base_rates=(0.5, 0.3, 0.2),
)


@pytest.fixture(scope="module")
def ratings():
    return simulate(SCENARIO, 2)


@pytest.fixture(scope="module")
def comparison(ratings):
    # Known truths are every eighth item's, and none in the group "c".
    rows = np.arange(600)
    names = np.where(rows < 300, "a", np.where(rows < 570, "b", "c"))
    known = ratings.with_truth(np.where((rows % 8 == 0) & (names != "c"), ratings.truth, -1))
    unseen = known.with_truth(None)
    estimates = [
        estimate_algebraic(unseen, interval=None),
        estimate_latent_class(unseen, "one_coin", interval=None),
        majority_agreement(unseen),
    ]
    groups = GroupColumn(column="domain", names=names, note="")
    return compare("x", known, estimates, groups=groups)


def test_parts_are_corrected_as_the_whole_is(comparison):
    known, algebra = comparison.ratings, comparison.results[0].uncorrected.estimate
    right = probabilities_right(known, algebra)
    for part, label, rows in (
        ("precision", "A", known.system == 0),
        ("groups", "b", comparison.systems[0].group_column.names == "b"),
    ):
        (one,) = (
            one
            for one in comparison.results[0].corrected.parts
            if (one.part, one.label) == (part, label)
        )
        whole = correct_by_truth(known.take(rows), right[rows])
        assert one.accuracy == whole.system_accuracy_in_sample
        assert one.n_known == whole.n_known == ((known.truth >= 0) & rows).sum()
        assert one.n_items == rows.sum()


def test_corrected_precision_is_nearer_to_the_truth(ratings, comparison):
    algebra = comparison.results[0].corrected.parts
    right = probabilities_right(comparison.ratings, comparison.results[0].uncorrected.estimate)
    before, after, inside = [], [], []
    for code, name in enumerate(ratings.categories):
        (one,) = (one for one in algebra if one.part == "precision" and one.label == name)
        rows = ratings.system == code
        truth = float((ratings.truth == code)[rows].mean())
        before.append(right[rows].mean() - truth)
        after.append(one.accuracy.estimate - truth)
        inside.append(one.accuracy.lower <= truth <= one.accuracy.upper)
    assert np.abs(after).mean() < 0.5 * np.abs(before).mean()
    # Of three intervals of 90%, and 30% of the items misled everybody.
    assert sum(inside) >= 2


def test_a_part_without_known_truths_is_left_out(comparison):
    corrected = {one.method: one.corrected for one in comparison.results if one.corrected}
    for one in corrected.values():
        assert {part.label for part in one.parts if part.part == "groups"} == {"a", "b"}
    assert set(corrected) == {"algebraic", "one_coin_ml"}


def test_corrected_numbers_stand_in_the_place_of_the_method_s(ratings, comparison):
    result, plain = comparison.results[0], comparison.to_dict()["estimates"]
    alone = result.uncorrected
    precision = plain[0]["precision"]["A"]
    (part,) = (one for one in result.corrected.parts if one.label == "A")
    assert precision["estimate"] == part.accuracy.estimate and precision["corrected"] is True
    before = plain[0]["without_known_truths"]["precision"]["A"]
    assert before["estimate"] == alone.details.value("precision", "A").estimate
    assert before["corrected"] is False
    assert plain[0]["system_accuracy"]["corrected"] is True
    assert plain[2]["without_known_truths"] is None and not plain[2]["recall"]["A"]["corrected"]
    frame = comparison.to_frame().query("method == 'algebraic'").set_index("quantity")
    whole = frame.loc["system_accuracy_in_sample"]
    assert (
        whole["corrected"]
        and whole["estimate"] == result.correction.system_accuracy_in_sample.estimate
    )
    assert whole["uncorrected"] == alone.estimate.system_accuracy_in_sample.estimate
    # Labelled arrays, the figure's numbers and the tables are the same ones.
    recall = result.details.value("recall", "A")
    assert (
        float(result.details.to_xarray()["recall"].sel(category="A", bound="lower")) == recall.lower
    )
    shown = "\n".join(str(line) for line in render(comparison).renderables)
    assert f"{recall}*" in shown and "* with the known truths." in shown


def test_recall_is_corrected_toward_the_truth(ratings, comparison):
    result = comparison.results[0]
    true = np.asarray(ratings.truth)
    errors = {}
    for of, one in (("corrected", result), ("alone", result.uncorrected)):
        errors[of] = [
            one.details.value("recall", name).estimate
            - float((ratings.system == code)[true == code].mean())
            for code, name in enumerate(ratings.categories)
        ]
    assert np.abs(errors["corrected"]).max() < 0.5 * np.abs(errors["alone"]).max()


def test_groups_and_their_differences_are_corrected(comparison):
    result = comparison.results[0]
    groups = {one.group: one for one in result.groups.groups}
    parts = {one.label: one for one in result.corrected.parts if one.part == "groups"}
    for name in "ab":
        assert groups[name].system_accuracy_in_sample.estimate == parts[name].accuracy.estimate
        assert groups[name].system_accuracy.corrected
    assert not groups["c"].system_accuracy.corrected
    differences = {one.groups: one for one in result.groups.differences}
    of_both = differences["a", "b"]
    a, b = (parts[name].expected for name in "ab")
    assert of_both.difference.estimate == pytest.approx(a.estimate - b.estimate)
    below = np.hypot(a.estimate - a.lower, b.upper - b.estimate)
    assert of_both.difference.lower == pytest.approx(a.estimate - b.estimate - below)
    assert (of_both.probability_higher > 0.5) == (a.estimate > b.estimate)
    # What is corrected and what is not are not subtracted.
    assert differences["a", "c"].difference.estimate is None
    json = {
        one["group"]: one
        for one in comparison.to_dict()["estimates"]
        if one["method"] == "algebraic"
    }
    assert (
        json["a"]["system_accuracy"]["corrected"] and not json["c"]["system_accuracy"]["corrected"]
    )


def test_without_a_known_item_of_a_category_its_recall_is_wide_and_a_note_says_why(ratings):
    true = np.asarray(ratings.truth)
    of_last = true == list(ratings.categories).index("C")
    known = ratings.with_truth(np.where((np.arange(600) % 8 == 0) & ~of_last, true, -1))
    compared = compare("x", known, [estimate_algebraic(known.with_truth(None), interval=None)])
    details = compared.results[0].details
    widths = {
        name: details.value("recall", name).upper - details.value("recall", name).lower
        for name in "ABC"
    }
    assert widths["C"] > 2 * max(widths["A"], widths["B"])
    (note,) = (one for one in details.notes if one.code == "no-truth-of-category")
    assert "no known item is of C" in note.text


def two_categories(swapped=False):
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=200)
    codes = np.where(rng.random((200, 4)) < 0.8, truth[:, None], 1 - truth[:, None])
    if swapped:
        truth, codes = 1 - truth, 1 - codes
    names = ["yes", "no"] if swapped else ["no", "yes"]
    return Ratings(codes[:, :3], names, system=codes[:, 3], truth=truth)


def test_with_almost_all_truths_known_measures_are_those_of_the_known_items():
    ratings = two_categories()
    truth, system = np.asarray(ratings.truth), np.asarray(ratings.system)
    algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
    almost = ratings.with_truth(np.where(np.arange(200) > 0, truth, -1))
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    found = correct_measures(almost, algebra, costs=costs)
    matrix = metrics.confusion_matrix(truth, system, normalize="true")
    exact = {
        ("recall", "yes"): metrics.recall_score(truth, system),
        ("specificity", "yes"): metrics.recall_score(1 - truth, 1 - system),
        ("f1", "no"): metrics.f1_score(1 - truth, 1 - system),
        ("balanced_accuracy",): metrics.balanced_accuracy_score(truth, system),
        ("mcc",): metrics.matthews_corrcoef(truth, system),
        ("kappa_with_truth",): metrics.cohen_kappa_score(truth, system),
        ("expected_cost",): costs[truth, system].mean(),
        ("confusion", "no", "yes"): matrix[0, 1],
    }
    for place, value in exact.items():
        one = found[place]
        assert one.estimate == pytest.approx(value, abs=0.03)
        assert one.lower - 0.01 <= value <= one.upper + 0.01 and one.upper - one.lower < 0.06


def test_which_of_two_categories_comes_first_makes_no_difference():
    found = []
    for swapped in (False, True):
        ratings = two_categories(swapped)
        known = ratings.with_truth(np.where(np.arange(200) < 40, ratings.truth, -1))
        algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
        found.append(correct_measures(known, algebra))
    first, second = found
    for place, one in first.items():
        assert one.estimate == pytest.approx(second[place].estimate, rel=0.02, abs=0.01)


@pytest.mark.parametrize("n", [2, 3])
def test_measures_that_are_not_corrected_are_said_to_be_without_the_known_truths(n):
    rates = (0.7, 0.3) if n == 2 else (0.5, 0.3, 0.2)
    simulated = simulate(replace(SCENARIO, n_categories=n, base_rates=rates), 3)
    known = simulated.with_truth(np.where(np.arange(600) < 60, simulated.truth, -1))
    compared = compare("x", known, [estimate_algebraic(known.with_truth(None), resamples=50)])
    (result,) = compared.results
    assert result.details.value("recall", "A").corrected
    corrected = n == 2
    for place in (("mcc",), ("kappa_with_truth",), ("confusion", "A", "B")):
        assert result.details.value(*place).corrected == corrected
    screen_text = as_text(screen(compared, in_detail=True))
    (of_mcc,) = (x for x in screen_text.splitlines() if x.startswith("MCC"))
    by = "algebraic, corrected" if corrected else "algebraic, without the known truths"
    assert of_mcc.endswith(by)
    table = as_text(render(compared, in_detail=True))
    said = "The confusion matrix is that of the method without the known truths." in table
    assert said != corrected
    (mcc,) = (x for x in table.splitlines() if x.startswith("MCC"))
    assert mcc.endswith("*") == corrected
    (panel, *_) = plot_confusion([result.details]).axes
    title = "\nwith the known truths" if corrected else "\nwithout the known truths"
    assert panel.get_title().endswith(title)
