"""EM finds the maximum that enumeration gives, and with extrapolation that of long plain EM."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lehner import InputError, Ratings, Scenario, load_dataset, simulate
from lehner.latent_class.em import (
    FROM_FAR,
    LATENT_CLASS_MODELS,
    LatentClasses,
    LatentClassModel,
    Search,
    accelerate_em,
    em_step,
    fit_starts,
    tabulate_codes,
    vote_start,
)
from lehner.latent_class.fit import draw_start, fit_by_likelihood, list_notes
from tests.reference.latent_class import log_likelihood, parameters, size

each_model = pytest.mark.parametrize("name", LATENT_CLASS_MODELS)


def fit_patterns(table, start, model, search=FROM_FAR):
    return fit_starts(table, [start], model, search)[0]


@pytest.fixture
def data():
    """Patterns of three raters and a system, some ratings missing, with counts."""
    scenario = Scenario(
        n_categories=3, initial_rater_accuracy=(0.6, 0.7, 0.8), missing=0.15, n_items=400
    )
    unique = simulate(scenario, seed=8).to_grouped(truth=False)
    return np.column_stack([unique.codes, unique.system]), unique.weights.astype(float)


@each_model
def test_the_likelihood_is_that_of_enumeration_and_the_maximum_that_of_an_optimiser(name, data):
    codes, weights = data
    k, n_raters = 3, codes.shape[1]
    table = tabulate_codes(codes, weights, k)
    fit = fit_patterns(table, vote_start(table), LATENT_CLASS_MODELS[name])
    assert fit.converged
    brute = log_likelihood(codes, weights, fit.base_rates, fit.confusion)
    assert fit.log_likelihood == pytest.approx(brute, abs=1e-8)
    hot = codes[:, :, None] == np.arange(k)

    def negative(theta):
        base_rates, matrices = parameters(name, theta, n_raters, k)
        log = np.einsum("pjx,jzx->pz", hot, np.log(np.maximum(matrices, 1e-300)))
        log += np.log(np.maximum(base_rates, 1e-300))
        return -weights @ np.log(np.exp(log).sum(axis=1))

    rng = np.random.default_rng(1)
    best = min(
        minimize(negative, rng.normal(0, 0.3, size(name, n_raters, k)), method="BFGS").fun
        for _ in range(2)
    )
    assert fit.log_likelihood >= -best - 1e-6


@each_model
def test_the_constraint_of_the_model_holds(name, data):
    table = tabulate_codes(*data, 3)
    model = LATENT_CLASS_MODELS[name]
    fit = fit_patterns(table, vote_start(table), model)
    np.testing.assert_allclose(fit.confusion.sum(axis=2), 1)
    raters = fit.confusion[:-1]
    assert np.allclose(raters, raters[0]) == model.shared
    off = fit.confusion[:, ~np.eye(3, dtype=bool)].reshape(-1, 3, 2)
    assert np.allclose(off[..., 0], off[..., 1]) == (model.form.endswith("accuracy"))
    # With one accuracy each error is as probable for any truth.
    others = [[[1, 0], [2, 0]], [[0, 1], [2, 1]], [[0, 2], [1, 2]]]
    alike = [np.allclose(*(fit.confusion[:, z, x] for z, x in pair)) for pair in others]
    assert all(alike) == (model.form == "accuracy")
    diagonal = np.diagonal(fit.confusion, axis1=1, axis2=2)
    assert np.allclose(diagonal, diagonal[:, :1]) == (model.form == "accuracy")


def test_the_likelihood_never_falls(data):
    table = tabulate_codes(*data, 3)
    start = vote_start(table)
    values = [
        fit_patterns(
            table, start, LATENT_CLASS_MODELS["dawid_skene"], Search(max_iterations=n)
        ).log_likelihood
        for n in range(0, 60, 3)
    ]
    assert (np.diff(values) > -1e-9).all() and values[-1] > values[0] + 1


@pytest.mark.parametrize(("seed", "name"), [(11, "dawid_skene"), (38, "class_conditional")])
def test_a_random_start_ends_where_a_step_raises_no_probability(seed, name):
    scenario = Scenario(n_categories=4, n_items=400, initial_rater_accuracy=(0.6, 0.7, 0.8))
    ratings = simulate(scenario, seed=seed)
    table = ratings.to_patterns(truth=False, by_content=True)
    model = LATENT_CLASS_MODELS[name]
    fit = fit_patterns(table, draw_start(table, np.random.default_rng(seed)), model)
    after = fit_patterns(table, fit, model, Search(max_iterations=0))
    assert fit.converged
    assert (after.base_rates <= 1.002 * fit.base_rates).all()
    assert (after.confusion <= 1.002 * fit.confusion).all()


def test_sparse_answers_are_dense_ones():
    ratings = load_dataset("caries")
    model = LATENT_CLASS_MODELS["class_conditional"]
    sparse = ratings.to_patterns(truth=False, by_content=True)
    dense = tabulate_codes(ratings.codes, ratings.weights.astype(float), 2)
    assert sparse.inverse.tolist() == list(range(32))
    first, other = (fit_patterns(table, vote_start(table), model) for table in (sparse, dense))
    np.testing.assert_allclose(first.confusion, other.confusion, atol=1e-9)
    assert first.log_likelihood == pytest.approx(other.log_likelihood)


def test_a_form_that_no_model_has_is_refused():
    with pytest.raises(InputError, match=r"form is 'ful'; choose among .*full"):
        LatentClassModel(summary="", form="ful")


# EM with extrapolation ends at the maximum of long plain EM, in far fewer steps.


def crowd(seed, n_items, n_raters, per_item, k):
    """Items rated by a few of many raters, most of whom rate few items and some hardly know."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, n_items)
    accuracy = rng.uniform(0.3, 0.9, n_raters)
    busy = rng.pareto(1.0, n_raters) + 0.01
    codes = np.full((n_items, n_raters), -1)
    for i in range(n_items):
        for j in rng.choice(n_raters, per_item, replace=False, p=busy / busy.sum()):
            right = rng.random() < accuracy[j]
            codes[i, j] = truth[i] if right else (truth[i] + rng.integers(1, k)) % k
    return Ratings(codes, range(k))


