"""EM finds the maximum of the likelihood that enumeration over true categories gives."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lehner import InputError, Scenario, load_dataset, simulate
from lehner.latent_class.em import (
    FROM_FAR,
    LATENT_CLASS_MODELS,
    LatentClassModel,
    Search,
    fit_starts,
    tabulate_codes,
    vote_start,
)
from lehner.latent_class.fit import draw_start
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
