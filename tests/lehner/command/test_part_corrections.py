"""Precision and accuracy in groups, corrected by the known truths of these items."""

import numpy as np
import pytest
from sklearn import metrics

from lehner import (
    Ratings,
    Scenario,
    correct_accuracy,
    estimate,
    estimate_algebraic,
    predict_correctness,
    simulate,
)
from lehner.contrasts.groups import GroupColumn
from lehner.core.results import read_value
from lehner.known_truths.correction import find_variance
from lehner.performance.replicates import correct_measures

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
def names():
    rows = np.arange(600)
    return np.where(rows < 300, "a", np.where(rows < 570, "b", "c"))


@pytest.fixture(scope="module")
def results(ratings, names):
    """Known truths are every eighth item's, and none in the group "c"."""
    labelled = ratings.with_truth(
        np.where((np.arange(600) % 8 == 0) & (names != "c"), ratings.truth, -1)
    )
    groups = GroupColumn(column="domain", names=names, note="")
    return estimate(labelled, ["algebraic", "one_coin_ml", "majority_agreement"], groups=groups)


def algebra_of(results):
    return results.fits["system", "algebraic"]


def rows_of(results, quantity, *, corrected, **columns):
    """Estimates and intervals of the algebra, by category."""
    table = results.table[results.table["corrected"] == corrected]
    for name, value in {
        "method": "algebraic",
        "quantity": quantity,
        "rater": "",
        "group": "",
        **columns,
    }.items():
        table = table[table[name] == value]
    return table.set_index("category")


def test_parts_are_corrected_as_the_whole_is(results, names):
    ratings = results.ratings
    right = predict_correctness(ratings, algebra_of(results))
    variance = find_variance(algebra_of(results).system_accuracy_in_sample)
    (part,) = rows_of(results, "precision", corrected=True, category="A").itertuples()
    (group,) = rows_of(results, "system_accuracy_in_sample", corrected=True, group="b").itertuples()
    for row, rows in ((part, ratings.system == 0), (group, names == "b")):
        corrected = correct_accuracy(ratings.take(rows), right[rows], variance=variance)
        whole = corrected.system_accuracy_in_sample
        assert (row.estimate, row.lower, row.upper) == (whole.estimate, whole.lower, whole.upper)
    assert group.n_items == (names == "b").sum()


def test_corrected_precision_is_nearer_to_the_truth(ratings, results):
    right = predict_correctness(results.ratings, algebra_of(results))
    result = rows_of(results, "precision", corrected=True)
    before, after, inside = [], [], []
    for code, name in enumerate(ratings.categories):
        row, rows = result.loc[name], ratings.system == code
        truth = float((ratings.truth == code)[rows].mean())
        before.append(right[rows].mean() - truth)
        after.append(row["estimate"] - truth)
        inside.append(row["lower"] <= truth <= row["upper"])
    assert np.abs(after).mean() < 0.5 * np.abs(before).mean()
    # Of three intervals of 90%, and 30% of the items misled everybody.
    assert sum(inside) >= 2


def test_a_part_without_known_truths_is_left_out(results):
    corrected = results.table[results.table["corrected"]]
    assert set(corrected["method"]) == {"algebraic", "one_coin_ml"}
    accuracies = corrected[corrected["quantity"] == "system_accuracy"]
    assert set(accuracies["group"]) == {"", "a", "b"}


def test_recall_is_corrected_toward_the_truth(ratings, results):
    true, errors = np.asarray(ratings.truth), {}
    for corrected in (True, False):
        result = rows_of(results, "recall", corrected=corrected)["estimate"]
        errors[corrected] = [
            result[name] - float((ratings.system == code)[true == code].mean())
            for code, name in enumerate(ratings.categories)
        ]
    assert np.abs(errors[True]).max() < 0.5 * np.abs(errors[False]).max()


def test_groups_and_their_differences_are_corrected(results):
    of_algebra = {"method": "algebraic"}
    a, b, c = (results.value("system_accuracy", group=name, **of_algebra) for name in "abc")
    assert a.corrected and b.corrected and not c.corrected
    quantity = "system_accuracy_difference"
    of_both = results.select(quantity=quantity, group="a", versus="b", **of_algebra).iloc[0]
    assert of_both["estimate"] == pytest.approx(a.estimate - b.estimate)
    below = np.hypot(a.estimate - a.lower, b.upper - b.estimate)
    assert of_both["lower"] == pytest.approx(a.estimate - b.estimate - below)
    assert (of_both["probability"] > 0.5) == (a.estimate > b.estimate)
    # What is corrected and what is not are not subtracted.
    assert results.value(quantity, group="a", versus="c", **of_algebra).estimate is None


def test_without_a_known_item_of_a_category_its_recall_is_wide_and_a_note_says_why(ratings):
    true = np.asarray(ratings.truth)
    of_last = true == list(ratings.categories).index("C")
    labelled = ratings.with_truth(np.where((np.arange(600) % 8 == 0) & ~of_last, true, -1))
    results = estimate(labelled, "algebraic")
    recall = rows_of(results, "recall", corrected=True)
    widths = recall["upper"] - recall["lower"]
    assert widths["C"] > 2 * max(widths["A"], widths["B"])
    (note,) = (warning for warning in results.warnings if warning.code == "few-truths-of-category")
    assert note.text.startswith("too few labelled items are of C (none): do not report")


def corrected_measures(ratings, estimate):
    """By measure, category and answer."""
    return {
        (row["quantity"], *(row[name] for name in ("category", "response") if name in row)): (
            read_value({"upper": np.nan, "lower": np.nan} | row)
        )
        for row in correct_measures(ratings, estimate)
    }


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
    result = corrected_measures(almost, algebra)
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
    }
    for (row, column), value in np.ndenumerate(matrix):
        exact["confusion", f"c{row}", f"c{column}"] = value
    for place, value in exact.items():
        cell = result[place]
        assert cell.estimate == pytest.approx(value, abs=0.03)
        assert cell.lower - 0.01 <= value <= cell.upper + 0.01 and cell.upper - cell.lower < 0.07


@pytest.mark.parametrize("order", [[1, 0], [2, 0, 1]])
def test_in_which_order_categories_come_makes_no_difference(order):
    result = []
    for measure in (None, order):
        ratings = categories(len(order), measure)
        gold = ratings.with_truth(np.where(np.arange(300) < 60, ratings.truth, -1))
        algebra = estimate_algebraic(ratings.with_truth(None), interval=None)
        result.append(corrected_measures(gold, algebra))
    first, second = result
    assert set(first) == set(second)
    for place, measure in first.items():
        assert measure.estimate == pytest.approx(second[place].estimate, rel=0.02, abs=0.01)


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
    gold = ratings.with_truth(np.where(np.arange(900) < 300, truth, -1))
    results = estimate(gold, "algebraic")
    corrected, alone = (
        rows_of(results, "confusion", corrected=which, response="A").loc["C"]
        for which in (True, False)
    )
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
    gold = np.where(rng.random(3000) < chance, truth, -1)
    ratings = Ratings(raters, list("ABC"), system=system)
    algebra = estimate_algebraic(ratings, interval=None)
    weighted, plain = (
        corrected_measures(ratings.with_truth(gold, weights), algebra) for weights in (chance, None)
    )
    for name, code in (("B", 1), ("C", 2)):
        true = float((system == 0)[truth == code].mean())
        cell = weighted["confusion", name, "A"]
        assert cell.lower < true < cell.upper
    assert plain["confusion", "C", "A"].upper < float((system == 0)[truth == 2].mean())
