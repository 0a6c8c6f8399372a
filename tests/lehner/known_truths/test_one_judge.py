"""One judge and gold labels: published numbers, identities and limits."""

import numpy as np
import pytest
from scipy.stats import fisher_exact, norm

from lehner import InputError, Ratings
from lehner.core.resampling import check_tables
from lehner.data.counts import count_codes
from lehner.known_truths.one_judge import JUDGED_BY, JudgedItems, count_judged, estimate_judged

BY_GROUP = [name for name, method in JUDGED_BY.items() if method.by_truths and not method.alike]


def items_of(answers, labels):
    answers, labels = (np.insert(np.array(x, float), 2, 0, axis=-1) for x in (answers, labels))
    labelled = labels.sum(axis=1) / np.maximum(answers, 1)
    counts = dict(answers=answers, independent=answers, labels=labels, by_answer=labels)
    return JudgedItems(**counts, labelled=labelled)


def ask(method, items, seed=1):
    """Ask for the last of two categories, in each group."""
    return JUDGED_BY[method].ask(items, np.array([False, True]), np.random.default_rng(seed))


def p_of_alike(items):
    return check_tables(items.labels.swapaxes(0, 1))


def draw(rates, n, m, recalls, seed=1, cluster=None):
    """Items of groups with base rates of "good"; `recalls` are of bad and good, by group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(rates)), n)
    truth = (rng.random(len(group)) < np.array(rates)[group]).astype(int)
    right = rng.random(len(group)) < np.array(recalls)[group, truth]
    labelled = np.tile(np.arange(n) < m, len(rates))
    ratings = Ratings(
        np.where(right, truth, 1 - truth)[:, None],
        ["bad", "good"],
        truth=np.where(labelled, truth, -1),
        cluster=cluster,
    )
    return ratings.with_populations([f"g{g}" for g in group])


def test_rogan_gladen_of_the_example_of_lee_et_al():
    """The README of their code: p .4 of 1,000, specificity .7, sensitivity .9 of 200 each."""
    items = items_of([[600, 400]], [[[140, 60], [20, 180]]])
    rates, drawn = ask("rogan_gladen", items)
    assert rates[0] == pytest.approx(1 / 6)
    lower, upper = lang_reiczigel(0.4, 0.7, 0.9, 1000, 200, 200)
    assert np.quantile(drawn[:, 0], [0.025, 0.975]) == pytest.approx([lower, upper], abs=0.012)


def lang_reiczigel(p, specificity, sensitivity, n, m0, m1):
    """Lang & Reiczigel (2014), https://doi.org/10.1016/j.prevetmed.2013.09.015, which they use."""
    z = norm.ppf(0.975)
    p, n = (n * p + z**2 / 2) / (n + z**2), n + z**2
    q0, m0 = (m0 * specificity + 1) / (m0 + 2), m0 + 2
    q1, m1 = (m1 * sensitivity + 1) / (m1 + 2), m1 + 2
    rate = (p + q0 - 1) / (q0 + q1 - 1)
    shift = 2 * z**2 * (rate * q1 * (1 - q1) / m1 - (1 - rate) * q0 * (1 - q0) / m0)
    variance = p * (1 - p) / n + (1 - rate) ** 2 * q0 * (1 - q0) / m0
    error = np.sqrt(variance + rate**2 * q1 * (1 - q1) / m1) / (q0 + q1 - 1)
    return rate + shift - z * error, rate + shift + z * error


def test_ppi_is_that_of_its_authors_package():
    """By ppi-python 0.2.3: `ppi_mean_ci(Y, Yhat, Yhat_unlabeled, alpha=0.1)` of the case 35.

    There the variance of all answers is divided by n - 1, so that λ is 1/400 smaller.
    """
    rates, drawn = ask("prediction_powered", items_of([[124, 276]], [[[29, 8], [4, 39]]]))
    assert rates[0] == pytest.approx(0.6195812, abs=3e-4)
    lower, upper = np.quantile(drawn[:, 0], [0.05, 0.95])
    assert (lower, upper) == pytest.approx((0.54861452, 0.69054789), abs=0.004)
    groups = [[[13, 6], [2, 22]], [[16, 2], [2, 17]]]
    rates, _ = ask("prediction_powered", items_of([[53, 150], [71, 126]], groups))
    assert rates == pytest.approx([0.62521415, 0.62004361], abs=6e-4)


def test_where_all_items_are_labelled_labels_decide():
    labels = [[[30, 10], [5, 55]]]
    items = items_of([[35, 65]], labels)
    for method in ("post_stratified", "prediction_powered", "gold_labels", "rogan_gladen"):
        assert ask(method, items)[0][0] == pytest.approx(0.6, abs=0.005), method


def test_a_judge_who_is_always_right_needs_no_labels():
    items = items_of([[4000, 6000]], [[[40, 0], [0, 60]]])
    for method in ("post_stratified", "rogan_gladen", "judge"):
        rates, drawn = ask(method, items)
        assert rates[0] == pytest.approx(0.6, abs=0.004), method
    assert drawn[:, 0].std() < 0.01


