"""Diagnostics that must find what is wrong with draws, names of numbers, and switched labels."""

import itertools
import json
from functools import partial

import arviz as az
import numpy as np
import pytest
import xarray as xr
from arviz_stats.base import array_stats

import bayes_models
from bayes_models import diagnose, estimate_from_draws, find_label_modes, fit
from bayes_models.posterior.draws import AXES, TAILS
from bayes_models.posterior.estimate import Diagnostics, detect_relabelled, diagnose_draws
from lehner import Scenario, simulate
from lehner.core.errors import read_warnings
from lehner.core.estimate import to_plain


def tree_of(base_rates, confusion, diverging=0, cut_off=0):
    chains, draws = base_rates.shape[:2]
    stats, deepest = np.zeros((2, chains, draws), dtype=bool)
    stats.ravel()[:diverging] = True
    deepest.ravel()[:cut_off] = True
    dims = ("chain", "draw")
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    "base_rates": ((*dims, "true_category"), base_rates),
                    "confusion": ((*dims, "rater", "category", "response"), confusion),
                },
                {"chain": np.arange(chains), "draw": np.arange(draws)},
            ),
            "sample_stats": xr.Dataset(
                {"diverging": (dims, stats), "reached_max_treedepth": (dims, deepest)}
            ),
        }
    )


@pytest.fixture
def good():
    rng = np.random.default_rng(1)
    base_rates = rng.dirichlet([20, 20, 20], size=(4, 1000))
    confusion = rng.dirichlet([8, 1, 1], size=(4, 1000, 3, 3))
    for k in range(3):
        confusion[:, :, :, k] = np.roll(confusion[:, :, :, k], k, axis=-1)
    return base_rates, confusion


def test_good_draws_pass(good):
    assert diagnose(tree_of(*good)).list_warnings() == ()


def test_a_chain_elsewhere_is_named(good):
    base_rates, confusion = good
    base_rates[0] = base_rates[0] ** 0.2
    base_rates[0] /= base_rates[0].sum(axis=-1, keepdims=True)
    assert diagnose(tree_of(base_rates, confusion)).list_warnings()[0].code == "not-converged"


@pytest.mark.parametrize("shape", [(4, 250, 3), (3, 21, 2), (1, 100, 2)])
def test_r_hat_and_effective_draws_are_those_of_arviz(shape):
    draws = np.random.default_rng(1).normal(size=shape).cumsum(axis=1).round(1)
    ess = partial(array_stats.ess, draws, **AXES)
    expected = array_stats.rhat(draws, **AXES).max(), ess(method="bulk").min()
    computed = diagnose_draws(draws, xr.DataTree())
    np.testing.assert_array_equal((computed.r_hat, computed.ess_bulk), expected)
    assert computed.ess_tail == ess(method="tail", prob=TAILS).min()


def test_too_few_effective_draws_are_named(good):
    base_rates, confusion = (np.repeat(values[:, :50], 20, axis=1) for values in good)
    result = diagnose(tree_of(base_rates, confusion)).list_warnings()
    assert "too-few-draws" in [warning.code for warning in result]


def test_divergences_are_counted(good):
    (result,) = diagnose(tree_of(*good, diverging=3)).list_warnings()
    assert result.code == "divergences" and "3 draws diverged" in str(result)


def test_trajectories_that_were_cut_off_are_counted(good):
    (result,) = diagnose(tree_of(*good, cut_off=1)).list_warnings()
    assert result.code == "tree-depth" and "1 draw reached" in result.text


@pytest.mark.parametrize(
    ("r_hat", "ess", "divergences", "times"),
    [(1.0, 1500, 3, 1), (1.0, 399, 0, 2), (1.0, 160, 0, 4), (1.0, 20, 0, 4), (1.2, 900, 0, 4)],
)
def test_a_second_try_is_as_long_as_the_first_lacked(r_hat, ess, divergences, times):
    result = Diagnostics(
        r_hat=r_hat, ess_bulk=2 * ess, ess_tail=ess, divergences=divergences, relabelled=0
    )
    assert result.list_failures()
    assert result.find_times_longer() == times


def test_switched_labels_are_found_even_if_all_chains_agree(good):
    base_rates, confusion = good
    switched = [1, 0, 2]
    tree = tree_of(base_rates[..., switched], confusion[:, :, :, switched])
    result = diagnose(tree)
    assert result.r_hat < 1.01
    assert result.relabelled > 0.99
    assert [warning.code for warning in result.list_warnings()] == ["labels-switched"]


