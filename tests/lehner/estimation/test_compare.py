"""Proportions in groups of items: identities, limiting cases, known truths and warnings."""

import json

import numpy as np
import pytest

import lehner
from lehner import InputError, Ratings, Scenario, compare, fit_latent_class, simulate
from lehner.estimation.compare import compare_methods
from lehner.groups.base_rates import agreement_by_population, likelihood_base_rates

CODES = [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, -1], [-1, -1, -1]]
ACCURACY = np.array([0.7, 0.75, 0.8, 0.85])


def draw(rates, size, accuracy=ACCURACY, seed=1, known=0):
    """Ratings of items in groups, by raters whose accuracy may differ by group, and the groups."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(rates)), size)
    truth = (rng.random(len(group)) < np.asarray(rates)[group]).astype(int)
    accuracy = np.broadcast_to(accuracy, (len(rates), np.shape(accuracy)[-1]))[group]
    right = rng.random(accuracy.shape) < accuracy
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    shown = np.where(np.tile(np.arange(size), len(rates)) < known, truth, -1)
    ratings = Ratings(codes, ["bad", "good"], truth=shown if known else None)
    return ratings, np.array([f"g{g}" for g in group])


def codes_of(found):
    results = [warning.code for one in found.results for warning in one.warnings]
    return {*results, *(warning.code for warning in found.warnings)}


def test_the_majority_shares_ties_and_leaves_out_items_without_ratings():
    found = compare(Ratings(CODES, ["bad", "good"]), "good", list("aaabbb"), "majority")
    a, b = found.results[0].groups
    assert a.proportions["good"].estimate == pytest.approx(2 / 3)
    # Of three items in b one has no ratings and one is tied.
    assert b.proportions["good"].estimate == pytest.approx(0.25)
    assert (a.n_items, b.n_items, a.rank, b.rank) == (3, 3, 1, 2)
    assert a.probability_best + b.probability_best == pytest.approx(1)
    (difference,) = found.results[0].differences
    assert difference.groups == ("a", "b")
    assert difference.difference.estimate == pytest.approx(2 / 3 - 0.25)
    assert difference.probability_higher == pytest.approx(a.probability_best)


def test_majority_intervals_are_those_of_jeffreys_and_reach_to_the_estimate():
    from scipy.stats import beta

    codes = np.array([[1, 1]] * 30 + [[0, 0]] * 10 + [[1, 1]] * 20)
    found = compare(Ratings(codes, ["bad", "good"]), "good", ["a"] * 40 + ["b"] * 20, "majority")
    a, b = (one.proportions["good"] for one in found.results[0].groups)
    assert [a.lower, a.upper] == pytest.approx(beta(30.5, 10.5).ppf([0.05, 0.95]), abs=0.01)
    assert (b.estimate, b.upper) == (1, 1) and b.lower < 0.95


def test_maximum_likelihood_is_the_fit_with_populations():
    ratings, groups = draw((0.7, 0.4), 200)
    found = compare(ratings, "good", groups, "dawid_skene_ml")
    fit = fit_latent_class(ratings.with_populations(groups))
    own = [one.proportions["good"].estimate for one in found.results[0].groups]
    assert own == pytest.approx(fit.base_rates.sel(category="good").values.tolist())
    accuracy = [one.estimate for one in found.results[0].rater_accuracy.values()]
    assert accuracy == pytest.approx(fit.accuracy.values.tolist())


def test_by_gibbs_many_items_give_the_truth_the_order_and_the_raters():
    rates = (0.8, 0.5, 0.6)
    ratings, groups = draw(rates, 1500)
    result = compare(ratings, "good", groups, "dawid_skene").results[0]
    for one, rate in zip(result.groups, rates, strict=True):
        assert one.proportions["good"].estimate == pytest.approx(rate, abs=0.05)
    assert [one.rank for one in result.groups] == [1, 3, 2]
    assert result.groups[0].probability_best > 0.99
    assert [one.groups for one in result.differences] == [("g0", "g2"), ("g0", "g1"), ("g2", "g1")]
    accuracy = [one.estimate for one in result.rater_accuracy.values()]
    assert accuracy == pytest.approx(ACCURACY.tolist(), abs=0.03)


def test_what_raters_get_wrong_draws_the_majority_together_and_not_the_model():
    ratings, groups = draw((0.9, 0.4), 1500)
    found = compare(ratings, "good", groups, ["dawid_skene_ml", "majority"])
    model, majority = (one.differences[0].difference for one in found.results)
    assert model.estimate == pytest.approx(0.5, abs=0.05)
    assert majority.upper < 0.42 < model.lower


def test_good_categories_count_together_whatever_their_order_and_type():
    ratings = simulate(Scenario(n_categories=4, n_items=150), 3).with_truth(None)
    groups = np.repeat(["a", "b", "c"], 50)
    names = ratings.categories
    each = compare(ratings, None, groups, "dawid_skene_ml").results[0].groups
    both = compare(ratings, [names[3], str(names[1])], groups, "dawid_skene_ml")
    assert both.good == f"{names[1]} or {names[3]}"
    for alone, together in zip(each, both.results[0].groups, strict=True):
        parts = [alone.proportions[str(names[code])].estimate for code in (1, 3)]
        assert together.proportions[both.good].estimate == pytest.approx(sum(parts))
        assert alone.rank is None and together.rank is not None


def test_without_groups_there_are_base_rates_and_raters_of_all_items():
    ratings = lehner.load_dataset("anesthesia")
    found = compare(ratings, methods="dawid_skene_ml")
    (one,) = found.results[0].groups
    fit = fit_latent_class(ratings)
    rates = [value.estimate for value in one.proportions.values()]
    assert rates == pytest.approx(fit.base_rates.values.tolist())
    assert list(found.results[0].rater_accuracy) == list(ratings.raters)
    assert found.grouped_by == "" and "one-group" not in codes_of(found)


def test_rows_without_a_group_are_left_out_and_this_is_said():
    ratings, groups = draw((0.7, 0.4), 60)
    some = np.where(np.arange(120) % 3 > 0, groups, "")
    found = compare(ratings, "good", some, "majority")
    alone = compare(ratings.take(some != ""), "good", some[some != ""], "majority")
    assert found.results == alone.results
    assert "groups-made" in codes_of(found) - codes_of(alone)


def test_populations_of_the_ratings_are_groups_and_systems_are_left_out():
    ratings, groups = draw((0.7, 0.4), 60)
    by_population = compare(ratings.with_populations(groups), "good", methods="majority")
    without = compare(ratings.with_system("1").without_system(), "good", groups, "majority")
    with_system = compare(ratings.with_system("1"), "good", groups, "majority")
    assert by_population.results != with_system.results == without.results


def test_counted_rows_are_items():
    ratings, groups = draw((0.7, 0.4), 80)
    ratings = ratings.with_populations(groups)
    grouped = ratings.collapse()
    for method in ("majority", "dawid_skene_ml"):
        one, other = (compare(data, "good", methods=method) for data in (ratings, grouped))
        for a, b in zip(one.results[0].groups, other.results[0].groups, strict=True):
            assert a.n_items == b.n_items == 80
            estimates = (two.proportions["good"].estimate for two in (a, b))
            assert next(estimates) == pytest.approx(next(estimates))


def test_the_same_seed_gives_the_same_numbers():
    ratings, groups = draw((0.7, 0.4), 50)
    one, same, other = (compare(ratings, "good", groups, seed=seed) for seed in (1, 1, 2))
    assert one.results == same.results
    assert one.results[0].groups != other.results[0].groups


def test_names_of_groups_do_not_matter():
    ratings, groups = draw((0.7, 0.4), 100)
    renamed = np.where(groups == "g0", "z", "y")
    one, other = (compare(ratings, "good", names, "majority") for names in (groups, renamed))
    first, second = (found.results[0].differences[0].difference for found in (one, other))
    assert first.estimate == second.estimate > 0


def test_known_truths_correct_each_group_and_are_counted():
    ratings, groups = draw((0.7, 0.4), 150, known=150)
    result = compare(ratings, "good", groups, "majority").results[0]
    assert result.corrected
    for g, one in enumerate(result.groups):
        good = int((ratings.truth[groups == f"g{g}"] == 1).sum())
        assert (one.n_known, one.n_known_of) == (150, {"good": good})
        # All are known: what is left is how far these items are from items like these.
        assert one.proportions["good"].estimate == pytest.approx((good + 0.5) / 151, abs=0.002)
        assert one.proportions["good"].upper - one.proportions["good"].lower < 0.14


def test_known_truths_correct_what_raters_who_differ_between_groups_bias():
    accuracy = np.array([[0.8] * 5, [0.55, 0.55, 0.6, 0.6, 0.6]])
    plain, groups = draw((0.8, 0.8), 400, accuracy)
    some, _ = draw((0.8, 0.8), 400, accuracy, known=60)
    wrong, right = (
        compare(data, "good", groups, "dawid_skene_ml").results[0].differences[0]
        for data in (plain, some)
    )
    assert wrong.difference.lower > 0.1
    assert right.difference.lower < 0 < right.difference.upper


def test_raters_who_differ_between_groups_are_noticed_and_others_are_not():
    def fires(accuracy, seed):
        ratings, groups = draw((0.7, 0.5), 400, accuracy, seed)
        ratings = ratings.with_populations(groups)
        found = likelihood_base_rates(ratings, "dawid_skene")
        p_value, _ = agreement_by_population(ratings, found.base_rates, found.confusion)
        return p_value <= 0.05

    assert sum(fires(ACCURACY, seed) for seed in range(30)) <= 3
    assert sum(fires([ACCURACY, ACCURACY - 0.2], seed) for seed in range(10)) >= 8


def test_raters_who_always_agree_and_groups_of_few_items_do_not_seem_to_differ():
    codes = np.repeat([[1, 1, 1], [0, 0, 0]], 60, axis=0)
    groups = np.tile(["a", "b"], 60)
    for items in (slice(None), slice(50, 70)):
        found = compare(Ratings(codes[items], ["bad", "good"]), "good", groups[items])
        assert "raters-differ" not in codes_of(found)


@pytest.mark.parametrize(
    ("ratings", "groups", "code"),
    [
        (draw((0.6, 0.6), 40)[0], ["a"] * 80, "one-group"),
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
    found = compare(wider, "best", groups, ["dawid_skene", "majority"])
    assert "category-never-rated" in codes_of(found)
    for one in found.results[1].groups:
        assert one.proportions["best"].estimate == 0 < one.proportions["best"].upper < 0.1


def test_raters_at_chance_level_have_wide_intervals():
    ratings, groups = draw((0.7, 0.4), 100, [0.5, 0.5, 0.5])
    (one, _) = compare(ratings, "good", groups, "dawid_skene").results[0].groups
    assert one.proportions["good"].upper - one.proportions["good"].lower > 0.4


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


def test_raters_who_are_unknown_are_pooled():
    found = compare(lehner.load_dataset("fleiss1971"))
    assert [one.method for one in found.results] == ["pooled_ml", "majority"]


def test_t_a_p_whose_numbers_ratings_do_not_determine_has_no_estimate():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    groups = np.repeat(["a", "b"], 40)
    result = compare(Ratings(codes, ["bad", "good"]), "good", groups, "tap_ml").results[0]
    assert {one.proportions["good"].estimate for one in result.groups} == {None}
    assert {one.rank for one in result.groups} == {None}
    assert "not-determined" in {one.code for one in result.warnings}


def test_dict_frame_and_record_have_the_same_numbers():
    ratings, groups = draw((0.7, 0.4), 40, known=10)
    found = compare(ratings, "good", groups, ["dawid_skene_ml", "majority"])
    told, frame = json.loads(json.dumps(found.to_dict(), allow_nan=False)), found.to_frame()
    one = found.results[0].groups[1]
    own = told["results"][0]["groups"][1]
    assert own["proportions"]["good"]["lower"] == one.proportions["good"].lower
    assert own["rank_interval"] == list(one.rank_interval)
    row = frame[
        (frame.method == "dawid_skene_ml") & (frame.group == "g1") & (frame.label == "good")
    ]
    assert row.lower.item() == one.proportions["good"].lower
    assert row.probability_best.item() == one.probability_best
    assert set(frame.quantity) == {"proportion", "difference", "rater_accuracy"}
    assert "dawid_skene_ml" in repr(found)


def test_every_method_that_is_listed_compares():
    assert {"majority", "dawid_skene", "dawid_skene_ml"} <= set(compare_methods())
    ratings, groups = draw((0.7, 0.4), 30)
    for method in compare_methods():
        if method == "majority" or method.endswith("_ml"):
            assert compare(ratings, "good", groups, method).results[0].method == method
