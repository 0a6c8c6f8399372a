"""Populations of items with base rates of their own, in the Bayesian models."""

import json
import warnings

import arviz as az
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayes_models
import lehner
from bayes_models import draw_by_population, identify
from bayes_models.posterior.draws import take_states
from bayes_models.posterior.predictive import draw_ratings
from lehner import InputError, Ratings, Scenario, fit_latent_class, simulate
from lehner.contrasts.groups import group_by_likelihood, list_group_rows
from lehner.core.arrays import derive_seeds
from tests.lehner.contrasts.test_systems import easy_and_hard, two_systems
from tests.lehner.questions import collect_rows

FLAT = {"base_rates": 1.0, "confusion": 1.0}


def draw(sizes, rates, confusion, seed):
    """Two categories; a confusion matrix for each rater, the system last."""
    rng = np.random.default_rng(seed)
    population = np.repeat(np.arange(len(sizes)), sizes)
    truth = (rng.random(len(population)) > np.array(rates)[population]).astype(int)
    confusion = np.array(confusion)
    codes = (rng.random((len(truth), len(confusion))) > confusion[:, truth, 0].T).astype(int)
    ratings = Ratings(codes[:, :-1], ["no", "yes"], system=codes[:, -1])
    return ratings.with_populations(np.array(["x", "y", "z"])[population]), truth


def fit(ratings, **options):
    options = {"engine": "gibbs", "checks": False, "progressbar": False} | options
    return bayes_models.fit("dawid_skene", ratings, **options)


@pytest.fixture(scope="module")
def fitted():
    confusion = [[[0.9, 0.1], [0.25, 0.75]], [[0.8, 0.2], [0.2, 0.8]], [[0.95, 0.05], [0.15, 0.85]]]
    ratings, truth = draw((900, 300), (0.8, 0.3), confusion, 1)
    return fit(ratings, priors=FLAT, draws=2000, seed=1), ratings, truth


def test_with_flat_priors_it_is_near_maximum_likelihood(fitted):
    tree, ratings, _ = fitted
    by_likelihood = fit_latent_class(ratings)
    means = tree["posterior"].to_dataset().mean(("chain", "draw"))
    by_population = means["base_rates_by_population"].transpose("population", ...).values
    assert by_population == pytest.approx(by_likelihood.base_rates.values, abs=0.015)
    assert means["confusion"].values == pytest.approx(by_likelihood.confusion.values, abs=0.02)
    assert means["system_accuracy"] == pytest.approx(float(by_likelihood.accuracy[-1]), abs=0.01)
    shares = np.array([0.75, 0.25])
    assert means["base_rates"].values == pytest.approx(shares @ by_population)


def test_accuracies_of_populations_make_up_that_of_all(fitted):
    tree, ratings, truth = fitted
    result = rows_of(draw_by_population(tree, ratings), ratings)
    whole = bayes_models.estimate_from_draws(tree)
    for quantity in ("system_accuracy", "system_accuracy_in_sample"):
        parts = [result.value(quantity, group=name).estimate for name in "xy"]
        expected = getattr(whole, quantity).estimate
        assert 0.75 * parts[0] + 0.25 * parts[1] == pytest.approx(expected, abs=1e-3)
    names = np.array(ratings.populations)[ratings.population]
    by_likelihood = rows_of(group_by_likelihood(ratings, resamples=20), ratings)
    for name, rate in (("x", 0.8), ("y", 0.3)):
        of_no = result.value("base_rates", group=name, category="no")
        assert of_no.lower < rate < of_no.upper
        right = (truth == ratings.system)[names == name].mean()
        interval = result.value("system_accuracy_in_sample", group=name)
        assert interval.lower <= right <= interval.upper
        first, other = (
            each.value("system_accuracy", group=name).estimate for each in (result, by_likelihood)
        )
        assert first == pytest.approx(other, abs=0.015)


def rows_of(fits, ratings):
    return collect_rows(list_group_rows(fits, grouping="population", level=0.9))


