"""Maximum likelihood: published tables, other modes, and standard errors."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lehner import InputError, Ratings, Scenario, fit_latent_class, load_dataset, simulate
from lehner.latent_class.em import LATENT_CLASS_MODELS
from lehner.latent_class.fit import fit_by_likelihood
from tests.reference import dawid_skene, latent_class

DATA = Path(__file__).parents[2] / "data"
each_model = pytest.mark.parametrize("model", LATENT_CLASS_MODELS)

# Hui & Walter (1980): Mantoux and Tine tests for tuberculosis in two populations.
TUBERCULOSIS = pd.DataFrame(
    {
        "mantoux": ["+", "+", "-", "-"] * 2,
        "tine": ["+", "-", "+", "-"] * 2,
        "count": [14, 4, 9, 528, 887, 31, 37, 367],
    }
)
POPULATION = [1] * 4 + [2] * 4


@pytest.fixture(scope="module")
def anesthesia():
    """The fit of 1979, in which each of a rater's three ratings counts."""
    return fit_latent_class(load_dataset("anesthesia").with_independent_repeats())


@pytest.fixture(scope="module")
def anesthesia_modes():
    data = load_dataset("anesthesia").with_independent_repeats()
    return fit_latent_class(data, restarts=20, seed=1)


@pytest.fixture(scope="module")
def caries():
    return fit_latent_class(load_dataset("caries"))


@pytest.fixture(scope="module")
def tuberculosis():
    ratings = Ratings.from_wide(TUBERCULOSIS, counts="count")
    return fit_latent_class(ratings.with_populations(POPULATION))


def texts(fit):
    return list(map(str, fit.notes))


def is_settled(fit):
    return "labels-unsettled" not in {note.code for note in fit.notes}


def draw(base_rates, confusion, n, rng):
    """Codes of ratings, (item, rater), of a latent-class model."""
    truth = rng.choice(len(base_rates), n, p=base_rates)
    cumulative = np.cumsum(confusion, axis=2)
    uniform = rng.random((n, len(confusion)))
    return (uniform[..., None] > cumulative[:, truth].swapaxes(0, 1)).sum(axis=2)


# ----- Published numbers -----


@pytest.mark.parametrize(("category", "expected"), [(1, 0.40), (2, 0.42), (3, 0.11), (4, 0.07)])
def test_anesthesia_has_the_base_rates_of_1979(anesthesia, category, expected):
    assert float(anesthesia.base_rates.sel(category=category)) == pytest.approx(
        expected, abs=0.005001
    )


def test_anesthesia_has_the_error_rates_of_1979(anesthesia):
    table = pd.read_csv(DATA / "anesthesia_error_rates.csv")
    assert len(table) == 80
    for row in table.itertuples():
        value = anesthesia.confusion.sel(
            rater=str(row.rater), category=row.true_class, response=row.rating
        )
        assert float(value) == pytest.approx(row.probability_2dp, abs=0.0101)


def test_anesthesia_has_the_class_probabilities_of_1979(anesthesia):
    table = pd.read_csv(DATA / "anesthesia_class_probabilities.csv", index_col="item")
    values = anesthesia.truth_probabilities.sel(item=table.index).transpose("item", "category")
    np.testing.assert_allclose(values, table, atol=0.0101)


def test_anesthesia_has_the_log_likelihood_of_that_solution(anesthesia):
    assert anesthesia.log_likelihood == pytest.approx(-192.890881, abs=1e-5)
    assert anesthesia.converged


def test_random_starts_find_the_higher_mode_of_anesthesia(anesthesia_modes):
    fit = anesthesia_modes
    assert fit.log_likelihood == pytest.approx(-191.569, abs=0.002)
    assert float(fit.starts.sel(start="votes")) == pytest.approx(-192.890881, abs=1e-5)
    assert fit.starts.sizes["start"] == 21
    reached = int((fit.starts > fit.log_likelihood - 1e-4).sum())
    assert f"{reached} of 21 starts reached the highest log-likelihood, -191.569" in texts(fit)
    assert "higher-mode" in {note.code for note in fit.notes}


CARIES = [
    ("log_likelihood", -7465.3847, 0.0006),
    ("bic", 15021.6377, 0.002),
    ("aic", 14952.7694, 0.0012),
]
DENTISTS = [
    (1, 0.4033, 0.0106),
    (2, 0.7129, 0.1020),
    (3, 0.5981, 0.0136),
    (4, 0.4888, 0.0316),
    (5, 0.9155, 0.3053),
]


