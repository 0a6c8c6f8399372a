"""Power priors against closed forms, and against sums over all true categories."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from bayes_models import diagonal_concentration, find_model, fit, power_prior, prior_draws
from bayes_models.methods import estimate_with_studies, fit_and_check
from bayes_models.models.power_prior import (
    Studied,
    beta_interval,
    contradicted,
    prior_intervals,
    studied,
)
from bayes_models.posterior.prior_draws import log_prior
from lehner import InputError, Ratings
from tests.reference.pymc_model import by_pymc

STUDIES = {"ana": [[30, 10], [4, 16]], "gpt": [[9, 1], [2, 8]]}


def small(n_unknown=6, n_known=10, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_unknown + n_known)

    def rated():
        return np.where(rng.random(len(truth)) < 0.8, truth, 1 - truth)

    votes = np.column_stack([rated(), rated()])
    known = np.where(np.arange(len(truth)) < n_unknown, -1, truth)
    return Ratings(
        votes, ["no", "yes"], ["ana", "ben"], system=rated(), systems=["gpt"], truth=known
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
    strong, weak = diagonal_concentration(2), diagonal_concentration(2, strength=2)
    ana, gpt = (weight * np.array(STUDIES[name]) for name in ("ana", "gpt"))
    return np.array([strong + ana, strong, weak + gpt])


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_counts_to_a_power_are_added_to_the_default(weight):
    found = power_prior(small(), STUDIES, weight=weight)
    assert found["confusion"] == pytest.approx(of(weight))
    assert found["system_confusion"] == pytest.approx(of(weight)[-1])
    assert found["base_rates"] == 3.0


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_gibbs_has_the_means_of_an_exact_sum(weight):
    ratings = small()
    priors = power_prior(ratings, STUDIES, weight=weight)
    tree = fit("dawid_skene", ratings, engine="gibbs", priors=priors, draws=8000, checks=False)
    drawn = tree.posterior["confusion"].mean(("chain", "draw"))
    assert drawn.values == pytest.approx(exact_recall(ratings, of(weight)), abs=0.006)


def test_with_known_truths_one_rater_is_beta_binomial():
    ratings = small(n_unknown=1, n_known=200)
    tree = fit(
        "dawid_skene",
        ratings,
        engine="gibbs",
        priors=power_prior(ratings, STUDIES, weight=0.5),
        checks=False,
        draws=4000,
    )
    truth, ana = ratings.truth[1:], ratings.codes[1:, 0]
    drawn = tree.posterior["confusion"].values[..., 0, 1, 1].ravel()
    right, wrong = (ana[truth == 1] == 1).sum(), (ana[truth == 1] == 0).sum()
    closed = stats.beta(4.8 + 0.5 * 16 + right, 3.2 + 0.5 * 4 + wrong)
    # One item of unknown truth moves the row by less than one rating.
    assert drawn.mean() == pytest.approx(closed.mean(), abs=1 / closed.args[0])
    assert drawn.std() == pytest.approx(closed.std(), rel=0.05)


def test_an_estimate_says_prior_and_posterior_and_every_weight():
    ratings = small()
    given = {"studies": STUDIES | {"someone else": np.ones((2, 2))}, "level": 0.9, "seed": 3}
    found = estimate_with_studies("dawid_skene", ratings, weight=0.2, **given)
    told = found.diagnostics["earlier_studies"]
    assert [row["weight"] for row in told["by_weight"]] == [0, 0.2, 0.5, 1]
    assert told["by_weight"][1]["system_accuracy"] == found.system_accuracy
    plain, _ = fit_and_check("dawid_skene", ratings, 3, engine="gibbs")
    accuracy = told["by_weight"][0]["system_accuracy"].estimate
    assert accuracy == pytest.approx(float(plain.posterior["system_accuracy"].mean()))
    assert [(row["rater"], row["category"]) for row in told["raters"]] == [
        *(("ana", "no"), ("ana", "yes"), ("gpt", "no"), ("gpt", "yes"))
    ]
    ana_yes, gpt_no = told["raters"][1], told["raters"][2]
    assert (ana_yes["right"], ana_yes["items"]) == (16, 20)
    prior = stats.beta(4.8 + 0.2 * 16, 3.2 + 0.2 * 4)
    expected = (prior.mean(), *prior.ppf([0.05, 0.95]))
    shown = ana_yes["prior"]
    assert (shown.estimate, shown.lower, shown.upper) == pytest.approx(expected)
    exact = exact_recall(ratings, of(0.2))
    assert gpt_no["posterior"].estimate == pytest.approx(exact[2, 0, 0], abs=0.02)


def test_the_interval_of_a_row_is_that_of_its_beta_marginal():
    rng = np.random.default_rng(1)
    drawn = rng.dirichlet([3, 5, 2], 200_000)[:, 1]
    found = beta_interval(np.array([3.0, 5.0, 2.0]), 1, 0.8)
    expected = (drawn.mean(), *np.quantile(drawn, [0.1, 0.9]))
    assert (found.estimate, found.lower, found.upper) == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize(
    ("studies", "said"),
    [
        ({"anna": np.ones((2, 2))}, "did you mean 'ana'"),
        ({"ana": np.ones((2, 3))}, "2 by 2"),
        ({"ana": [[1, -1], [0, 2]]}, "0 or more"),
        ({"ana": [[1, np.nan], [0, 2]]}, "0 or more"),
    ],
)
def test_wrong_counts_are_refused(studies, said):
    with pytest.raises(InputError, match=said):
        power_prior(small(), studies)


def test_a_study_that_the_ratings_contradict_is_named():
    ratings = small(n_unknown=200, n_known=0)
    studies = {"ana": [[80, 20], [20, 80]], "gpt": [[5, 95], [20, 80]]}
    found = estimate_with_studies(
        "dawid_skene", ratings, studies=studies, weight=0.1, level=0.9, seed=1
    )
    (said,) = [one for one in found.warnings if one.code == "earlier-study-contradicted"]
    assert said.text.startswith(
        "the earlier study of gpt found 0.050 of no right; the ratings alone"
    )


def test_a_row_without_items_contradicts_nothing():
    drawn = np.full((4, 100, 1, 2, 2), 0.999)
    row = {"rater": "ana", "category": "no", "cell": (0, 0, 0)}
    assert list(contradicted([Studied(right=0, items=0, **row)], drawn)) == []
    (said,) = contradicted([Studied(right=50, items=100, **row)], drawn)
    assert "0.500 of no right; the ratings alone say 0.999 (p < .001)" in said.text


BY_ACCURACY = {"model": "one_coin_by_rater"}


def test_one_coin_counts_the_answers_of_all_categories_together():
    found = power_prior(small(), STUDIES, weight=0.5, **BY_ACCURACY)
    assert found["earlier_answers"].tolist() == [[23, 7], [0, 0], [8.5, 1.5]]
    again = power_prior(small(), {"ana": [[2, 0], [2, 4]]}, weight=1, priors=found, **BY_ACCURACY)
    assert again["earlier_answers"].tolist() == [[29, 9], [0, 0], [8.5, 1.5]]
    (row, _) = studied("one_coin_by_rater", small(), STUDIES)
    assert (row.right, row.items, row.category) == (46, 60, "")


@pytest.mark.parametrize("k", [2, 3])
def test_the_density_gains_the_likelihood_of_the_study(k):
    codes = np.arange(8).reshape(4, 2) % k
    ratings = Ratings(codes, list("abc"[:k]), ["ana", "ben"], system=codes[:, 0], systems=["gpt"])
    studies = {"ana": np.full((k, k), 3.0), "gpt": np.eye(k) * 5 + 1}
    build = find_model("one_coin_by_rater").build
    priors = power_prior(ratings, studies, weight=0.3, **BY_ACCURACY)
    point = np.random.default_rng(1).normal(size=k + 4)
    (without, _, values), (with_studies, _, _) = (
        by_pymc(build(ratings, one))(point) for one in (None, priors)
    )
    accuracy = values["accuracy"]
    counts = priors["earlier_answers"]
    gained = counts[:, 0] @ np.log(accuracy) + counts[:, 1] @ np.log(1 - accuracy)
    assert with_studies - without == pytest.approx(gained)


def exact_accuracies(ratings, counts):
    """Posterior means and standard deviations of all accuracies, by sums over a grid."""
    x, s = np.linspace(-6, 6, 81), np.linspace(-5, 7, 61)
    rate = (np.arange(40) + 0.5) / 40
    spreads = (np.arange(60) + 0.5) / 20 * 0.6
    means = np.linspace(-5, 5, 81)
    of_rater = stats.norm.pdf(x, means[:, None, None], spreads[:, None])
    weight = np.outer(stats.norm.pdf(means, 0, 1.2), stats.halfnorm.pdf(spreads, scale=0.6))
    both = np.einsum("mt,mta,mtb->ab", weight, of_rater, of_rater)
    knowing = 1 / (1 + np.exp(-x))
    right = [knowing + (1 - knowing) / 2] * 2 + [1 / (1 + np.exp(-s))]
    log = np.log(both)[None, :, :, None] + stats.logistic.logpdf(s)
    log = log + np.zeros((len(rate), 1, 1, 1))
    shapes = [(1, -1, 1, 1), (1, 1, -1, 1), (1, 1, 1, -1)]
    right = [one.reshape(shape) for one, shape in zip(right, shapes, strict=True)]
    for p, (n_right, n_wrong) in zip(right, counts, strict=True):
        log = log + n_right * np.log(p) + n_wrong * np.log(1 - p)
    answers = np.column_stack([ratings.codes, ratings.system])
    for pattern, n in zip(*np.unique(answers, axis=0, return_counts=True), strict=True):
        yes, no = rate.reshape(-1, 1, 1, 1), 1 - rate.reshape(-1, 1, 1, 1)
        for p, answer in zip(right, pattern, strict=True):
            yes, no = yes * (p if answer else 1 - p), no * (1 - p if answer else p)
        log = log + n * np.log(yes + no)
    density = np.exp(log - log.max())
    density /= density.sum()
    means = [float((density * p).sum()) for p in right]
    squares = [float((density * p**2).sum()) for p in right]
    return means, np.sqrt(np.array(squares) - np.square(means))


@pytest.mark.slow
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_one_coin_by_rater_has_the_posterior_of_an_exact_sum(weight):
    ratings = small(n_unknown=40, n_known=0).with_truth(None)
    priors = power_prior(ratings, STUDIES, weight=weight, **BY_ACCURACY)
    tree = fit("one_coin_by_rater", ratings, priors=priors, draws=4000, progressbar=False)
    drawn = tree.posterior["accuracy"]
    means, deviations = exact_accuracies(ratings, priors["earlier_answers"])
    assert drawn.mean(("chain", "draw")).values == pytest.approx(means, abs=0.006)
    assert drawn.std(("chain", "draw")).values == pytest.approx(deviations, rel=0.06)


@pytest.mark.slow
def test_an_estimate_by_one_coin_by_rater_says_prior_and_posterior():
    ratings = small(n_unknown=200, n_known=0).with_truth(None)
    studies = {"ana": [[80, 20], [20, 80]], "gpt": [[5, 95], [95, 5]]}
    given = {"studies": studies, "weight": 0.1, "level": 0.9, "seed": 1}
    found = estimate_with_studies("one_coin_by_rater", ratings, **given)
    told = found.diagnostics["earlier_studies"]
    assert [(row["rater"], row["category"]) for row in told["raters"]] == [
        ("ana", None),
        ("gpt", None),
    ]
    gpt = told["raters"][1]["prior"]
    expected = stats.beta(2, 20)
    shown = (gpt.estimate, gpt.lower, gpt.upper)
    assert shown == pytest.approx((expected.mean(), *expected.ppf([0.05, 0.95])), abs=1e-3)
    (said,) = [one for one in found.warnings if one.code == "earlier-study-contradicted"]
    assert "of gpt found 0.050 of its answers right" in said.text
    densities = log_prior("one_coin_by_rater", found.draws["posterior"].to_dataset(), None)
    assert "earlier_answers" not in densities


def test_the_prior_of_raters_with_studies_is_that_of_weighted_draws():
    ratings, studies = small(), {"ana": [[8, 3], [1, 6]], "ben": [[2, 4], [2, 1]]}
    priors = power_prior(ratings, studies, weight=1, **BY_ACCURACY)
    rows = studied("one_coin_by_rater", ratings, studies)
    found = prior_intervals("one_coin_by_rater", ratings, rows, priors, 0.8)
    rng, n = np.random.default_rng(4), 400_000
    mean, spread = rng.normal(0, 1.2, n), abs(rng.normal(0, 0.6, n))
    knowing = 1 / (1 + np.exp(-(mean[:, None] + spread[:, None] * rng.normal(size=(n, 2)))))
    right = (1 + knowing) / 2
    log = (np.log(right) * [14, 3] + np.log(1 - right) * [4, 6]).sum(axis=1)
    kept = right[rng.random(n) < np.exp(log - log.max())]
    for j, one in enumerate(found):
        expected = (kept[:, j].mean(), *np.quantile(kept[:, j], [0.1, 0.9]))
        assert (one.estimate, one.lower, one.upper) == pytest.approx(expected, abs=0.01)


def test_a_rater_of_another_group_learns_nothing_from_a_study():
    groups = {"ana": "nurses", "ben": "doctors"}
    ratings = small().with_rater_groups(groups)
    told = []
    for studies in (
        {"ana": [[1, 0], [0, 1]]},
        {"ana": [[1, 0], [0, 1]], "ben": [[90, 0], [0, 90]]},
    ):
        priors = power_prior(ratings, studies, weight=1, **BY_ACCURACY)
        rows = studied("one_coin_by_rater", ratings, studies)
        told.append(prior_intervals("one_coin_by_rater", ratings, rows, priors, 0.9)[0])
    assert told[0] == told[1]


def test_draws_from_the_prior_are_refused_with_earlier_answers():
    priors = power_prior(small(), STUDIES, **BY_ACCURACY)
    with pytest.raises(InputError, match="no draws from a prior of earlier answers"):
        prior_draws("one_coin_by_rater", small(), 10, priors=priors)
    with pytest.raises(InputError, match="prior of earlier_answers"):
        find_model("one_coin_by_rater").build(small(), {"earlier_answers": (-1, 0)})


def test_another_model_is_refused():
    with pytest.raises(InputError, match="model is 'tap'"):
        power_prior(small(), STUDIES, model="tap")
