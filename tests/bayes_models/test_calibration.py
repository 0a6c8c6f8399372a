"""Whether prior, likelihood and sampler fit together.

Few items are fitted, whose posterior prior draws weighted by their likelihood give too. In
simulation-based calibration the rank of a prior draw in the posterior is uniform: a thousand
simulations of each model are kept in `experiments/calibration`, and fifty are slow enough.
"""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from scipy.special import gammaln
from scipy.stats import kstest

import bayes_models
from bayes_models import MODELS, fit, make_diagonal_concentration, make_power_prior, observe
from bayes_models.earlier_studies import WEIGHT, compare_recalls
from bayes_models.methods import estimate_with_studies, fit_and_check
from bayes_models.posterior.draws import infer_truth, summarise_beta, take_states
from bayes_models.posterior.predictive import draw_from_prior, draw_ratings, mask_truths
from experiments.simulations.calibration import (
    DESIGNS,
    FIRST,
    _rank,
    calibrate,
    make_design,
    summarise_ranks,
)
from lehner import InputError, Ratings
from lehner.core.errors import Warning

# Fast cousins: `test_gibbs` (exact means) and `test_against_pymc` (densities).
EACH_MODEL = sorted(MODELS, reverse=True)
# Of their shape other tests compile these models, too.
OF_TABLE_2 = ("dawid_skene", "relaxed_k")


def few_items(n_raters):
    """Six items rated by two raters each and a system; as many categories as raters."""
    rng = np.random.default_rng(1)
    k = n_raters
    codes = np.where((np.arange(k) - np.arange(6)[:, None]) % k < k - 2, -1, 0)
    confusion = np.tile(0.4 * np.eye(k) + 0.6 / k, (k + 1, 1, 1))
    items = Ratings(codes, list("abcd")[:k], system=np.zeros(6, np.int64))
    rates = np.arange(k, 0, -1) / np.arange(k + 1).sum()
    drawn = draw_ratings(items, rates, confusion, rng)
    return Ratings(drawn.votes, drawn.categories, drawn.raters, drawn.items, drawn.system)


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH_MODEL)
def test_draws_are_prior_draws_weighted_by_their_likelihood(name):
    few = few_items(4 if name in OF_TABLE_2 else 3)
    tree = bayes_models.fit(name, few, tries=1)
    assert_weighted_prior_draws(few, draw_from_prior(name, few, 4000, seed=2), tree)


def assert_weighted_prior_draws(few, prior, tree):
    """Compare the means of draws with those of prior draws weighted by their likelihood."""
    patterns = observe(few)
    log = infer_truth(patterns, *take_states(prior))[1] @ patterns.counts
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    assert 1 / (weights**2).sum() > 150, "effective draws"
    for variable in ("base_rates", "accuracy", "system_accuracy"):
        weighted = prior[variable].values[0].reshape(4000, -1)
        mean = weights @ weighted
        errors = np.sqrt(weights**2 @ (weighted - mean) ** 2)
        draws = tree["posterior"][variable].mean(("chain", "draw")).values.ravel()
        np.testing.assert_array_less(abs(draws - mean), 4 * errors + 0.01, err_msg=variable)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_models_are_calibrated(name):
    ranks = calibrate(name, make_design(), 50, seed=4, chains=2, draws=500, tries=1)
    assert set(ranks) == {"base_rates", "accuracy", "system_accuracy", "system_accuracy_in_sample"}
    for quantity, values in ranks.items():
        assert kstest(values, "uniform").pvalue > 0.001, quantity


