"""The t-a-p model against published numbers, loops over true categories, and simulated truth."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from lehner import Ratings, fit_latent_class, load_dataset
from lehner.latent_class.models import (
    maximise_mixture,
    to_confusion,
    to_mixture,
)
from tests.reference import tap as reference

pytestmark = pytest.mark.filterwarnings("error")

each_model = pytest.mark.parametrize("model", ["pooled_tap", "tap"])


def fit_tap(ratings, **options):
    return fit_latent_class(ratings, "pooled_tap", **options)


def draw(rng, n, t, a, p, n_raters):
    """Codes (item, rater); a and p alike for all raters, or by rater."""
    k = len(t)
    a, p = np.broadcast_to(a, n_raters), np.broadcast_to(p, (n_raters, k))
    truth = rng.choice(k, n, p=t)
    guesses = np.stack([rng.choice(k, n, p=q) for q in p], axis=1)
    return np.where(rng.random((n, n_raters)) < a, truth[:, None], guesses)


def ratings_of(codes, k, **options):
    return Ratings(codes, range(k), **options)


@cache
def three_categories():
    """Four raters of three categories, some ratings missing."""
    rng = np.random.default_rng(3)
    codes = draw(rng, 500, [0.5, 0.3, 0.2], 0.6, [0.2, 0.3, 0.5], 4)
    return ratings_of(np.where(rng.random(codes.shape) < 0.15, -1, codes), 3)


def rows_of(ratings):
    unique = ratings.collapse(truth=False)
    rows = [[] for _ in unique.items]
    for i, j, c in zip(
        unique.votes.item_index, unique.votes.rater_index, unique.votes.category_index, strict=True
    ):
        rows[i].append((int(j), int(c)))
    return rows, unique.weights


def reference_value(fit, ratings):
    rows, weights = rows_of(ratings)
    guessing = np.nan_to_num(fit.guessing.values)
    return reference.log_likelihood(
        rows, weights, fit.base_rates.values, fit.knowledge.values, guessing
    )


# ----- Published numbers -----

WINE = {  # Shared expected values; class 1 is "at or below the cut".
    1: (0.2651, 0.5421, 0.2172, -243.357),
    2: (0.541, 0.4368, 0.587, -286.116),
    3: (0.6477, 0.2456, 0.9535, -169.945),
}


def cut_wine(cut):
    """Votes of two categories: at or below a cut, and above it."""
    wine = load_dataset("wine")
    votes = wine.count_votes()
    halves = np.column_stack([votes[:, :cut].sum(axis=1), votes[:, cut:].sum(axis=1)])
    return Ratings.from_counts(halves, ["below", "above"], item_counts=wine.weights)


def test_wine_has_the_published_numbers_at_every_cut():
    for cut, (t, a, p, log_likelihood) in WINE.items():
        fit = fit_tap(cut_wine(cut))
        assert fit.converged and not fit.notes
        assert fit.base_rates.values[0] == pytest.approx(t, abs=3e-4)
        np.testing.assert_allclose(fit.knowledge, a, atol=3e-4)
        np.testing.assert_allclose(fit.guessing[:, 0], p, atol=3e-4)
        assert fit.log_likelihood == pytest.approx(log_likelihood, abs=2e-3)


def test_the_package_guide_has_class_1_above_the_cut():
    fit = fit_tap(load_dataset("kappazoo_wine"))
    assert float(fit.base_rates.sel(category="above 1")) == pytest.approx(0.735, abs=5e-4)
    assert float(fit.knowledge[0]) == pytest.approx(0.542, abs=5e-4)
    assert float(fit.guessing.sel(response="above 1")[0]) == pytest.approx(0.783, abs=5e-4)
    assert fit.log_likelihood == pytest.approx(-243.357, abs=5e-4)


def test_with_two_categories_and_a_knowledge_by_rater_it_is_the_two_class_model():
    """Caries: log-likelihood of the latent-class model, computed by another program."""
    fit = fit_latent_class(load_dataset("caries"), "tap")
    assert fit.log_likelihood == pytest.approx(-7465.3847, abs=6e-4)
    assert float(fit.base_rates.sel(category=1)) == pytest.approx(0.1961, abs=1e-4)


# ----- The likelihood and its maximum -----


@each_model
def test_the_likelihood_is_that_of_loops_over_true_categories(model):
    ratings = three_categories()
    fit = fit_latent_class(ratings, model)
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(reference_value(fit, ratings), abs=1e-8)
    rows, _ = rows_of(ratings)
    first = reference.class_probabilities(
        rows[0], fit.base_rates.values, fit.knowledge.values, fit.guessing.values
    )
    np.testing.assert_allclose(fit.truth_probabilities[0], first, atol=1e-10)


def by_em_of_who_guessed(counts):
    """Knowledge and guesses by EM in which it is unobserved who guessed, in plain loops."""
    k = len(counts)
    knowing, guessed = 0.5, np.full(k, 0.5 / k)
    for _ in range(20_000):
        by_knowing = [counts[c][c] * knowing / (knowing + guessed[c]) for c in range(k)]
        rest = [sum(row[c] for row in counts) - by_knowing[c] for c in range(k)]
        knowing, guessed = sum(by_knowing) / np.sum(counts), np.array(rest) / np.sum(counts)
    return np.append(knowing, guessed)


@pytest.mark.parametrize(("k", "seed"), [(2, 3), (3, 1)])
def test_knowledge_and_guesses_are_those_of_em_of_who_guessed(k, seed):
    counts = np.random.default_rng(seed).gamma(0.5, size=(k, k)) * 20 + 5 * np.eye(k)
    result = maximise_mixture(counts)
    assert 0.01 < result[0] < 0.99
    np.testing.assert_allclose(result, by_em_of_who_guessed(counts.tolist()), atol=1e-9)


@given(st.integers(2, 6), st.integers(0, 10_000), st.floats(0.01, 2))
def test_knowledge_and_guesses_have_the_highest_likelihood(k, seed, shape):
    rng = np.random.default_rng(seed)
    counts = rng.gamma(shape, size=(5, k, k)) * 20 + rng.uniform(0, 5) * np.eye(k)
    result = maximise_mixture(counts)
    np.testing.assert_allclose(result.sum(axis=1), 1)
    assert (result >= 0).all()

    def value(mixture):
        log = np.log(np.maximum(to_confusion(mixture), 1e-300))
        return (counts * log).sum(axis=(1, 2))

    for nearness in (1e-1, 1e-3, 1e-5):
        other = (1 - nearness) * result + nearness * rng.dirichlet(np.ones(k + 1), 5)
        assert (value(result) >= value(other) - 1e-9).all()


def test_knowledge_without_or_with_few_ratings():
    def of(counts):
        return maximise_mixture(np.array(counts, dtype=float))

    np.testing.assert_allclose(of(np.zeros((3, 3))), [0, 1 / 3, 1 / 3, 1 / 3])
    # Who always gives one answer, and was wrong, knows nothing.
    np.testing.assert_allclose(of([[5, 0], [1e-9, 0]]), [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(of([[5, 0], [0, 3]]), [1, 0, 0], atol=1e-12)
    # No better than a guess in two categories: the sum of both shares of right answers is 1.
    np.testing.assert_allclose(of([[20, 30], [40, 60]]), [0, 0.4, 0.6], atol=1e-9)


@given(st.integers(2, 6), st.integers(0, 10_000))
def test_a_matrix_gives_its_mixture_back(k, seed):
    mixture = np.random.default_rng(seed).dirichlet(np.full(k + 1, 0.3), (2, 3))
    confusion = to_confusion(mixture)
    np.testing.assert_allclose(confusion.sum(axis=-1), 1)
    np.testing.assert_allclose(to_mixture(confusion), mixture, atol=1e-12)


@each_model
def test_populations_have_base_rates_of_their_own(model):
    rng = np.random.default_rng(5)
    rates = [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    codes = np.vstack([draw(rng, 3000, t, 0.6, [0.2, 0.3, 0.5], 4) for t in rates])
    populations = np.repeat(["one", "two"], 3000)
    fit = fit_latent_class(ratings_of(codes, 3).with_populations(populations), model)
    # Four standard errors.
    np.testing.assert_allclose(fit.base_rates, rates, atol=0.05)
    np.testing.assert_allclose(fit.knowledge, 0.6, atol=0.06)


# ----- The chapter's M-step -----


def chapter(ratings):
    votes = ratings.count_votes()
    p = votes.T @ ratings.weights / ratings.n_ratings
    return reference.chapter_em(votes, ratings.weights, p, 0.5, p)


def test_the_printed_rater_likelihood_is_no_distribution():
    """With p indexed by the true category the probabilities of the ratings do not sum to 1."""
    a, p = 0.5, [0.2, 0.3, 0.5]
    printed = [[(1 - a) * p[k] + a * (k == r) for r in range(3)] for k in range(3)]
    meant = [[reference.rating_probability(a, p, k, r) for r in range(3)] for k in range(3)]
    np.testing.assert_allclose(np.sum(printed, axis=1), [0.8, 0.95, 1.25])
    np.testing.assert_allclose(np.sum(meant, axis=1), 1)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_two_categories_and_equally_many_ratings_the_chapter_is_exact(cut):
    ratings = cut_wine(cut)
    t, a, p = chapter(ratings)
    fit = fit_tap(ratings)
    np.testing.assert_allclose(t, fit.base_rates, atol=1e-5)
    assert a == pytest.approx(float(fit.knowledge[0]), abs=1e-5)
    np.testing.assert_allclose(p, fit.guessing[0], atol=1e-5)


def test_three_categories_or_unequal_numbers_it_ends_near_the_maximum_and_below():
    rng = np.random.default_rng(8)
    codes = draw(rng, 300, [0.6, 0.4], 0.5, [0.3, 0.7], 5)
    unequal = ratings_of(np.where(rng.random(codes.shape) < 0.4, -1, codes), 2)
    equal = ratings_of(draw(rng, 300, [0.5, 0.3, 0.2], 0.5, [0.2, 0.3, 0.5], 4), 3)
    for ratings in (unequal, equal):
        t, a, p = chapter(ratings)
        fit = fit_tap(ratings)
        rows, weights = rows_of(ratings)
        n = ratings.n_raters
        reached = reference.log_likelihood(rows, weights, t, [a] * n, [p] * n)
        assert 1e-3 < fit.log_likelihood - reached < 1
        np.testing.assert_allclose(t, fit.base_rates, atol=0.05)
        assert a == pytest.approx(float(fit.knowledge[0]), abs=0.05)


# ----- Fleiss' kappa of unbiased raters -----


def population_fleiss_kappa(t, a, p):
    """From the probabilities of pairs of ratings."""
    theta = to_confusion(np.append(a, (1 - a) * np.asarray(p)))
    pairs = theta.T @ np.diag(t) @ theta
    chance = pairs.sum(axis=0) @ pairs.sum(axis=0)
    return (np.trace(pairs) - chance) / (1 - chance)


@given(st.integers(2, 8), st.integers(0, 10_000), st.floats(0, 1))
def test_fleiss_kappa_of_unbiased_raters_is_knowledge_squared(k, seed, a):
    t = np.random.default_rng(seed).dirichlet(np.ones(k)) * 0.98 + 0.02 / k
    assert population_fleiss_kappa(t, a, t) == pytest.approx(a**2, abs=1e-9)


def test_fleiss_kappa_of_biased_raters_is_not():
    assert population_fleiss_kappa([0.8, 0.2], 0.5, [0.2, 0.8]) < 0.2


@pytest.mark.parametrize("k", [2, 3, 5])
def test_fleiss_kappa_of_simulated_unbiased_raters_is_the_square_of_the_knowledge_fitted(k):
    """Fleiss' kappa by another library; its standard error here is below .005."""
    rng = np.random.default_rng(k)
    t, a = np.arange(1, k + 1) / np.arange(1, k + 1).sum(), 0.7
    ratings = ratings_of(draw(rng, 20_000, t, a, t, 4), k)
    kappa = fleiss_kappa(ratings.count_votes())
    assert kappa == pytest.approx(a**2, abs=0.015)
    assert float(fit_tap(ratings).knowledge[0]) ** 2 == pytest.approx(kappa, abs=0.015)


