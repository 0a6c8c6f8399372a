"""Several systems: differences, ranks, their joint bootstrap, and corrections by known truths."""

import numpy as np
import pytest

import lehner
from lehner import InputError, Ratings
from lehner.algebra import algebraic
from lehner.algebra.algebraic import estimate_algebraic
from lehner.contrasts.contrast import contrast, rank
from lehner.contrasts.systems import bootstrap_systems
from lehner.core import resampling
from lehner.latent_class import intervals
from lehner.latent_class.intervals import estimate_latent_class
from tests.lehner.questions import resample

CATEGORIES = ["a", "b", "c"]


def two_systems(n: int = 400, seed: int = 1, shared: float = 0.0) -> Ratings:
    """Give three raters right in .7 and systems right in .85 and .75, the second copying."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)

    def answers(accuracy: float) -> np.ndarray:
        wrong = (truth + rng.integers(1, 3, n)) % 3
        return np.where(rng.random(n) < accuracy, truth, wrong)

    raters = np.stack([answers(0.7) for _ in range(3)], axis=1)
    first = answers(0.85)
    two = np.where(rng.random(n) < shared, first, answers(0.75))
    both = np.stack([first, two], axis=1)
    return Ratings(raters, CATEGORIES, system=both, systems=["gpt", "base"], truth=truth)


def easy_and_hard(n: int = 600, seed: int = 1) -> Ratings:
    """Three equal systems: one answers all items, one the easier half, one the harder half."""
    rng = np.random.default_rng(seed)
    truth, easy = rng.integers(2, size=n), np.arange(n) < n // 2
    right = np.where(easy, 0.95, 0.7)

    def answer() -> np.ndarray:
        return np.where(rng.random(n) < right, truth, 1 - truth)

    raters = np.stack([answer() for _ in range(3)], axis=1)
    whole, first, second = (answer() for _ in range(3))
    answers = np.stack([whole, np.where(easy, first, -1), np.where(easy, -1, second)], axis=1)
    return Ratings(raters, ["no", "yes"], system=answers, systems=["whole", "easier", "harder"])


def test_one_of_several_systems_is_what_it_is_alone() -> None:
    """Choosing a system gives the ratings with the other column left out."""
    table = {"x": list("abca"), "y": list("abcb"), "gpt": list("abba"), "base": list("accb")}
    both = Ratings.from_wide(table, raters=["x", "y"], system=["gpt", "base"])
    alone = Ratings.from_wide(table, raters=["x", "y"], system="base", categories=list("abc"))
    assert both.systems == ("gpt", "base")
    assert both.select_system("base").equals(alone)


def test_a_method_for_one_system_refuses_several() -> None:
    """Nothing takes the first of several systems silently."""
    ratings = two_systems(20)
    for method in (lehner.estimate_algebraic, lehner.majority_agreement, Ratings.to_patterns):
        with pytest.raises(InputError, match=r"2 systems \(gpt, base\)"):
            method(ratings)
    with pytest.raises(InputError, match="no system 'gtp'"):
        ratings.select_system("gtp")
    with pytest.raises(InputError, match="as the system is"):
        Ratings([[0], [1]], CATEGORIES, raters=["gpt"], system=[0, 1], systems=["gpt"])


def test_systems_survive_tables_and_xarray() -> None:
    """Names and answers come back."""
    ratings = two_systems(20)
    again = Ratings.from_wide(
        ratings.to_wide(), item="item", system=["gpt", "base"], truth="truth", categories=CATEGORIES
    )
    assert again.equals(ratings)
    long = Ratings.from_long(
        ratings.to_long(), system=["gpt", "base"], truth="truth", occasion="occasion"
    )
    assert long.equals(ratings)


def test_a_system_keeps_its_name_everywhere() -> None:
    """Coordinates and results say gpt, not system."""
    data = two_systems(60).select_system("gpt")
    assert lehner.estimate_algebraic(data).system == "gpt"
    assert list(lehner.fit_latent_class(data).confusion["rater"].values) == ["1", "2", "3", "gpt"]
    assert data.to_long()["rater"].iloc[-1] == "gpt"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["algebraic", "majority_agreement"])
def test_the_joint_bootstrap_is_the_method_on_resampled_items(method: str) -> None:
    """Draws have the mean and spread of estimates from samples of items drawn by hand."""
    ratings = two_systems(60).with_truth(None)
    draws = resample(method, ratings, resamples=200, seed=3)
    estimator = {
        "algebraic": lambda r: lehner.estimate_algebraic(r, interval=None),
        "majority_agreement": lehner.majority_agreement,
    }[method]
    rng = np.random.default_rng(0)
    for name in ratings.systems:
        values = []
        for _ in range(200):
            sample = ratings.take(rng.integers(0, 60, 60)).select_system(name)
            values.append(estimator(sample).system_accuracy.estimate)
        resampled = np.array([np.nan if value is None else value for value in values])
        drawn = draws.drawn["system_accuracy"][:, ratings.systems.index(name)]
        assert np.nanmean(drawn) == pytest.approx(np.nanmean(resampled), abs=0.03)
        assert np.nanstd(drawn) == pytest.approx(np.nanstd(resampled), rel=0.35)


def test_equal_systems_do_not_differ() -> None:
    """A system under two names has the same draws, so that the difference is exactly 0."""
    ratings = two_systems(80, shared=1.0).with_truth(None)
    for method in ("algebraic", "dawid_skene_ml"):
        draws = resample(method, ratings, resamples=40)
        assert not np.ptp(draws.drawn["system_accuracy"], axis=1).any()


def test_systems_that_share_answers_differ_more_surely() -> None:
    """The bootstrap is paired: what both get right or wrong together cancels."""
    widths = []
    for shared in (0.0, 0.8):
        draws = resample("algebraic", two_systems(400, shared=shared), seed=1)
        widths.append(np.std(draws.drawn["system_accuracy"] @ [1, -1]))
    assert widths[1] < 0.6 * widths[0]


def test_differences_and_ranks_by_hand() -> None:
    """Four joint draws, counted by hand, ties shared."""
    drawn = np.array([[0.9, 0.8, 0.7, 0.6], [0.8, 0.8, 0.8, 0.5]]).T
    of_systems = "accuracy", "system", ["a", "b"], drawn.mean(axis=0), drawn
    (result,) = contrast(*of_systems, level=0.5, kind="k")
    assert (result["system"], result["versus"]) == ("a", "b")
    assert result["estimate"] == pytest.approx(0.025)
    assert result["probability"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    first, second = rank(*of_systems, level=0.9)
    assert [first[name] for name in ("system", "estimate", "lower", "upper")] == ["a", 1, 1, 2]
    assert first["probability"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert second["probability"] == pytest.approx(1 - first["probability"])


def test_tied_systems_share_the_rank_and_the_next_ranks_are_left_out() -> None:
    """1, 1, 3, though the accuracies differ by rounding error."""
    best = np.array([0.8, 0.7, 0.9])
    drawn = np.stack([best, best - 1e-16, best - 0.2, best - 0.2], axis=1)
    of_systems = "accuracy", "system", list("abcd"), drawn.mean(axis=0), drawn
    ranks = {
        row["system"]: (row["estimate"], row["lower"], row["upper"], row["probability"])
        for row in rank(*of_systems, level=0.9)
    }
    tied, last = (1, 1, 1, 0.5), (3, 3, 3, 0)
    assert ranks == {"a": tied, "b": tied, "c": last, "d": last}
    result, *_ = contrast(*of_systems, level=0.9, kind="k")
    assert result["probability"] == 0.5


def test_answers_are_kept_where_all_of_the_systems_answered() -> None:
    """The answers of other systems stay; a name that is no system is refused."""
    answers = np.array([[0, 1, -1], [1, -1, 1], [0, 0, 0]])
    ratings = Ratings([[0, 0], [1, 1], [0, 1]], ["a", "b"], system=answers, systems=["x", "y", "z"])
    assert ratings.select_common_items("x", "y").answers.tolist() == [
        [0, 1, -1],
        [-1, -1, 1],
        [0, 0, 0],
    ]
    assert ratings.select_common_items().answers.tolist() == [[-1] * 3, [-1] * 3, [0, 0, 0]]
    with pytest.raises(InputError, match="no system 'w'"):
        ratings.select_common_items("w")


def test_the_bootstrap_judges_systems_by_common_items() -> None:
    """Draws are those of the ratings in which only common items are answered."""
    ratings = two_systems(200).with_truth(None)
    answers = ratings.answers.copy()
    answers[:80, 1] = -1
    some = Ratings(ratings.codes, CATEGORIES, system=answers, systems=ratings.systems)
    draws = resample("algebraic", some, resamples=50)
    common = resample("algebraic", some.select_common_items(), resamples=50)
    assert np.array_equal(*(x.drawn["system_accuracy"] for x in (draws, common)))
    answers[80:, 0] = -1
    nothing = Ratings(ratings.codes, CATEGORIES, system=answers, systems=ratings.systems)
    with pytest.raises(InputError, match="no item was answered by all of gpt, base"):
        resample("algebraic", nothing)


def test_undefined_draws_may_be_anything() -> None:
    """A resample without a number widens the interval to the whole range."""
    drawn = np.stack([np.array([np.nan] * 20 + [0.9] * 80), np.full(100, 0.5)], axis=1)
    names = "accuracy", "system", ["a", "b"]
    (result,) = contrast(*names, np.array([0.9, 0.5]), drawn, level=0.9, kind="k")
    assert (result["lower"], result["upper"]) == (-1.0, 1.0)
    assert result["probability"] == pytest.approx(0.9)
    (result,) = contrast(*names, np.array([np.nan, 0.5]), drawn, level=0.9, kind="k")
    assert result["estimate"] is None and "probability" not in result


@pytest.mark.parametrize("method", ["algebraic", "dawid_skene"])
def test_differences_of_large_data_are_those_of_the_resamples_of_each_system(monkeypatch, method):
    monkeypatch.setattr(intervals, "MANY_PATTERNS", 1)
    monkeypatch.setattr(algebraic, "FEWEST_DRAWN", 1)
    monkeypatch.setattr(algebraic, "FEWEST_PATTERNS", 0)
    monkeypatch.setattr(resampling, "RESAMPLED_CELLS_AT_ONCE", 3000)
    fit = {"algebraic": estimate_algebraic, "dawid_skene": estimate_latent_class}[method]
    rng, ratings = np.random.default_rng(1), two_systems(300, shared=0.8).with_truth(None)
    mixed = ratings.take(rng.permutation(300))
    estimates = [
        {name: fit(data.select_system(name), resamples=600) for name in ratings.systems}
        for data in (ratings, mixed)
    ]
    first, again = (
        bootstrap_systems(fits, ratings, method).drawn["system_accuracy"] for fits in estimates
    )
    np.testing.assert_allclose(first, again, atol=1e-9)
    gpt = estimates[0]["gpt"]
    mean = gpt.resamples.drawn["system_accuracy_in_sample"].mean()
    assert mean == pytest.approx(gpt.system_accuracy_in_sample.estimate, abs=4e-3)
    refitted = bootstrap_systems(ratings.systems, ratings, method, resamples=600)
    expected = np.diff(refitted.drawn["system_accuracy"]).std()
    # The systems share answers, so that their difference varies less than two that do not.
    assert np.diff(first).std() == pytest.approx(expected, rel=0.1)
    assert np.diff(first).std() < 0.8 * np.hypot(*first.std(axis=0))


def test_more_than_50_systems_are_each_compared_with_the_best():
    rng = np.random.default_rng(1)
    votes = rng.integers(0, 2, (60, 3))
    system = np.where(rng.random((60, 51)) < 0.7, votes[:, :1], 1 - votes[:, :1])
    system[:, 7] = votes[:, 0]
    results = lehner.estimate(Ratings(votes, ["no", "yes"], system=system), "majority_agreement")
    differences = results.select(quantity="system_accuracy_difference")
    best = results.select(quantity="system_accuracy_rank").iloc[0]["system"]
    assert set(differences["system"]) == {best} and len(set(differences["versus"])) == 50
    assert "not-compared" in [warning.code for warning in results.warnings]
    values = results.select(quantity="system_accuracy").set_index("system")["estimate"]
    expected = values[best] - values[differences["versus"]].to_numpy()
    np.testing.assert_allclose(differences["estimate"].astype(float), expected, atol=1e-12)


# Differences and ranks of systems corrected by the known truths of some items.


EXPECTED, IN_SAMPLE = "system_accuracy_difference", "system_accuracy_in_sample_difference"


def copying(n: int = 400, seed: int = 1) -> Ratings:
    """Give two equal systems, the second of which copies half of its answers from a rater."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    right = rng.random((n, 5)) < [0.7, 0.7, 0.7, 0.7, 0.7]
    codes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (n, 5))) % 3)
    two = np.where(rng.random(n) < 0.5, codes[:, 0], codes[:, 4])
    both = np.stack([codes[:, 3], two], axis=1)
    return Ratings(codes[:, :3], list("abc"), system=both, systems=["alone", "copies"], truth=truth)


