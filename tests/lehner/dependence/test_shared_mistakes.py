"""What shared mistakes do to estimates: large-sample identities, limits, and quantiles."""

import numpy as np
import pytest

from lehner import (
    Estimate,
    InputError,
    IntervalEstimate,
    Ratings,
    Scenario,
    analyse_sensitivity,
    draw_true_parameters,
    estimate_algebraic,
    estimate_latent_class,
    population_value,
    simulate,
)
from lehner.dependence.sensitivity import adjust_accuracy, adjust_by_confusion

INTERVAL = IntervalEstimate(estimate=0.8, lower=0.7, upper=0.88, level=0.9, kind="credible")


ALL = "system_accuracy_if_all_misled"
RATERS, RATERS_IN_SAMPLE = (
    f"system_accuracy{part}_if_raters_misled" for part in ("", "_in_sample")
)
BOUNDS = f"{RATERS}_bounds"


def sensitivity(estimate, k, **options):
    """What the estimate would be, by quantity."""
    return analyse_sensitivity(estimate, k, **options).table.set_index("quantity")


def of(value):
    """An estimate without a confusion matrix."""
    return Estimate(method="x", system="s", system_accuracy=value, system_accuracy_in_sample=value)


@pytest.mark.parametrize("n_categories", [2, 5])
@pytest.mark.parametrize("accuracy", [0.3, 0.9])
def test_it_undoes_what_misleading_items_do_to_the_algebra_in_large_samples(n_categories, accuracy):
    share = 0.2
    scenario = Scenario(
        n_categories=n_categories,
        initial_system_accuracy=accuracy,
        base_rates="equal",
        misleading=share,
    )
    result = population_value(scenario, "algebraic")
    # The method believes the items are what they seem to be.
    assert result.estimate == pytest.approx(accuracy, abs=1e-6)
    assert adjust_accuracy(result.estimate, share, n_categories) == pytest.approx(
        result.estimate - result.bias, abs=1e-6
    )


@pytest.mark.parametrize(("n_categories", "accuracy"), [(2, 0.85), (4, 0.7), (3, 0.2)])
def test_it_finds_the_accuracy_of_a_system_that_is_not_misled(n_categories, accuracy):
    share, n_items = 0.15, 200_000
    rng = np.random.default_rng(1)
    scenario = Scenario(n_categories=n_categories, n_items=n_items, base_rates="equal")
    ratings = simulate(scenario, 1)
    elsewhere = rng.integers(1, n_categories, n_items) * (rng.random(n_items) < share)
    truth = (ratings.truth + elsewhere) % n_categories
    wrong = rng.integers(1, n_categories, n_items) * (rng.random(n_items) > accuracy)
    answers = Ratings(ratings.codes, ratings.categories, system=(truth + wrong) % n_categories)
    result = estimate_algebraic(answers, interval=None).system_accuracy.estimate
    assert abs(result - accuracy) > 0.01
    assert adjust_accuracy(result, share, n_categories, along=0) == pytest.approx(
        accuracy, abs=0.01
    )


RATES = {2: (0.8, 0.2), 3: (0.6, 0.3, 0.1)}
SYSTEMS = {2: ((0.95, 0.05), (0.4, 0.6)), 3: ((0.9, 0.1, 0.0), (0.3, 0.6, 0.1), (0.05, 0.25, 0.7))}


def population_of_misled_raters(k, share, to=None, n_items=10**9):
    """Enumerate the ratings of three raters of .75 who alone are misled on a share of the items.

    The counts are those that are expected, so that estimates are those of ever more items. `to` is
    the probability that a misleading item of each category seems to be of each other; by default
    all others are equally probable.
    """
    eye = np.eye(k)
    to = (1 - eye) / (k - 1) if to is None else np.array(to)
    seems = (1 - share) * eye + share * to
    rates, system = np.array(RATES[k]), np.array(SYSTEMS[k])
    rater = 0.75 * eye + 0.25 / (k - 1) * (1 - eye)
    joint = np.einsum("t,ts,sa,sb,sc,tl->abcl", rates, seems, rater, rater, rater, system)
    codes = np.indices(joint.shape).reshape(4, -1).T
    counts = np.round(n_items * joint.ravel()).astype(int)
    ratings = Ratings(codes[:, :3], list("abc")[:k], system=codes[:, 3], counts=counts)
    return ratings, float(rates @ np.diagonal(system))


