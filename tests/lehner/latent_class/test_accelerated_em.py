"""EM with extrapolation ends at the maximum of long plain EM, in far fewer steps."""

import numpy as np
import pytest

from lehner import Ratings, Scenario, load_dataset, simulate
from lehner.latent_class.em import (
    FROM_FAR,
    LATENT_CLASS_MODELS,
    LatentClasses,
    Search,
    accelerate_em,
    em_step,
    fit_starts,
    vote_start,
)
from lehner.latent_class.fit import draw_start, fit_by_likelihood, list_notes


def fit_patterns(table, start, model):
    return fit_starts(table, [start], model)[0]


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
