"""The system in detail by each method, also corrected by the known truths of its items."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics

import lehner
from lehner import (
    Ratings,
    Scenario,
    correct_accuracy,
    estimate,
    estimate_algebraic,
    estimate_latent_class,
    load_dataset,
    predict_correctness,
    simulate,
)
from lehner.algebra.algebraic import resample_algebra
from lehner.algebra.steps import project_rows, spread_errors
from lehner.contrasts.groups import GroupColumn
from lehner.core.results import read_value
from lehner.known_truths.correction import find_variance
from lehner.latent_class.intervals import KIND
from lehner.performance.measures import measure_performance
from lehner.performance.replicates import correct_measures, take_parameters
from tests.lehner.questions import performance

ROWS = ((0.95, 0.04, 0.01), (0.15, 0.8, 0.05), (0.05, 0.25, 0.7))


def with_own_system(scenario, seed):
    ratings = simulate(scenario, seed)
    luck = np.random.default_rng([seed, 2]).random((scenario.n_items, 1))
    answers = (luck > np.cumsum(ROWS, axis=1)[ratings.truth]).sum(axis=1)
    return Ratings(
        ratings.votes, ratings.categories, ratings.raters, ratings.items, answers, ratings.truth
    )


@pytest.fixture(scope="module")
def many():
    """100,000 items, of which the K-properties hold for the raters and not for the system."""
    scenario = Scenario(
        n_categories=3,
        initial_rater_accuracy=(0.7,) * 3,
        base_rates=(0.5, 0.3, 0.2),
        n_items=100_000,
    )
    return with_own_system(scenario, 1)


def test_the_algebra_finds_the_matrix_of_a_system_with_errors_of_its_own(many):
    result = performance(many, estimate_algebraic(many, interval=None), resamples=200)
    expected = measure_performance([0.5, 0.3, 0.2], ROWS)
    assert values_of(result, "confusion") == pytest.approx(np.ravel(ROWS), abs=0.01)
    for name, value in expected.items():
        tolerance = {"rel": 0.1} if "ratio" in name else {"abs": 0.01}
        assert values_of(result, name) == pytest.approx(np.ravel(value), **tolerance), name
    assert values_of(result, "base_rates") == pytest.approx([0.5, 0.3, 0.2], abs=0.01)


def values_of(results, quantity):
    return results.select(quantity=quantity, rater="")["estimate"].to_numpy()


def test_intervals_hold_the_estimate_and_widen_with_the_level(many):
    few = many.take(np.arange(200))
    estimate = estimate_algebraic(few, interval=None)
    narrow, wide = (performance(few, estimate, level=level) for level in (0.5, 0.95))
    first, other = (result.table.dropna(subset="lower") for result in (narrow, wide))
    assert len(first) == len(other) > 20
    assert (other["lower"] <= first["lower"]).all() and (first["upper"] <= other["upper"]).all()
    assert ((other["lower"] <= first["estimate"]) & (first["estimate"] <= other["upper"])).all()


def unanimous(n=200, seed=1):
    """Three raters who are always right, so that the truth is known, and a system that is not."""
    rng = np.random.default_rng(seed)
    truth = np.append(np.arange(4), rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05]))
    answers = np.where(rng.random(n + 4) < 0.8, truth, rng.integers(4, size=n + 4))
    return Ratings(np.tile(truth[:, None], 3), list("ABCD"), system=answers), truth


@pytest.mark.parametrize("method", ["algebraic", "majority_agreement", "dawid_skene_ml"])
def test_the_measures_of_unanimous_raters_are_scikit_learns(method):
    ratings, truth = unanimous()
    estimate = METHODS[method](ratings)
    result = performance(ratings, estimate, resamples=50)
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(truth, ratings.system)
    by_category = {"precision": precision, "recall": recall, "f1": f1}
    for quantity, expected in by_category.items():
        assert values_of(result, quantity) == pytest.approx(expected, abs=1e-6), quantity
    of_all = {
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, ratings.system),
        "mcc": metrics.matthews_corrcoef(truth, ratings.system),
        "kappa_with_truth": metrics.cohen_kappa_score(truth, ratings.system),
    }
    for quantity, expected in of_all.items():
        assert result.value(quantity).estimate == pytest.approx(expected, abs=1e-5), quantity
    table = metrics.confusion_matrix(truth, ratings.system, normalize="true")
    assert values_of(result, "confusion") == pytest.approx(table.ravel(), abs=1e-6)


def test_the_ridge_is_worth_four_answers_of_what_the_ratings_leave_open():
    """By hand, from the truth probabilities of step 3."""
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=40)
    raters = np.where(rng.random((40, 3)) < 0.6, truth[:, None], rng.integers(3, size=(40, 3)))
    system = np.where(rng.random(40) < 0.8, truth, rng.integers(3, size=40))
    ratings = Ratings(raters, list("abc"), system=system)
    estimate = estimate_algebraic(ratings, interval=None)
    p = estimate.truth_probabilities.values
    toward = spread_errors(np.array([estimate.system_accuracy.estimate]), 3)[0]
    ridge = np.diag(4 * (1 - (p**2).sum(axis=0) / p.sum(axis=0)))
    by_hand = np.linalg.solve(p.T @ p + ridge, p.T @ np.eye(3)[system] + ridge @ toward)
    point = resample_algebra(ratings, resamples=1).point
    assert point["confusion"] == pytest.approx(project_rows(by_hand))
    assert estimate.confusion.sel(rater="system").values == pytest.approx(point["confusion"])


METHODS = {
    "algebraic": estimate_algebraic,
    "majority_agreement": lehner.majority_agreement,
    "dawid_skene_ml": partial(estimate_latent_class, resamples=20, restarts=0),
    "one_coin_ml": partial(estimate_latent_class, model="one_coin", resamples=20, restarts=0),
}


def with_gaps():
    """The system never answers B; no rater gives D, which the system answers once."""
    rng = np.random.default_rng(1)
    truth = rng.choice(3, 80, p=[0.5, 0.3, 0.2])
    raters = np.where(rng.random((80, 3)) < 0.8, truth[:, None], rng.integers(3, size=(80, 3)))
    answers = np.where(truth == 1, 2, truth)
    answers[0] = 3
    return Ratings(raters, list("ABCD"), system=answers)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_never_answered_has_no_precision_and_what_is_never_true_no_recall(method):
    ratings = with_gaps()
    result = performance(ratings, METHODS[method](ratings), resamples=50)
    check_gaps(result)


def check_gaps(results):
    """Check what every method says about `with_gaps`."""
    for quantity, category in (("precision", "B"), ("recall", "D")):
        value = results.value(quantity, category=category)
        assert value.estimate is value.lower is value.upper is None
    assert results.value("confusion", category="D", response="A").estimate is None
    recalls = [results.value("recall", category=category).estimate for category in "ABC"]
    assert results.value("balanced_accuracy").estimate == pytest.approx(np.mean(recalls))
    assert any("never answers B" in str(warning) for warning in results.warnings)
    assert any("no rater or gold label says D" in str(warning) for warning in results.warnings)


def test_projected_rows_are_the_nearest_probabilities():
    rng = np.random.default_rng(1)
    rows = rng.normal(0.3, 1, (50, 4))
    nearest = project_rows(rows)
    assert nearest.min() >= 0 and nearest.sum(axis=1) == pytest.approx(1)
    others = rng.dirichlet(np.ones(4), 2000)
    distances = ((rows[:, None] - others) ** 2).sum(axis=-1)
    assert (((rows - nearest) ** 2).sum(axis=1) <= distances.min(axis=1)).all()


def test_against_the_majority_there_is_no_interval_and_a_warning(many):
    few = many.take(np.arange(500))
    result = performance(few, lehner.majority_agreement(few))
    of_a = result.value("recall", category="A")
    assert of_a.level is None and of_a.lower is None
    assert result.warnings[0].code == "reference-imperfect"
    assert "majority" in str(result.warnings[0])


def test_undefined_where_raters_agree_at_chance():
    ratings = Ratings([[0, 1], [1, 0], [0, 1], [1, 0]], ["a", "b"], system=[0, 1, 0, 1])
    result = performance(ratings, estimate_algebraic(ratings))
    assert result.value("recall", category="a").estimate is None
    assert result.value("confusion", category="a", response="b").estimate is None


def test_a_method_without_a_matrix_says_nothing():
    ratings = lehner.load_dataset("lehner_table2")
    estimate = lehner.Estimate(
        system="System",
        method="learned_prior",
        system_accuracy=lehner.IntervalEstimate(estimate=0.5),
        system_accuracy_in_sample=lehner.IntervalEstimate(estimate=0.5),
    )
    assert not len(performance(ratings, estimate).table)


def test_by_maximum_likelihood_it_is_the_fits_matrix_with_refitted_resamples(many):
    few = many.take(np.arange(300))
    estimate = estimate_latent_class(few.with_truth(None), resamples=20, restarts=0)
    result = performance(few, estimate, resamples=50)
    assert values_of(result, "confusion") == pytest.approx(estimate.confusion.values[-1].ravel())
    raters = result.select(quantity="rater_accuracy")["estimate"].to_numpy()
    assert raters == pytest.approx(estimate.rater_accuracy.values)
    recall = result.value("recall", category="A")
    assert recall.lower < recall.estimate < recall.upper and recall.kind == KIND


def test_by_maximum_likelihood_the_resamples_are_those_of_the_estimate():
    ratings = load_dataset("anesthesia", system="2")
    estimate = estimate_latent_class(ratings, "one_coin", resamples=40, restarts=0)
    draws = take_parameters(ratings, estimate, resamples=7, seed=9)
    assert draws is not None and draws is estimate.resamples
    right = np.diagonal(draws.drawn["confusion"], axis1=1, axis2=2)
    accuracy = (draws.drawn["base_rates"] * right).sum(axis=1)
    interval = estimate.system_accuracy
    assert np.quantile(accuracy, [0.05, 0.95]) == pytest.approx([interval.lower, interval.upper])


# Precision and accuracy in groups, corrected by the known truths of these items.


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


@pytest.mark.parametrize("quantity", ["precision", "recall"])
def test_corrected_measures_are_nearer_to_the_truth(ratings, results, quantity):
    said, true = ratings.system, np.asarray(ratings.truth)
    given, found = (said, true) if quantity == "precision" else (true, said)
    expected = np.array([(found == code)[given == code].mean() for code in range(3)])
    after, before = (
        rows_of(results, quantity, corrected=which).loc[list(ratings.categories)]
        for which in (True, False)
    )
    errors, errors_before = (abs(rows["estimate"] - expected) for rows in (after, before))
    assert errors.mean() < 0.5 * errors_before.mean()
    # Of three intervals of 90%, and 30% of the items misled everybody.
    assert ((after["lower"] <= expected) & (expected <= after["upper"])).sum() >= 2


def test_a_part_without_known_truths_is_left_out(results):
    corrected = results.table[results.table["corrected"]]
    assert set(corrected["method"]) == {"algebraic", "one_coin_ml"}
    accuracies = corrected[corrected["quantity"] == "system_accuracy"]
    assert set(accuracies["group"]) == {"", "a", "b"}


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
