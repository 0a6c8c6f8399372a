"""The marginal likelihood against every assignment of truths, one by one."""

import numpy as np
import pymc as pm
import pytest

from bayes_models import dawid_skene, diagonal_concentration
from bayes_models.likelihood import rating_slots, response_counts
from bayes_models.truth import log_joint
from lehner import InputError, Ratings, load_dataset
from tests.reference.dawid_skene import log_likelihood


def random_ratings(rng, n_items=5, n_raters=3, n_categories=3, system=True):
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
    if not system:
        return ratings
    answers = rng.integers(-1, n_categories, len(ratings.items))
    return Ratings(ratings.flat, ratings.categories, ratings.raters, ratings.items, system=answers)


def as_lists(ratings):
    """Ratings of each item as (rater, category), the system as the last rater."""
    flat = ratings.flat
    rows = [[] for _ in ratings.items]
    for i, j, k in zip(flat.item_index, flat.rater_index, flat.category_index, strict=True):
        rows[i].append((int(j), int(k)))
    if ratings.system is not None:
        for row, answer in zip(rows, ratings.system, strict=True):
            row += [(ratings.n_raters, int(answer))] * int(answer >= 0)
    return rows


def random_parameters(rng, n_raters, k):
    return rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=(n_raters, k))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("system", [True, False])
def test_log_joint_summed_over_truths_equals_enumeration(seed, system):
    rng = np.random.default_rng(seed)
    ratings = random_ratings(rng, system=system)
    slots = rating_slots(ratings)
    base_rates, confusion = random_parameters(rng, len(slots.raters), 3)
    joint = log_joint(slots, base_rates[None], confusion[None])[0]
    ours = slots.counts @ np.log(np.exp(joint).sum(axis=1))
    assert ours == pytest.approx(
        log_likelihood(as_lists(ratings), base_rates, confusion), abs=1e-10
    )


@pytest.fixture(scope="module")
def model_with_logp():
    ratings = random_ratings(np.random.default_rng(7))
    model = dawid_skene(ratings)
    logp = pm.logp(model["ratings"], model.rvs_to_values[model["ratings"]])
    return ratings, pm.compile([model["base_rates"], model["confusion"]], logp)


@pytest.mark.parametrize("seed", range(5))
def test_the_model_has_the_enumerated_log_density(model_with_logp, seed):
    ratings, logp = model_with_logp
    base_rates, confusion = random_parameters(np.random.default_rng(seed), 4, 3)
    ours = logp(base_rates, confusion).sum()
    assert ours == pytest.approx(
        log_likelihood(as_lists(ratings), base_rates, confusion), abs=1e-10
    )


def test_the_gradient_is_the_finite_difference():
    model = dawid_skene(random_ratings(np.random.default_rng(3)))
    point = model.initial_point()
    value, gradient = model.compile_logp(), model.compile_dlogp()
    flat = np.concatenate([v.ravel() for v in point.values()])

    def at(x):
        parts = np.split(x, np.cumsum([v.size for v in point.values()])[:-1])
        values = zip(point.items(), parts, strict=True)
        return float(value({name: part.reshape(old.shape) for (name, old), part in values}))

    steps = 1e-6 * np.eye(len(flat))
    numeric = [(at(flat + step) - at(flat - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient(point), numeric, atol=1e-5)


def test_prior_predictive_ratings_follow_base_rates_and_confusion():
    concentrated = 1e6
    base_rates = np.array([0.7, 0.2, 0.1])
    confusion = diagonal_concentration(3, strength=1.0, accuracy=0.8)
    ratings = Ratings(np.tile([[0, 1, -1]], (4, 1)), ["a", "b", "c"], system=[0, 1, 2, -1])
    model = dawid_skene(
        ratings,
        base_rate_concentration=concentrated * base_rates,
        confusion_concentration=concentrated * confusion,
    )
    with model:
        tree = pm.sample_prior_predictive(4000, random_seed=1)
    drawn = tree.prior_predictive["ratings"].values[0]
    missing = rating_slots(ratings).codes == -1
    assert (drawn[:, missing] == -1).all() and (drawn[:, ~missing] >= 0).all()
    share = np.bincount(drawn[:, ~missing].ravel(), minlength=3) / drawn[:, ~missing].size
    # 4 patterns share a truth among their slots: about 16,000 independent truths, SE .004.
    np.testing.assert_allclose(share, base_rates @ confusion, atol=0.015)
    agree = (drawn[:, :, 0] == drawn[:, :, 1]).mean()
    expected = (base_rates[:, None] * confusion**2).sum()
    assert agree == pytest.approx(expected, abs=0.015)


def test_the_system_is_the_last_rater_and_named_system():
    slots = rating_slots(load_dataset("lehner_table2"))
    assert slots.raters == ("Rater 1", "Rater 2", "Rater 3", "Rater 4", "system")


def test_anonymous_ratings_are_refused():
    with pytest.raises(InputError, match="unknown who gave which rating"):
        dawid_skene(load_dataset("fleiss1971"))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, [1.0, 2.0]])
def test_a_prior_that_is_not_positive_or_does_not_fit_is_refused(value):
    with pytest.raises(InputError, match="concentration"):
        dawid_skene(load_dataset("lehner_table2"), base_rate_concentration=value)


def test_response_counts_count_every_rating_once():
    ratings = random_ratings(np.random.default_rng(0))
    slots = rating_slots(ratings)
    total = slots.counts @ response_counts(slots).toarray()
    answers = ratings.n_ratings + (ratings.system >= 0).sum()
    assert total.sum() == answers