@pytest.mark.parametrize(("quantity", "expected", "tolerance"), CARIES)
def test_caries_has_the_known_fit(caries, quantity, expected, tolerance):
    assert getattr(caries, quantity) == pytest.approx(expected, abs=tolerance)


def test_caries_has_the_known_prevalence(caries):
    assert float(caries.base_rates.sel(category=1)) == pytest.approx(0.1961, abs=1e-4)


@pytest.mark.parametrize(("dentist", "sensitivity", "false_positives"), DENTISTS)
def test_dentists_have_the_known_error_rates(caries, dentist, sensitivity, false_positives):
    result = caries.confusion.sel(rater=f"dentist {dentist}", response=1)
    assert float(result.sel(category=1)) == pytest.approx(sensitivity, abs=1e-4)
    assert float(result.sel(category=0)) == pytest.approx(false_positives, abs=1e-4)


@pytest.mark.parametrize(("population", "expected"), [(1, 0.0268), (2, 0.7168)])
def test_tuberculosis_has_the_prevalences_of_1980(tuberculosis, population, expected):
    value = float(tuberculosis.base_rates.sel(group=str(population), category="+"))
    assert value == pytest.approx(expected, abs=0.000101)


@pytest.mark.parametrize(
    ("test", "result", "expected"),
    [
        ("mantoux", "+", 0.9661),
        ("mantoux", "-", 0.9933),
        ("tine", "+", 0.9688),
        ("tine", "-", 0.9841),
    ],
)
def test_tuberculosis_has_the_test_accuracies_of_1980(tuberculosis, test, result, expected):
    value = float(tuberculosis.confusion.sel(rater=test, category=result, response=result))
    assert value == pytest.approx(expected, abs=0.000101)


def test_two_tests_in_two_populations_are_saturated(tuberculosis):
    """Six parameters explain the six free frequencies exactly."""
    counts = TUBERCULOSIS["count"].to_numpy().reshape(2, 4)
    saturated = sum(n * np.log(n / of_group.sum()) for of_group in counts for n in of_group)
    assert tuberculosis.n_parameters == 6
    assert tuberculosis.log_likelihood == pytest.approx(saturated, abs=1e-6)


def test_two_tests_in_one_population_are_not_identified():
    fit = fit_latent_class(Ratings.from_wide(TUBERCULOSIS, counts="count"))
    assert [n for n in texts(fit) if "5 parameters but only 3 degrees of freedom" in n]


# ----- The likelihood, against sums over all assignments of truths -----


@st.composite
def small_data(draw_one):
    """Long ratings, some missing and some repeated, of a few items by two or three raters."""
    k, n_raters = draw_one(st.integers(2, 3)), draw_one(st.integers(2, 3))
    rating = st.tuples(st.integers(0, n_raters - 1), st.integers(0, k - 1))
    items = draw_one(st.lists(st.lists(rating, min_size=1, max_size=4), min_size=2, max_size=5))
    return k, n_raters, [[(j, x) for j, x in item] for item in items]


@given(small_data())
def test_likelihood_and_classes_are_those_of_enumeration(data):
    k, n_raters, items = data
    items = [*items, [(j, 0) for j in range(n_raters)], [(j, k - 1) for j in range(n_raters)]]
    rows = [(i, j, o, x) for i, item in enumerate(items) for o, (j, x) in enumerate(item)]
    table = pd.DataFrame(rows, columns=["item", "rater", "occasion", "rating"])
    ratings = Ratings.from_long(table, occasion="occasion", categories=range(k))
    ratings = ratings.with_independent_repeats()
    fit, fitted = fit_latent_class(ratings), fit_by_likelihood(ratings, "dawid_skene")
    names = [int(rater) for rater in ratings.raters]
    matrices = np.zeros((n_raters, k, k))
    # Rows without expected ratings are NaN in the result, but have a value at the maximum.
    matrices[names] = np.maximum(fitted.parameters.confusion, 1e-300)
    arguments = (items, np.maximum(fit.base_rates.values, 1e-300).tolist(), matrices.tolist())
    assert fit.log_likelihood == pytest.approx(dawid_skene.log_likelihood(*arguments), abs=1e-6)
    np.testing.assert_allclose(
        fit.truth_probabilities, dawid_skene.truth_probabilities(*arguments), atol=1e-6
    )