@pytest.mark.slow
def test_ranks_show_a_prior_that_is_not_the_one_simulated_from():
    prior = draw_from_prior("dawid_skene", make_design(), 50, seed=1)
    rng = np.random.default_rng(1)
    simulated = [
        draw_ratings(make_design(), *state, rng).with_truth(None)
        for state in zip(*take_states(prior), strict=True)
    ]
    wrong = {"base_rates": np.array([30.0, 1.0, 1.0])}
    trees = bayes_models.fit_many("dawid_skene", simulated, priors=wrong, chains=2, tries=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        ranks = [
            _rank(tree["posterior"]["base_rates"].values[..., 0].ravel()[::8], true, rng)
            for true, tree in zip(prior["base_rates"].values[0, :, 0], trees, strict=True)
        ]
    assert kstest(ranks, "uniform").pvalue < 1e-6


def test_ranks_are_between_zero_and_one_and_break_ties_at_random():
    rng = np.random.default_rng(1)
    ranks = [_rank(np.zeros(99), 0.0, rng) for _ in range(2000)]
    assert kstest(ranks, "uniform").pvalue > 0.001
    assert _rank(np.arange(99.0), -1.0, rng) < 0.01
    assert _rank(np.arange(99.0), 100.0, rng) > 0.99
    # Draws that are all but equal to the value are below it, and not tied as well.
    nearly = [_rank(np.full(99, 0.3 - 1e-15), 0.3, rng) for _ in range(20)]
    assert 0.99 <= min(nearly) and max(nearly) <= 1


def test_drawn_ratings_have_the_gaps_of_the_design_and_the_parameters_given():
    rng = np.random.default_rng(1)
    codes = np.tile([[0, -1, 0], [0, 0, 0]], (5000, 1))
    ratings = Ratings(codes, list("abc"), system=np.tile([0, -1], 5000), ordered=True)
    rates = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    confusion = rng.dirichlet(np.ones(3), size=(4, 6))
    drawn = draw_ratings(ratings, rates, confusion, rng)
    assert ((drawn.codes < 0) == (codes < 0)).all()
    assert ((drawn.system < 0) == (ratings.system < 0)).all()
    shares = np.bincount(drawn.truth, minlength=3) / 10_000
    np.testing.assert_allclose(shares, rates[:3] + rates[3:], atol=0.02)
    joint = rates @ confusion[0]
    np.testing.assert_allclose(np.bincount(drawn.codes[:, 0]) / 10_000, joint, atol=0.02)
    both = (rates[:, None, None] * confusion[0][:, :, None] * confusion[3][:, None, :]).sum(axis=0)
    answered = drawn.system >= 0
    table = np.zeros((3, 3))
    np.add.at(table, (drawn.codes[answered, 0], drawn.system[answered]), 1 / answered.sum())
    np.testing.assert_allclose(table, both, atol=0.025)


def test_a_grouped_row_is_drawn_item_by_item():
    grouped = Ratings([[0, 0], [1, 1]], ["a", "b"], counts=[3, 2])
    drawn = draw_ratings(
        grouped, np.array([1.0, 0.0]), np.full((2, 2, 2), 0.5), np.random.default_rng(1)
    )
    assert drawn.n_items == 5 and not drawn.grouped
    assert (drawn.truth == 0).all()


def test_truths_that_the_design_knows_are_data_and_the_others_are_not():
    few = make_design("K3_J2_n200_truths")
    drawn = draw_ratings(few, np.ones(3) / 3, np.full((3, 3, 3), 1 / 3), np.random.default_rng(1))
    seen = mask_truths(few, drawn)
    gold = few.truth >= 0
    assert gold.sum() == 50
    assert (seen.truth[gold] == drawn.truth[gold]).all() and (seen.truth[~gold] == -1).all()
    assert (seen.codes == drawn.codes).all() and (seen.system == drawn.system).all()
    assert mask_truths(make_design(), drawn).truth is None


def test_intervals_that_all_hold_leave_an_error_of_coverage():
    ranks = pd.DataFrame({"accuracy": np.full(100, 0.5)})
    table = summarise_ranks(ranks.assign(model="one_coin", design=FIRST))
    assert table["coverage_90"].item() == 1 and 0.005 < table["coverage_se"].item() < 0.02


def test_designs_differ_in_categories_raters_items_gaps_and_known_truths():
    for name in DESIGNS:
        result = make_design(name)
        k, n_raters, n_items = (int(part[1:]) for part in name.split("_")[:3])
        assert (result.n_categories, result.n_raters, result.n_items) == (k, n_raters, n_items)
        assert ("missing" in name) == bool((result.codes < 0).any())
        assert ("truths" in name) == (result.truth is not None)


def test_no_simulations_are_refused():
    with pytest.raises(InputError, match="n_simulations is 0"):
        calibrate("one_coin", make_design(), 0)


# Power priors against closed forms, and against sums over all true categories.


STUDIES = {"ana": [[30, 10], [4, 16]], "gpt": [[9, 1], [2, 8]]}


def small(n_unknown=6, n_known=10, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_unknown + n_known)

    def rated():
        return np.where(rng.random(len(truth)) < 0.8, truth, 1 - truth)

    votes = np.column_stack([rated(), rated()])
    gold = np.where(np.arange(len(truth)) < n_unknown, -1, truth)
    return Ratings(
        votes, ["no", "yes"], ["ana", "ben"], system=rated(), systems=["gpt"], truth=gold
    )


def exact_recall(ratings, priors):
    """Posterior means of all confusion matrices, by a sum over the unknown true categories."""
    answers = np.column_stack([ratings.codes, ratings.system])
    unknown = np.flatnonzero(ratings.truth < 0)
    weights, means = [], []
    for drawn in itertools.product(range(2), repeat=len(unknown)):
        truth = ratings.truth.copy()
        truth[unknown] = drawn
        items = 3.0 + np.bincount(truth, minlength=2)
        rows = np.array(priors, dtype=float)
        for rater, truths in itertools.product(range(3), range(2)):
            rows[rater, truths] += np.bincount(answers[truth == truths, rater], minlength=2)
        weights.append(
            gammaln(items).sum() + gammaln(rows).sum() - gammaln(rows.sum(axis=-1)).sum()
        )
        means.append(rows / rows.sum(axis=-1, keepdims=True))
    weights = np.exp(np.array(weights) - max(weights))
    return np.einsum("s,srkl->rkl", weights / weights.sum(), np.array(means))


def of(weight):
    strong, weak = make_diagonal_concentration(2), make_diagonal_concentration(2, strength=2)
    ana, gpt = (weight * np.array(STUDIES[name]) for name in ("ana", "gpt"))
    return np.array([strong + ana, strong, weak + gpt])


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_counts_to_a_power_are_added_to_the_default(weight):
    result = make_power_prior(small(), STUDIES, weight=weight)
    assert result["confusion"] == pytest.approx(of(weight))
    assert result["system_confusion"] == pytest.approx(of(weight)[-1])
    assert result["base_rates"] == 3.0


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_gibbs_has_the_means_of_an_exact_sum(weight):
    ratings = small()
    priors = make_power_prior(ratings, STUDIES, weight=weight)
    options = {"draws": 4000, "checks": False, "log_likelihood": False, "check": "estimands"}
    tree = fit("dawid_skene", ratings, engine="gibbs", priors=priors, **options)
    drawn = tree.posterior["confusion"].mean(("chain", "draw"))
    assert drawn.values == pytest.approx(exact_recall(ratings, of(weight)), abs=0.006)


def test_an_estimate_says_prior_and_posterior_and_what_it_is_without():
    ratings = small()
    studies = STUDIES | {"someone else": np.ones((2, 2))}
    estimate = estimate_with_studies("dawid_skene", ratings, studies=studies, level=0.9, seed=3)
    rows = estimate.diagnostics["earlier_studies"]

    def find(quantity, **names):
        (row,) = (x for x in rows if {"quantity": quantity, **names}.items() <= x.items())
        return row

    plain, _ = fit_and_check("dawid_skene", ratings, 3, engine="gibbs")
    accuracy = find("system_accuracy_without_studies")["estimate"]
    assert accuracy == pytest.approx(float(plain.posterior["system_accuracy"].mean()))
    studied = [(row["rater"], row["category"]) for row in rows if row["quantity"] == "study_right"]
    assert studied == [("ana", "no"), ("ana", "yes"), ("gpt", "no"), ("gpt", "yes")]
    counts = find("study_right", rater="ana", category="yes")
    assert (counts["estimate"], counts["n_items"]) == (16, 20)
    prior = stats.beta(4.8 + WEIGHT * 16, 3.2 + WEIGHT * 4)
    expected = (prior.mean(), *prior.ppf([0.05, 0.95]))
    shown = find("recall_prior", rater="ana", category="yes")
    assert (shown["estimate"], shown["lower"], shown["upper"]) == pytest.approx(expected)
    exact = exact_recall(ratings, of(WEIGHT))
    posterior = find("recall_posterior", rater="gpt", category="no")
    assert posterior["estimate"] == pytest.approx(exact[2, 0, 0], abs=0.02)


def test_the_interval_of_a_row_is_that_of_its_beta_marginal():
    rng = np.random.default_rng(1)
    drawn = rng.dirichlet([3, 5, 2], 200_000)[:, 1]
    result = summarise_beta(np.array([3.0, 5.0, 2.0]), 1, 0.8)
    expected = (drawn.mean(), *np.quantile(drawn, [0.1, 0.9]))
    assert (result.estimate, result.lower, result.upper) == pytest.approx(expected, abs=0.003)


def test_a_study_that_the_ratings_contradict_is_named():
    ratings = small(n_unknown=200, n_known=0)
    studies = {"ana": [[80, 20], [20, 80]], "gpt": [[5, 95], [20, 80]]}
    estimate = estimate_with_studies("dawid_skene", ratings, studies=studies, level=0.9, seed=1)
    warning, *_ = (x for x in estimate.warnings if x.code == "earlier-study-contradicted")
    assert warning.text.startswith("the earlier study of gpt found 0.050 of no right; the ratings")


def test_a_row_without_items_contradicts_nothing():
    ratings = small()
    dims = ("chain", "draw", "rater", "category", "response")
    drawn = xr.DataArray(np.full((4, 100, 3, 2, 2), 0.999), dims=dims)
    for right, items, n_warnings in ((0, 0, 0), (50, 100, 1)):
        studies = {"ana": [[right, items - right], [0, 0]]}
        priors = make_power_prior(ratings, {})
        compared = compare_recalls(ratings, studies, priors, drawn, drawn, 0.9)
        warnings = [part for part in compared if isinstance(part, Warning)]
        assert len(warnings) == n_warnings
    assert "0.500 of no right; the ratings alone say 0.999 (p < .001)" in warnings[0].text
