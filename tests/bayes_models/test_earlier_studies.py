"""Power priors against closed forms, and against sums over all true categories."""

import itertools

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from scipy.special import gammaln

from bayes_models import fit, make_diagonal_concentration, make_power_prior
from bayes_models.earlier_studies import WEIGHT, compare_recalls
from bayes_models.methods import estimate_with_studies, fit_and_check
from bayes_models.posterior.draws import summarise_beta
from lehner import Ratings
from lehner.core.errors import Warning

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
