"""Clustered items: read, kept, resampled as clusters; and what methods ask of ratings."""

from statistics import NormalDist

import numpy as np
import pytest
import statsmodels.api as sm

from lehner import (
    InputError,
    Ratings,
    Scenario,
    agreement,
    check_dependence,
    correct_accuracy,
    estimate,
    estimate_algebraic,
    estimate_latent_class,
    estimate_learned_prior,
    majority_agreement,
    read_ratings,
    simulate,
)
from lehner import estimate as estimate_all
from lehner.core import resampling
from lehner.core.resampling import design_effect, draw_counts, estimate_effect, find_widening
from lehner.data.estimable import label_array, require_estimable
from lehner.known_truths.partly_known import examine_known
from tests.lehner.questions import resample

WIDE = {"patient": ["p", "q", "p"], "ann": list("xyy"), "bo": list("xyx"), "gpt": list("xxy")}
COPIES = 5


@pytest.fixture(scope="module")
def single() -> Ratings:
    scenario = Scenario(n_categories=2, n_items=120, initial_rater_accuracy=(0.75,) * 4)
    return simulate(scenario, 3)


@pytest.fixture(scope="module")
def copied(single) -> Ratings:
    """Each item five times, as a cluster: as much is known as of single items."""
    rows = np.tile(np.arange(single.n_rows), COPIES)
    return single.take(rows).with_clusters(rows)


def test_a_column_of_a_wide_table_and_of_a_long_one():
    wide = read_ratings(WIDE, system="gpt", cluster="patient")
    assert wide.cluster.tolist() == [0, 1, 0] and wide.n_clusters == 2
    assert wide.raters == ("ann", "bo")
    assert "items are clustered by patient" in wide.notes[0]
    long = {"item": [1, 1, 2, 2], "rater": list("abab"), "rating": list("xyxx"), "c": list("uuvv")}
    assert read_ratings(long, cluster="c").cluster.tolist() == [0, 1]
    with pytest.raises(InputError, match=r"row 3.*cluster is 'u' here and 'v'"):
        read_ratings(long | {"c": list("uuvu")}, cluster="c")


@pytest.mark.parametrize(
    "column, message", [(["p", "", "p"], "the patient is blank"), (["p"] * 3, "one cluster")]
)
def test_a_bad_column_is_refused(column, message):
    with pytest.raises(InputError, match=message):
        read_ratings(WIDE | {"patient": column}, system="gpt", cluster="patient")


def test_clusters_are_kept(copied):
    assert not copied.equals(copied.with_clusters(None))
    collapsed = copied.to_grouped()
    assert collapsed.n_clusters == 120 and collapsed.n_items == copied.n_items
    assert collapsed.take(collapsed.cluster < 7).n_clusters == 7
    assert copied.select_system(copied.systems[0]).without_system().n_clusters == 120


def test_standard_errors_are_those_of_a_regression_with_clusters(copied):
    """Percent agreement is a mean over items, and statsmodels has the sandwich estimator."""
    rng = np.random.default_rng(1)
    unequal = copied.take(rng.random(copied.n_rows) < 0.6)
    pairs = [(unequal.codes[:, a] == unequal.codes[:, b]) for a in range(4) for b in range(a)]
    fit = sm.OLS(np.mean(pairs, axis=0), np.ones(unequal.n_rows)).fit(
        cov_type="cluster", cov_kwds={"groups": unequal.cluster}
    )
    result = agreement(unequal).value("percent_agreement")
    assert result.standard_error == pytest.approx(fit.bse[0], rel=1e-12)
    of_items = unequal.with_clusters(None)
    effect = design_effect(np.mean(pairs, axis=0), unequal.weights.astype(float), unequal.cluster)
    alone = agreement(of_items).value("percent_agreement").standard_error
    assert np.sqrt(effect) * alone == pytest.approx(result.standard_error, rel=1e-12)
    # And with the spread of means over resampled clusters.
    counts = unequal.count_items(np.arange(unequal.n_rows), unequal.n_rows)
    drawn = np.concatenate(list(draw_counts(counts, 4000, rng)))
    means = drawn @ np.mean(pairs, axis=0) / drawn.sum(axis=1)
    assert means.std() == pytest.approx(result.standard_error, rel=0.05)


