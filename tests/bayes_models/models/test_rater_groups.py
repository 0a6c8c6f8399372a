"""Groups of raters in the models: the density, and what it is without groups."""

import numpy as np
import pymc as pm
import pytest
from scipy.special import expit, softmax
from scipy.stats import dirichlet, halfnorm, logistic, norm

from bayes_models import find_model, identify, observe
from bayes_models.density.priors import zero_sum_basis
from bayes_models.models.families import diagonal_concentration
from bayes_models.models.observations import group_index, group_names
from bayes_models.posterior.predictive import draw_ratings, prior_draws
from bayes_models.sampling.start import em_start, start_values
from lehner import InputError, Ratings

K = 3
POOLING = ("hierarchical_dawid_skene", "one_coin_by_rater", "relaxed_k")
GROUPS = {"1": "expert", "2": "crowd", "3": "crowd", "5": "expert"}


@pytest.fixture
def ungrouped():
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, K, (30, 5))
    return Ratings(codes, list("abc"), system=rng.integers(0, K, 30))


@pytest.fixture
def ratings(ungrouped):
    """Raters 1 and 5 are experts, 2 and 3 the crowd, and 4 belongs to no group."""
    return ungrouped.with_rater_groups(GROUPS)


def log_density(model, point):
    return float(model.compile_logp(jacobian=False, mode="FAST_COMPILE")(point))


def random_point(model, seed=3):
    rng = np.random.default_rng(seed)
    return {
        name: np.asarray(0.5 * rng.normal(size=np.shape(value)))
        for name, value in model.initial_point().items()
    }


def log_likelihood(ratings, base_rates, confusion):
    """Sum over the true category of each item, one rating at a time."""
    total = 0.0
    for codes, answer in zip(ratings.codes, ratings.system, strict=True):
        joint = base_rates.copy()
        for rater, code in enumerate([*codes, answer]):
            joint = joint * (confusion[rater][:, code] if code >= 0 else 1.0)
        total += np.log(joint.sum())
    return total


def simplex(value):
    return softmax(value @ zero_sum_basis(K), axis=-1)


# The crowd is the first group, the experts are the second, and who belongs to none is the third.
OF_RATER = (1, 0, 0, 2, 1)