@each_model
def test_a_system_is_one_more_rater_with_a_matrix_of_its_own(model):
    ratings = simulate(Scenario(n_categories=3, n_items=300), seed=3).with_truth(None)
    fit = fit_latent_class(ratings, model)
    codes = np.column_stack([ratings.codes, ratings.system])
    assert fit.confusion["rater"].values.tolist() == [*ratings.raters, "system"]
    brute = latent_class.log_likelihood(
        codes, np.ones(300), fit.base_rates.values, fit.confusion.values
    )
    assert fit.log_likelihood == pytest.approx(brute)
    assert fit.n_parameters == latent_class.size(model, 4, 3)
    expected = float((fit.base_rates.values * np.diagonal(fit.confusion[-1])).sum())
    assert float(fit.accuracy.sel(rater="system")) == pytest.approx(expected)


def test_without_a_system_all_raters_share_a_pooled_matrix():
    fit = fit_latent_class(load_dataset("caries"), "pooled")
    assert np.ptp(fit.confusion.values, axis=0).max() == 0
    assert fit.n_parameters == 3


def test_anonymous_raters_can_be_pooled_whatever_the_order_of_their_ratings():
    ratings = load_dataset("fleiss1971")
    fit = fit_latent_class(ratings, "pooled")
    votes = ratings.count_votes()
    again = fit_latent_class(Ratings.from_counts(votes[::-1], ratings.categories), "pooled")
    assert fit.log_likelihood == pytest.approx(again.log_likelihood)
    with pytest.raises(InputError, match="in dawid_skene raters differ"):
        fit_latent_class(ratings)


# ----- Known truths -----


@pytest.mark.parametrize("n", [30, 150])
def test_known_truths_enter_the_likelihood(n):
    full = simulate(Scenario(n_categories=3, n_items=150), seed=4)
    truth = np.where(np.arange(150) < n, full.truth, -1)
    ratings = Ratings(full.codes, full.categories, system=full.system, truth=truth)
    fit = fit_latent_class(ratings)
    assert f"the gold labels of {n} items entered as data" in texts(fit)
    labelled = fit.truth_probabilities.values[:n]
    np.testing.assert_array_equal(labelled, np.eye(3)[full.truth[:n]])
    codes = np.column_stack([full.codes, full.system])
    rates, matrices = fit.base_rates.values, np.maximum(fit.confusion.values, 1e-300)
    brute = latent_class.log_likelihood(codes[n:], np.ones(150 - n), rates, matrices)
    for row, z in zip(codes[:n], truth[:n], strict=True):
        brute += np.log(rates[z]) + sum(np.log(matrices[j, z, x]) for j, x in enumerate(row))
    assert fit.log_likelihood == pytest.approx(brute)


def test_an_item_of_known_truth_counts_without_ratings():
    full = simulate(Scenario(n_items=50, n_categories=2), seed=4)
    codes = np.vstack([full.codes, np.full((3, full.n_raters), -1)])
    truth = np.append(np.full(50, -1), [1, 1, -1])
    fit = fit_latent_class(Ratings(codes, full.categories, truth=truth))
    assert fit.n_items == 52


def test_rows_of_no_items_know_no_truths():
    full = simulate(Scenario(n_items=100), seed=4).without_system()
    counted = np.arange(100) < 99
    more = full.with_truth(np.where(counted, full.truth, -1)).take(np.arange(100), counted * 1)
    first, second = fit_latent_class(full.take(np.arange(99))), fit_latent_class(more)
    assert first.log_likelihood == pytest.approx(second.log_likelihood)
    assert first.notes == second.notes


# ----- Starts, modes and labels -----


def test_labels_that_raters_do_not_use_are_unsettled(anesthesia, anesthesia_modes):
    assert is_settled(anesthesia) and is_settled(anesthesia_modes)
    ratings = simulate(Scenario(n_items=50), seed=1)
    fit = fit_latent_class(Ratings(ratings.codes, ratings.categories), restarts=10)
    called = fit.confusion.mean("rater").values.argmax(axis=1)
    unsettled = np.flatnonzero(called != np.arange(5))
    assert unsettled.size and not is_settled(fit)
    for c in unsettled:
        note = f"items of class {'ABCDE'[c]} are most often called {'ABCDE'[called[c]]}"
        assert [n for n in fit.notes if n.code == "labels-unsettled" and note in str(n)]


