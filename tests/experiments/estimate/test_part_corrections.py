"""Precision and accuracy in groups, corrected by the known truths of these items."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

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
from lehner.core.resampling import wilson_interval
from lehner.core.text import with_interval
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
    (note,) = (one for one in details.notes if one.code == "few-truths-of-category")
    assert note.text.startswith("too few known items are of C (none): recall")


def test_with_few_known_items_of_a_category_their_counts_are_said_with_wilson_s_interval(ratings):
    true, system = np.asarray(ratings.truth), np.asarray(ratings.system)
    of_last = np.flatnonzero(true == list(ratings.categories).index("C"))
    seen = np.where((np.arange(600) % 8 == 0) & (true != 2), true, -1)
    seen[of_last[:4]] = 2
    known = ratings.with_truth(seen)
    compared = compare("x", known, [estimate_algebraic(known.with_truth(None), interval=None)])
    (note,) = (
        one for one in compared.results[0].details.notes if one.code == "few-truths-of-category"
    )
    n_right = int((system == 2)[of_last[:4]].sum())
    lower, upper = wilson_interval(n_right / 4, 4, z=1.6449)
    shown = f"C ({n_right}/4 right, {with_interval(n_right / 4, lower, upper)} by Wilson)"
    assert shown in note.text


def categories(n=2, order=None):
    """Ratings of which the system errs most between the first and the last category."""
    rng = np.random.default_rng(1)
    truth = rng.choice(n, 300, p=np.arange(n, 0, -1) / (n * (n + 1) / 2))
    codes = np.where(rng.random((300, 4)) < 0.8, truth[:, None], rng.integers(n, size=(300, 4)))
    codes[:, 3] = np.where((truth == 0) & (rng.random(300) < 0.2), n - 1, codes[:, 3])
    places = np.arange(n) if order is None else np.argsort(order)
    names = [f"c{place}" for place in (range(n) if order is None else order)]
    truth, codes = places[truth], places[codes]
    return Ratings(codes[:, :3], names, system=codes[:, 3], truth=truth)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_with_almost_all_truths_known_measures_are_those_of_the_known_items(n):
    ratings = categories(n)
    truth, system = np.asarray(ratings.truth), np.asarray(ratings.system)
    algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
    almost = ratings.with_truth(np.where(np.arange(300) > 0, truth, -1))
    costs = np.random.default_rng(2).random((n, n)) * 4
    found = correct_measures(almost, algebra, costs=costs)
    matrix = metrics.confusion_matrix(truth, system, normalize="true")
    of_last, answered = (truth == n - 1).astype(int), (system == n - 1).astype(int)
    exact = {
        ("recall", f"c{n - 1}"): metrics.recall_score(of_last, answered),
        ("precision", f"c{n - 1}"): metrics.precision_score(of_last, answered),
        ("specificity", f"c{n - 1}"): metrics.recall_score(1 - of_last, 1 - answered),
        ("f1", "c0"): metrics.f1_score(truth == 0, system == 0),
        ("balanced_accuracy",): metrics.balanced_accuracy_score(truth, system),
        ("mcc",): metrics.matthews_corrcoef(truth, system),
        ("kappa_with_truth",): metrics.cohen_kappa_score(truth, system),
        ("expected_cost",): costs[truth, system].mean(),
    }
    for (row, column), value in np.ndenumerate(matrix):
        exact["confusion", f"c{row}", f"c{column}"] = value
    for place, value in exact.items():
        one = found[place]
        assert one.estimate == pytest.approx(value, abs=0.03)
        assert one.lower - 0.01 <= value <= one.upper + 0.01 and one.upper - one.lower < 0.07


@pytest.mark.parametrize("order", [[1, 0], [2, 0, 1]])
def test_in_which_order_categories_come_makes_no_difference(order):
    found = []
    for one in (None, order):
        ratings = categories(len(order), one)
        known = ratings.with_truth(np.where(np.arange(300) < 60, ratings.truth, -1))
        algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
        found.append(correct_measures(known, algebra))
    first, second = found
    assert set(first) == set(second)
    for place, one in first.items():
        assert one.estimate == pytest.approx(second[place].estimate, rel=0.02, abs=0.01)


def test_where_the_system_is_wrong_alone_known_truths_say_into_which_category():
    """The raters say nothing of what the system takes the last category for."""
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=900)
    raters = np.where(rng.random((900, 3)) < 0.9, truth[:, None], rng.integers(3, size=(900, 3)))
    # Raters take wrongly answered items of the last category for the second, the system's answer
    # is the first one.
    misled = (truth == 2) & (rng.random(900) < 0.3)
    raters = np.where(misled[:, None], 1, raters)
    system = np.where(misled, 0, truth)
    ratings = Ratings(raters, list("ABC"), system=system, truth=truth)
    algebra = estimate_algebraic(ratings.with_truth(None), resamples=50)
    known = ratings.with_truth(np.where(np.arange(900) < 300, truth, -1))
    (result,) = compare("x", known, [algebra]).results
    cell = "confusion", "C", "A"
    corrected, alone = (one.details.value(*cell) for one in (result, result.uncorrected))
    true = misled.sum() / (truth == 2).sum()
    assert alone.estimate < true / 3
    assert corrected.lower < true < corrected.upper and abs(corrected.estimate - true) < 0.06


def test_truths_of_unequal_probability_are_weighted_in_every_cell():
    """Wrong answers of B are verified nine times as often as those of C."""
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=3000)
    system = np.where((truth > 0) & (rng.random(3000) < 0.3), 0, truth)
    raters = np.where(rng.random((3000, 3)) < 0.7, truth[:, None], rng.integers(3, size=(3000, 3)))
    chance = np.where(truth == 1, 0.45, 0.05)
    known = np.where(rng.random(3000) < chance, truth, -1)
    ratings = Ratings(raters, list("ABC"), system=system)
    algebra = estimate_algebraic(ratings, interval=None)
    weighted, plain = (
        correct_measures(ratings.with_truth(known, weights), algebra) for weights in (chance, None)
    )
    for name, code in (("B", 1), ("C", 2)):
        true = float((system == 0)[truth == code].mean())
        one = weighted["confusion", name, "A"]
        assert one.lower < true < one.upper
    assert plain["confusion", "C", "A"].upper < float((system == 0)[truth == 2].mean())


@pytest.mark.parametrize("n", [2, 3])
def test_all_measures_are_said_to_be_corrected(n):
    rates = (0.7, 0.3) if n == 2 else (0.5, 0.3, 0.2)
    simulated = simulate(replace(SCENARIO, n_categories=n, base_rates=rates), 3)
    known = simulated.with_truth(np.where(np.arange(600) < 60, simulated.truth, -1))
    compared = compare("x", known, [estimate_algebraic(known.with_truth(None), resamples=50)])
    (result,) = compared.results
    for quantity, places, value in result.details.rows():
        assert value.corrected == (quantity != "rater_accuracy"), (quantity, places)