# ----- Recovery -----


def test_a_knowledge_by_rater_and_of_the_system_is_recovered():
    rng = np.random.default_rng(4)
    a = [0.3, 0.5, 0.7, 0.9]
    p = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1]]
    codes = draw(rng, 20_000, [0.5, 0.3, 0.2], a, p, 4)
    ratings = ratings_of(codes[:, :3], 3, system=codes[:, 3])
    fit = fit_latent_class(ratings, "tap")
    assert fit.knowledge["rater"].values.tolist() == ["1", "2", "3", "system"]
    np.testing.assert_allclose(fit.knowledge, a, atol=0.03)
    np.testing.assert_allclose(fit.guessing, p, atol=0.08)
    assert fit.n_parameters == 2 + 4 * 3
    assert fit.bic == pytest.approx(14 * np.log(20_000) - 2 * fit.log_likelihood)


def test_raters_share_their_knowledge_and_the_system_has_its_own():
    rng = np.random.default_rng(5)
    a, p = [0.5, 0.5, 0.5, 0.9], [[0.2, 0.3, 0.5]] * 3 + [[0.1, 0.8, 0.1]]
    codes = draw(rng, 20_000, [0.5, 0.3, 0.2], a, p, 4)
    fit = fit_tap(ratings_of(codes[:, :3], 3, system=codes[:, 3]))
    assert fit.knowledge["rater"].values.tolist() == ["1", "2", "3", "system"]
    assert len(set(fit.knowledge.values[:3])) == 1
    np.testing.assert_allclose(fit.knowledge, a, atol=0.03)
    np.testing.assert_allclose(fit.guessing, p, atol=0.05)
    assert fit.n_parameters == 2 + 2 * 3