def test_random_starts_alone_find_permuted_classes_and_put_the_labels_back():
    scenario = Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 4, n_items=1000)
    ratings = simulate(scenario, seed=1)
    votes = fit_by_likelihood(ratings, "dawid_skene")
    random = fit_by_likelihood(ratings, "dawid_skene", 20, from_votes=False)
    assert "votes" not in random.fits and len(random.fits) == 20
    expected = votes.parameters.log_likelihood
    assert random.parameters.log_likelihood == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(random.confusion, votes.confusion, atol=1e-5)


def test_raters_with_one_rating_each_do_not_outvote_those_with_many():
    rng = np.random.default_rng(11)
    truth = rng.integers(3, size=300)
    codes = np.full((300, 63), -1)
    for j in range(3):
        codes[:, j] = np.where(rng.random(300) < 0.55, truth, rng.integers(3, size=300))
    codes[rng.choice(300, 60, replace=False), np.arange(3, 63)] = rng.integers(3, size=60)
    fit = fit_by_likelihood(Ratings(codes, "abc"), "dawid_skene", 4, from_votes=False)
    assert (fit.accuracy[:3] > 0.55).all()


def test_a_system_has_no_say_in_the_labels():
    # Answers the other way round, and better than the raters: it is nearly always wrong.
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=2000)
    right = rng.random((2000, 4)) < (0.6, 0.6, 0.6, 0.03)
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    for model in ("one_coin", "dawid_skene"):
        fit = fit_latent_class(Ratings(codes[:, :3], "ab", system=codes[:, 3]), model)
        assert (fit.accuracy[:3] > 0.5).all() and fit.accuracy[3] < 0.1
        assert is_settled(fit)


def test_of_the_two_sides_of_a_coin_raters_are_on_the_better():
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=500)
    codes = np.where(rng.random((500, 3)) < 0.8, truth[:, None], 1 - truth[:, None])
    ratings = Ratings(codes, "ab")
    for seed in range(4):
        fit = fit_by_likelihood(ratings, "one_coin_by_rater", 3, seed, from_votes=False)
        assert (fit.accuracy > 0.7).all()


def test_labels_of_unequal_groups_are_those_that_most_ratings_agree_with():
    # With equal weights for the groups the classes would be named the other way round.
    confusion = np.array([[[p, 1 - p], [q, 1 - q]] for p, q in ((0.42, 0.05), (0.45, 0.1))])
    rng = np.random.default_rng(0)
    codes = np.vstack(
        [
            draw(rates, confusion[[0, 1, 1]], n, rng)
            for rates, n in (([0.95, 0.05], 9000), ([0.05, 0.95], 600))
        ]
    )
    ratings = Ratings(codes, "ab").with_populations([1] * 9000 + [2] * 600)
    said = fit_by_likelihood(ratings, "dawid_skene").ratings.sum(axis=0)
    assert said.trace() > said[::-1].trace()


@given(st.permutations(range(3)), st.permutations(range(4)))
def test_names_and_order_of_categories_and_raters_mean_nothing(categories, raters):
    ratings = simulate(
        Scenario(n_categories=3, initial_rater_accuracy=(0.7,) * 4, n_items=200), seed=2
    )
    blind = Ratings(ratings.codes, ratings.categories)
    other = Ratings(np.array(categories)[ratings.codes[:, raters]], ratings.categories)
    first, two = fit_latent_class(blind), fit_latent_class(other)
    assert first.log_likelihood == pytest.approx(two.log_likelihood, abs=1e-7)
    position = np.argsort(categories)
    np.testing.assert_allclose(first.base_rates, two.base_rates.values[categories], atol=1e-6)
    expected = first.confusion.values[raters][:, position][:, :, position]
    np.testing.assert_allclose(two.confusion, expected, atol=1e-6)


# ----- What the data cannot support -----


def test_a_rater_without_ratings_has_no_numbers():
    ratings = simulate(Scenario(n_categories=3, n_items=300), seed=1)
    codes = np.column_stack([ratings.codes, np.full(300, -1)])
    fit, without = (
        fit_latent_class(Ratings(c, ratings.categories)) for c in (codes, ratings.codes)
    )
    assert np.isnan(fit.confusion.values[3]).all() and np.isnan(fit.accuracy.values[3])
    assert ", 4 –\n" in repr(fit)
    assert fit.n_parameters == without.n_parameters
    assert fit.log_likelihood == pytest.approx(without.log_likelihood)
    assert "3 of 12 rows of confusion matrices have no expected ratings and are NaN" in texts(fit)


