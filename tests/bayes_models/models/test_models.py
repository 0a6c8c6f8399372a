"""What each model assumes, seen in draws from its prior, and what they share."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from bayes_models import MODELS, build_model, estimate_from_draws, fit_many
from bayes_models.density.priors import make_zero_sum_basis
from bayes_models.models import graph
from bayes_models.models.graph import IN_PYTHON, IsometricLogRatio
from bayes_models.models.log_odds import SCALES
from bayes_models.posterior.predictive import draw_from_prior
from lehner import InputError, Ratings, Scenario, simulate

AT_ZERO = dict.fromkeys(SCALES, 0.0)
"""Priors that fix all that relaxes a K-property at zero."""


@pytest.fixture
def ratings():
    rng = np.random.default_rng(1)
    return Ratings(rng.integers(0, 4, (9, 3)), list("abcd"), system=rng.integers(0, 4, 9))


@pytest.fixture
def ordered(ratings):
    return Ratings(ratings.codes, ratings.categories, system=ratings.system, ordered=True)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_the_shared_variables_with_named_dimensions(name, ratings):
    drawn = draw_from_prior(name, ratings, 50)
    assert drawn["base_rates"].dims[2:] == ("true_category",)
    assert drawn["confusion"].dims[2:] == ("rater", "category", "response")
    assert list(drawn["rater"].values) == ["1", "2", "3", "system"]
    np.testing.assert_allclose(drawn["base_rates"].sum("true_category"), 1)
    np.testing.assert_allclose(drawn["confusion"].sum("response"), 1)
    right = (drawn["confusion"] * xr.DataArray(np.eye(4), dims=("category", "response"))).sum(
        "response"
    )
    accuracy = (right * drawn["base_rates"].rename(true_category="category")).sum("category")
    np.testing.assert_allclose(drawn["accuracy"], accuracy.transpose(*drawn["accuracy"].dims))
    np.testing.assert_allclose(drawn["system_accuracy"], accuracy.sel(rater="system"))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_built_for_two_categories_and_without_a_system(name):
    codes = np.random.default_rng(2).integers(0, 2, (8, 3))
    ratings = Ratings(codes, ["a", "b"], ordered=True)
    model = build_model(name, ratings)
    assert "system_accuracy" not in model
    assert np.isfinite(density(model, {}))
    drawn = draw_from_prior(name, ratings, 3)
    np.testing.assert_allclose(drawn["confusion"].sum("response"), 1)


def off_diagonal(confusion):
    k = confusion.shape[-1]
    errors = confusion[..., ~np.eye(k, dtype=bool)].reshape(*confusion.shape[:-2], k, k - 1)
    return errors / errors.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("name", ["one_coin", "one_coin_by_rater"])
def test_errors_are_equally_probable(name, ratings):
    np.testing.assert_allclose(
        off_diagonal(draw_from_prior(name, ratings, 20)["confusion"].values), 1 / 3
    )


def test_raters_are_alike_and_the_system_is_not(ratings):
    drawn = draw_from_prior("one_coin", ratings, 20)["accuracy"].values[0]
    np.testing.assert_allclose(drawn[:, :3], drawn[:, :1].repeat(3, axis=1))
    assert abs(drawn[:, 3] - drawn[:, 0]).max() > 0.1


def test_accuracy_is_the_same_in_all_categories_with_one_coin(ratings):
    drawn = draw_from_prior("one_coin_by_rater", ratings, 20)["confusion"].values[0]
    diagonal = np.diagonal(drawn, axis1=-2, axis2=-1)
    np.testing.assert_allclose(diagonal, diagonal[..., :1].repeat(4, axis=-1))
    assert np.ptp(diagonal[:, :3, 0], axis=1).min() > 0


def density(model, values):
    names = {v.name: v for v in model.value_vars}
    point = model.initial_point()
    for name, value in values.items():
        point[next(n for n in names if n.removesuffix("_ilr__").removesuffix("_log__") == name)] = (
            value
        )
    # One term after another: Python adds no more than 32 at once.
    terms = model.compile_fn(model.logp(sum=False), mode=IN_PYTHON)(point)
    return float(sum(np.sum(term) for term in terms))


def by_level(drawn):
    """Confusion matrices, (chain, draw, rater, level, category, response)."""
    return drawn["confusion_by_level"].transpose(..., "level", "category", "response").values


@pytest.mark.parametrize(
    ("name", "mean", "spread"),
    [
        ("one_coin", "rater_log_odds", {}),
        ("one_coin_by_rater", "mean_log_odds", {"rater_spread": 0.6}),
    ],
)
def test_with_spreads_at_zero_relaxed_k_is_a_simpler_model(name, mean, spread, ratings):
    values = {"base_rates": np.array([0.3, -0.2, 0.5]), "system_log_odds": 0.9}
    if spread:
        values |= {"rater_spread": np.log(0.4), "rater_effect": np.array([1.0, -0.5, 0.2])}
    relaxed = build_model("relaxed_k", ratings, AT_ZERO | spread)
    expected = density(build_model(name, ratings), values | {mean: 0.3})
    assert density(relaxed, values | {"mean_log_odds": 0.3}) == pytest.approx(expected)


def test_errors_fall_with_distance_where_categories_are_ordered(ordered, ratings):
    even = ("error_spread", "common_error_spread", "system_error_spread")
    priors = dict.fromkeys((*even, "category_spread", "system_category_spread"), 0)
    drawn = draw_from_prior("relaxed_k", ordered, 30, priors=priors)
    errors = by_level(drawn)[0][:, 0, 1]
    decay = drawn["distance_decay"].values[0]
    wrong = errors[:, 0, 1:]
    np.testing.assert_allclose(np.log(wrong[:, 0] / wrong[:, 1]), decay, atol=1e-10)
    np.testing.assert_allclose(np.log(wrong[:, 1] / wrong[:, 2]), decay, atol=1e-10)
    assert "distance_decay" not in build_model("relaxed_k", ratings)


def test_difficulty_brings_raters_down_to_chance_and_the_system_by_its_slope(ratings):
    drawn = draw_from_prior("relaxed_k", ratings, 200, priors=AT_ZERO | {"difficulty_spread": 0.4})
    right = by_level(drawn)[0][..., 0, 0]
    assert (right[:, :3] > 1 / 4).all()
    knowledge = (right[:, :3] - 1 / 4) / (1 - 1 / 4)
    step = -np.diff(np.log(knowledge / (1 - knowledge)), axis=-1)
    spread = drawn["difficulty_spread"].values[0][:, None]
    np.testing.assert_allclose(step[:, 0], np.sqrt(1.5) * spread.repeat(2, axis=1), rtol=1e-6)
    of_system = -np.diff(np.log(right[:, 3] / (1 - right[:, 3])), axis=-1)
    slope = drawn["system_slope"].values[0]
    np.testing.assert_allclose(of_system[:, 0] / step[:, 0, 0], slope, rtol=1e-6)
    np.testing.assert_allclose(drawn["confusion"].values, by_level(drawn).mean(axis=3))


@pytest.mark.parametrize("name", ["one_coin", "one_coin_by_rater"])
def test_raters_are_no_worse_than_chance_and_the_system_may_be(name, ratings):
    accuracy = draw_from_prior(name, ratings, 200)["accuracy"].values[0]
    assert (accuracy[:, :3] > 1 / 4).all()
    assert (accuracy[:, 3] < 1 / 4).any()


def test_category_effects_sum_to_zero_and_are_common_as_far_as_their_share(ratings):
    priors = {"rater_spread": 0, "difficulty_spread": 0}
    drawn = draw_from_prior("relaxed_k", ratings, 1500, priors=priors)
    diagonal = np.diagonal(drawn["confusion"].values[0], axis1=-2, axis2=-1)
    log_odds = np.log(diagonal / (1 - diagonal))
    effects = log_odds - log_odds.mean(axis=-1, keepdims=True)
    # Raters are alike but for the effects, and these sum to zero.
    np.testing.assert_allclose(log_odds[:, 0].mean(-1), log_odds[:, 1].mean(-1))
    spread = drawn["category_spread"].values[0]
    share = drawn["common_category_share"].values[0]
    product = (effects[:, 0] * effects[:, 1]).mean(axis=-1)
    assert np.mean(effects[:, 0] ** 2) == pytest.approx(np.mean(spread**2), rel=0.1)
    assert np.mean(product) == pytest.approx(np.mean(share * spread**2), rel=0.15)


def test_some_preferred_errors_are_common_to_raters_and_system(ratings):
    fixed = {"error_spread": 0, "system_error_spread": 0}
    errors = off_diagonal(
        draw_from_prior("relaxed_k", ratings, 20, priors=fixed)["confusion"].values
    )
    np.testing.assert_allclose(errors, errors[:, :, :1].repeat(4, axis=2))
    fixed = {"error_spread": 0, "common_error_spread": 0}
    errors = off_diagonal(
        draw_from_prior("relaxed_k", ratings, 20, priors=fixed)["confusion"].values
    )
    np.testing.assert_allclose(errors[:, :, :3], 1 / 3)
    assert np.ptp(errors[:, :, 3], axis=-1).min() > 1e-4


def test_the_prior_of_the_systems_accuracy_is_flat_in_one_coin(ratings):
    drawn = draw_from_prior("one_coin", ratings, 4000)["system_accuracy"].values.ravel()
    np.testing.assert_allclose(np.quantile(drawn, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.03)


def test_a_prior_may_be_a_distribution(ratings):
    model = build_model(
        "one_coin",
        ratings,
        {"rater_log_odds": pm.Uniform.dist(0, 1), "base_rates": pm.Dirichlet.dist(np.full(4, 9.0))},
    )
    drawn = pm.draw(model["rater_log_odds"], 200, random_seed=1, mode=IN_PYTHON)
    assert 0 < drawn.min() < 0.1 and 0.9 < drawn.max() < 1
    assert model.named_vars_to_dims["base_rates"] == ("true_category",)


@pytest.mark.parametrize(
    ("model", "priors", "message"),
    [
        ("dawid_skene", "flt", "did you mean 'flat'"),
        ("dawid_skene", {"confuson": 1}, "did you mean 'confusion'"),
        ("dawid_skene", {"base_rates": 0.0}, "above 0"),
        ("dawid_skene", {"base_rates": [1.0, 2.0]}, "fit shape"),
        ("dawid_skene", {"base_rates": np.nan}, "above 0"),
        ("dawid_skene", {"base_rates": "many"}, "numbers"),
        *(
            ("dawid_skene", {"base_rates": prior}, r"base_rates is .*; give numbers that fit")
            for prior in ([[1], [1, 2]], {}, object())
        ),
        ("one_coin", {"rater_log_odds": 1.0}, "two numbers"),
        ("one_coin", {"rater_log_odds": (0, -1)}, "two numbers"),
        ("one_coin", {"rater_log_odds": (np.nan, 1)}, "two numbers, the second above 0"),
        ("one_coin", {"rater_log_odds": (-1, np.inf)}, r"is \(-1, inf\); give two numbers"),
        ("one_coin", {"rater_log_odds": (np.inf, 1)}, "two numbers"),
        ("one_coin", {"rater_log_odds": ("a", "b")}, "two numbers"),
        ("one_coin", {"rater_log_odds": [[1], [1, 2]]}, "two numbers"),
        ("relaxed_k", {"rater_spread": -1}, "0 or more"),
        ("relaxed_k", {"system_slope": (-1, 1)}, "0 or more"),
        ("relaxed_k", {"system_slope": (1,)}, r"is \(1,\); give two numbers"),
        ("relaxed_k", {"common_category_share": 3.0}, "is 3.0; give two numbers"),
        ("relaxed_k", {"common_category_share": (3.0, 0.0)}, "above 0"),
        ("relaxed_k", {"common_category_share": 3.0, "base_rates": -1}, "above 0"),
    ],
)
def test_bad_priors_are_refused_by_name(model, priors, message, ratings):
    with pytest.raises(InputError, match=message):
        build_model(model, ratings, priors)


def test_the_prior_of_the_system_is_weak_unless_one_is_given(ratings):
    def rows(priors):
        *_, concentration = build_model("dawid_skene", ratings, priors)["confusion"].owner.inputs
        return concentration.eval(mode=IN_PYTHON).sum(axis=-1)[:, 0]

    by_rater = np.multiply.outer([1.0, 2.0, 3.0, 4.0], np.ones((4, 4)))
    assert rows(None).round(9).tolist() == [8, 8, 8, 2]
    assert rows({"system_confusion": "diagonal"}).round(9).tolist() == [8, 8, 8, 8]
    assert rows({"confusion": 1.0}).tolist() == [4, 4, 4, 4]
    assert rows({"confusion": by_rater}).tolist() == [4, 8, 12, 16]
    assert rows({"confusion": 1.0, "system_confusion": 2.0}).tolist() == [4, 4, 4, 8]
    ratings = Ratings(ratings.codes, ratings.categories)
    assert rows(None)[-1].round(9) == 8


def test_the_interval_of_a_good_system_holds_with_two_categories():
    """With raters' priors for the system it held in none to two of eight such samples."""
    scenario = Scenario(
        n_categories=2,
        base_rates=(0.8, 0.2),
        initial_rater_accuracy=(0.7, 0.7, 0.7),
        initial_system_accuracy=0.9,
        n_items=200,
    )
    options = {"engine": "gibbs", "draws": 300, "tune": 200, "tries": 1, "checks": False}
    data = [simulate(scenario, seed).with_truth(None) for seed in range(8)]
    of_raters = {"system_confusion": "diagonal"}
    held, held_as_rater = (
        sum(
            result.lower <= 0.9 <= result.upper
            for tree in fit_many("dawid_skene", data, seed=1, priors=priors, **options)
            if (result := estimate_from_draws(tree).system_accuracy).lower is not None
        )
        for priors in (None, of_raters)
    )
    assert held >= 6 and held_as_rater <= 4