def test_the_share_of_switched_draws_is_the_share(good):
    base_rates, confusion = (values.copy() for values in good)
    confusion[2] = confusion[2][:, :, [2, 1, 0]]
    base_rates[2] = base_rates[2][:, [2, 1, 0]]
    before = detect_relabelled(tree_of(*good)["posterior"].to_dataset()).mean()
    after = detect_relabelled(tree_of(base_rates, confusion)["posterior"].to_dataset()).mean()
    assert before < 0.01
    assert after == pytest.approx(0.25, abs=0.01)


def test_a_system_that_is_mostly_wrong_does_not_count_as_switched_labels(good):
    base_rates, raters = good[0], good[1][:, :, :1]
    never_right = np.tile(np.roll(np.eye(3), 1, axis=1), (4, 1000, 1, 1, 1))
    posterior = tree_of(base_rates, np.concatenate([raters, never_right], axis=2))["posterior"]
    posterior["system_accuracy"] = (("chain", "draw"), np.zeros((4, 1000)))
    of_raters = detect_relabelled(tree_of(base_rates, raters)["posterior"].to_dataset()).mean()
    assert detect_relabelled(posterior.to_dataset()).mean() == of_raters < 0.01


def test_of_very_many_cells_the_base_rates_are_checked(good):
    base_rates, confusion = (values[:, :100] for values in good)
    many = np.repeat(confusion, 200, axis=2)
    many[0] = np.roll(many[0], 1, axis=-1)
    assert diagnose(tree_of(base_rates, many)).chains_agree
    base_rates[0] = np.roll(base_rates[0], 1, axis=-1) ** 2
    assert not diagnose(tree_of(base_rates, many)).chains_agree


# ArviZ's table names each number as the draws do, in every group that has variables of a model.


SAMPLING = {"draws": 8, "tune": 8, "chains": 2, "tries": 1, "checks": False, "progressbar": False}


@pytest.fixture(scope="module")
def ratings():
    scenario = Scenario(n_items=60, n_categories=3, initial_rater_accuracy=(0.8, 0.7, 0.9, 0.6))
    simulated = simulate(scenario, 1)
    return simulated.with_populations(np.repeat(["a", "b"], 30))


def means_by_name(dataset):
    """Mean of each number, under the name that ArviZ should give it."""
    means = {}
    for name, array in dataset.mean(("chain", "draw")).items():
        for place in itertools.product(*(range(n) for n in array.shape)):
            number = array[place]
            labels = ", ".join(str(number[dim].values) for dim in array.dims)
            means[f"{name}[{labels}]" if labels else name] = float(number)
    return means


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
@pytest.mark.parametrize("model", bayes_models.MODELS)
def test_every_number_has_its_own_name(ratings, model):
    tree = bayes_models.fit(model, ratings, **SAMPLING)
    table = az.summary(tree, kind="stats", round_to="none")["mean"]
    assert table.to_dict() == pytest.approx(means_by_name(tree["posterior"]), abs=1e-12)
    assert tree.posterior["confusion"].dims[2:] == ("rater", "category", "response")


@pytest.mark.parametrize("model", bayes_models.MODELS)
def test_every_number_of_two_variables_has_its_own_name(ratings, model):
    """Of all pairs of variables with different dimensions, in both orders."""
    drawn = bayes_models.draw_from_prior(model, ratings, 4)
    with_dims = {drawn[name].dims[2:]: str(name) for name in drawn}
    expected = {name: means_by_name(drawn[[name]]) for name in with_dims.values()}
    means = drawn.mean(("chain", "draw")).expand_dims(summary=["mean"])
    for two in itertools.permutations(with_dims.values(), 2):
        names = az.dataset_to_dataframe(means[list(two)], sample_dims=["summary"]).loc["mean"]
        assert names.to_dict() == pytest.approx(expected[two[0]] | expected[two[1]], abs=1e-12)


def test_every_number_drawn_from_the_prior_has_its_own_name(ratings):
    drawn = bayes_models.draw_from_prior("relaxed_k", ratings, 4)
    tree = xr.DataTree.from_dict({"prior": drawn})
    table = az.summary(tree, group="prior", kind="stats", round_to="none")["mean"]
    assert table.to_dict() == pytest.approx(means_by_name(drawn), abs=1e-12)