# ----- What the data do not say -----


def assert_no_numbers(fit, note):
    (note_of_fit,) = (note for note in fit.notes if note.code == "not-determined")
    assert note in str(note_of_fit), fit.notes
    names = ("base_rates", "knowledge", "guessing", "confusion", "truth_probabilities")
    assert all(np.isnan(getattr(fit, name)).all() for name in names)


def test_two_ratings_in_two_categories_do_not_determine_three_parameters():
    rng = np.random.default_rng(1)
    codes = draw(rng, 300, [0.6, 0.4], 0.7, [0.5, 0.5], 2)
    fit = fit_tap(ratings_of(codes, 2))
    assert_no_numbers(
        fit, "not determined, because other values fit as well: base rates, confusion"
    )
    codes = draw(rng, 300, [0.6, 0.4], 0.7, [0.5, 0.5], 3)
    assert "not-determined" not in [note.code for note in fit_tap(ratings_of(codes, 2)).notes]


def test_raters_who_agree_no_more_than_by_chance_say_nothing():
    below = Ratings.from_counts([[2, 2]], ["no", "yes"], item_counts=[50])
    at = Ratings.from_counts(
        [[3, 0], [2, 1], [1, 2], [0, 3]], ["no", "yes"], item_counts=[27, 54, 36, 8]
    )
    for ratings in (below, at):
        fit = fit_tap(ratings)
        assert_no_numbers(fit, "agree no more than guesses would")
        shares = ratings.count_votes().T @ ratings.weights / ratings.n_ratings
        assert fit.log_likelihood == pytest.approx(
            ratings.n_ratings * shares @ np.log(shares) + orderings(ratings), abs=1e-3
        )


