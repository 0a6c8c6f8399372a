"""Dependence of raters: who is named, how often in vain, and what raters are worth."""

import numpy as np
import pytest

from lehner import Ratings, Scenario, check_dependence, simulate
from lehner.dependence.effective import effective_number, from_known_truths
from lehner.dependence.pairs import mean_agreement, of_raters
from lehner.k_properties.agreement_totals import find_design, observed_totals

COPYING = Scenario(n_items=400, copying=(0, 0.4, 0), base_rates="equal")


def without_truth(ratings):
    return Ratings(ratings.flat, ratings.categories, ratings.raters, ratings.items, ratings.system)


def test_a_rater_who_copies_is_named_and_what_it_may_mean():
    ratings = without_truth(simulate(COPYING, 1))
    found = check_dependence(ratings)
    first = found.warnings()[0]
    assert first.startswith("Rater 1 and Rater 2 agree on ")
    assert "different accuracies of the raters do not explain it" in first
    # Repeating one another on .4 of the items.
    expected = effective_number(3, 0.4 / 3)
    assert found.effective_raters.source == "pairs that stand out"
    assert found.effective_raters.effective == pytest.approx(expected, abs=0.3)


def test_three_raters_cannot_tell_copying_from_accuracy():
    ratings = without_truth(simulate(COPYING, 1)).without_system()
    found = check_dependence(ratings)
    assert found.p_own is None
    assert all(pair.unexplained is None for pair in found.pairs)
    assert found.warnings()[0].endswith(
        "either the others are less accurate, or these two share mistakes; with 3 raters one "
        "cannot tell which"
    )


def test_raters_of_their_own_accuracy_are_not_said_to_share_mistakes():
    scenario = Scenario(
        n_items=400, initial_rater_accuracy=(0.25, 0.25, 0.7, 0.7, 0.7), n_categories=4
    )
    found = check_dependence(without_truth(simulate(scenario, 1)))
    assert found.warnings() and not any(pair.unexplained for pair in found.pairs)
    assert any("less than equal raters would" in text for text in found.warnings())
    assert found.effective_raters.effective is None


def test_false_alarms_come_in_a_twentieth_of_the_data_sets():
    scenario = Scenario(n_items=100, initial_rater_accuracy=(0.75,) * 3, n_categories=2)
    alarms = [
        bool(check_dependence(simulate(scenario, seed), replicates=99).warnings())
        for seed in range(150)
    ]
    # Up to 14 with probability .99 if it is 5%.
    assert sum(alarms) <= 14


def test_expected_agreement_is_that_of_the_other_pairs_of_its_kind():
    ratings = simulate(COPYING, 2)
    design = find_design(ratings.collapse(truth=False), with_system=True)
    totals = observed_totals(design)
    mean, raters = mean_agreement(totals, design)[0], of_raters(design)
    agreement = totals.agreeing[0] / totals.pairs
    assert raters.sum() == 3 and (~raters).sum() == 3
    assert mean[raters] == pytest.approx(agreement[raters].mean())
    assert mean[~raters] == pytest.approx(agreement[~raters].mean())


def test_known_truths_give_the_correlation_of_mistakes():
    ratings = simulate(Scenario(n_items=300, copying=(0, 0.5, 0.5)), 3)
    found = from_known_truths(ratings)
    codes = np.stack([ratings.flat.category_index[ratings.flat.rater_index == j] for j in range(3)])
    wrong = (codes != ratings.truth).astype(float)
    # Pooled: deviations from the mean rate of all three.
    deviation = wrong - wrong.mean()
    products = [(deviation[i] * deviation[j]).mean() for i, j in ((0, 1), (0, 2), (1, 2))]
    rate = wrong.mean()
    assert found.correlation == pytest.approx(np.mean(products) / (rate * (1 - rate)))
    assert found.source == "known truths" and found.n_items == 300
    assert found.effective == pytest.approx(3 / (1 + 2 * found.correlation))


def test_grouped_rows_count_as_their_items():
    ratings = simulate(COPYING, 4)
    grouped = ratings.collapse()
    one, two = from_known_truths(ratings), from_known_truths(grouped)
    assert one.correlation == pytest.approx(two.correlation)
    assert one.n_items == two.n_items


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([[0, 1], [1, 0], [0, 0], [1, 1]], "the test needs three raters"),
        ([[0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0]], "at or below chance"),
    ],
)
def test_what_cannot_be_tested_says_why(codes, said):
    found = check_dependence(Ratings(codes, ["a", "b"]))
    assert said in found.reason and found.warnings() == ()
    assert said in found.to_dict()["lines"][0]


def test_three_way_agreement_is_compared_unless_it_follows_from_pairs():
    assert check_dependence(simulate(COPYING, 1)).triples is not None
    two = Scenario(n_categories=2, initial_rater_accuracy=(0.8,) * 3)
    assert check_dependence(simulate(two, 1)).triples is None