def test_one_population_is_none():
    confusion = [[[0.9, 0.1], [0.25, 0.75]]] * 3
    ratings, _ = draw((150,), (0.7,), confusion, 2)
    single, none = (fit(data, seed=3) for data in (ratings, ratings.with_populations(None)))
    for name in ("base_rates", "confusion", "system_accuracy_in_sample"):
        assert single.posterior[name].values == pytest.approx(none.posterior[name].values)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_two_raters_of_two_populations_are_calibrated():
    """Hui and Walter's design: parameters drawn from the prior have uniform ranks among draws."""
    rng = np.random.default_rng(4)
    priors = {"base_rates": 2.0, "confusion": [[16.0, 4.0], [4.0, 16.0]]}
    ranks = []
    for seed in derive_seeds(5, 60):
        rates, right = rng.beta(2, 2, 2), rng.beta(16, 4, (2, 2))
        confusion = [[[a, 1 - a], [1 - b, b]] for a, b in right]
        two = without_system(draw((400, 400), rates, confusion, seed)[0])
        tree = fit(two, priors=priors, chains=2, tries=1, log_likelihood=False, seed=seed)
        drawn = recalls(tree)
        of_base_rates = tree.posterior["base_rates_by_population"][..., 0, :].values.reshape(-1, 2)
        ranks.append([*(drawn < right.ravel()).mean(0), *(of_base_rates < rates).mean(0)])
    inside = (np.array(ranks) > 0.05) & (np.array(ranks) < 0.95)
    assert 0.84 < inside.mean() < 0.96
    assert np.abs(np.mean(ranks) - 0.5) < 0.08


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_two_raters_are_told_apart_by_two_populations_and_not_by_one():
    confusion = [[[0.9, 0.1], [0.25, 0.75]], [[0.8, 0.2], [0.15, 0.85]]]
    two = without_system(draw((3000, 3000), (0.8, 0.2), confusion, 6)[0])
    options = {"priors": {"base_rates": 1.0, "confusion": [[3.0, 1.0], [1.0, 3.0]]}, "tries": 1}
    both, alone = (recalls(fit(data, **options)) for data in (two, two.with_populations(None)))
    assert both.mean(axis=0) == pytest.approx([0.9, 0.75, 0.8, 0.85], abs=0.04)
    assert both.std(axis=0).max() < 0.4 * alone.std(axis=0).min()


def recalls(tree):
    """How often each rater is right in each category, in all draws."""
    return tree.posterior["confusion"].values[..., [0, 1], [0, 1]].reshape(-1, 4)


def without_system(ratings):
    """Take the system as the second of two raters."""
    codes = np.column_stack([ratings.codes[:, 0], ratings.system])
    names = np.array(ratings.populations)[ratings.population]
    return Ratings(codes, ["no", "yes"]).with_populations(names)


def test_parameters_and_degrees_of_freedom_are_counted_by_population():
    confusion = [[[0.9, 0.1], [0.25, 0.75]]] * 3
    ratings, _ = draw((100, 100), (0.8, 0.3), confusion, 2)
    two = without_system(ratings)
    result = identify("dawid_skene", two)
    assert (result.parameters, result.degrees_of_freedom) == (6, 6)
    assert "items-with-few-ratings" not in [warning.code for warning in result.warnings]
    alone = identify("dawid_skene", two.with_populations(None))
    assert (alone.parameters, alone.degrees_of_freedom) == (5, 3)
    assert "items-with-few-ratings" in [warning.code for warning in alone.warnings]


def test_drawn_ratings_are_of_the_same_populations(fitted):
    tree, ratings, _ = fitted
    few = tree["posterior"].to_dataset().isel(draw=slice(None, None, 40))
    rng = np.random.default_rng(1)
    drawn = [
        draw_ratings(ratings, *parameters, rng).codes[:, 0]
        for parameters in zip(*take_states(few, by_population=True), strict=True)
    ]
    for population in (0, 1):
        member = ratings.population == population
        share = ratings.codes[member, 0].mean()
        assert np.mean([codes[member].mean() for codes in drawn]) == pytest.approx(share, abs=0.03)


def test_ratings_without_the_populations_are_refused(fitted):
    tree, ratings, _ = fitted
    alone = ratings.with_populations(None)
    with pytest.raises(InputError, match="not those of the fit"):
        draw_by_population(tree, alone)


# What a fit holds besides draws, as functions of ArviZ and PyMC take it.


RATINGS = lehner.load_dataset("anesthesia", system="2").with_independent_repeats()