def orderings(ratings):
    from math import factorial, log, prod

    return sum(
        w * log(factorial(sum(v)) / prod(map(factorial, v)))
        for v, w in zip(ratings.count_votes().tolist(), ratings.weights.tolist(), strict=True)
    )


def test_raters_who_always_agree_know_and_how_they_would_guess_is_undefined():
    fit = fit_tap(Ratings([[0] * 3, [1] * 3], ["no", "yes"], counts=[30, 10]))
    np.testing.assert_allclose(fit.knowledge, 1)
    np.testing.assert_allclose(fit.base_rates, [0.75, 0.25])
    assert np.isnan(fit.guessing).all()
    assert "guessing-undefined" in [note.code for note in fit.notes]


def test_a_rater_without_ratings_has_no_numbers_and_the_others_keep_theirs():
    codes = np.array(three_categories().codes)
    alone = fit_latent_class(ratings_of(codes, 3), "tap")
    joined = fit_latent_class(
        ratings_of(np.column_stack([codes, np.full(len(codes), -1)]), 3), "tap"
    )
    assert np.isnan(joined.knowledge[4]) and np.isnan(joined.guessing[4]).all()
    assert alone.n_parameters == joined.n_parameters
    np.testing.assert_allclose(joined.knowledge[:4], alone.knowledge, atol=1e-7)
    np.testing.assert_allclose(joined.truth_probabilities, alone.truth_probabilities, atol=1e-6)


def test_a_category_nobody_uses_has_base_rate_0():
    codes = three_categories().codes
    fit = fit_tap(ratings_of(codes, 4))
    np.testing.assert_allclose(
        fit.base_rates[:3], fit_tap(three_categories()).base_rates, atol=1e-6
    )
    assert float(fit.base_rates[3]) < 1e-12


# ----- Invariances -----


def test_relabelled_categories_permute_the_result():
    codes = three_categories().codes
    order = np.array([2, 0, 1])
    fit = fit_tap(three_categories())
    other = fit_tap(ratings_of(np.where(codes < 0, -1, order[codes]), 3))
    np.testing.assert_allclose(other.base_rates.values[order], fit.base_rates, atol=1e-6)
    np.testing.assert_allclose(other.guessing.values[:, order], fit.guessing, atol=1e-6)
