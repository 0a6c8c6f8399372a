"""Dependence of raters: who is named, how often in vain, and what raters are worth."""

import numpy as np
import pytest

from lehner import Ratings, Scenario, check_dependence, simulate
from lehner.data.flat import FlatRatings
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


def mistakes_of(ratings):
    codes = np.stack(
        [
            ratings.flat.category_index[ratings.flat.rater_index == j]
            for j in range(ratings.n_raters)
        ]
    )
    return (codes != ratings.truth).astype(float)


def test_known_truths_give_the_mean_phi_of_two_raters():
    ratings = simulate(Scenario(n_items=300, copying=(0, 0.5, 0.5)), 3)
    found = from_known_truths(ratings)
    phi = np.corrcoef(mistakes_of(ratings))[np.triu_indices(3, 1)]
    assert found.correlation == pytest.approx(phi.mean())
    assert found.source == "known truths" and found.n_items == 300
    assert found.effective == pytest.approx(3 / (1 + 2 * found.correlation))


def test_each_rater_is_compared_with_their_own_rate_of_mistakes():
    # On 40% of the items all three err where the first is wrong.
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 20_000)
    common = rng.random(20_000)
    wrong = [
        np.where(rng.random(20_000) < 0.4, common, rng.random(20_000)) < rate
        for rate in (0.05, 0.05, 0.5)
    ]
    codes = np.column_stack([np.where(one, 1 - truth, truth) for one in wrong])
    ratings = Ratings(codes, ["n", "y"], truth=truth)
    found = from_known_truths(ratings)
    phi = np.corrcoef(mistakes_of(ratings))[np.triu_indices(3, 1)]
    assert found.correlation == pytest.approx(phi.mean())
    assert found.correlation > 0.05 and found.effective < 2.8
    # With one rate for all, raters who differ would seem to err in turns.
    anonymous = from_known_truths(Ratings(codes, ["n", "y"], truth=truth, anonymous=True))
    assert anonymous.correlation < 0 and anonymous.source == "known truths, equal raters"


def test_pairs_count_by_the_items_that_both_rated_and_by_own_rates():
    rng = np.random.default_rng(2)
    ratings = simulate(Scenario(n_items=400, copying=(0, 0.5, 0), n_categories=2), 5)
    codes = np.where(rng.random((400, 3)) < [0.1, 0.3, 0.6], -1, ratings.codes)
    some = Ratings(codes, ["n", "y"], truth=ratings.truth)
    wrong = np.where(codes >= 0, codes != ratings.truth[:, None], np.nan)
    z = (wrong - np.nanmean(wrong, axis=0)) / np.nanstd(wrong, axis=0)
    products = np.concatenate([z[:, i] * z[:, j] for i, j in ((0, 1), (0, 2), (1, 2))])
    assert from_known_truths(some).correlation == pytest.approx(np.nanmean(products))


def test_ratings_that_a_rater_repeats_are_one_rater():
    ratings = simulate(Scenario(n_items=200, n_categories=2), 6)
    flat = ratings.flat
    again = np.repeat(np.arange(len(flat.item_index)), np.where(flat.rater_index == 0, 4, 1))
    repeated = Ratings(
        FlatRatings(
            item_index=flat.item_index[again],
            rater_index=flat.rater_index[again],
            category_index=flat.category_index[again],
        ),
        ratings.categories,
        ratings.raters,
        ratings.items,
        truth=ratings.truth,
    )
    one, two = from_known_truths(ratings), from_known_truths(repeated)
    assert two.n_raters == 3
    assert two.correlation == pytest.approx(one.correlation)


def test_truths_that_are_no_random_sample_give_no_effective_number():
    ratings = simulate(Scenario(n_items=300, n_categories=3), 7)
    differ = np.array([len(set(row)) > 1 for row in ratings.codes.tolist()])
    some = ratings.with_truth(np.where(differ, ratings.truth, -1))
    assert from_known_truths(some) is None
    at_random = ratings.with_truth(np.where(np.arange(300) < 60, ratings.truth, -1))
    assert from_known_truths(at_random).n_items == 60


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