def test_what_depends_on_another_variable_is_drawn_given_it(monkeypatch, ratings):
    with pm.Model(coords={"place": [0, 1]}) as model:
        near = pm.Normal("near", pm.Normal("location"), 0.1, dims="place")
        pm.Deterministic("twice", 2 * near, dims="place")
    monkeypatch.setattr(graph, "build_model", lambda *_: model)
    drawn = draw_from_prior("any", ratings, 500)
    location, near = drawn["location"].values[0], drawn["near"].values[0]
    assert np.std(near - location[:, None]) == pytest.approx(0.1, rel=0.15)
    assert np.std(location) == pytest.approx(1, rel=0.15)
    np.testing.assert_allclose(drawn["twice"].values[0], 2 * near)


def test_the_transform_goes_there_and_back_and_has_the_volume_of_the_simplex():
    transform = IsometricLogRatio()
    y = np.array([0.3, -1.2, 0.7])
    p = transform.backward(np_tensor(y)).eval()
    assert p.sum() == pytest.approx(1)
    np.testing.assert_allclose(transform.forward(np_tensor(p)).eval(), y)
    np.testing.assert_allclose(np.log(p) - np.log(p).mean(), y @ make_zero_sum_basis(4))
    # Volume on the first three probabilities, as PyMC's densities take it.
    steps = 1e-6 * np.eye(3)
    columns = [
        (transform.backward(np_tensor(y + s)).eval() - transform.backward(np_tensor(y - s)).eval())
        / 2e-6
        for s in steps
    ]
    expected = np.log(abs(np.linalg.det(np.array(columns)[:, :3])))
    assert float(transform.log_jac_det(np_tensor(y)).eval()) == pytest.approx(expected, abs=1e-6)


def np_tensor(values):
    import pytensor.tensor as pt

    return pt.as_tensor(np.asarray(values))
