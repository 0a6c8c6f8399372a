"""Measures of a classifier, and a system beside a reference that errs."""

import numpy as np
import pytest
from sklearn import metrics

from lehner import Given, InputError, Ratings, estimate
from lehner.performance.measures import measure_performance
from lehner.performance.replicates import bound_recall, make_matrices
from tests.reference import reference_standard

CODES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
# Answers of the reference are in rows, those of the test in columns, the positive ones last.
CASE = [[589, 101], [100, 210]]


def make_ratings(table, **fields):
    return Ratings(
        CODES[:, :1],
        ["0", "1"],
        raters=["culture"],
        system=CODES[:, 1],
        systems=["test"],
        counts=np.ravel(table),
        **fields,
    )


def ask(table, reference, **options):
    given = Given(reference={"culture": reference})
    return estimate(
        make_ratings(table), questions=["accuracy", "details", "of_method"], given=given, **options
    )


def pick(results, quantity="recall"):
    rows = results.select(quantity=quantity, method="imperfect_reference")
    return rows.set_index("category")[["estimate", "lower", "upper"]]


@pytest.mark.parametrize(
    ("table", "reference", "published"),
    [
        # Habibzadeh (2023), https://doi.org/10.11613/BM.2023.010101, as in R's epiR::epi.iref.
        ([[346, 104], [43, 107]], (0.85, 0.9), (0.95, 0.80)),
        # The numbers of a simulation after Chikere et al. (2021).
        (CASE, (0.8, 0.9), (0.852, 0.921)),
    ],
)
def test_published_examples(table, reference, published):
    recall = pick(ask(table, reference))["estimate"]
    assert recall[["1", "0"]].tolist() == pytest.approx(published, abs=0.005)
    sensitivity, specificity, prevalence = reference_standard.correct(table, *reference)
    rates = pick(ask(table, reference), "base_rates")["estimate"]
    expected = [sensitivity, specificity, prevalence]
    assert [recall["1"], recall["0"], rates["1"]] == pytest.approx(expected)


def test_a_perfect_reference_is_gold():
    recall = pick(ask(CASE, (1, 1)))
    assert recall["estimate"].tolist() == pytest.approx([589 / 690, 210 / 310])
    # Intervals are those of beta distributions.
    assert recall.loc["1", ["lower", "upper"]].tolist() == pytest.approx([0.632, 0.719], abs=0.003)


def test_bounds_are_those_of_linear_programs():
    rng = np.random.default_rng(1)
    for _ in range(30):
        joint = rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
        specificity, sensitivity = np.diagonal(joint.sum(axis=2)) / joint.sum(axis=(1, 2))
        if sensitivity + specificity <= 1.05:
            continue
        table = joint.sum(axis=0)
        found = bound_recall(table, make_matrices(np.array([specificity, sensitivity])))
        expected = reference_standard.bound(table, sensitivity, specificity)
        assert found[::-1] == pytest.approx(np.array(expected), abs=1e-6)


def test_what_is_less_certain_of_the_reference_widens_intervals():
    exact, wide = (pick(ask(CASE, x)) for x in ((0.8, 0.9), ((0.7, 0.9), (0.86, 0.94))))
    assert wide["estimate"].tolist() == pytest.approx(exact["estimate"].tolist())
    assert (wide["upper"] - wide["lower"] > 1.3 * (exact["upper"] - exact["lower"])).all()


def test_a_solution_out_of_range_is_said():
    results = ask([[150, 20], [0, 30]], (0.8, 0.98))
    (warning,) = [x for x in results.warnings if x.code == "reference-contradicted"]
    assert "sensitivity 1.115" in str(warning)
    assert (pick(results)["estimate"] < 1).all()
    impossible = ask([[900, 0], [50, 50]], (0.99, 0.8))
    assert pick(impossible)["estimate"].isna().all()
    assert "too few" in str(impossible.warnings)


def test_the_assumption_and_bounds_without_it_are_said():
    results = ask(CASE, (0.8, 0.9))
    assert "are taken to be independent" in str(results.warnings)
    rows = results.select(quantity="recall_bounds").set_index("category")
    inner = reference_standard.bound(CASE, 0.8, 0.9)[0]
    assert rows.loc["1", "lower"] < inner[0] < inner[1] < rows.loc["1", "upper"]


def test_clusters_widen_intervals():
    ratings = make_ratings(CASE).to_ungrouped()
    given = Given(reference={"culture": (0.8, 0.9)})
    clustered = ratings.with_clusters(np.arange(1000) // 20)
    widths = []
    for data in (ratings, clustered):
        lower, upper = pick(estimate(data, given=given)).loc["1", ["lower", "upper"]]
        widths.append(upper - lower)
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"PCR": (0.8, 0.9)}, "no rater 'PCR'"),
        ({"culture": (0.8,)}, "is not the sensitivity"),
        ({"culture": (0.8, 90)}, "is not the sensitivity"),
        ({"culture": ("many", 0.9)}, "is not the sensitivity"),
        ({"culture": ((0.9, 0.8), 0.9)}, "is not the sensitivity"),
        ({"culture": (0.2, 0.7)}, "no better than guessing"),
    ],
)
def test_what_is_no_reference_is_refused(reference, said):
    with pytest.raises(InputError, match=said):
        estimate(make_ratings(CASE), given=Given(reference=reference))


def test_one_rater_is_too_few_without_a_reference():
    with pytest.raises(InputError, match="1 rater besides the system"):
        estimate(make_ratings(CASE))
    with pytest.raises(InputError, match="no method takes reference"):
        estimate(
            make_ratings(CASE), "majority_agreement", given=Given(reference={"culture": (0.8, 0.9)})
        )


