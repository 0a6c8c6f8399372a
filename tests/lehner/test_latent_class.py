"""EM finds the maximum of the likelihood that enumeration over true categories gives."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from lehner import InputError, Scenario, load_dataset, simulate
from lehner.latent_class import (
    LATENT_CLASS_MODELS,
    LatentClasses,
    align_labels,
    find_latent_class_model,
    fit_patterns,
    vote_start,
)

each_model = pytest.mark.parametrize("name", LATENT_CLASS_MODELS)


@pytest.fixture
def data():
    """Patterns of three raters and a system, some ratings missing, with counts."""
    scenario = Scenario(n_categories=3, rater_accuracy=(0.6, 0.7, 0.8), missing=0.15, n_items=400)
    unique = simulate(scenario, seed=8).patterns(truth=False).ratings
    return np.column_stack([unique.codes, unique.system]), unique.weights.astype(float)


def log_likelihood(codes, weights, base_rates, confusion):
    """Plain sums over true categories."""
    total = 0.0
    for row, weight in zip(codes, weights, strict=True):
        p = 0.0
        for z, rate in enumerate(base_rates):
            term = rate
            for j, x in enumerate(row):
                term *= confusion[j][z][x] if x >= 0 else 1.0
            p += term
        total += weight * math.log(p)
    return total


def parameters(name, theta, n_raters, k):
    """Base rates and confusion matrices from free parameters, written anew."""
    base_rates, rest = softmax(np.append(theta[: k - 1], 0)), theta[k - 1 :]
    groups = [0] * (n_raters - 1) + [1] if name in ("one_coin", "pooled") else range(n_raters)
    n_groups = max(groups) + 1
    if name in ("dawid_skene", "pooled"):
        logits = np.dstack([rest.reshape(n_groups, k, k - 1), np.zeros((n_groups, k))])
        matrices = softmax(logits, axis=2)
    else:
        per = k if name == "class_conditional" else 1
        right = np.broadcast_to(1 / (1 + np.exp(-rest.reshape(n_groups, per))), (n_groups, k))
        eye = np.eye(k)
        matrices = right[..., None] * eye + (1 - right)[..., None] * (1 - eye) / (k - 1)
    return base_rates, matrices[list(groups)]


def size(name, n_raters, k):
    groups = 2 if name in ("one_coin", "pooled") else n_raters
    per = {"dawid_skene": k * (k - 1), "pooled": k * (k - 1), "class_conditional": k}.get(name, 1)
    return k - 1 + groups * per


@each_model
def test_the_likelihood_is_that_of_enumeration_and_the_maximum_that_of_an_optimiser(name, data):
    codes, weights = data
    k, n_raters = 3, codes.shape[1]
    fit = fit_patterns(codes, weights, vote_start(codes, weights, k), LATENT_CLASS_MODELS[name])
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
        for _ in range(8)
    )
    assert fit.log_likelihood >= -best - 1e-6


@each_model
def test_the_constraint_of_the_model_holds(name, data):
    codes, weights = data
    model = LATENT_CLASS_MODELS[name]
    fit = fit_patterns(codes, weights, vote_start(codes, weights, 3), model)
    np.testing.assert_allclose(fit.confusion.sum(axis=2), 1)
    raters = fit.confusion[:-1]
    assert np.allclose(raters, raters[0]) == model.shared
    off = fit.confusion[:, ~np.eye(3, dtype=bool)].reshape(-1, 3, 2)
    assert np.allclose(off[..., 0], off[..., 1]) == (model.form != "full")
    diagonal = np.diagonal(fit.confusion, axis1=1, axis2=2)
    assert np.allclose(diagonal, diagonal[:, :1]) == (model.form == "accuracy")


def test_weights_are_repeated_rows(data):
    codes, weights = data
    model = LATENT_CLASS_MODELS["dawid_skene"]
    start = vote_start(codes, weights, 3)
    repeated = np.repeat(codes, weights.astype(int), axis=0)
    one = fit_patterns(codes, weights, start, model)
    other = fit_patterns(repeated, np.ones(len(repeated)), start, model)
    np.testing.assert_allclose(one.confusion, other.confusion, atol=1e-7)
    assert one.log_likelihood == pytest.approx(other.log_likelihood)


def test_the_likelihood_never_falls(data):
    codes, weights = data
    start = vote_start(codes, weights, 3)
    values = [
        fit_patterns(
            codes, weights, start, LATENT_CLASS_MODELS["dawid_skene"], most_iterations=n
        ).log_likelihood
        for n in range(0, 60, 3)
    ]
    assert (np.diff(values) > -1e-9).all() and values[-1] > values[0] + 1


def test_labels_are_put_back(data):
    codes, weights = data
    model = LATENT_CLASS_MODELS["dawid_skene"]
    fit = align_labels(fit_patterns(codes, weights, vote_start(codes, weights, 3), model))
    for order in ([1, 2, 0], [2, 1, 0]):
        switched = LatentClasses(
            base_rates=fit.base_rates[order], confusion=fit.confusion[:, order]
        )
        again = align_labels(switched)
        np.testing.assert_array_equal(again.base_rates, fit.base_rates)
        np.testing.assert_array_equal(again.confusion, fit.confusion)


def test_caries_has_the_known_maximum():
    """Log-likelihood and prevalence of the two-class model, computed by another program."""
    ratings = load_dataset("caries")
    weights = ratings.weights.astype(float)
    start = vote_start(ratings.codes, weights, 2)
    fit = fit_patterns(ratings.codes, weights, start, LATENT_CLASS_MODELS["dawid_skene"])
    assert fit.log_likelihood == pytest.approx(-7465.3847, abs=6e-4)
    assert min(fit.base_rates) == pytest.approx(0.1961, abs=1e-4)


def test_every_pattern_has_a_probability():
    """Over all patterns the probabilities under a fit sum to 1."""
    codes = np.array(list(product(range(2), repeat=3)))
    weights = np.array([9.0, 3, 2, 4, 1, 2, 5, 8])
    fit = fit_patterns(codes, weights, vote_start(codes, weights, 2), LATENT_CLASS_MODELS["pooled"])
    total = sum(
        math.exp(log_likelihood([row], [1.0], fit.base_rates, fit.confusion)) for row in codes
    )
    assert total == pytest.approx(1)


def test_an_unknown_model_is_refused():
    with pytest.raises(InputError, match="'two_coin'; did you mean 'one_coin'"):
        find_latent_class_model("two_coin")