def knowing(ratings: Ratings, n: int) -> Ratings:
    return ratings.with_truth(np.where(np.arange(ratings.n_rows) < n, ratings.truth, -1))


def true_difference(ratings: Ratings) -> float:
    right = ratings.answers == np.asarray(ratings.truth)[:, None]
    return float(right[:, 0].mean() - right[:, 1].mean())


def compare(ratings: Ratings, methods="algebraic"):
    """How the systems differ."""
    return lehner.estimate(ratings, methods, questions=["systems"])


def row_of(results, quantity, *, corrected=True, **columns):
    """The one row of a difference."""
    table = results.table[results.table["corrected"] == corrected]
    for name, value in {"quantity": quantity, **columns}.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_with_all_but_one_truth_known_the_difference_is_that_of_the_known_items() -> None:
    full = two_systems(200)
    result = compare(knowing(full, 199))
    row = row_of(result, IN_SAMPLE)
    assert row.estimate == pytest.approx(true_difference(full), abs=0.006)
    assert row.upper - row.lower < 0.012
    assert row.lower - 0.006 <= true_difference(full) <= row.upper + 0.006
    # The expected difference still varies from sample to sample, as of paired items.
    right = (full.answers == np.asarray(full.truth)[:, None]).astype(float)
    width = 2 * 1.645 * (right[:, 0] - right[:, 1]).std() / np.sqrt(200)
    expected = row_of(result, EXPECTED)
    assert expected.upper - expected.lower == pytest.approx(width, rel=0.1)


