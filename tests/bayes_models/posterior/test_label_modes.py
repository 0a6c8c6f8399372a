"""No estimate where labels switched and it matters; the modes instead."""

import json

import numpy as np
import pytest
import xarray as xr

from bayes_models import estimate_from_draws, find_label_modes, fit
from lehner import Scenario, simulate
from lehner.core.errors import read_warnings
from lehner.core.estimate import to_plain


def tree_of(share, accuracy, mirrored):
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
    estimate = estimate_from_draws(tree_of(0.35, 0.9, 0.1))
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
    estimate = estimate_from_draws(tree_of(share, accuracy, mirrored))
    expected = (1 - share) * accuracy + share * mirrored
    assert estimate.system_accuracy.estimate == pytest.approx(expected)


def test_labels_that_switched_in_all_draws_give_no_estimate():
    tree = tree_of(1.0, 0.9, 0.1)
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