def test_raters_who_agree_on_every_item_leave_nothing_to_estimate():
    fit = fit_latent_class(Ratings([[0, 0, 0]] * 10, ("a", "b")))
    assert fit.log_likelihood == pytest.approx(0) and is_settled(fit)
    assert np.isnan(fit.confusion.sel(category="b")).all()
    always_right = fit_latent_class(Ratings([[0, 0, 0], [1, 1, 1], [1, 1, 0]] * 10, ("a", "b")))
    assert always_right.accuracy.values[:2].tolist() == pytest.approx([1, 1])


def test_a_category_never_used_has_no_row_and_does_no_harm():
    ratings = simulate(
        Scenario(n_categories=2, n_items=200, initial_rater_accuracy=(0.8,) * 3), seed=2
    )
    full = Ratings(ratings.codes, "abc")
    fit = fit_latent_class(full)
    assert np.isnan(fit.confusion.sel(category="c")).all()
    without = fit_latent_class(Ratings(ratings.codes, "ab"))
    np.testing.assert_allclose(fit.accuracy, without.accuracy, atol=1e-6)
    shared = fit_latent_class(full, "one_coin")
    assert np.isfinite(shared.confusion).all() and np.isfinite(shared.accuracy).all()


def test_one_rating_an_item_is_enough_with_a_system_or_known_truths():
    ratings = simulate(Scenario(n_categories=2, n_items=100), seed=1)
    first_rater = ratings.codes[:, :1]
    with_system = fit_latent_class(Ratings(first_rater, "ab", system=ratings.system))
    assert with_system.confusion.sizes["rater"] == 2
    truth = np.where(np.arange(100) < 60, ratings.truth, -1)
    with_truths = fit_latent_class(Ratings(first_rater, "ab", truth=truth))
    assert "the gold labels of 60 items entered as data" in texts(with_truths)
    with pytest.raises(InputError, match="no item has two ratings"):
        fit_latent_class(Ratings(first_rater, "ab"))


def test_items_without_ratings_are_not_counted():
    codes = load_dataset("caries").take([0, 5, 30, 31]).codes.tolist() * 20
    ratings = Ratings([*codes, [-1] * 5], (0, 1))
    fit = fit_latent_class(ratings)
    assert fit.n_items == 80
    np.testing.assert_allclose(fit.truth_probabilities[-1], fit.base_rates, atol=1e-8)


@pytest.mark.parametrize(
    ("codes", "arguments", "message"),
    [
        ([[0, 1], [1, 1]], {"model": "two_coin"}, "'two_coin'; did you mean 'one_coin'"),
        ([[0, 1], [1, 1]], {"restarts": -1}, "restarts is -1"),
        ([[0, 1], [1, 1]], {"restarts": 1, "seed": "x"}, "seed is 'x'"),
        ([[0, -1], [-1, 1]], {}, "no item has two ratings"),
        (np.zeros((0, 2), int), {}, "of 0 items in 2 categories"),
    ],
)
def test_bad_input_is_refused(codes, arguments, message):
    with pytest.raises(InputError, match=message):
        fit_latent_class(Ratings(codes, ("a", "b")), **arguments)


# ----- Recovery -----


def random_model(model, rng, k=3):
    """Base rates and matrices that a model allows, of three raters and a system."""
    rates = rng.dirichlet(np.full(k, 20.0))
    n = 2 if model in latent_class.SHARED else 4
    if model in ("pooled", "dawid_skene"):
        matrices = 0.55 * np.eye(k) + 0.45 * rng.dirichlet(np.full(k, 3.0), (n, k))
    else:
        right = rng.uniform(0.6, 0.9, (n, k if model == "class_conditional" else 1))
        eye = np.eye(k)
        matrices = right[..., None] * eye + (1 - right[..., None]) * (1 - eye) / (k - 1)
    return rates, matrices[[0, 0, 0, 1]] if n == 2 else matrices


@each_model
def test_every_model_recovers_its_parameters(model):
    rng = np.random.default_rng([7, list(LATENT_CLASS_MODELS).index(model)])
    rates, matrices = random_model(model, rng)
    codes = draw(rates, matrices, 40_000, rng)
    fit = fit_latent_class(Ratings(codes[:, :3], "abc", system=codes[:, 3]), model)
    np.testing.assert_allclose(fit.base_rates, rates, atol=0.05)
    np.testing.assert_allclose(fit.confusion, matrices, atol=0.06)
