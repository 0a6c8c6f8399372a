"""Bounds of the accuracy under caps on correlations: limits, enumeration, what they promise."""

from itertools import product

import numpy as np
import pytest

from lehner import (
    InputError,
    Ratings,
    Scenario,
    bound_accuracy,
    error_correlation,
    find_tipping_point,
    load_dataset,
    simulate,
)
from lehner.dependence.bounds import (
    CAPS,
    _estimate_errors,
    find_bounds,
    find_least_accuracy,
    read_real_crowds,
    tabulate_mistakes,
)


def population(accuracies, system, k=2, rates=None):
    """Numbers of items with each ratings and answer, as many as are expected of a million."""
    rates = np.full(k, 1 / k) if rates is None else np.array(rates)
    coin = [a * np.eye(k) + (1 - a) / (k - 1) * (1 - np.eye(k)) for a in (*accuracies, system)]
    cells = list(product(range(k), repeat=len(coin)))
    probability = [
        sum(
            rates[t] * np.prod([c[t, r] for c, r in zip(coin, cell, strict=True)]) for t in range(k)
        )
        for cell in cells
    ]
    codes = np.array(cells)
    counts = np.round(1e6 * np.array(probability)).astype(int)
    return Ratings(codes[:, :-1], list("abcd")[:k], system=codes[:, -1], counts=counts)


def sample(seed, n=120):
    """Ratings with shared mistakes and truth, of a random number of raters and categories."""
    rng = np.random.default_rng(seed)
    k, raters = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    truth = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3)))
    seems = np.where(rng.random(n) < rng.uniform(0, 0.25), rng.integers(0, k, n), truth)
    of_system = np.where(rng.random(n) < rng.uniform(0, 1), seems, truth)
    wrong = rng.random((n, raters)) < rng.uniform(0.05, 0.35, raters)
    codes = np.where(wrong, rng.integers(0, k, (n, raters)), seems[:, None])
    codes[rng.random((n, raters)) < rng.uniform(0, 0.3)] = -1
    answers = np.where(rng.random(n) < rng.uniform(0, 0.3), rng.integers(0, k, n), of_system)
    return Ratings(codes, list("abcd")[:k], system=answers, truth=truth)


def bound(ratings, *caps, **options):
    """Bounds in the sample, and of the expected accuracy, (2, 2); NaN where there are none."""
    table = bound_accuracy(ratings, *caps, **options).table
    assert table["quantity"].tolist() == [
        "system_accuracy_in_sample_bounds",
        "system_accuracy_bounds",
    ]
    return table[["lower", "upper"]].to_numpy()


def counted(ratings):
    votes = ratings.count_votes().sum(axis=1) >= 2
    return float((ratings.system == ratings.truth)[votes].mean())


@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.8, 0.2)])
@pytest.mark.parametrize("raters", [(0.8, 0.8), (0.7, 0.7, 0.7)])
def test_without_correlation_two_categories_say_what_the_accuracy_is(raters, rates):
    in_sample, _ = bound(population(raters, 0.9, rates=rates), 0, 0, level=None)
    assert in_sample == pytest.approx((0.9, 0.9), abs=1e-4)


def some_fast(n_fast, n):
    """Take the first seeds always, and the others with the slow tests."""
    slow = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(n_fast, n)]
    return pytest.mark.parametrize("seed", [*range(n_fast), *slow])


@some_fast(6, 40)
def test_the_truth_is_inside_where_the_caps_hold(seed):
    ratings = sample(seed)
    raters, system = np.nan_to_num(np.abs(error_correlation(ratings)))
    (lower, upper), _ = bound(ratings, raters, system, level=None)
    assert lower - 0.002 <= counted(ratings) <= upper + 0.002
    caps = [min(cap + 0.01, 1) for cap in (raters, system)]
    assert find_least_accuracy(tabulate_mistakes(ratings), *caps) <= counted(ratings) + 1e-9


@some_fast(0, 3)
def test_higher_caps_never_narrow_the_bounds(seed):
    mistakes = tabulate_mistakes(sample(seed))
    caps = np.array([0.1, 0.4, 1.0])
    bounds = np.array([[find_bounds(mistakes, x, y) for y in caps] for x in caps])
    for axis in (0, 1):
        steps = np.diff(bounds, axis=axis)
        assert (np.nan_to_num(steps[..., 0], nan=-1) <= 0.002).all()
        assert (np.nan_to_num(steps[..., 1], nan=1) >= -0.002).all()
    least = find_least_accuracy(mistakes, CAPS[:, None], CAPS)
    for axis in (0, 1):
        assert not (np.diff(least, axis=axis) > 1e-3).any()