def test_a_judge_who_guesses_helps_nothing_and_has_no_rogan_gladen_estimate():
    items = items_of([[500, 500]], [[[20, 20], [30, 30]]])
    alone = ask("gold_labels", items)[1][:, 0].std()
    for method in ("post_stratified", "prediction_powered"):
        assert ask(method, items)[1][:, 0].std() == pytest.approx(alone, rel=0.06), method
    assert np.isnan(ask("rogan_gladen", items)[0]).all()


def test_groups_without_labels_rest_on_the_judge_elsewhere():
    ratings = draw([0.7, 0.4], 200, 40, [[0.8, 0.9]] * 2)
    ratings = ratings.with_truth(np.where(np.arange(400) < 200, ratings.truth, -1))
    for method in JUDGED_BY:
        result = estimate_judged(method, count_judged(ratings), ratings)
        assert np.isnan(result.point["base_rates"][1]).all() == (method in BY_GROUP), method
        code = "method-undefined" if method in BY_GROUP else "judge-unseen"
        assert [warning.code for warning in result.warnings] == [code] * (method != "judge")


def test_clusters_count_as_fewer_items():
    ratings = draw([0.6], 200, 80, [[0.8, 0.9]])
    alone = count_judged(ratings)
    same = Ratings(
        np.repeat(ratings.codes, 5, axis=0),
        ["bad", "good"],
        truth=np.repeat(ratings.truth, 5),
        cluster=np.repeat(np.arange(200), 5),
    )
    result = count_judged(same.with_populations(["all"] * 1000))
    # Each item five times tells as much as once, but for Student's t.
    assert result.independent.sum() == pytest.approx(alone.answers.sum(), rel=0.03)
    assert result.labels.sum() == pytest.approx(alone.labels.sum(), rel=0.06)


def test_labels_drawn_with_unequal_probabilities_are_weighted():
    rng = np.random.default_rng(1)
    truth = (rng.random(4000) < 0.6).astype(int)
    said = np.where(rng.random(4000) < 0.8, truth, 1 - truth)
    chance = np.where(said == 1, 0.4, 0.1)
    labelled = rng.random(4000) < chance
    ratings = Ratings(said[:, None], ["bad", "good"]).with_truth(
        np.where(labelled, truth, -1), probability=chance
    )
    ratings = ratings.with_populations(["all"] * 4000)
    result = estimate_judged("gold_labels", count_judged(ratings), ratings)
    assert result.point["base_rates"][0, 1] == pytest.approx(truth.mean(), abs=0.04)
    assert truth[labelled].mean() > 0.68


def test_whether_the_judge_errs_alike_is_fisher_s_test_in_a_table_of_two_groups():
    labels = np.zeros((2, 2, 2))
    labels[:, 0] = [[9, 3], [4, 8]]
    expected = fisher_exact(labels[:, 0]).pvalue
    assert check_tables(labels.swapaxes(0, 1)) == pytest.approx(expected, abs=0.02)


def test_whether_the_judge_errs_alike_is_rejected_as_often_as_it_says():
    p_values = [
        p_of_alike(count_judged(draw([0.6, 0.5], 60, 30, [[0.7, 0.9]] * 2, seed=seed)))
        for seed in range(200)
    ]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 200)
    favoured = count_judged(draw([0.6, 0.5], 300, 150, [[0.4, 0.9], [0.9, 0.9]]))
    assert p_of_alike(favoured) < 0.001


@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize("method", ["gold_labels", "judge", "post_stratified"])
def test_a_prior_counts_once_whatever_the_number_of_categories(method, k):
    """Half of the categories are good; a scale of two says the same of these groups."""
    rng, half = np.random.default_rng(3), k // 2
    truth = np.where(
        rng.random(4000) < 0.8, rng.integers(half, k, 4000), rng.integers(0, half, 4000)
    )
    said = np.clip(truth + rng.integers(-1, 2, 4000), 0, k - 1)
    known = np.where(np.arange(4000) % 100 < 40, truth, -1)
    groups = np.arange(4000) // 100
    scale = Ratings(said[:, None], list(range(k)), truth=known).with_populations(groups)
    items, good = count_judged(scale), {"good": list(range(half, k))}
    result = estimate_judged(method, items, scale, good)
    target = (said if method == "judge" else truth) >= half
    # In 40 groups of 40 labels: the half item a category of ten was a bias of -.12.
    assert result.point["base_rates"].mean() == pytest.approx(target.mean(), abs=0.015)
    assert result.drawn["base_rates"].mean() == pytest.approx(target.mean(), abs=0.02)
    alone = estimate_judged(method, items, scale).point["base_rates"]
    assert alone.sum(axis=-1) == pytest.approx(1)


