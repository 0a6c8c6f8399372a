import numpy as np
import pytest

import lehner
from lehner.empirical_prior.deals import choose_panels, deal, deal_outcomes


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
    present = np.unique(panel.crowd.flat.rater_index)
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
            assert all(sign * (skill_of(people, [panel.system])[0] - one) > 0 for one in others)


def test_small_panels_keep_three_raters():
    people = crowd(skills=(0.6, 0.7, 0.8, 0.9))
    (panel,) = choose_panels(people, "better")
    assert panel.system == "w3"
    assert len(raters_of(panel)) == 3
    assert choose_panels(crowd(skills=(0.6, 0.7, 0.9)), "better") == []


def test_workers_can_be_ranked_by_other_items():
    people = crowd()
    flipped = people.with_truth(1 - people.truth)
    best = {panel.system for panel in choose_panels(people, "better")}
    assert best == {panel.system for panel in choose_panels(people, "worse", ranked_by=flipped)}


@pytest.mark.parametrize("per_item", ["3", "5", "all"])
def test_a_data_set_has_no_truth_and_the_asked_number_of_raters(per_item):
    (panel, *_) = choose_panels(crowd())
    dealt = deal(panel, per_item, np.random.SeedSequence(4))
    assert dealt.ratings.truth is None
    assert dealt.ratings.n_raters == (8 if per_item == "all" else int(per_item))
    assert dealt.right.mean() == pytest.approx(skill_of(panel.crowd, [panel.system])[0])


def test_outcomes_are_the_same_for_the_same_seed():
    first, again = (list(deal_outcomes("x", "f", crowd(), 3)) for _ in range(2))
    assert first == again
    assert {one.deal for one in first} == {"like", "better", "worse"}
    like = [one for one in first if one.deal == "like"]
    assert np.mean([one.accuracy for one in like]) == pytest.approx(0.75, abs=0.03)
