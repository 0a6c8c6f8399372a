"""Fits with a dependent pair: published tests, exact weights, and the evidence for dependence."""

import json

import numpy as np
import pytest

import bayes_models
from bayes_models import draw_from_prior, fit, observe
from bayes_models.posterior.bayes_factors import describe_pair, warn_of_pair
from bayes_models.posterior.draws import infer_truth, take_states
from lehner import InputError, Ratings
from tests.reference.dependent_pair import two_tests

STRONGYLOIDES = (38, 2, 87, 35)
"""Cambodian refugees by stool examination and serology: both positive, one of them, none."""
PRIORS = ((4.44, 13.31), (71.25, 3.75), (21.96, 5.49), (4.1, 1.76))


def in_rows(sensitivity, specificity):
    return [list(specificity), list(sensitivity)[::-1]]


@pytest.fixture(scope="module")
def strongyloides():
    answers = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    ratings = Ratings(answers, ["no", "yes"], ["stool", "serology"], counts=STRONGYLOIDES)
    confusion = np.array([in_rows(*PRIORS[:2]), in_rows(*PRIORS[2:])])
    priors = {"base_rates": 1.0, "confusion": confusion}
    pair = ratings.with_dependent_pair(("stool", "serology"))
    return fit("dawid_skene", pair, priors=priors, checks=False, progressbar=False)


@pytest.mark.slow
@pytest.mark.parametrize("dependent", [False, True])
def test_strongyloides_as_by_weighted_prior_draws(strongyloides, dependent):
    """Data and priors of Joseph, Gyorkos & Coupal (1995), and Dendukuri & Joseph (2001)."""
    rng = np.random.default_rng(1)
    drawn, weights, _ = two_tests(STRONGYLOIDES, (1, 1), PRIORS, 400_000, rng, dependent=dependent)
    expected = {name: float(weights @ values) for name, values in drawn.items()}
    if not dependent:
        # As printed in the paper of 1995, where these were medians.
        published = {"rate": 0.76, "s1": 0.31, "c1": 0.96, "s2": 0.89, "c2": 0.67}
        for name, value in published.items():
            assert expected[name] == pytest.approx(value, abs=0.02)
    posterior = strongyloides["posterior"].to_dataset()
    of = (posterior["shared_answers"] > 0).all("true_category") == dependent
    means = posterior.where(of).mean(("chain", "draw"))
    (c1, s1), (c2, s2) = (np.diag(matrix) for matrix in means["confusion"].values)
    result = {"rate": means["base_rates"].values[1], "s1": s1, "c1": c1, "s2": s2, "c2": c2}
    for name, value in result.items():
        assert value == pytest.approx(expected[name], abs=0.015), name
    if dependent:
        covariance = strongyloides["pair"]["covariance"].mean(("chain", "draw")).values
        expected_covariance = [expected["of_well"], expected["of_sick"]]
        np.testing.assert_allclose(covariance, expected_covariance, atol=0.002)


@pytest.mark.slow
def test_the_bayes_factor_is_the_ratio_of_marginal_likelihoods(strongyloides):
    rng = np.random.default_rng(2)
    logs = [
        two_tests(STRONGYLOIDES, (1, 1), PRIORS, 400_000, rng, dependent=dependent)[2]
        for dependent in (True, False)
    ]
    text = json.loads(strongyloides.attrs["dependent_pair"])
    error = text["log_bayes_factor_error"]
    assert error < 0.15
    assert abs(text["log_bayes_factor"] - (logs[0] - logs[1])) < 4 * error + 0.02
    share = strongyloides["posterior"]["shared_answers"].values[..., 0]
    probability = 1 / (1 + np.exp(-text["log_bayes_factor"]))
    assert (share > 0).mean() == pytest.approx(probability, abs=0.03)


@pytest.mark.slow
def test_with_few_ratings_of_an_item_the_shares_rest_on_their_prior(strongyloides):
    (said,) = warn_of_pair(strongyloides)
    assert said.code == "pair-rests-on-prior" and "stool and serology" in said.text


@pytest.fixture(scope="module")
def few():
    """Eight items by two raters and a system, with gaps."""
    codes = [[0, 0], [1, 1], [1, -1], [0, 1], [1, 1], [0, 0], [-1, 1], [1, 1]]
    system = [0, 1, 1, 0, 1, 1, 1, -1]
    ratings = Ratings(codes, ["no", "yes"], ["ana", "ben"], system=system)
    return ratings.with_dependent_pair(("ana", "system"))


@pytest.mark.parametrize(
    "model", ["dawid_skene", pytest.param("one_coin_by_rater", marks=pytest.mark.slow)]
)
def test_draws_are_prior_draws_weighted_by_their_likelihood(few, model):
    """The prior has both, a pair that is dependent and one that is not."""
    tree = fit(model, few, tries=1, progressbar=False)
    n, patterns = 40_000, observe(few)
    prior = draw_from_prior(model, few, n, seed=2)
    share = prior["shared_answers"].values[0]
    assert (share == 0).all(axis=1).mean() == pytest.approx(0.5, abs=0.02)
    _, log_probability = infer_truth(patterns, *take_states(prior, few.dependent_index))
    log = log_probability @ patterns.counts
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    posterior = tree["posterior"].to_dataset()
    for variable in ("base_rates", "accuracy", "system_accuracy", "shared_answers"):
        values = prior[variable].values[0].reshape(n, -1)
        mean = weights @ values
        errors = np.sqrt(weights**2 @ (values - mean) ** 2)
        result = posterior[variable].mean(("chain", "draw")).values.ravel()
        np.testing.assert_array_less(abs(result - mean), 4 * errors + 0.015, err_msg=variable)
    dependent = (share > 0).any(axis=1)
    probability = weights @ dependent
    text = json.loads(tree.attrs["dependent_pair"])
    log_factor = np.log(probability / (1 - probability))
    assert text["log_bayes_factor"] == pytest.approx(log_factor, abs=0.1)


def copied(seed, share):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 400)
    right = rng.random((400, 5)) < 0.7
    codes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (400, 5))) % 3)
    codes[:, 4] = np.where(rng.random(400) < share, codes[:, 0], codes[:, 4])
    return Ratings(codes[:, :4], list("abc"), system=codes[:, 4]).with_dependent_pair(
        ("1", "system")
    )


@pytest.mark.slow
def test_evidence_is_for_copies_and_against_independent_raters():
    factors = []
    for share in (0.4, 0.0):
        tree = fit("dawid_skene", copied(1, share), draws=400, tries=1, progressbar=False)
        estimate = bayes_models.estimate_from_draws(tree)
        text = estimate.diagnostics["dependent_pair"]
        factors.append(text["log_bayes_factor"])
        name = "if_dependent" if share else "if_independent"
        rows = {row["quantity"]: row for row in describe_pair(tree, 0.9)}
        near = rows[f"system_accuracy_{name}"]["estimate"]
        assert estimate.system_accuracy.estimate == pytest.approx(near, abs=0.01)
    assert factors[0] > 5 and factors[1] < -2


def test_gibbs_sampling_has_no_pair(few):
    with pytest.raises(InputError, match="does not sample a dependent pair"):
        fit("dawid_skene", few, engine="gibbs")
    tree = fit("pooled", few, engine="gibbs", draws=50, chains=2, tries=1, checks=False)
    assert "dependent_pair" not in tree.attrs
