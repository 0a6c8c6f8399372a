"""One judge and some gold labels, as `estimate` and `compare` answer."""

import numpy as np
import pytest

import lehner
from lehner import InputError, Ratings

TRUTH = [1] * 43 + [0] * 37 + [-1] * 320
SAID = [1] * 39 + [0] * 4 + [1] * 8 + [0] * 29 + [1] * 229 + [0] * 91
"""As in the case 35: 39 of 43 that pass and 29 of 37 that fail are judged right."""


def judge(**options):
    return Ratings(np.array(SAID)[:, None], ["fail", "pass"], ["judge"], truth=TRUTH, **options)


def test_a_judge_without_raters_is_scored_on_the_gold_labels():
    results = lehner.estimate(judge().with_system("judge"))
    assert results.value("system_accuracy").estimate == pytest.approx(68 / 80)
    wilson = lehner.core.resampling.wilson_interval(39 / 43, 43, z=1.6448536269514722)
    recall = results.value("recall", category="pass")
    assert (recall.estimate, recall.lower, recall.upper) == pytest.approx((39 / 43, *wilson))
    assert results.value("specificity", category="pass").estimate == pytest.approx(29 / 37)
    assert results.value("precision", category="pass").estimate == pytest.approx(39 / 47)
    rate = results.value("base_rates", category="pass")
    assert rate.corrected and 0.55 < rate.estimate < 0.66
    matrix = np.array([[29, 8], [4, 39]]) / 80
    kappa = (np.trace(matrix) - matrix.sum(0) @ matrix.sum(1)) / (1 - matrix.sum(0) @ matrix.sum(1))
    assert results.value("kappa_with_truth").estimate == pytest.approx(kappa)


def test_accuracies_in_groups_of_items_and_their_difference():
    groups = np.where(np.arange(400) % 2, "a", "b")
    results = lehner.estimate(judge().with_system("judge"), groups=groups)
    right = np.array(SAID)[:80] == np.array(TRUTH)[:80]
    for name, own in (("a", right[1::2]), ("b", right[::2])):
        value = results.value("system_accuracy", grouping="group", group=name)
        assert value.estimate == pytest.approx(own.mean())
    (row,) = results.select(quantity="system_accuracy_difference").to_dict("records")
    assert row["estimate"] == pytest.approx(right[1::2].mean() - right[::2].mean())


def test_groups_of_items_are_compared_by_what_one_judge_says_and_gold_labels():
    groups = np.where(np.arange(400) % 2, "a", "b")
    results = lehner.compare(judge(), "pass", groups)
    assert list(dict.fromkeys(results.table["method"])) == list(lehner.contrasts.one_judge.METHODS)
    for method in ("post_stratified", "confusion_posterior", "rogan_gladen", "prediction_powered"):
        rates = results.select(quantity="base_rates", method=method)
        assert rates["corrected"].all() and rates["estimate"].between(0.5, 0.75).all()
        difference = results.select(quantity="base_rates_difference", method=method)
        assert len(difference) == 1 and difference["lower"].item() < 0 < difference["upper"].item()
    assert not results.select(quantity="base_rates", method="judge")["corrected"].any()
    assert results.value("rater_accuracy", rater="judge").estimate == pytest.approx(0.85)
    recall = results.value("recall", rater="judge", category="pass")
    assert recall.estimate == pytest.approx(39 / 43)
    assert {warning.code for warning in results.warnings} == {"favour-unseen"}


def test_a_judge_who_favours_a_group_is_said_to():
    truth = np.tile([0, 1], 100)
    groups = np.repeat(["own", "other"], 100)
    said = np.where((groups == "own") & (np.arange(200) % 4 == 0), 1, truth)
    ratings = Ratings(said[:, None], ["fail", "pass"], ["judge"], truth=truth)
    (warning,) = lehner.compare(ratings, "pass", groups).warnings
    assert warning.code == "judge-differs"


def test_one_rater_needs_gold_labels_and_methods_for_one():
    with pytest.raises(InputError, match="there is 1 rater"):
        lehner.compare(judge().with_truth(None))
    with pytest.raises(InputError, match="there is no method 'dawid_skene'"):
        lehner.compare(judge(), methods="dawid_skene")
    with pytest.raises(InputError, match="there is no rater"):
        lehner.estimate(judge().with_system("judge"), "algebraic")