def test_hui_and_walter_need_one_rater_and_two_populations():
    counts = [528, 9, 4, 14, 367, 37, 31, 887]
    ratings = Ratings(
        np.tile([[0], [0], [1], [1]], (2, 1)),
        ["0", "1"],
        raters=["mantoux"],
        system=np.tile([0, 1, 0, 1], 2),
        counts=counts,
    )
    ratings = ratings.with_populations(np.repeat(["1", "2"], 4))
    asked = ["details", "raters", "populations"]
    table = estimate(ratings, "dawid_skene_ml", questions=asked).table
    recall = table[table["quantity"] == "recall"].set_index(["rater", "category"])["estimate"]
    rates = table[(table["quantity"] == "base_rates") & (table["category"] == "1")]
    # Numbers that Hui & Walter (1980) print; test_maximum_likelihood has the others.
    assert recall["", "1"] == pytest.approx(0.9688, abs=2e-4)
    assert recall["mantoux", "1"] == pytest.approx(0.9661, abs=2e-4)
    by_population = rates[rates["grouping"] == "population"]["estimate"]
    assert by_population.tolist() == pytest.approx([0.0268, 0.7168], abs=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("errors", "covers"), [(0.0, True), (0.03, False)])
def test_coverage(errors, covers):
    prevalence, n = np.array([0.7, 0.3]), 300
    recalls = np.array([[0.9, 0.92], [0.8, 0.85]])
    share = np.zeros((2, 2))
    for d in range(2):
        both = np.outer(*(np.roll([x, 1 - x], d) for x in recalls[d]))
        share += prevalence[d] * (both + errors * np.array([[1, -1], [-1, 1]]))
    rng, hits, inside = np.random.default_rng(1), [], []
    for seed in range(100):
        results = ask(rng.multinomial(n, share.ravel()).reshape(2, 2), (0.8, 0.9), seed=seed)
        recall, bounds = pick(results).loc["1"], pick(results, "recall_bounds").loc["1"]
        hits.append(recall["lower"] <= 0.85 <= recall["upper"])
        inside.append(bounds["lower"] <= 0.85 <= bounds["upper"])
    assert (np.mean(hits) >= 0.82) == covers
    assert np.mean(inside) >= 0.9


def test_a_bundled_data_set_has_its_raters(run):
    code, _, err = run("estimate", "figure10", "--reference", "Rater 1=.8,.9")
    assert code == 2 and "sensitivity is of two categories, and there are 5" in err


# Measures of a classifier against scikit-learn and by hand.


def of_answers(truth, answers, k):
    table = metrics.confusion_matrix(truth, answers, labels=range(k))
    rows = table.sum(axis=1, keepdims=True)
    return measure_performance(table.sum(axis=1) / table.sum(), table / rows)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_measures_are_scikit_learns(k):
    rng = np.random.default_rng(k)
    truth = np.append(np.arange(k), rng.integers(k, size=300))
    answers = np.where(rng.random(len(truth)) < 0.6, truth, rng.integers(k, size=len(truth)))
    result = of_answers(truth, answers, k)
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(truth, answers)
    assert result["precision"] == pytest.approx(precision)
    assert result["recall"] == pytest.approx(recall)
    assert result["f1"] == pytest.approx(f1)
    others = [np.mean(answers[truth != c] != c) for c in range(k)]
    assert result["specificity"] == pytest.approx(others)
    assert result["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(truth, answers)
    )
    assert result["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, answers))
    assert result["kappa_with_truth"] == pytest.approx(metrics.cohen_kappa_score(truth, answers))


def test_what_divides_zero_by_zero_is_undefined_and_no_more():
    nan = np.nan
    result = measure_performance([0.5, 0.5, 0.0], [[0.9, 0.1, 0], [0.2, 0.8, 0], [nan, nan, nan]])
    assert np.isnan([result[name][2] for name in ("recall", "precision", "f1")]).all()
    assert result["specificity"][2] == 1
    assert result["balanced_accuracy"] == pytest.approx(0.85)
    assert np.isfinite(result["mcc"]) and np.isfinite(result["kappa_with_truth"])
    constant = measure_performance([0.5, 0.5], [[1, 0], [1, 0]])
    assert np.isnan(constant["mcc"]) and constant["kappa_with_truth"] == 0


def test_replicates_are_computed_at_once():
    rng = np.random.default_rng(1)
    rates, confusion = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), (4, 3))
    together = measure_performance(rates, confusion)
    for i in range(4):
        for name, values in measure_performance(rates[i], confusion[i]).items():
            assert together[name][i] == pytest.approx(values), name


@pytest.mark.parametrize("dust", [0.0, 1e-17, 1e-13, -1e-17])
def test_a_share_within_rounding_error_is_a_category_that_does_not_occur(dust):
    rows = [[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.5, 0.25, 0.25]]
    exact = measure_performance([0.4, 0.6, 0.0], rows)
    result = measure_performance([0.4, 0.6 - dust, dust], rows)
    assert result["balanced_accuracy"] == pytest.approx((0.9 + 0.6) / 2)
    for name, values in exact.items():
        assert result[name] == pytest.approx(values, nan_ok=True), name
    # One item in a billion is no rounding error.
    rare = measure_performance([0.4, 0.6 - 1e-9, 1e-9], rows)
    assert rare["balanced_accuracy"] == pytest.approx((0.9 + 0.6 + 0.25) / 3)


def test_an_unknown_row_of_a_category_that_occurs_makes_averages_unknown():
    result = measure_performance([0.5, 0.5], [[0.9, 0.1], [np.nan, np.nan]])
    assert result["recall"][0] == 0.9
    assert np.isnan([result["recall"][1], result["balanced_accuracy"], result["mcc"]]).all()