@pytest.fixture(scope="module")
def tree():
    options = {"engine": "gibbs", "chains": 2, "draws": 300, "tries": 1, "checks": False}
    return bayes_models.fit("dawid_skene", RATINGS, **options)


def test_items_are_what_is_left_out(tree):
    assert az.loo(tree).n_data_points == RATINGS.n_items


def test_a_fit_holds_its_ratings(tree):
    stored, votes = tree["observed_data"]["ratings"], RATINGS.all_votes
    np.testing.assert_array_equal(stored, votes.category_index)
    np.testing.assert_array_equal(stored["item_of_rating"], RATINGS.items[votes.item_index])
    raters = np.array(RATINGS.all_raters)[votes.rater_index]
    np.testing.assert_array_equal(stored["rater_of_rating"], raters)


def test_pymc_predicts_ratings_by_base_rates_and_confusion_matrices(tree):
    few = tree.isel(draw=slice(None, None, 5), missing_dims="ignore")
    with bayes_models.build_model("dawid_skene", RATINGS) as model:
        options = {"progressbar": False, "compile_kwargs": {"mode": "FAST_COMPILE"}}
        predicted = pm.sample_posterior_predictive(few, random_seed=1, **options)
    drawn = predicted["posterior_predictive"]["ratings"].values
    parameters = few["posterior"].to_dataset()
    rates = parameters["base_rates"].rename(true_category="category")
    shares = parameters["confusion"].dot(rates, dim="category")
    raters = model["raters"].get_value()
    for rater, name in enumerate(parameters["rater"].values):
        expected = shares.sel(rater=name).mean(("chain", "draw"))
        result = np.bincount(drawn[..., raters == rater].ravel(), minlength=4)
        np.testing.assert_allclose(result / result.sum(), expected, atol=0.03)


def test_a_missing_group_is_named_with_the_call_that_adds_it(tree):
    bare = xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset()})
    with pytest.raises(InputError, match=r"no group truth; fit the model by bayes_models\.fit"):
        bayes_models.estimate_from_draws(bare)


# Clustered items in Bayesian fits: copies of an item count once.