def enumerated(ratings, raters, system):
    """Extremes of the accuracy over all true categories of few items, one by one."""
    votes, answers, k = ratings.count_votes(), ratings.system, ratings.n_categories
    n_votes, n = votes.sum(axis=1), len(votes)
    truths = np.array(list(product(range(k), repeat=n)))
    wrong = n_votes - votes[np.arange(n), truths]
    rater = wrong / n_votes
    e, s = rater.mean(axis=1), (truths != answers).mean(axis=1)
    both = (wrong * (wrong - 1) / (n_votes * (n_votes - 1))).mean(axis=1)
    joint = (rater * (truths != answers)).mean(axis=1)
    variance, of_system = e * (1 - e), s * (1 - s)
    kept = (e <= 0.5 + 1e-9) & (np.abs(both - e**2) <= raters * variance + 1e-9)
    kept &= np.abs(joint - e * s) <= system * np.sqrt(variance * of_system) + 1e-9
    return 1 - s[kept].max(), 1 - s[kept].min()


@pytest.mark.parametrize(("k", "n"), [(2, 14), (3, 9)])
@some_fast(1, 5)
def test_no_true_categories_that_keep_the_caps_are_outside(k, n, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    codes = np.where(rng.random((n, 3)) < 0.25, rng.integers(0, k, (n, 3)), truth[:, None])
    answers = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), truth)
    ratings = Ratings(codes, list("abc")[:k], system=answers)
    for raters, system in ((0.5, 1.0), (0.4, 0.4), (1.0, 0.3)):
        (lower, upper), _ = bound(ratings, raters, system, level=None)
        least, most = enumerated(ratings, raters, system)
        assert lower - 0.002 <= least and most <= upper + 0.002


@pytest.mark.parametrize("k", [2, 3])
def test_the_bounds_are_reached_where_items_are_many(k):
    """Parts of each kind of item have each possible truth: all such populations, on a grid."""
    steps = {2: 40, 3: 12}[k]
    mistakes = tabulate_mistakes(
        population((0.8, 0.8), 0.85, k=k, rates=(0.5, 0.3, 0.2)[-k:] if k > 2 else None)
    )
    proportion = mistakes.counts / mistakes.counts.sum()
    features = np.array([mistakes.rater, mistakes.both, mistakes.system, mistakes.joint])
    sums = np.zeros((4, 1))
    for kind, part in enumerate(proportion):
        options = features[:, mistakes.kind == kind]
        split = np.array(
            [x for x in product(range(steps + 1), repeat=options.shape[1]) if sum(x) == steps]
        )
        added = part * options @ split.T / steps
        sums = (sums[:, :, None] + added[:, None, :]).reshape(4, -1)
    e, both, s, joint = sums
    for raters, system in ((0.3, 1.0), (0.3, 0.3), (1.0, 0.2)):
        kept = (e <= 0.5) & (np.abs(both - e**2) <= raters * e * (1 - e))
        kept &= np.abs(joint - e * s) <= system * np.sqrt(e * (1 - e) * s * (1 - s))
        lower, upper = find_bounds(mistakes, raters, system)
        assert lower - 0.002 <= 1 - s[kept].max() <= lower + 0.03
        assert upper - 0.03 <= 1 - s[kept].min() <= upper + 0.002


@some_fast(2, 20)
def test_the_closed_form_is_the_linear_program_for_two_categories_and_else_not_above(seed):
    ratings = sample(seed)
    mistakes = tabulate_mistakes(ratings)
    for raters, system in ((0.1, 1.0), (0.3, 0.3), (0.5, 0.2), (1.0, 0.3)):
        closed, sharp = (
            find_least_accuracy(mistakes, raters, system),
            find_bounds(mistakes, raters, system),
        )
        if np.isfinite(sharp[0]):
            assert closed <= sharp[0] + 0.003
        if ratings.n_categories == 2 and raters == 1:
            assert closed == pytest.approx(sharp[0], abs=0.003)


def test_raters_of_unequal_accuracy_who_err_independently_leave_the_truth_above():
    ratings = population((0.95, 0.95, 0.55), 0.85)
    mistakes = tabulate_mistakes(ratings)
    for cap in (0, 0.05, 0.2):
        assert find_least_accuracy(mistakes, cap, cap) <= 0.851


def test_correlations_are_those_of_the_mistakes():
    ratings = simulate(Scenario(n_categories=3, n_items=400, initial_rater_accuracy=(0.7,) * 4), 3)
    wrong = (ratings.codes != ratings.truth[:, None]).astype(float)
    of_system = (ratings.system != ratings.truth).astype(float)
    raters, system = error_correlation(ratings)
    pairs = [np.mean(wrong[:, i] * wrong[:, j]) for i in range(4) for j in range(i)]
    e, s = wrong.mean(), of_system.mean()
    assert raters == pytest.approx((np.mean(pairs) - e**2) / (e * (1 - e)))
    shared = np.mean(wrong * of_system[:, None]) - e * s
    assert system == pytest.approx(shared / np.sqrt(e * (1 - e) * s * (1 - s)))