EXACT = ("algebraic", "pooled", "dawid_skene", "class_conditional")


def estimate_by(method, ratings):
    if method == "algebraic":
        return estimate_algebraic(ratings, interval=None)
    return estimate_latent_class(ratings, method, interval=None, restarts=0)


@pytest.mark.parametrize("share", [0.1, 0.15])
@pytest.mark.parametrize(("k", "method"), [(2, m) for m in EXACT] + [(3, m) for m in EXACT[:3]])
def test_it_is_exact_for_unequal_base_rates_and_errors_of_a_system_not_misled(k, method, share):
    ratings, accuracy = population_of_misled_raters(k, share)
    estimate = estimate_by(method, ratings)
    result = sensitivity(estimate, k, misleading_share=share)
    for quantity in (RATERS, RATERS_IN_SAMPLE):
        assert result["estimate"][quantity] == pytest.approx(accuracy, abs=1e-4)
    least, most = result.loc[BOUNDS, ["lower", "upper"]]
    assert least - 1e-4 <= accuracy <= most + 1e-4 and (k > 2) == (most > least)


@pytest.mark.parametrize(("k", "method"), [(2, "one_coin"), (3, "one_coin_by_rater")])
def test_a_method_that_is_not_exact_says_so(k, method):
    ratings, accuracy = population_of_misled_raters(k, 0.15)
    result = sensitivity(estimate_by(method, ratings), k, misleading_share=0.15)
    assert abs(result["estimate"][RATERS] - accuracy) > 0.01
    assert BOUNDS not in result.index


def misled_population(k, share, along, rates, system):
    """Enumerate what items seem to be and what the system answers, and how often it is right."""
    seen, right = np.zeros((k, k)), 0.0
    for truth, seems in np.ndindex(k, k):
        weight = rates[truth] * ((1 - share) if truth == seems else share / (k - 1))
        for responds, part in ((seems, along), (truth, 1 - along)):
            seen[seems] += weight * part * system[responds]
            right += weight * part * system[responds, truth]
    return seen, right


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("along", [0, 0.3, 1])
def test_it_is_exact_whoever_is_misled_for_any_base_rates_and_confusion_matrix(k, along):
    rng = np.random.default_rng(k)
    rates, system = rng.dirichlet(np.full(k, 3)), rng.dirichlet(np.ones(k), k)
    for share in (0, 0.1, 0.3):
        matrix = 0.6 * np.eye(k) + 0.4 * system
        seen, right = misled_population(k, share, along, rates, matrix)
        base_rates = seen.sum(axis=1)
        result = adjust_by_confusion(base_rates, seen / base_rates[:, None], share, along)
        assert result == pytest.approx(right)
        coin = 0.9 * np.eye(k) + 0.1 / (k - 1) * (1 - np.eye(k))
        seen, right = misled_population(k, share, along, rates, coin)
        assert adjust_accuracy(np.trace(seen), share, k, along) == pytest.approx(right)
        if along == 0:
            seen, right = misled_population(k, share, 0, rates, matrix)
            assert adjust_accuracy(np.trace(seen), share, k, 0) == pytest.approx(right)


def test_a_category_that_no_item_seems_to_have_changes_nothing():
    matrix = np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0, 0, 1]])
    assert adjust_by_confusion([0.6, 0.4, 0], matrix, 0, 0.5) == pytest.approx(0.86)


@pytest.mark.parametrize("method", ["algebraic", "dawid_skene_ml"])
def test_it_undoes_what_unequal_base_rates_and_errors_do_in_large_samples(method):
    rates = (0.5, 0.3, 0.2)
    scenario = Scenario(
        n_categories=3,
        base_rates=rates,
        initial_rater_accuracy=(0.8,) * 3,
        asymmetric_dispersion=1.5 if method == "dawid_skene_ml" else 1,
        misleading=0.1,
    )
    result = population_value(scenario, method)
    parameters = draw_true_parameters(scenario, 1)
    system = parameters.confusion.values[0, -1]
    assert result.bias is not None and abs(result.bias) > 0.01
    seen, right = misled_population(3, 0.1, 1, np.array(rates), system)
    assert right == pytest.approx(result.system_accuracy)
    assert np.trace(seen) == pytest.approx(result.estimate, abs=1e-3)
    again = adjust_by_confusion(seen.sum(axis=1), system, 0.1)
    assert again == pytest.approx(result.system_accuracy, abs=1e-9)