def test_copies_in_a_cluster_have_a_design_effect_of_their_number():
    scenario = Scenario(n_categories=2, n_items=100, initial_rater_accuracy=(0.75,) * 4)
    single = simulate(scenario, 3).with_truth(None)
    rows = np.tile(np.arange(100), 4)
    copied = single.take(rows).with_clusters(rows)
    options = {"progressbar": False, "checks": False, "check": "estimands", "tries": 1}
    trees = [bayes_models.fit("one_coin", x, **options) for x in (single, copied)]
    effects = json.loads(trees[1].attrs["design_effects"])
    assert effects["system_accuracy"] == pytest.approx(4, rel=0.02)
    assert effects["clusters"] == 100 and "design_effects" not in trees[0].attrs
    unclustered, four = (bayes_models.estimate_from_draws(tree) for tree in trees)
    widths = [x.system_accuracy.upper - x.system_accuracy.lower for x in (unclustered, four)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert "clusters-ignored" in {warning.code for warning in four.warnings}


# Draws of several systems side by side: margins, correlation, and pairing by items.


GIBBS = {"engine": "gibbs", "chains": 2, "draws": 500, "tries": 1, "checks": False}


IN_SAMPLE = "system_accuracy_in_sample"


def by_system(draws, quantity="system_accuracy"):
    return dict(zip(draws.coords["system"], draws.drawn[quantity].T, strict=True))


def fits(ratings: Ratings, seed: int = 1) -> dict[str, xr.DataTree]:
    """Fit Dawid and Skene's model to each system."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
        return {
            name: bayes_models.fit("dawid_skene", ratings.select_system(name), seed=seed, **GIBBS)
            for name in ratings.systems
        }


def test_each_system_keeps_its_own_posterior() -> None:
    """Joint draws are the draws of the fit in another order."""
    ratings = two_systems(200).with_truth(None)
    trees = fits(ratings)
    draws = bayes_models.join_draws(trees, ratings)
    for name, tree in trees.items():
        own = tree["posterior"]["system_accuracy"].values.ravel()
        assert np.array_equal(np.sort(by_system(draws)[name]), np.sort(own))
        in_sample = tree["posterior"]["system_accuracy_in_sample"].values.ravel()
        assert np.array_equal(np.sort(by_system(draws, IN_SAMPLE)[name]), np.sort(in_sample))


@pytest.mark.slow
def test_the_correlation_is_that_of_estimates_over_samples() -> None:
    """Draws are correlated as the posterior means are over new samples of items."""
    shared = 0.8
    means = []
    for seed in range(40):
        ratings = two_systems(150, seed=seed, shared=shared).with_truth(None)
        trees = fits(ratings)
        means.append(
            [float(tree["posterior"]["system_accuracy"].mean()) for tree in trees.values()]
        )
    over_samples = np.corrcoef(np.transpose(means))[0, 1]
    draws = bayes_models.join_draws(trees, ratings)
    joint = np.corrcoef(by_system(draws)["gpt"], by_system(draws)["base"])[0, 1]
    # The standard error of a correlation of .8 from 40 samples is .06.
    assert joint == pytest.approx(over_samples, abs=0.2)
    independent = two_systems(150, seed=1).with_truth(None)
    draws = bayes_models.join_draws(fits(independent), independent)
    assert abs(np.corrcoef(by_system(draws)["gpt"], by_system(draws)["base"])[0, 1]) < 0.4


def test_a_system_under_two_names_does_not_differ_from_itself() -> None:
    """Every joint difference is 0, expected and in the sample."""
    ratings = two_systems(100, shared=1.0).with_truth(None)
    draws = bayes_models.join_draws(fits(ratings), ratings)
    assert np.array_equal(by_system(draws)["gpt"], by_system(draws)["base"])
    assert np.array_equal(by_system(draws, IN_SAMPLE)["gpt"], by_system(draws, IN_SAMPLE)["base"])


def test_items_that_both_answer_alike_do_not_tell_systems_apart() -> None:
    """In the sample the difference is surer than if the systems' draws were unrelated."""
    ratings = two_systems(200, shared=0.9).with_truth(None)
    draws = bayes_models.join_draws(fits(ratings), ratings)
    difference = by_system(draws, IN_SAMPLE)["gpt"] - by_system(draws, IN_SAMPLE)["base"]
    unrelated = by_system(draws, IN_SAMPLE)["gpt"] - np.roll(by_system(draws, IN_SAMPLE)["base"], 7)
    assert difference.std() < 0.5 * unrelated.std()


def test_fits_of_other_ratings_are_refused() -> None:
    """The fit must be of the raters that the ratings have."""
    ratings = two_systems(60).with_truth(None)
    trees = fits(ratings)
    fewer = ratings.take(np.arange(50))
    with pytest.raises(InputError, match="not those of the fit"):
        bayes_models.join_draws(trees, fewer)
    other = {"gpt": trees["gpt"], "base": trees["base"].copy()}
    other["base"].attrs["model"] = "one_coin"
    with pytest.raises(InputError, match="2 models"):
        bayes_models.join_draws(other, ratings)


def test_grouped_rows_count_as_their_items() -> None:
    """Ratings collapsed to patterns give the same correlation and the same in-sample spread."""
    ratings = two_systems(300, shared=0.5).with_truth(None)
    grouped = ratings.to_grouped()
    first, second = (
        by_system(bayes_models.join_draws(fits(data), data), IN_SAMPLE)
        for data in (ratings, grouped)
    )
    wide = [np.std(draws["gpt"] - draws["base"]) for draws in (first, second)]
    assert wide[1] == pytest.approx(wide[0], rel=0.15)
    assert lehner.estimate_algebraic(grouped.select_system("gpt")).system == "gpt"


def test_systems_that_answered_different_items_are_put_on_those_in_common() -> None:
    """Equal systems, one on the easier half: different by their own items, not by common ones."""
    everything = easy_and_hard()
    ratings = Ratings(
        everything.codes,
        everything.categories,
        system=everything.answers[:, :2],
        systems=everything.systems[:2],
    )
    with pytest.raises(InputError, match="the systems answered different items; fit each to"):
        bayes_models.join_draws(fits(ratings), ratings)
    common = ratings.select_common_items()
    draws = bayes_models.join_draws(fits(common), common)
    together = by_system(draws)["whole"] - by_system(draws)["easier"]
    assert abs(np.median(together)) < 0.05 and np.quantile(together, 0.95) > 0