def test_no_answer_is_one_more_answer():
    """What a judge without an answer for an item says is what a third answer says."""
    ratings = draw([0.6, 0.4], 300, 80, [[0.8, 0.9]] * 2)
    silent = (np.arange(600) % 3 == 0) & (ratings.codes[:, 0] == 0)
    by_answer = np.where(silent, 2, ratings.codes[:, 0])
    none = ratings.replace(entries=count_codes(np.where(silent, -1, by_answer)[:, None], 2))
    items = count_judged(none)
    rates = estimate_judged("post_stratified", items, none, {"good": [1]}).point["base_rates"][:, 0]
    truth, group = np.asarray(ratings.truth), np.asarray(ratings.population)
    for g in (0, 1):
        shares, of = zip(
            *(
                (inside.sum() / 300, (truth[inside & (truth >= 0)] == 1).mean())
                for inside in ((group == g) & (by_answer == answer) for answer in range(3))
            ),
            strict=True,
        )
        assert rates[g] == pytest.approx(np.dot(shares, of))
    assert items.answers.sum() == 600


def test_methods_state_no_interval_where_they_have_none():
    """Normal intervals of width zero, and solutions beyond 0 and 1."""
    good, few = [[20, 180]], [[0, 0], [0, 40]]
    for labels in ([few], [[[40, 0], [0, 60]]], [[[3, 1], [4, 32]]]):
        assert np.isnan(ask("prediction_powered", items_of(good, labels))[0]).all()
    below = items_of([[190, 10]], [[[30, 10], [10, 30]]])
    assert np.isnan(ask("rogan_gladen", below)[0]).all()
    ratings = draw([0.97, 0.5], 200, 20, [[0.75, 0.9]] * 2)
    result = estimate_judged("prediction_powered", count_judged(ratings), ratings, {"good": [1]})
    assert (
        np.isnan(result.point["base_rates"][0]).all()
        and not np.isnan(result.point["base_rates"][1]).any()
    )
    (warning,) = result.warnings
    assert warning.code == "method-undefined" and "no estimate of g0" in warning.text


def test_without_a_label_of_a_rated_item_nothing_is_estimated():
    ratings = Ratings([[0], [-1]], ["no", "yes"], truth=[-1, 1]).with_populations(["all"] * 2)
    with pytest.raises(InputError, match="no item that was rated has a gold label"):
        count_judged(ratings)


def panel(n, labels, seed=1):
    """Ratings of two groups by three judges, of which `labels` items of each have a gold label."""
    rng = np.random.default_rng(seed)
    group, truth = np.repeat(["a", "b"], n), (rng.random(2 * n) < 0.6).astype(int)
    right = rng.random((2 * n, 3)) < 0.8
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    codes[::7, 0] = -1
    shown = np.where(np.tile(np.arange(n) < labels, 2), truth, -1)
    ratings = Ratings(codes, ["bad", "good"], truth=shown, raters=["A", "B", "C"])
    return ratings.with_populations(group)


def test_labels_weigh_as_often_as_most_or_all_judges_say_the_same():
    ratings = panel(300, 60)
    votes, group = ratings.count_votes(), np.asarray(ratings.population)
    said, n_highest = votes.argmax(axis=1), votes.max(axis=1)
    kind = np.where(votes[:, 0] == votes[:, 1], 4, 2 * said + (n_highest == 3))
    rates = []
    for g in range(2):
        inside, known = group == g, (group == g) & (np.asarray(ratings.truth) >= 0)
        parts = [np.asarray(ratings.truth)[known & (kind == k)].mean() for k in range(5)]
        rates.append(np.bincount(kind[inside], minlength=5) / inside.sum() @ parts)
    found = estimate_judged("post_stratified", count_judged(ratings), ratings, {"good": [1]})
    np.testing.assert_allclose(found.point["base_rates"][:, 0], rates)


def test_chances_that_depend_on_the_answer_alone_change_nothing_that_is_weighted_by_answers():
    ratings = panel(300, 60)
    alone = ratings.replace(entries=ratings.entries.take_raters(np.array([1])), raters=("B",))
    chance = np.where(alone.codes[:, 0] == 1, 0.5, 0.05)
    weighted = alone.with_truth(alone.truth, chance)
    items, same = count_judged(weighted), count_judged(alone)
    np.testing.assert_allclose(items.by_answer, same.by_answer)
    assert (items.labels.sum() < same.labels.sum() - 20) and (same.labels == same.by_answer).all()
    first, second = (estimate_judged("post_stratified", x, alone) for x in (items, same))
    np.testing.assert_allclose(first.drawn["base_rates"], second.drawn["base_rates"])


def test_a_prior_of_an_answer_that_few_labels_have_does_not_draw_the_rate_to_a_half():
    """How many labels are to be expected counts, and not how many there are."""
    rare = items_of([[40, 360]], [[[0, 0], [2, 18]]])
    point, drawn = ask("post_stratified", rare)
    assert point[0] == 1 and np.quantile(drawn, 0.05) > 0.9
    many = items_of([[200, 200]], [[[0, 0], [2, 18]]])
    assert np.quantile(ask("post_stratified", many)[1], 0.05) < 0.8
