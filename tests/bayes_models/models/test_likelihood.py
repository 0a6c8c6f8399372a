"""The marginal likelihood against every assignment of truths, one by one."""

import numpy as np
import pymc as pm
import pytest

from bayes_models import build_model, make_diagonal_concentration, observe
from bayes_models.density.log_density import BLOCK, list_arrays, sum_over_states
from bayes_models.posterior.draws import infer_truth
from lehner import InputError, Ratings, load_dataset
from lehner.data.estimable import count_truths
from tests.reference.dawid_skene import log_likelihood


def random_ratings(rng, n_items=5, n_raters=3, n_categories=3, system=True, truths=False):
    """Ratings with gaps, repetitions, identical items and missing system answers."""
    rows = []
    for item in range(n_items):
        for rater in range(n_raters):
            for occasion in range(rng.integers(0, 3)):
                label = "abc"[rng.integers(n_categories)]
                rows.append((item, f"r{rater}", occasion, label))
    rows += [(n_items, f"r{rater}", 0, "a") for rater in range(n_raters)]
    rows += [(n_items + 1, f"r{rater}", 0, "a") for rater in range(n_raters)]
    columns = dict(
        zip(("item", "rater", "occasion", "rating"), zip(*rows, strict=True), strict=True)
    )
    ratings = Ratings.from_long(columns, occasion="occasion", categories=["a", "b", "c"])
    answers = rng.integers(-1, n_categories, len(ratings.items)) if system else None
    truth = None
    if truths:
        truth = rng.integers(-1, n_categories, len(ratings.items))
        truth[0] = -1
    return Ratings(
        ratings.entries, ratings.categories, ratings.raters, ratings.items, answers, truth
    ).with_independent_repeats()


def as_lists(ratings):
    """Ratings of each item as (rater, category), the system as the last rater."""
    votes = ratings.votes
    rows = [[] for _ in ratings.items]
    for i, j, k in zip(votes.item_index, votes.rater_index, votes.category_index, strict=True):
        rows[i].append((int(j), int(k)))
    if ratings.system is not None:
        for row, answer in zip(rows, ratings.system, strict=True):
            row += [(ratings.n_raters, int(answer))] * int(answer >= 0)
    return rows


def random_parameters(rng, n_raters, k):
    return rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=(n_raters, k))


def enumerated(ratings, rates, confusion):
    """Sum over every state of every item, with known truths kept."""
    k = ratings.n_categories
    total = []
    for row, item in enumerate(as_lists(ratings)):
        truth = -1 if ratings.truth is None else ratings.truth[row]
        states = [m for m in range(len(rates)) if truth in (-1, m % k)]
        total.append(log_likelihood([item], rates[states], confusion[:, states]))
    return np.array(total)