def test_known_truths_correct_what_a_system_that_copies_a_rater_gains() -> None:
    full = copying()
    result = compare(knowing(full, 120))
    truth = true_difference(full)
    before, after = (row_of(result, IN_SAMPLE, corrected=which) for which in (False, True))
    assert before.upper < truth
    assert after.lower < truth < after.upper
    assert abs(after.estimate - truth) < 0.5 * abs(before.estimate - truth)
    assert before.probability < after.probability
    assert result.select(quantity="system_accuracy_rank")["corrected"].all()


def test_where_all_truths_known_are_of_items_with_equal_answers_nothing_is_corrected() -> None:
    """Systems are right or wrong together there, so that nothing is known of the difference."""
    full = copying()
    same = np.flatnonzero(full.answers[:, 0] == full.answers[:, 1])[:80]
    some = full.with_truth(np.where(np.isin(np.arange(400), same), full.truth, -1))
    differences = compare(some).select(quantity=IN_SAMPLE)
    assert not differences["corrected"].any()


def test_systems_with_the_same_answers_are_tied_and_the_order_makes_no_difference() -> None:
    full = two_systems(200)
    thrice = full.answers[:, [0, 1, 0]]
    names = ["gpt", "base", "too"]
    ratings = Ratings(full.codes, full.categories, system=thrice, systems=names, truth=full.truth)
    result = compare(knowing(ratings, 40))
    first, same, second = (
        row_of(result, EXPECTED, system=better, versus=other)
        for better, other in (("gpt", "base"), ("gpt", "too"), ("base", "too"))
    )
    assert same.lower == same.upper == 0 and same.probability == 0.5
    assert second.estimate == pytest.approx(-first.estimate)
    assert second.lower == pytest.approx(-first.upper)
    ranks = result.select(quantity="system_accuracy_rank").set_index("system")
    assert ranks.loc["gpt", "probability"] == ranks.loc["too", "probability"]
    alone = row_of(compare(knowing(full, 40)), EXPECTED)
    assert alone.estimate == pytest.approx(first.estimate)


