"""Proportions in groups of items: identities, limiting cases, known truths and warnings."""

import numpy as np
import pytest
from scipy import stats

import lehner
from lehner import InputError, Ratings, Scenario, compare, fit_latent_class, simulate
from lehner.contrasts.favour import find_favours, find_favours_by_truths
from lehner.contrasts.groups import check_agreement, group_by_likelihood, group_by_majority
from lehner.estimation.methods import describe_methods

CODES = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, -1], [-1, -1, -1]]
ACCURACY = np.array([0.7, 0.75, 0.8, 0.85])


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """No end of an interval by maximum likelihood is compared with a number that is near."""
    monkeypatch.setattr("lehner.contrasts.groups.RESAMPLES", 50)


def draw(rates, size, accuracy=ACCURACY, seed=1, n_truths=0):
    """Ratings of items in groups, by raters whose accuracy may differ by group, and the groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(rates)), size)
    truth = (rng.random(len(group)) < np.asarray(rates)[group]).astype(int)
    accuracy = np.broadcast_to(accuracy, (len(rates), np.shape(accuracy)[-1]))[group]
    right = rng.random(accuracy.shape) < accuracy
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    shown = np.where(np.tile(np.arange(size), len(rates)) < n_truths, truth, -1)
    ratings = Ratings(codes, ["bad", "good"], truth=shown if n_truths else None)
    return ratings, np.array([f"g{g}" for g in group])


def codes_of(results):
    return {warning.code for warning in results.warnings}


def rates_of(results, category="good", **columns):
    """Base rates with their intervals, by group."""
    return results.select(quantity="base_rates", category=category, **columns).set_index("group")


def ranks_of(results, **columns):
    return results.select(quantity="base_rates_rank", **columns).set_index("group")


def differences_of(results, **columns):
    return results.select(quantity="base_rates_difference", **columns)


def test_the_majority_shares_ties_and_leaves_out_items_without_ratings():
    result = compare(Ratings(CODES, ["bad", "good"]), "good", list("aaabbb"), "majority")
    # Of three items in b one has no ratings and one is tied.
    assert rates_of(result)["estimate"].to_dict() == pytest.approx({"a": 2 / 3, "b": 0.25})
    assert rates_of(result)["n_items"].tolist() == [3, 3]
    ranks = ranks_of(result)
    assert ranks["estimate"].to_dict() == {"a": 1, "b": 2}
    assert ranks["probability"].sum() == pytest.approx(1)
    difference = differences_of(result).iloc[0]
    assert (difference["group"], difference["versus"]) == ("a", "b")
    assert difference["estimate"] == pytest.approx(2 / 3 - 0.25)
    assert difference["probability"] == pytest.approx(ranks["probability"]["a"])


def test_majority_intervals_are_those_of_jeffreys_and_reach_to_the_estimate():
    from scipy.stats import beta

    codes = np.array([[1, 1]] * 30 + [[0, 0]] * 10 + [[1, 1]] * 20)
    result = compare(Ratings(codes, ["bad", "good"]), "good", ["a"] * 40 + ["b"] * 20, "majority")
    a, b = rates_of(result).itertuples()
    assert [a.lower, a.upper] == pytest.approx(beta(30.5, 10.5).ppf([0.05, 0.95]), abs=0.01)
    assert (b.estimate, b.upper) == (1, 1) and b.lower < 0.95


def test_maximum_likelihood_is_the_fit_with_populations():
    ratings, groups = draw((0.7, 0.4), 200)
    result = compare(ratings, "good", groups, "dawid_skene_ml")
    fit = fit_latent_class(ratings.with_populations(groups))
    own = rates_of(result)["estimate"].tolist()
    assert own == pytest.approx(fit.base_rates.sel(category="good").values.tolist())
    accuracy = result.select(quantity="rater_accuracy")["estimate"].tolist()
    assert accuracy == pytest.approx(fit.accuracy.values.tolist())


def test_by_gibbs_many_items_give_the_truth_the_order_and_the_raters():
    rates = (0.8, 0.5, 0.6)
    ratings, groups = draw(rates, 1500)
    result = compare(ratings, "good", groups, "dawid_skene")
    assert rates_of(result)["estimate"].tolist() == pytest.approx(list(rates), abs=0.05)
    ranks = ranks_of(result)
    assert ranks["estimate"].to_dict() == {"g0": 1, "g1": 3, "g2": 2}
    assert ranks["probability"]["g0"] > 0.99
    pairs = differences_of(result)[["group", "versus"]].values.tolist()
    assert pairs == [["g0", "g2"], ["g0", "g1"], ["g2", "g1"]]
    accuracy = result.select(quantity="rater_accuracy")["estimate"].tolist()
    assert accuracy == pytest.approx(ACCURACY.tolist(), abs=0.03)


def test_what_raters_get_wrong_draws_the_majority_together_and_not_the_model():
    ratings, groups = draw((0.9, 0.4), 1500)
    result = compare(ratings, "good", groups, ["dawid_skene_ml", "majority"])
    model, majority = differences_of(result).itertuples()
    assert model.estimate == pytest.approx(0.5, abs=0.05)
    assert majority.upper < 0.42 < model.lower


def test_good_categories_count_together_whatever_their_order_and_type():
    ratings = simulate(Scenario(n_categories=4, n_items=150), 3).with_truth(None)
    groups = np.repeat(["a", "b", "c"], 50)
    names = [str(name) for name in ratings.categories]
    each = compare(ratings, None, groups, "dawid_skene_ml")
    both = compare(ratings, [ratings.categories[3], names[1]], groups, "dawid_skene_ml")
    together = rates_of(both, f"{names[1]} or {names[3]}")["estimate"]
    parts = sum(rates_of(each, names[code])["estimate"] for code in (1, 3))
    assert together.to_dict() == pytest.approx(parts.to_dict())
    assert not len(ranks_of(each)) and len(ranks_of(both)) == 3


def test_without_groups_there_are_base_rates_and_raters_of_all_items():
    ratings = lehner.load_dataset("anesthesia")
    result = compare(ratings, methods="dawid_skene_ml")
    fit = fit_latent_class(ratings)
    rates = result.select(quantity="base_rates")["estimate"].tolist()
    assert rates == pytest.approx(fit.base_rates.values.tolist())
    assert result.select(quantity="rater_accuracy")["rater"].tolist() == list(ratings.raters)
    assert result.options.groups is None and "groups-small" not in codes_of(result)


def test_rows_without_a_group_are_left_out_and_this_is_said():
    ratings, groups = draw((0.7, 0.4), 60)
    some = np.where(np.arange(120) % 3 > 0, groups, "")
    result = compare(ratings, "good", some, "majority")
    alone = compare(ratings.take(some != ""), "good", some[some != ""], "majority")
    assert result.table.equals(alone.table)
    assert "groups-made" in codes_of(result) - codes_of(alone)


def test_populations_of_the_ratings_are_groups_and_systems_are_left_out():
    ratings, groups = draw((0.7, 0.4), 60)
    by_population = compare(ratings.with_populations(groups), "good", methods="majority")
    without = compare(ratings.with_system("1").without_system(), "good", groups, "majority")
    with_system = compare(ratings.with_system("1"), "good", groups, "majority")
    assert not by_population.table.equals(with_system.table)
    assert with_system.table.equals(without.table)


def test_the_same_seed_gives_the_same_numbers():
    ratings, groups = draw((0.7, 0.4), 50)
    first, same, other = (compare(ratings, "good", groups, seed=seed).table for seed in (1, 1, 2))
    assert first.equals(same) and not first.equals(other)


def test_names_of_groups_do_not_matter():
    ratings, groups = draw((0.7, 0.4), 100)
    renamed = np.where(groups == "g0", "z", "y")
    first, second = (
        differences_of(compare(ratings, "good", names, "majority"))["estimate"].iloc[0]
        for names in (groups, renamed)
    )
    assert first == second > 0


def test_known_truths_correct_each_group_and_are_counted():
    ratings, groups = draw((0.7, 0.4), 150, n_truths=150)
    result = compare(ratings, "good", groups, "majority")
    on_labelled = result.select(quantity="base_rates_on_known_items").set_index("group")
    for g, row in rates_of(result).iterrows():
        good = int((ratings.truth[groups == g] == 1).sum())
        assert (on_labelled["n_items"][g], on_labelled["estimate"][g]) == (150, good / 150)
        # All are known: what is left is how far these items are from items like these.
        assert row["corrected"] and row["estimate"] == pytest.approx((good + 0.5) / 151, abs=0.002)
        assert row["upper"] - row["lower"] < 0.14
    # What the majority says alone stands beside it.
    own = result.table.query("quantity == 'base_rates' and not corrected")["estimate"].tolist()
    without = compare(ratings.with_truth(None), "good", groups, "majority")
    assert own == rates_of(without)["estimate"].tolist()


def test_known_truths_correct_what_raters_who_differ_between_groups_bias():
    accuracy = np.array([[0.8] * 5, [0.55, 0.55, 0.6, 0.6, 0.6]])
    plain, groups = draw((0.8, 0.8), 400, accuracy)
    some, _ = draw((0.8, 0.8), 400, accuracy, n_truths=60)
    wrong, right = (
        differences_of(compare(data, "good", groups, "dawid_skene_ml")).iloc[0]
        for data in (plain, some)
    )
    assert wrong["lower"] > 0.1
    assert right["lower"] < 0 < right["upper"]


@pytest.mark.slow
def test_raters_who_differ_between_groups_are_noticed_and_others_are_not():
    def fires(accuracy, seed):
        ratings, groups = draw((0.7, 0.5), 400, accuracy, seed)
        ratings = ratings.with_populations(groups)
        result = group_by_likelihood(ratings, "dawid_skene")
        p_value, _ = check_agreement(
            ratings, *(result.point[name] for name in ("base_rates", "rater_confusion"))
        )
        return p_value <= 0.05

    assert sum(fires(ACCURACY, seed) for seed in range(30)) <= 3
    assert sum(fires([ACCURACY, ACCURACY - 0.2], seed) for seed in range(10)) >= 8


def test_raters_who_always_agree_and_groups_of_few_items_do_not_seem_to_differ():
    codes = np.repeat([[1, 1, 1], [0, 0, 0]], 60, axis=0)
    groups = np.tile(["a", "b"], 60)
    for items in (slice(None), slice(50, 70)):
        result = compare(Ratings(codes[items], ["bad", "good"]), "good", groups[items])
        assert "raters-differ" not in codes_of(result)


@pytest.mark.parametrize(
    ("ratings", "groups", "code"),
    [
        (draw((0.6, 0.6), 40)[0], ["a"] * 80, "groups-small"),
        (*draw((0.6, 0.6), 29), "groups-small"),
        (*draw((0.7, 0.5), 200, [0.8, 0.8, 0.8, 0.2]), "rater-below-chance"),
        (*draw((0.7, 0.5), 400, [ACCURACY, ACCURACY - 0.2]), "raters-differ"),
    ],
)
def test_a_warning_for(ratings, groups, code):
    assert code in codes_of(compare(ratings, "good", groups, "dawid_skene_ml"))
    calm, names = draw((0.7, 0.5), 200)
    assert code not in codes_of(compare(calm, "good", names, "dawid_skene_ml"))


def test_a_category_that_nobody_gave_has_a_small_proportion_and_a_warning():
    ratings, groups = draw((0.7, 0.5), 50)
    wider = Ratings(ratings.codes, ["bad", "good", "best"])
    result = compare(wider, "best", groups, ["dawid_skene", "majority"])
    assert "category-never-rated" in codes_of(result)
    for row in rates_of(result, "best", method="majority").itertuples():
        assert row.estimate == 0 < row.upper < 0.1


def test_raters_at_chance_level_have_wide_intervals():
    ratings, groups = draw((0.7, 0.4), 100, [0.5, 0.5, 0.5])
    row = rates_of(compare(ratings, "good", groups, "dawid_skene")).iloc[0]
    assert row["upper"] - row["lower"] > 0.4


def test_what_cannot_be_compared_is_said():
    ratings, groups = draw((0.7, 0.4), 20)
    for arguments, text in (
        (("god", groups), "did you mean 'good'"),
        ((["bad", "good"], groups), "all categories are called good"),
        (("good", groups[:3]), "groups are given for 3 rows"),
        (("good", groups, "algebraic"), "algebraic needs a system; choose among majority"),
        (("good", groups, "nobody"), "there is no method 'nobody'"),
        (("good", [""] * 40), "no item belongs to a group"),
    ):
        with pytest.raises(InputError, match=text):
            compare(ratings, *arguments)
    with pytest.raises(InputError, match="there is 1 rater"):
        compare(Ratings([[1], [0]], ["bad", "good"]), "good")
    with pytest.raises(InputError, match="seed"):
        compare(ratings, "good", groups, "majority", seed=-1)
    for winners in (["model_a", "model_b"], ["Response 1", "Response 2", "tie"], ["Answer-A", "b"]):
        battles = Ratings(ratings.codes, winners)
        with pytest.raises(InputError, match="is how often the first of two answers won"):
            compare(battles, groups=groups)


def test_raters_who_are_unknown_are_pooled():
    result = compare(lehner.load_dataset("fleiss1971"))
    assert result.table["method"].unique().tolist() == ["pooled_ml", "majority"]


def test_every_method_that_is_listed_compares():
    listed = describe_methods("populations", "judge")
    assert {"majority", "dawid_skene", "dawid_skene_ml"} <= set(listed)
    ratings, groups = draw((0.7, 0.4), 30)
    for method in listed:
        if method == "majority" or method.endswith("_ml"):
            assert {*compare(ratings, "good", groups, method).table["method"]} - {""} == {method}


@pytest.mark.slow
@pytest.mark.parametrize(("clustered", "covers"), [(True, 0.9), (False, 0.69)])
def test_intervals_cover_as_often_as_they_say_where_epochs_are_named(clustered, covers):
    """Five answers to each of 40 questions, three raters; base rates of questions correlate by .4.

    Half are good, so that the majority's share is right on average, whatever the raters' errors.
    """
    inside = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        question = np.repeat(np.arange(40), 5)
        truth = rng.random(200) < rng.beta(0.75, 0.75, 40)[question]
        codes = np.where(rng.random((3, 200)) < 0.9, truth, ~truth).T.astype(int)
        ratings = Ratings(codes, ["bad", "good"], cluster=question if clustered else None)
        ratings = ratings.with_populations(["all"] * 200)
        rates = group_by_majority(ratings, level=0.9, seed=seed)
        lower, upper = np.quantile(rates.drawn["base_rates"][:, 0, 1], [0.05, 0.95])
        inside += lower <= 0.5 <= upper
    assert inside / 400 == pytest.approx(covers, abs=3 * np.sqrt(covers * (1 - covers) / 400))


@pytest.mark.parametrize("size", [1, 4, 10])
def test_intervals_are_as_wide_as_sums_over_clusters_vary(size):
    rng, n = np.random.default_rng(size), 60 * size
    cluster = np.repeat(np.arange(120), size)
    share = rng.beta(*np.repeat([[0.5, 20], [0.5, 20]], 60, axis=1))
    good = (rng.random(2 * n) < share[cluster]).astype(int)
    ratings = Ratings(np.repeat(good[:, None], 3, axis=1), ["bad", "good"]).with_clusters(cluster)
    result = compare(ratings, "good", np.repeat(["a", "b"], n), "majority")
    rates, (difference,) = rates_of(result), differences_of(result).to_dict("records")
    sums = np.bincount(cluster, good).reshape(2, 60)
    errors = dict(zip("ab", sums.std(axis=1, ddof=1) * np.sqrt(60) / n, strict=True))
    t = 2 * stats.t.ppf(0.95, 59)
    for name, error in errors.items():
        width = rates["upper"][name] - rates["lower"][name]
        assert width == pytest.approx(t * error, rel=0.06)
    width = difference["upper"] - difference["lower"]
    assert width == pytest.approx(t * np.hypot(*errors.values()), rel=0.06)


def judge(n, rates, accuracies, *, favour=0.0, hard=0.0, size=1, seed=1):
    """Ratings of groups of n items by judges, of whom the first may favour the first group.

    Their errors are correlated by items that are hard for all, and each judge's within clusters.
    """
    rng, n_judges = np.random.default_rng(seed), len(accuracies)
    group = np.repeat(np.arange(len(rates)), n)
    cluster = np.arange(len(group)) // size
    latent = rng.standard_normal((2, len(group)))
    shared = np.sqrt(0.5) * (latent[0][cluster] + latent[1]) if size > 1 else latent[1]
    truth = (shared < stats.norm.ppf(np.asarray(rates)[group])).astype(int)
    accuracy = np.asarray(accuracies).T[truth]
    accuracy = stats.norm.ppf(accuracy - 0.35 * (rng.random(len(group)) < hard)[:, None])
    own = rng.standard_normal((len(group), n_judges))[cluster] * (0.5 if size > 1 else 0)
    right = rng.random(accuracy.shape) < stats.norm.cdf(accuracy * np.hypot(1, own.std()) + own)
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    codes[(group == 0) & (truth == 0) & (rng.random(len(group)) < favour), 0] = 1
    ratings = Ratings(codes, ["bad", "good"], raters=[f"J{j}" for j in range(n_judges)])
    ratings = ratings.with_clusters(cluster) if size > 1 else ratings
    return ratings.with_populations(np.array([f"g{g}" for g in group]))


ALIKE = [(0.72, 0.92), (0.7, 0.9), (0.7, 0.88)]
UNLIKE = [(0.85, 0.95), (0.7, 0.8), (0.8, 0.65)]


def test_a_judge_who_favours_a_group_is_named_and_one_who_is_more_accurate_is_not():
    favoured = judge(2000, [0.6, 0.6, 0.6], ALIKE, favour=0.4)
    result = compare(favoured, "good", methods="majority")
    (warning,) = [x for x in result.warnings if x.code == "rater-favours"]
    assert warning.severity == "changes" and "J0 calls items of g0 good more often" in warning.text
    rows = result.select(quantity="favour", rater="J0").set_index("group")
    # Of the bad items, 40% of those that the judge calls bad; others call no more of them good.
    lifted, row = 0.4 * 0.4 * 0.72, rows.loc["g0"]
    assert row["lower"] < lifted < row["upper"] and row["probability"] < 0.001
    assert (rows["estimate"].drop("g0") < 0).all() and row["n_items"] == 2000
    honest = judge(2000, [0.3, 0.6, 0.9], UNLIKE)
    x = honest.codes - honest.codes[:, 1:].mean(axis=1, keepdims=True)
    assert x[:2000, 0].mean() < x[4000:, 0].mean() - 0.15
    assert not find_favours(honest, [1], "good")[1]


def test_copies_of_items_in_a_cluster_tell_nothing_more_of_a_favour():
    once = judge(100, [0.4, 0.6, 0.8], ALIKE, favour=0.3)
    often = once.take(np.repeat(np.arange(300), 4)).with_clusters(np.repeat(np.arange(300), 4))
    counted = once.take(np.arange(300), np.full(300, 4))
    expected, rows, more = (find_favours(x, [1], "good")[0] for x in (once, often, counted))
    for row, same, narrower in zip(expected, rows, more, strict=True):
        assert {**row, "n_items": 400} == pytest.approx(same)
        widths = (x["upper"] - x["lower"] for x in (row, narrower))
        assert next(widths) > next(widths)


def test_favour_is_not_tested_where_it_cannot_be_seen():
    two = judge(300, [0.5, 0.5], ALIKE[:2])
    assert find_favours(two, [1], "good") == ([], [])
    codes = np.where(np.arange(4) == np.arange(40)[:, None] % 4, -1, 1)
    some = Ratings(codes, ["bad", "good"]).with_populations(["x", "y"] * 20)
    assert find_favours(some, [1], "good") == ([], [])
    agreeing = Ratings([[k, k, k] for k in (0, 1) * 50], ["bad", "good"])
    agreeing = agreeing.with_populations(["a", "b", "b", "a"] * 25)
    assert find_favours(agreeing, [1], "good") == ([], [])
    result = compare(judge(300, [0.5, 0.5], ALIKE, favour=0.5), methods="majority")
    assert set(result.select(quantity="favour")["group"]) == {"g0"}  # the other is its opposite


FAVOURS = {
    "alike": dict(n=150, rates=[0.6] * 4, accuracies=ALIKE),
    "unlike": dict(n=150, rates=[0.3, 0.5, 0.7, 0.9], accuracies=UNLIKE, hard=0.2),
    "clusters": dict(n=150, rates=[0.4, 0.6, 0.8], accuracies=UNLIKE, size=5),
    "few clusters": dict(n=80, rates=[0.6] * 3, accuracies=ALIKE, size=10),
    "small": dict(n=40, rates=[0.4, 0.6, 0.8], accuracies=ALIKE),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAVOURS)
def test_equal_favour_is_seldom_called_unequal(name):
    drawn = (judge(**FAVOURS[name], seed=seed) for seed in range(200))
    n_wrong = sum(bool(find_favours(ratings, [1], "good")[1]) for ratings in drawn)
    assert n_wrong <= 200 * 0.05 + 2 * np.sqrt(200 * 0.05 * 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5])
def test_a_favour_of_the_size_of_the_trial_s_is_found(size):
    of = {"accuracies": ALIKE, "favour": 0.45, "hard": 0.2, "size": size}
    drawn = (judge(500, [0.6, 0.6, 0.6], seed=seed, **of) for seed in range(100))
    n_found = sum("J0 calls items of g0" in str(find_favours(x, [1], "good")[1]) for x in drawn)
    assert n_found >= 60


def test_labels_show_a_favour_as_large_as_it_is_within_each_truth():
    truth, said = np.tile([1, 1, 0, 0], 40), np.ones((160, 2), int)
    said[:, 1] = truth
    said[80:][truth[80:] == 0, 0] = 0
    ratings = Ratings(said, ["bad", "good"], truth=truth, raters=["J0", "J1"])
    ratings = ratings.with_populations(np.repeat(["x", "y"], 80))
    rows, (warning,) = find_favours_by_truths(ratings, [1], "good")
    # All bad items of x are called good, half of its labelled items; none of y.
    assert [row["estimate"] for row in rows] == [0.5, 0.0]
    assert rows[0]["probability"] < 0.001 and rows[1]["probability"] == 1
    assert rows[0]["lower"] < 0.5 < rows[0]["upper"] and rows[0]["n_items"] == 80
    assert "J0 calls items of x good more often than the gold labels let expect" in warning.text
    nobody = ratings.with_truth(np.full(160, -1))
    assert find_favours_by_truths(nobody, [1], "good") == ([], [])


def test_several_judges_and_labels_are_weighed_by_what_the_judges_say_together():
    judged = judge(200, [0.6, 0.6, 0.6], ALIKE, favour=0.4)
    ratings = judged.with_truth(np.where(np.arange(600) % 8 == 0, judged.codes[:, 1], -1))
    table = compare(ratings, "good", methods=["post_stratified", "majority"]).table
    both = table[(table["quantity"] == "base_rates") & table["corrected"]]
    assert list(dict.fromkeys(both["method"])) == ["post_stratified", "majority"]
    assert {*table[table["quantity"] == "favour_by_truths"]["rater"]} == {"J0", "J1", "J2"}
    with pytest.raises(InputError, match=r"post_stratified needs gold labels; choose .*majority"):
        compare(judged, "good", methods="post_stratified")
    with pytest.raises(InputError, match=r"algebraic needs a system; choose .*post_stratified"):
        compare(ratings, "good", methods="algebraic")