def assert_sums(observed, rates, confusion, per_item):
    """Assert that our log-likelihood, and that of each item, are those that are given."""
    parts = list_arrays(observed).values()
    ours, _, _ = sum_over_states(np.atleast_2d(rates), confusion, *parts)
    assert float(ours) == pytest.approx(per_item.sum(), abs=1e-10)
    ours = infer_truth(observed, rates[None], confusion[None])[1][0, observed.inverse]
    np.testing.assert_allclose(ours, per_item, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("system", [True, False])
@pytest.mark.parametrize("truths", [True, False])
@pytest.mark.parametrize("levels", [1, 3])
def test_the_sum_over_states_equals_enumeration(seed, system, truths, levels):
    rng = np.random.default_rng(seed)
    ratings = random_ratings(rng, system=system, truths=truths)
    observed = observe(ratings)
    rates = rng.dirichlet(np.ones(3 * levels))
    confusion = rng.dirichlet(np.ones(3), size=(len(observed.raters), 3 * levels))
    assert_sums(observed, rates, confusion, enumerated(ratings, rates, confusion))


@pytest.mark.parametrize("levels", [1, 3])
def test_each_population_has_its_base_rates(levels):
    rng = np.random.default_rng(levels)
    ratings = random_ratings(rng, n_items=9, truths=True)
    names = np.array(["x", "y"])[rng.integers(0, 2, ratings.n_rows)]
    observed = observe(ratings.with_populations(names))
    rates = rng.dirichlet(np.ones(3 * levels), size=2)
    confusion = rng.dirichlet(np.ones(3), size=(4, 3 * levels))
    per_item = np.array(
        [
            enumerated(ratings.take([row]), rates["xy".index(name)], confusion)[0]
            for row, name in enumerate(names)
        ]
    )
    assert_sums(observed, rates, confusion, per_item)


@pytest.mark.parametrize("levels", [1, 3])
def test_the_derivatives_are_finite_differences(levels):
    rng = np.random.default_rng(levels)
    ratings = random_ratings(rng, truths=True)
    ratings = ratings.take(np.repeat(np.arange(ratings.n_rows), [1, 1, 1, 2, 3, 1, 4]))
    names = np.where(np.arange(ratings.n_rows) % 3 == 1, "x", "y")
    observed = observe(ratings.with_populations(names))
    assert set(observed.population) == {0, 1} and max(observed.counts) > 1
    rates = rng.dirichlet(np.ones(3 * levels), size=2)
    confusion = rng.dirichlet(np.ones(3), size=(4, 3 * levels))
    arrays = list_arrays(observed).values()
    _, by_rates, by_confusion = sum_over_states(rates, confusion, *arrays)
    for values, derivative in ((rates, by_rates), (confusion, by_confusion)):
        for index in np.ndindex(values.shape):
            result = []
            for step in (1e-6, -1e-6):
                values[index] += step
                result.append(sum_over_states(rates, confusion, *arrays)[0])
                values[index] -= step
            assert derivative[index] == pytest.approx((result[0] - result[1]) / 2e-6, abs=1e-5)


def test_hundreds_of_ratings_of_an_item_do_not_underflow():
    rng = np.random.default_rng(1)
    n_raters = 40 * BLOCK + 3
    ratings = Ratings(rng.integers(0, 3, (2, n_raters)), ["a", "b", "c"])
    observed = observe(ratings)
    rates, confusion = random_parameters(rng, n_raters, 3)
    ours, by_rates, _ = sum_over_states(rates[None], confusion, *list_arrays(observed).values())
    terms = [
        [np.log(rates[z]) + np.log(confusion[range(n_raters), z, row]).sum() for z in range(3)]
        for row in ratings.codes
    ]
    expected = sum(np.logaddexp.reduce(row) for row in terms)
    assert expected < -1000
    assert float(ours) == pytest.approx(expected, abs=1e-8)
    assert np.isfinite(by_rates).all()


def test_thousands_of_improbable_items_do_not_underflow():
    rng = np.random.default_rng(2)
    ratings = Ratings(rng.integers(0, 3, (2000, 10)), ["a", "b", "c"])
    observed = observe(ratings)
    assert (observed.counts == 1).any() and (observed.counts > 1).any()
    rates, confusion = random_parameters(rng, 10, 3)
    ours, _, _ = sum_over_states(rates[None], confusion, *list_arrays(observed).values())
    expected = observed.counts @ infer_truth(observed, rates[None], confusion[None])[1][0]
    assert expected < -10_000
    assert float(ours) == pytest.approx(expected, rel=1e-12)


def test_ratings_that_are_impossible_have_likelihood_zero_and_no_nan():
    observed = observe(Ratings([[0, 1]], ["a", "b"]))
    certain = np.tile(np.eye(2), (2, 1, 1))
    value, by_rates, by_confusion = sum_over_states(
        np.array([[0.5, 0.5]]), certain, *list_arrays(observed).values()
    )
    assert value == -np.inf
    assert not by_rates.any() and not by_confusion.any()


@pytest.mark.slow
def test_prior_predictive_ratings_follow_base_rates_and_confusion():
    concentrated = 1e6
    base_rates = np.array([0.7, 0.2, 0.1])
    confusion = make_diagonal_concentration(3, strength=1.0, accuracy=0.8)
    ratings = Ratings(np.tile([[0, 1, -1]], (4, 1)), ["a", "b", "c"], system=[0, 1, 2, -1])
    model = build_model(
        "dawid_skene",
        ratings,
        {"base_rates": concentrated * base_rates, "confusion": concentrated * confusion},
    )
    with model:
        tree = pm.sample_prior_predictive(
            4000, random_seed=1, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    drawn = tree.prior_predictive["ratings"].values[0]
    assert drawn.shape == (4000, 11)
    share = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    # 4 patterns share a truth among their ratings: about 16,000 independent truths, SE .004.
    np.testing.assert_allclose(share, base_rates @ confusion, atol=0.015)
    first = ratings.to_patterns().starts[:-1]
    agree = (drawn[:, first] == drawn[:, first + 1]).mean()
    expected = (base_rates[:, None] * confusion**2).sum()
    assert agree == pytest.approx(expected, abs=0.015)


def test_a_model_of_observations_is_that_of_the_ratings():
    ratings = load_dataset("lehner_table2")
    observed = observe(ratings)
    assert observe(observed) is observed
    assert build_model("dawid_skene", observed).coords == build_model("dawid_skene", ratings).coords


def test_the_system_is_the_last_rater_under_its_name():
    observed = observe(load_dataset("lehner_table2"))
    assert observed.raters == ("Rater 1", "Rater 2", "Rater 3", "Rater 4", "System")


def test_anonymous_and_empty_ratings_are_refused():
    with pytest.raises(InputError, match="unknown who gave which rating"):
        observe(load_dataset("fleiss1971"))
    with pytest.raises(InputError, match="0 items"):
        observe(Ratings(np.empty((0, 2), dtype=int), ["a", "b"]))


@pytest.mark.parametrize(("system", "counts"), [([-1, -1, -1], None), ([0, -1, -1], [0, 1, 1])])
def test_a_system_that_answered_nothing_is_refused(system, counts):
    ratings = Ratings([[0, 1], [1, 1], [0, 0]], ["no", "yes"], system=system, counts=counts)
    with pytest.raises(InputError, match="the system answered no item; give its answers, or leave"):
        observe(ratings)


def test_truths_enter_if_some_or_all_are_known():
    codes, categories = [[0, 1], [1, 1], [0, 1]], ["no", "yes"]
    some = Ratings(codes, categories, truth=[-1, 1, 0], counts=[2, 3, 4])
    assert count_truths(some) == 7
    assert list(observe(some).truths) == [-1, 1, 0]
    everything = Ratings(codes, categories, truth=[0, 1, 0])
    assert count_truths(everything) == 3
    assert sorted(observe(everything).truths) == [0, 1]