def test_the_bounds_are_reached_where_errors_meet_the_misleading_category_always_or_never():
    # Errors in a are b, in b are c, in c are a; misleading items seem so too, or the other way.
    cycle = np.roll(np.eye(3), 1, axis=1)
    system = 0.8 * np.eye(3) + 0.2 * cycle
    bounds = []
    for to in (cycle, cycle.T):
        seems = 0.9 * np.eye(3) + 0.1 * to
        named = float(np.einsum("t,ts,ts->", np.array(RATES[3]), seems, system))
        bounds.append([adjust_accuracy(named, 0.1, 3, along=0, hit=hit) for hit in (1, 0)])
    assert float(bounds[0][0]) == pytest.approx(0.8) and float(bounds[1][1]) == pytest.approx(0.8)
    assert bounds[0][1] > 0.8 > bounds[1][0]
    with pytest.raises(InputError, match=r"less than 0\.5"):
        adjust_accuracy(0.8, 0.5, 3, along=0, hit=1)


def test_it_holds_in_a_sample_with_unequal_base_rates():
    share, n_items, k = 0.15, 100_000, 3
    rng = np.random.default_rng(1)
    truth = rng.choice(k, n_items, p=RATES[k])
    seeming = (truth + rng.integers(1, k, n_items) * (rng.random(n_items) < share)) % k
    wrong = rng.integers(1, k, (n_items, 3)) * (rng.random((n_items, 3)) > 0.75)
    luck = rng.random((n_items, 1))
    answers = (luck > np.cumsum(SYSTEMS[k], axis=1)[truth]).sum(axis=1)
    ratings = Ratings((seeming[:, None] + wrong) % k, list("abc"), system=answers)
    fit = estimate_algebraic(ratings)
    result = sensitivity(fit, k, misleading_share=share).loc[RATERS]
    assert result.lower < (answers == truth).mean() < result.upper
    assert result.estimate == pytest.approx((answers == truth).mean(), abs=0.01)


def test_misled_raters_that_would_say_nothing_are_refused_and_have_no_sensitivity():
    with pytest.raises(InputError, match=r"mislead the raters alone; give less than 0\.5"):
        adjust_accuracy(0.8, 0.5, 2, along=0)
    estimate = of(INTERVAL)
    assert RATERS not in sensitivity(estimate, 2, misleading_share=0.5).index
    result = sensitivity(estimate, 2)
    moved = adjust_accuracy([*result.loc[RATERS, ["lower", "estimate"]]], 0.1, 2)
    assert moved == pytest.approx([INTERVAL.lower, INTERVAL.estimate])
    assert result["upper"][RATERS_IN_SAMPLE] == pytest.approx((0.88 - 0.1) / 0.8)


def test_without_misleading_items_or_without_knowledge_nothing_moves():
    assert adjust_accuracy(0.8, 0, 3) == 0.8
    assert adjust_accuracy(1 / 3, [0.1, 0.5], 3) == pytest.approx([1 / 3, 1 / 3])
    # A system that is always right takes the bait each time.
    assert adjust_accuracy(1.0, 0.1, 4) == pytest.approx(0.9)


def test_with_two_categories_and_items_that_all_mislead_right_is_wrong():
    moved = sensitivity(of(INTERVAL), 2, misleading_share=1.0).loc[ALL]
    assert (moved.estimate, moved.lower, moved.upper) == pytest.approx((0.2, 0.12, 0.3))


def test_what_has_no_number_gets_none():
    nothing = IntervalEstimate(estimate=None)
    result = sensitivity(of(nothing), 2)
    assert result.loc[ALL, ["estimate", "lower"]].isna().all()