def test_copies_in_a_cluster_tell_nothing_new(single, copied):
    single_agreement, five = agreement(single), agreement(copied)
    for name in ("percent_agreement", "gwet_ac1", "cohen_kappa"):
        lower = single_agreement.value(name).lower
        assert five.value(name).lower == pytest.approx(lower, abs=1e-3), name
    tables = [result.table for result in (single_agreement, five)]
    pairs = [table["standard_error"][table["rater"] != ""] for table in tables]
    np.testing.assert_allclose(*pairs, rtol=1e-9)
    naive, clustered = (majority_agreement(x).system_accuracy for x in (single, copied))
    assert clustered.lower == pytest.approx(naive.lower, abs=2e-3)
    for find in (estimate_algebraic, lambda x: estimate_latent_class(x, "one_coin", restarts=0)):
        errors = [find(x.with_truth(None)).system_accuracy.standard_error for x in (single, copied)]
        assert errors[1] == pytest.approx(errors[0], rel=0.1)


def test_the_test_of_dependence_does_not_take_copies_for_evidence(copied):
    z = [
        NormalDist().inv_cdf(check_dependence(data.with_truth(None)).p_value_together)
        for data in (copied, copied.with_clusters(None))
    ]
    assert z[1] / z[0] == pytest.approx(np.sqrt(COPIES), rel=0.1)


def test_differences_between_systems_resample_clusters(copied):
    rng = np.random.default_rng(1)
    other = np.where(rng.random(120) < 0.8, copied.system[:120], 1 - copied.system[:120])
    answers = np.column_stack([copied.system, np.tile(other, COPIES)])
    two = copied.replace(answers=answers, systems=("a", "b"))
    spread = []
    for ratings in (two, two.with_clusters(None)):
        draws = resample("algebraic", ratings.with_truth(None), resamples=1000)
        spread.append((draws.drawn["system_accuracy"] @ [1, -1]).std())
    assert spread[0] / spread[1] == pytest.approx(np.sqrt(COPIES), rel=0.15)