DATA = {
    "caries": lambda: load_dataset("caries"),
    "two categories": lambda: crowd(0, 300, 100, 4, 2),
    "three categories": lambda: crowd(2, 300, 100, 3, 3),
    "four categories": lambda: crowd(3, 300, 100, 3, 4),
}
HIGHER = {("three categories", "class_conditional"), ("four categories", "dawid_skene")}
"""Where plain EM ends at another maximum, which is lower."""


def take_step(table, point, model):
    """Take one step of EM from one point."""
    rates, confusion, (log_likelihood,) = em_step(
        table, model, point.base_rates[None, None], point.confusion[None]
    )
    return LatentClasses(base_rates=rates[0, 0], confusion=confusion[0]), log_likelihood


def plain_em(step, point, n):
    for _ in range(n):
        point, log_likelihood = step(point)
    return point, log_likelihood


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    "model", ["dawid_skene", pytest.param("class_conditional", marks=pytest.mark.slow)]
)
def test_latent_classes_end_where_long_plain_em_does(name, model):
    table = DATA[name]().to_patterns(truth=False, by_content=True)
    start, of_model = vote_start(table), LATENT_CLASS_MODELS[model]
    fit = fit_patterns(table, start, of_model)
    _, reached = plain_em(lambda point: take_step(table, point, of_model), start, 1500)
    assert fit.converged and fit.iterations < 1000
    assert fit.log_likelihood > reached - 1e-6
    assert (fit.log_likelihood > reached + 1e-6) == ((name, model) in HIGHER)


def test_it_leaves_a_saddle_on_which_the_log_likelihood_stands_still():
    ratings = simulate(
        Scenario(n_categories=4, n_items=400, initial_rater_accuracy=(0.6, 0.7, 0.8)), seed=1
    )
    table = ratings.to_patterns(truth=False, by_content=True)
    model = LATENT_CLASS_MODELS["dawid_skene"]
    start = draw_start(table, np.random.default_rng(1))

    def step(point):
        return take_step(table, point, model)

    saddle, _ = plain_em(step, start, 950)
    after, before = step(saddle)
    assert 0 <= step(after)[1] - before < 1e-9
    fit = fit_patterns(table, start, model)
    assert fit.converged and fit.log_likelihood > before + 2


def test_a_probability_that_grows_from_nearly_nothing_is_not_at_its_maximum():
    # EM for the shares of two densities known at one point: the likelier one takes all.
    density = np.array([2.0, 1.0])

    def step(shares):
        mixture = density @ shares
        return shares * density[:, None] / mixture, np.log(mixture)

    start = np.array([[1e-40], [1 - 1e-40]])
    result = accelerate_em(lambda runs: step, start, np.zeros(2, int))
    assert result.converged.all()
    np.testing.assert_allclose(result.points[:, 0], [1, 0], atol=1e-9)


@pytest.mark.parametrize("model", ["dawid_skene", "one_coin"])
def test_a_start_ends_where_it_ends_alone_whatever_others_are_fitted_with_it(model):
    table = DATA["caries"]().to_patterns(truth=False, by_content=True)
    of_model = LATENT_CLASS_MODELS[model]
    rngs = [np.random.default_rng(seed) for seed in range(14)]
    starts = [vote_start(table), *(draw_start(table, rng) for rng in rngs)]
    together = fit_starts(table, starts, of_model)
    assert len({fit.iterations for fit in together}) > 1
    for start, fit in zip(starts, together, strict=True):
        alone = fit_patterns(table, start, of_model)
        assert fit.log_likelihood == pytest.approx(alone.log_likelihood, abs=1e-9)
        np.testing.assert_allclose(fit.confusion, alone.confusion, atol=1e-6)


def test_it_ends_at_the_most_steps_or_where_the_gain_is_below_the_tolerance():
    ratings = load_dataset("caries")
    loose, default, cut = (
        fit_by_likelihood(ratings, "dawid_skene", search=search)
        for search in (Search(tolerance=1e-6), FROM_FAR, Search(max_iterations=3))
    )
    few, many = loose.parameters, default.parameters
    assert few.converged and few.iterations < many.iterations
    assert few.log_likelihood < many.log_likelihood
    assert not cut.parameters.converged and cut.parameters.iterations == 3
    assert "had not converged after 3" in " ".join(map(str, list_notes(ratings, cut)))