# No estimate where labels switched and it matters; the modes instead.


def switched_tree(share, accuracy, mirrored):
    """Raters of .8 and two categories; in a share of the draws the labels are switched."""
    draws = 200
    switched = np.zeros((2, draws), dtype=bool)
    switched[:, : round(share * draws)] = True
    rater = np.array([[0.8, 0.2], [0.2, 0.8]])
    confusion = np.where(switched[..., None, None, None], rater[::-1], rater)
    system = np.where(switched, mirrored, accuracy)
    of_system = np.stack(
        [np.stack([system, 1 - system], -1), np.stack([1 - system, system], -1)], -2
    )
    confusion = np.concatenate([np.repeat(confusion, 2, axis=2), of_system[:, :, None]], axis=2)
    dims = ("chain", "draw")
    posterior = xr.Dataset(
        {
            "base_rates": ((*dims, "true_category"), np.full((2, draws, 2), 0.5)),
            "confusion": ((*dims, "rater", "category", "response"), confusion),
            "accuracy": ((*dims, "rater"), np.full((2, draws, 3), 0.8)),
            "system_accuracy": (dims, system),
            "system_accuracy_in_sample": (dims, system),
        },
        {"rater": ["a", "b", "system"], "category": ["no", "yes"], "response": ["no", "yes"]},
    )
    truth = xr.Dataset({"truth_probabilities": (("item", "category"), np.full((3, 2), 0.5))})
    tree = xr.DataTree.from_dict({"posterior": posterior, "truth": truth})
    tree.attrs |= {"model": "x", "engine": "nuts", "warnings": "[]"}
    tree.attrs["diagnostics"] = json.dumps({"relabelled": share})
    return tree


def test_where_labels_switched_there_is_no_estimate_but_modes_with_weights():
    estimate = estimate_from_draws(switched_tree(0.35, 0.9, 0.1))
    assert estimate.system_accuracy.estimate is None
    assert estimate.system_accuracy_in_sample.estimate is None
    # Means over different labels would look like numbers.
    assert estimate.rater_accuracy is None and estimate.truth_probabilities is None
    modes = to_plain(estimate.diagnostics)["modes"]
    assert [mode["weight"] for mode in modes] == pytest.approx([0.65, 0.35])
    assert [mode["system_accuracy"]["estimate"] for mode in modes] == pytest.approx([0.9, 0.1])
    assert "no estimate: labels switched in 35% of the draws" in str(estimate.warnings[0])
    assert estimate.warnings[0].code == "labels-switched"
    said = str(estimate.warnings[0])
    assert "0.900 [0.900, 0.900] in the 65% with the labels of the raters" in said


@pytest.mark.parametrize(
    ("share", "accuracy", "mirrored"), [(0.04, 0.9, 0.1), (0.35, 0.52, 0.48), (0.0, 0.9, 0.1)]
)
def test_few_or_harmless_switches_leave_the_estimate(share, accuracy, mirrored):
    estimate = estimate_from_draws(switched_tree(share, accuracy, mirrored))
    expected = (1 - share) * accuracy + share * mirrored
    assert estimate.system_accuracy.estimate == pytest.approx(expected)


def test_labels_that_switched_in_all_draws_give_no_estimate():
    tree = switched_tree(1.0, 0.9, 0.1)
    assert len(find_label_modes(tree["posterior"].to_dataset())) == 1
    assert estimate_from_draws(tree).system_accuracy.estimate is None


@pytest.mark.filterwarnings("ignore::bayes_models.ConvergenceWarning")
def test_a_fit_says_who_agrees_more_than_equal_raters():
    ratings = simulate(
        Scenario(n_items=300, copying=(0, 0.5, 0), base_rates="equal"), 1
    ).with_truth(None)
    options = {"progressbar": False, "draws": 300, "tune": 100, "tries": 1}
    tree = fit("one_coin", ratings, **options)
    quiet = fit("one_coin", ratings, checks=False, **options)
    said, unsaid = (
        [warning.text for warning in read_warnings(each.attrs["warnings"])]
        for each in (tree, quiet)
    )
    assert any("Rater 1 and Rater 2" in text for text in said)
    assert not any("Rater 1" in text for text in unsaid)
    xr.testing.assert_equal(tree["posterior"].to_dataset(), quiet["posterior"].to_dataset())
