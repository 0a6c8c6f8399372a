"""Precision and accuracy in groups, corrected by the known truths of these items."""

import numpy as np
import pytest

from experiments.estimate.known_truths import part_tables
from experiments.estimate.report import render
from lehner import (
    Scenario,
    correct_by_truth,
    estimate_algebraic,
    estimate_latent_class,
    majority_agreement,
    probabilities_right,
    simulate,
)
from lehner.estimation.estimate import compare
from lehner.groups.membership import GroupColumn

SCENARIO = Scenario(
    n_categories=3,
    n_items=600,
    initial_rater_accuracy=(0.7, 0.7, 0.7),
    misleading=0.3,
    base_rates=(0.5, 0.3, 0.2),
)


@pytest.fixture(scope="module")
def ratings():
    return simulate(SCENARIO, 2)


@pytest.fixture(scope="module")
def comparison(ratings):
    # Known truths are every eighth item's, and none in the group "c".
    rows = np.arange(600)
    names = np.where(rows < 300, "a", np.where(rows < 570, "b", "c"))
    known = ratings.with_truth(np.where((rows % 8 == 0) & (names != "c"), ratings.truth, -1))
    unseen = known.with_truth(None)
    estimates = [
        estimate_algebraic(unseen, interval=None),
        estimate_latent_class(unseen, "one_coin", interval=None),
        majority_agreement(unseen),
    ]
    groups = GroupColumn(column="domain", names=names, note="")
    return compare("x", known, estimates, groups=groups)


def test_parts_are_corrected_as_the_whole_is(comparison):
    known, algebra = comparison.ratings, comparison.estimates[0]
    right = probabilities_right(known, algebra)
    for part, label, rows in (
        ("precision", "A", known.system == 0),
        ("groups", "b", comparison.systems[0].group_column.names == "b"),
    ):
        (one,) = (
            one
            for one in comparison.results[0].corrected.parts
            if (one.part, one.label) == (part, label)
        )
        whole = correct_by_truth(known.take(rows), right[rows])
        assert one.accuracy == whole.system_accuracy_in_sample
        assert one.n_known == whole.n_known == ((known.truth >= 0) & rows).sum()
        assert one.n_items == rows.sum()


def test_corrected_precision_is_nearer_to_the_truth(ratings, comparison):
    algebra = comparison.results[0].corrected.parts
    right = probabilities_right(comparison.ratings, comparison.estimates[0])
    before, after, inside = [], [], []
    for code, name in enumerate(ratings.categories):
        (one,) = (one for one in algebra if one.part == "precision" and one.label == name)
        rows = ratings.system == code
        truth = float((ratings.truth == code)[rows].mean())
        before.append(right[rows].mean() - truth)
        after.append(one.accuracy.estimate - truth)
        inside.append(one.accuracy.lower <= truth <= one.accuracy.upper)
    assert np.abs(after).mean() < 0.5 * np.abs(before).mean()
    # Of three intervals of 90%, and 30% of the items misled everybody.
    assert sum(inside) >= 2


def test_a_part_without_known_truths_is_left_out(comparison):
    corrected = {one.method: one.corrected for one in comparison.results if one.corrected}
    for one in corrected.values():
        assert {part.label for part in one.parts if part.part == "groups"} == {"a", "b"}
    assert set(corrected) == {"algebraic", "one_coin_ml"}


def test_json_table_and_screen_say_the_same(comparison):
    plain = comparison.to_dict()["estimates"]
    assert plain[2]["precision_with_known_truth"] is None
    precision = plain[0]["precision_with_known_truth"]["A"]
    frame = comparison.to_frame()
    (row,) = frame[
        (frame["method"] == "algebraic")
        & (frame["quantity"] == "precision_with_known_truth")
        & (frame["label"] == "A")
    ].itertuples()
    assert (row.estimate, row.lower) == (precision["estimate"], precision["lower"])
    shown = "\n".join(str(line) for line in render(comparison).renderables)
    assert f"A ({precision['n_known']} of {precision['n_items']} known)" in shown
    assert "Recall, the confusion matrix and the other measures" in shown


def test_long_tables_are_cut(comparison):
    (table,) = part_tables(comparison.results, "domain", most=1)
    assert "  … and 2 more" in table.lines()


def test_json_of_a_group_has_its_accuracy_with_the_known_truths(comparison):
    in_json = {
        one["group"]: one["with_known_truth"]
        for one in comparison.to_dict()["estimates"]
        if one["method"] == "algebraic" and one["group"] is not None
    }
    corrected = {
        one.label: one.accuracy.estimate
        for one in comparison.results[0].corrected.parts
        if one.part == "groups"
    }
    assert {name: in_json[name]["estimate"] for name in "ab"} == corrected
    assert in_json["c"] is None