def test_the_density_of_hierarchical_dawid_skene(ratings):
    model = find_model("hierarchical_dawid_skene").build(ratings)
    assert list(model.coords["rater_group"]) == ["crowd", "expert", "no group"]
    point = random_point(model)
    base_rates, system = (
        simplex(point["base_rates_ilr__"]),
        simplex(point["system_confusion_ilr__"]),
    )
    population = simplex(point["population_confusion_ilr__"])
    spread, effect = np.exp(point["confusion_spread_log__"]), point["confusion_effect"]
    confusion = [
        softmax(np.log(population[g]) + spread[g] * effect[j] @ zero_sum_basis(K), axis=-1)
        for j, g in enumerate(OF_RATER)
    ]
    expected = dirichlet.logpdf(base_rates, np.full(K, 3.0)) + norm.logpdf(effect).sum()
    expected += halfnorm.logpdf(spread, scale=0.5).sum()
    for weight, rows in ((8.0, population.reshape(-1, K)), (2.0, system)):
        concentration = np.tile(diagonal_concentration(K, strength=weight), (len(rows) // K, 1))
        expected += sum(
            dirichlet.logpdf(row, alpha) for row, alpha in zip(rows, concentration, strict=True)
        )
    expected += log_likelihood(ratings, base_rates, [*confusion, system])
    assert log_density(model, point) == pytest.approx(expected)


def test_the_density_of_one_coin_by_rater(ratings):
    model = find_model("one_coin_by_rater").build(ratings)
    point = random_point(model)
    base_rates, mean = simplex(point["base_rates_ilr__"]), point["mean_log_odds"]
    spread, effect = np.exp(point["rater_spread_log__"]), point["rater_effect"]
    knowing = expit([mean[g] + spread[g] * effect[j] for j, g in enumerate(OF_RATER)])
    right = [*(knowing + (1 - knowing) / K), expit(point["system_log_odds"])]
    confusion = [np.where(np.eye(K), p, (1 - p) / (K - 1)) for p in right]
    expected = dirichlet.logpdf(base_rates, np.ones(K)) + norm.logpdf(effect).sum()
    expected += norm.logpdf(mean, 0, 1.2).sum() + halfnorm.logpdf(spread, scale=0.6).sum()
    expected += logistic.logpdf(point["system_log_odds"])
    expected += log_likelihood(ratings, base_rates, confusion)
    assert log_density(model, point) == pytest.approx(expected)


def prior_of_another_group(name, point):
    """The log density of the parameters that one more group adds."""
    if name == "hierarchical_dawid_skene":
        alpha = diagonal_concentration(K)
        rows = simplex(point["population_confusion_ilr__"])
        spread = halfnorm.logpdf(np.exp(point["confusion_spread_log__"]), scale=0.5)
        return spread + sum(map(dirichlet.logpdf, rows, alpha))
    mean = norm.logpdf(point["mean_log_odds"], 0, 1.2)
    return mean + halfnorm.logpdf(np.exp(point["rater_spread_log__"]), scale=0.6)


@pytest.mark.parametrize("name", POOLING)
def test_groups_with_the_same_parameters_are_no_groups(name, ratings, ungrouped):
    """One group is the model without groups; of three alike, two add their priors only."""
    alone = find_model(name).build(ungrouped)
    point = random_point(alone)
    expected = log_density(alone, point)
    one = ungrouped.with_rater_groups(dict.fromkeys(ungrouped.raters, "all"))
    for data, n_groups in ((one, 1), (ratings, 3)):
        model = find_model(name).build(data)
        shapes = {variable: np.shape(value) for variable, value in model.initial_point().items()}
        same = {variable: np.broadcast_to(point[variable], shapes[variable]) for variable in point}
        added = (n_groups - 1) * prior_of_another_group(name, point)
        assert log_density(model, same) == pytest.approx(expected + added)


@pytest.mark.parametrize("name", POOLING)
def test_group_accuracy_is_the_mean_by_ratings(name, ratings):
    drawn = prior_draws(name, ratings, 5)
    n_ratings = (ratings.codes >= 0).sum(axis=0)
    accuracy = drawn["accuracy"].values[0]
    for group, members in (("crowd", [1, 2]), ("expert", [0, 4]), ("no group", [3])):
        expected = accuracy[:, members] @ n_ratings[members] / n_ratings[members].sum()
        found = drawn["rater_group_accuracy"].sel(rater_group=group).values[0]
        np.testing.assert_allclose(found, expected)


def test_raters_of_a_group_are_alike_before_the_data(ratings):
    drawn = prior_draws("one_coin_by_rater", ratings, 3000)["accuracy"].values[0]
    correlation = np.corrcoef(drawn.T)
    assert correlation[0, 4] > 0.6 and correlation[1, 2] > 0.6
    assert abs(correlation[0, [1, 2, 3]]).max() < 0.1


@pytest.mark.parametrize("name", ["dawid_skene", "one_coin", "pooled", "class_conditional", "tap"])
def test_other_models_are_as_without_groups(name, ratings, ungrouped):
    with_groups, without = (find_model(name).build(data) for data in (ratings, ungrouped))
    point = random_point(without)
    assert log_density(with_groups, point) == log_density(without, point)
    assert "rater_group_accuracy" not in with_groups


def test_chains_start_at_the_raters_of_each_group(ratings):
    at = em_start(observe(ratings))
    start = start_values("hierarchical_dawid_skene", at)["population_confusion"]
    confusion = at.confusion
    np.testing.assert_allclose(start, [confusion[m].mean(axis=0) for m in ([1, 2], [0, 4], [3])])
    assert start_values("relaxed_k", at)["mean_log_odds"].shape == (3,)


def test_each_group_has_its_prior(ratings):
    prior = np.stack([diagonal_concentration(K, strength=s) for s in (4.0, 5000.0, 6.0)])
    found = identify("hierarchical_dawid_skene", ratings, {"population_confusion": prior})
    by_group = {one.whose: one for one in found.prior_worth}
    assert by_group["ratings of group expert"].worth == pytest.approx(np.full(K, 5000.0))
    experts = found.support.sel(rater=["1", "5"]).sum("rater").values
    assert by_group["ratings of group expert"].ratings == pytest.approx(experts)
    assert any("of group expert" in str(one) for one in found.warnings())
    alike = {"confusion_spread": 0}
    counted = [identify("hierarchical_dawid_skene", ratings, p).parameters for p in (None, alike)]
    assert counted == [2 + 6 * 6, 2 + 6 * 4]
    alike = {"rater_spread": 0}
    counted = [identify("one_coin_by_rater", ratings, p).parameters for p in (None, alike)]
    assert counted == [2 + 6, 2 + 4]


def test_a_group_may_be_called_no_group(ungrouped):
    observed = observe(ungrouped.with_rater_groups({"1": "no group", "2": "crowd"}))
    assert group_names(observed) == ("crowd", "no group")
    assert group_index(observed).tolist() == [1, 0, 1, 1, 1]


def test_a_distribution_needs_a_value_for_each_group(ratings):
    for name, prior in (("mean_log_odds", pm.Normal.dist()), ("rater_spread", pm.Gamma.dist(2, 3))):
        with pytest.raises(
            InputError, match=f"{name} has 1 \\(rater_group\\); give a distribution"
        ):
            find_model("one_coin_by_rater").build(ratings, {name: prior})
    by_group = {"mean_log_odds": pm.Normal.dist([0.0, 1.0, 0.0])}
    model = find_model("one_coin_by_rater").build(ratings, by_group)
    assert model["mean_log_odds"].ndim == 1


def test_simulated_ratings_are_of_the_same_groups(ratings):
    drawn = prior_draws("one_coin_by_rater", ratings, 1)
    (rates, confusion) = (drawn["base_rates"].values[0, 0], drawn["confusion"].values[0, 0])
    rng = np.random.default_rng(1)
    simulated = draw_ratings(ratings, rates, confusion, rng)
    assert simulated.rater_group == ratings.rater_group