def test_single_items_as_clusters_change_nothing(single):
    values, weights = single.codes[:, 0].astype(float), np.ones(120)
    assert design_effect(values, weights, np.arange(120)) == pytest.approx(1, abs=1e-12)
    assert design_effect(np.ones(120), weights, np.arange(120) // 4) == 4.0
    assert find_widening(4.0, 10_000, 0.9) == pytest.approx(2.0, rel=1e-3)
    assert find_widening(1.0, 5, 0.9) > 1.2


def test_known_truths_narrow_the_sample_and_not_what_clusters_leave_open(copied):
    some = copied.with_truth(np.where(np.arange(copied.n_rows) % 11, -1, copied.truth))
    right = np.clip(copied.truth == copied.system, 0.1, 0.9)
    with_them, without = (correct_accuracy(x, right) for x in (some, some.with_clusters(None)))
    assert with_them.system_accuracy_in_sample == without.system_accuracy_in_sample
    widths = [x.system_accuracy.upper - x.system_accuracy.lower for x in (with_them, without)]
    assert widths[0] > 1.3 * widths[1]


def test_few_clusters_are_said(copied):
    few = copied.with_clusters(np.arange(copied.n_rows) % 6)
    said = estimate(few, "algebraic").warnings
    assert "few-clusters" in {warning.code for warning in said}


def test_known_truths_of_whole_clusters_count_once(single, copied):
    """Two fifths of the items are known, or all copies of these."""
    labelled = np.random.default_rng(2).permutation(120) < 48
    first, five = (
        x.with_truth(np.where(np.resize(labelled, x.n_rows), x.truth, -1)) for x in (single, copied)
    )
    right = np.where(single.truth == single.system, 0.9, 0.6)
    result = [
        correct_accuracy(x, np.resize(right, x.n_rows))
        for x in (first, five, five.with_clusters(None))
    ]
    for name in ("system_accuracy_in_sample", "known_items_alone", "prediction_powered"):
        ends = [(getattr(x, name).lower, getattr(x, name).upper) for x in result]
        assert ends[1] == pytest.approx(ends[0], abs=0.012), name
        assert np.diff(ends[2]) < 0.6 * np.diff(ends[0]), name
    assert result[1].p_value == pytest.approx(result[0].p_value, abs=0.03)
    assert examine_known(five).p_value == pytest.approx(examine_known(first).p_value, abs=0.02)
    widths = [np.ptp(_ends(estimate_learned_prior(x))) for x in (first, five)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


def _ends(estimate):
    return estimate.system_accuracy_in_sample.lower, estimate.system_accuracy_in_sample.upper


def test_truths_of_items_drawn_singly_count_as_they_are(copied):
    rng = np.random.default_rng(1)
    values, weights = rng.random(600), np.ones(600)
    effects = [
        estimate_effect(values[copied.cluster], weights, rng.permutation(600) < 100, copied.cluster)
        for _ in range(50)
    ]
    assert np.mean(effects) < 1.15
    whole = copied.cluster < 20
    result = estimate_effect(values[copied.cluster], weights, whole, copied.cluster)
    assert result == pytest.approx(5, rel=0.06)


def test_a_group_of_items_may_be_of_one_cluster():
    """Rows in any order: a subset of our own is no data of the user's."""
    cluster = np.repeat(["A", "B", "C", "D"], [60, 30, 30, 30])
    ratings = simulate(Scenario(n_items=150), 1).with_truth(None).with_clusters(cluster)
    assert ratings.take(cluster == "A").n_clusters == 1
    groups = np.where(cluster == "A", "one", "several")
    for method in ("algebraic", "dawid_skene_ml"):
        results = estimate(ratings, method, groups=groups)
        row = results.value("system_accuracy", group="one")
        assert row.estimate is None or row.upper - row.lower > 0.1


def test_items_of_many_rows_are_drawn_as_the_multinomial_distribution_says(monkeypatch):
    monkeypatch.setattr(resampling, "MANY_ROWS", 1)
    counts = np.array([1, 0, 2, 1, 1, 3])
    drawn = np.concatenate(list(draw_counts(counts, 20_000, np.random.default_rng(1))))
    assert (drawn.sum(axis=1) == 8).all() and (drawn[:, 1] == 0).all()
    expected = np.diag(counts) - np.outer(counts, counts) / 8
    np.testing.assert_allclose(drawn.mean(axis=0), counts, atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.08)


# What methods ask of ratings: what cannot be estimated is refused, and arrays have names.


GOOD = {
    "codes": [[0, 1], [1, -1]],
    "categories": ["a", "b"],
    "raters": ["Ann", "Bo"],
    "system": [0, -1],
}


def repeated_by_one_rater():
    data = {"item": [1, 1, 1, 2], "rater": ["x", "x", "AI", "y"], "rating": list("abab")}
    return Ratings.from_long(data | {"o": [1, 2, 1, 1]}, occasion="o", system="AI")


def test_the_least_that_can_be_estimated_is_accepted():
    require_estimable(Ratings(**GOOD))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": None}, "is the system.*Ann, Bo"),
        ({"system": [-1, -1]}, "the system answered no item"),
        ({"codes": [[0], [1]], "raters": ["Ann"]}, "1 rater besides the system"),
        ({"codes": np.empty((2, 0), dtype=int), "raters": []}, "there is no rater"),
        ({"codes": [[0, 0], [0, -1]], "categories": ["a"]}, "the only category is a"),
        ({"codes": [[0, -1], [-1, 1]]}, "no item was rated by two raters"),
        ({"codes": [[-1, -1], [-1, -1]]}, "no item was rated by two raters"),
        ({"counts": [0, 0]}, "."),
        ({"counts": [0, 5]}, "."),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, message):
    with pytest.raises(InputError, match=message) as caught:
        require_estimable(Ratings(**(GOOD | change)))
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.remedy


def test_two_ratings_by_one_rater_are_not_two_raters():
    ratings = repeated_by_one_rater()
    assert (ratings.n_raters, ratings.n_ratings) == (2, 3)
    with pytest.raises(InputError, match="no item was rated by two raters"):
        require_estimable(ratings)


def test_labelled_arrays_carry_the_names():
    ratings = Ratings([[0, 1]], [7, 8], [1, 2], ["p"])
    array = label_array([[0.25, 0.75]], ratings, "item", "category")
    assert float(array.sel(item="p", category=8)) == 0.75
    assert label_array([0.1, 0.9], ratings, "rater").rater.values.tolist() == ["1", "2"]


def test_a_system_is_not_estimated_by_ratings_of_other_items():
    """It was 1.000 [0.000, 1.000]."""
    codes, system = np.full((40, 3), -1), np.full(40, -1)
    codes[:20], system[20:] = [[0, 1, 0]], 1
    ratings = Ratings(codes, ["no", "yes"], system=system)
    for method in (estimate_all, estimate_algebraic, estimate_learned_prior):
        with pytest.raises(InputError, match="both a rating and an answer"):
            method(ratings)
    truth = np.where(np.arange(40) == 30, 1, -1)
    require_estimable(ratings.with_truth(truth))
