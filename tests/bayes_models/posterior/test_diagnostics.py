"""Diagnostics that must find what is wrong with draws."""

import numpy as np
import pytest
import xarray as xr

from bayes_models import diagnose
from bayes_models.posterior.estimate import Diagnostics, detect_relabelled


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
