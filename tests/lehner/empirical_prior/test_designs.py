from collections import Counter

import numpy as np
import pytest

import lehner
from lehner.core.arrays import derive_seed
from lehner.empirical_prior.designs import (
    Panel,
    choose_pairs,
    choose_panels,
    draw_design,
    draw_outcomes,
)


def crowd(n_items=80, skills=(0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)):
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=n_items)
    right = rng.random((n_items, len(skills))) < skills
    return lehner.Ratings(
        np.where(right, truth[:, None], 1 - truth[:, None]),
        ["no", "yes"],
        [f"w{j}" for j in range(len(skills))],
        truth=truth,
    )


def skill_of(people, names):
    codes = {name: people.codes[:, people.raters.index(name)] for name in names}
    return [float((codes[name] == people.truth).mean()) for name in names]


def raters_of(panel):
    present = np.unique(panel.crowd.votes.rater_index)
    return {panel.crowd.raters[j] for j in present} - {panel.system}


def test_all_workers_are_the_system_in_turn_and_all_others_rate():
    people = crowd()
    panels = choose_panels(people)
    assert sorted(panel.system for panel in panels) == sorted(people.raters)
    assert all(raters_of(panel) == set(people.raters) - {panel.system} for panel in panels)


def test_better_systems_are_above_all_their_raters_and_worse_ones_below():
    people = crowd()
    for how, sign in (("better", 1), ("worse", -1)):
        panels = choose_panels(people, how)
        assert len(panels) == 3
        for panel in panels:
            others = skill_of(people, raters_of(panel))
            assert len(others) == 4
            assert all(sign * (skill_of(people, [panel.system])[0] - other) > 0 for other in others)


def test_small_panels_keep_three_raters():
    people = crowd(skills=(0.6, 0.7, 0.8, 0.9))
    (panel,) = choose_panels(people, "better")
    assert panel.system == "w3"
    assert len(raters_of(panel)) == 3
    assert choose_panels(crowd(skills=(0.6, 0.7, 0.9)), "better") == []


@pytest.mark.parametrize("per_item", ["3", "5", "all"])
def test_a_data_set_has_the_asked_number_of_raters(per_item):
    (panel, *_) = choose_panels(crowd())
    drawn = draw_design(panel, per_item, np.random.SeedSequence(4))
    assert drawn.n_raters == (8 if per_item == "all" else int(per_item))
    assert (drawn.system == drawn.truth).mean() == pytest.approx(
        skill_of(panel.crowd, [panel.system])[0]
    )


def test_outcomes_are_the_same_for_the_same_seed():
    first, again = (draw_outcomes("x", "f", crowd(), 3) for _ in range(2))
    assert first.equals(again)
    assert set(first["design"]) == {"like", "better", "worse", "two like", "two better"}
    assert first.query("design == 'like'")["accuracy"].mean() == pytest.approx(0.75, abs=0.03)


@pytest.fixture(scope="module")
def sparse():
    """Make a crowd of 40 workers with 400 items; each but one rates the tenth part of them."""
    rng = np.random.default_rng(1)
    codes = np.full((400, 40), -1)
    for i, row in enumerate(codes):
        raters = rng.choice(39, 4, replace=False) if i % 4 else np.arange(39)
        row[raters] = rng.integers(2, size=len(raters))
    codes[:, 39] = 0
    names = [*(f"w{j}" for j in range(39)), "all"]
    return lehner.Ratings(codes, ["a", "b"], names, truth=np.arange(400) % 2)


@pytest.mark.parametrize("per_item", ["3", "5", "all"])
def test_the_system_is_no_rater(sparse, per_item):
    panel = Panel(systems=("all",), crowd=sparse)
    drawn = draw_design(panel, per_item, derive_seed(1, "crowd", "all"))
    items = drawn.items
    assert (drawn.system == 0).all()
    np.testing.assert_array_equal(drawn.system == drawn.truth, sparse.truth[items] == 0)
    # Raters are numbered, so that what is compared are the votes without those of the system.
    without = sparse.count_votes()[items] - [1, 0]
    result = drawn.count_votes()
    if per_item == "all":
        np.testing.assert_array_equal(result, without)
    else:
        assert (result.sum(axis=1) == int(per_item)).all()
        assert (result <= without).all()


def test_at_most_300_items_with_truth_that_the_system_rated(sparse):
    drawn = draw_design(Panel(systems=("all",), crowd=sparse), "3", derive_seed(1, "crowd", "all"))
    assert drawn.n_items == len(set(drawn.items)) == 300
    worker = draw_design(Panel(systems=("w3",), crowd=sparse), "3", derive_seed(1, "crowd", "w3"))
    assert set(worker.items) == set(np.flatnonzero(sparse.codes[:, 3] >= 0))


def test_raters_of_a_crossed_design_keep_their_ratings():
    codes = np.random.default_rng(1).integers(3, size=(60, 6))
    names = [f"r{j}" for j in range(6)]
    crossed = lehner.Ratings(codes, ["a", "b", "c"], names, truth=np.zeros(60, int))
    drawn = draw_design(Panel(systems=("r2",), crowd=crossed), "3", derive_seed(1, "x", "r2"))
    by_rater = codes.T.tolist()
    result = {by_rater.index(drawn.codes[:, j].tolist()) for j in range(3)}
    assert len(result) == 3
    assert 2 not in result


def test_systems_are_those_with_most_items_and_twelve_at_most(sparse):
    systems = [panel.system for panel in choose_panels(sparse)]
    assert systems[0] == "all"
    assert len(systems) == 12
    sizes = dict(zip(sparse.raters, (sparse.codes >= 0).sum(axis=0), strict=True))
    assert min(sizes[name] for name in systems) >= max(
        size for name, size in sizes.items() if name not in systems
    )


def test_pairs_are_of_two_workers_who_judge_neither_and_rated_the_same_items(sparse):
    for panel in choose_pairs(sparse):
        both = [sparse.codes[:, sparse.raters.index(name)] >= 0 for name in panel.systems]
        assert np.logical_and(*both).sum() >= 30
    people = crowd()
    names = [name for panel in choose_pairs(people) for name in panel.systems]
    assert max(Counter(names).values()) == 2
    drawn = draw_design(choose_pairs(people)[0], "3", np.random.SeedSequence(4))
    assert drawn.systems == choose_pairs(people)[0].systems and drawn.n_raters == 3
    right = (drawn.answers == drawn.truth[:, None]).mean(axis=0)
    np.testing.assert_allclose(right, skill_of(people, drawn.systems))


def test_both_of_a_better_pair_are_above_their_raters():
    people = crowd()
    for panel in choose_pairs(people, "better"):
        present = {panel.crowd.raters[j] for j in np.unique(panel.crowd.votes.rater_index)}
        others = skill_of(people, present - set(panel.systems))
        assert min(skill_of(people, panel.systems)) > max(others)