def test_a_method_without_probabilities_and_one_that_saw_the_truths_are_not_corrected() -> None:
    result = compare(knowing(two_systems(200), 40), ["majority_agreement", "learned_prior"])
    rows = result.table[result.table["quantity"] == EXPECTED].set_index("method")["corrected"]
    assert rows.to_dict() == {"majority_agreement": False, "learned_prior": True}


def test_systems_that_answered_different_items_are_corrected_on_those_in_common() -> None:
    full = two_systems(300)
    answers = full.answers.copy()
    answers[200:, 1] = -1
    ratings = Ratings(full.codes, full.categories, system=answers, truth=full.truth)
    # Truths are known only where the second did not answer, and of 60 items of both.
    rows = np.arange(300)
    some = ratings.with_truth(np.where((rows >= 200) | (rows < 60), full.truth, -1))
    row = row_of(compare(some), IN_SAMPLE)
    assert row.n_items == 200
    common = full.take(rows < 200)
    alone = row_of(compare(knowing(common, 60)), IN_SAMPLE)
    assert row.estimate == pytest.approx(alone.estimate, abs=0.02)


@pytest.mark.parametrize("in_model", [True, False])
def test_differences_rest_on_the_gold_labels_that_the_fits_saw(in_model) -> None:
    """A system that answered more is fitted again to the items of both."""
    full, given = two_systems(300), lehner.Given(truths_in_model=in_model)
    answers = full.answers.copy()
    answers[200:, 1] = -1
    ratings = Ratings(full.codes, full.categories, system=answers, truth=full.truth)
    some = knowing(ratings, 60)
    first, second = (
        lehner.estimate(x, "dawid_skene_ml", given=given, questions=["systems"])
        for x in (some, some.select_common_items(*some.systems))
    )
    refitted, fitted = (row_of(x, EXPECTED, corrected=in_model) for x in (first, second))
    assert refitted.estimate == fitted.estimate
    # If all items are labelled, the method learned_prior sees no label, and nor do differences.
    assert not compare(full, "learned_prior").select(quantity=EXPECTED)["corrected"].any()