@pytest.mark.slow
def test_the_sampling_error_is_that_of_the_bootstrap():
    ratings = simulate(
        Scenario(n_categories=2, n_items=200, initial_rater_accuracy=(0.8,) * 3), seed=2
    )
    rng = np.random.default_rng(1)
    again = [
        find_bounds(tabulate_mistakes(ratings.take(rng.integers(0, 200, 200))), 0.2, 0.2)
        for _ in range(40)
    ]
    error = _estimate_errors(tabulate_mistakes(ratings), 0.2, 0.2, 1)
    assert error[0] == pytest.approx(np.nanstd(again, axis=0)[0], rel=0.35)
    (lower, upper), expected = bound(ratings, 0.2, 0.2)
    assert expected[0] < lower < upper <= expected[1] <= 1


def test_ratings_that_no_correlation_so_small_explains_have_no_bounds():
    opposite = Ratings([[0, 1], [1, 0]] * 10, ["no", "yes"], system=[0, 1] * 10)
    assert np.isnan(bound(opposite, 0.1)).all()


def test_the_sentence_says_where_the_least_accuracy_falls_below():
    scenario = Scenario(n_categories=2, n_items=300, initial_rater_accuracy=(0.9,) * 3)
    ratings = simulate(scenario, seed=1)
    result = find_tipping_point(ratings, above=0.8)
    mistakes = tabulate_mistakes(ratings)
    around = np.array([-0.003, 0.003]) + result.correlation
    before, after = find_least_accuracy(mistakes, around, around)
    assert before > 0.8 >= after
    beyond = [max(c["raters"], c["system"]) > result.correlation for c in read_real_crowds()]
    assert (result.crowds_beyond, result.n_crowds) == (sum(beyond), len(beyond))
    assert "is above 0.80 unless errors" in str(result)
    usual = find_tipping_point(ratings)
    assert usual.crowds_beyond <= usual.n_crowds / 2
    higher = find_tipping_point(ratings, above=usual.above + 0.05)
    assert higher.crowds_beyond >= usual.n_crowds / 2 - 1
    assert "even if no errors correlate" in str(find_tipping_point(ratings, above=0.99))
    assert "however much" in str(find_tipping_point(ratings, above=0.01))


def test_raters_who_never_differ_are_right_unless_all_their_mistakes_are_shared():
    truth = np.arange(40) % 2
    answers = np.where(np.arange(40) < 8, 1 - truth, truth)
    ratings = Ratings(np.column_stack([truth] * 3), ["no", "yes"], system=answers)
    for cap in (0, 0.9):
        assert bound(ratings, cap, level=None)[0] == pytest.approx((0.8, 0.8))
    assert bound(ratings, 1, level=None)[0] == pytest.approx((0.3, 1), abs=0.002)
    needed = find_tipping_point(ratings)
    assert needed.above == 0.75 and needed.correlation > 0.98


@pytest.mark.parametrize("n", [1, 2, 50])
def test_items_that_are_all_alike_have_bounds_and_no_sampling_error(n):
    code = np.arange(n) % 2
    ratings = Ratings(np.c_[code, code, 1 - code], ["no", "yes"], system=code)
    (_, upper), expected = bound(ratings, 0.9)
    assert upper == 1 and np.isnan(expected).all()


@pytest.mark.parametrize("ask", [bound_accuracy, find_tipping_point])
@pytest.mark.parametrize("n", [1, 2, 50])
def test_answers_that_never_differ_say_nothing_of_errors(ask, n):
    codes = np.repeat(np.arange(n)[:, None] % 2, 3, axis=1)
    with pytest.raises(InputError, match="same answer to each of"):
        ask(Ratings(codes, ["no", "yes"], system=codes[:, 0]))
    with pytest.raises(InputError, match="only category is yes"):
        ask(Ratings(0 * codes, ["yes"], system=0 * codes[:, 0]))


def test_what_cannot_be_used_is_refused():
    ratings = load_dataset("lehner_table2")
    with pytest.raises(InputError, match="raters"):
        bound_accuracy(ratings, 1.5)
    with pytest.raises(InputError, match="no item has two ratings"):
        bound_accuracy(Ratings([[0, -1], [-1, 1]], ["a", "b"], system=[0, 1]))
    with pytest.raises(InputError, match="no system"):
        bound_accuracy(Ratings([[0, 1], [1, 1]], ["a", "b"]))
    with pytest.raises(InputError, match="no gold labels"):
        error_correlation(ratings.with_truth(None))


@pytest.mark.slow
def test_copies_of_items_in_clusters_tell_nothing_new():
    single = simulate(Scenario(n_categories=2, n_items=120, initial_rater_accuracy=(0.8,) * 3), 3)
    rows = np.tile(np.arange(single.n_rows), 5)
    copied = single.take(rows).with_clusters(rows)
    widths = []
    for ratings in (single, copied, copied.with_clusters(None)):
        in_sample, expected = bound(ratings, 0.1, 0.1, seed=1)
        widths.append(in_sample[0] - expected[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.4)
    assert widths[2] == pytest.approx(widths[0] / np.sqrt(5), rel=0.1)
    assert widths[1] > 1.3 * widths[2]
