"""Differences and ranks of systems corrected by the known truths of some items."""

import numpy as np
import pytest

import lehner
from lehner import Ratings
from tests.lehner.contrasts.test_systems import two_systems

EXPECTED, IN_SAMPLE = "system_accuracy_difference", "system_accuracy_in_sample_difference"


def copying(n: int = 400, seed: int = 1) -> Ratings:
    """Give two equal systems, the second of which copies half of its answers from a rater."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    right = rng.random((n, 5)) < [0.7, 0.7, 0.7, 0.7, 0.7]
    codes = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, 3, (n, 5))) % 3)
    two = np.where(rng.random(n) < 0.5, codes[:, 0], codes[:, 4])
    both = np.stack([codes[:, 3], two], axis=1)
    return Ratings(codes[:, :3], list("abc"), system=both, systems=["alone", "copies"], truth=truth)


def knowing(ratings: Ratings, n: int) -> Ratings:
    return ratings.with_truth(np.where(np.arange(ratings.n_rows) < n, ratings.truth, -1))


def true_difference(ratings: Ratings) -> float:
    right = ratings.answers == np.asarray(ratings.truth)[:, None]
    return float(right[:, 0].mean() - right[:, 1].mean())


def compare(ratings: Ratings, methods="algebraic"):
    """How the systems differ."""
    return lehner.estimate(ratings, methods, questions=["systems"])


def row_of(results, quantity, *, corrected=True, **columns):
    """The one row of a difference."""
    table = results.table[results.table["corrected"] == corrected]
    for name, value in {"quantity": quantity, **columns}.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_with_all_but_one_truth_known_the_difference_is_that_of_the_known_items() -> None:
    full = two_systems(200)
    result = compare(knowing(full, 199))
    row = row_of(result, IN_SAMPLE)
    assert row.estimate == pytest.approx(true_difference(full), abs=0.006)
    assert row.upper - row.lower < 0.012
    assert row.lower - 0.006 <= true_difference(full) <= row.upper + 0.006
    # The expected difference still varies from sample to sample, as of paired items.
    right = (full.answers == np.asarray(full.truth)[:, None]).astype(float)
    width = 2 * 1.645 * (right[:, 0] - right[:, 1]).std() / np.sqrt(200)
    expected = row_of(result, EXPECTED)
    assert expected.upper - expected.lower == pytest.approx(width, rel=0.1)


def test_known_truths_correct_what_a_system_that_copies_a_rater_gains() -> None:
    full = copying()
    result = compare(knowing(full, 120))
    truth = true_difference(full)
    before, after = (row_of(result, IN_SAMPLE, corrected=which) for which in (False, True))
    assert before.upper < truth
    assert after.lower < truth < after.upper
    assert abs(after.estimate - truth) < 0.5 * abs(before.estimate - truth)
    assert before.probability < after.probability
    assert result.select(quantity="system_accuracy_rank")["corrected"].all()


def test_where_all_truths_known_are_of_items_with_equal_answers_nothing_is_corrected() -> None:
    """Systems are right or wrong together there, so that nothing is known of the difference."""
    full = copying()
    same = np.flatnonzero(full.answers[:, 0] == full.answers[:, 1])[:80]
    some = full.with_truth(np.where(np.isin(np.arange(400), same), full.truth, -1))
    differences = compare(some).select(quantity=IN_SAMPLE)
    assert not differences["corrected"].any()


def test_systems_with_the_same_answers_are_tied_and_the_order_makes_no_difference() -> None:
    full = two_systems(200)
    thrice = full.answers[:, [0, 1, 0]]
    names = ["gpt", "base", "too"]
    ratings = Ratings(full.codes, full.categories, system=thrice, systems=names, truth=full.truth)
    result = compare(knowing(ratings, 40))
    first, same, second = (
        row_of(result, EXPECTED, system=better, versus=other)
        for better, other in (("gpt", "base"), ("gpt", "too"), ("base", "too"))
    )
    assert same.lower == same.upper == 0 and same.probability == 0.5
    assert second.estimate == pytest.approx(-first.estimate)
    assert second.lower == pytest.approx(-first.upper)
    ranks = result.select(quantity="system_accuracy_rank").set_index("system")
    assert ranks.loc["gpt", "probability"] == ranks.loc["too", "probability"]
    alone = row_of(compare(knowing(full, 40)), EXPECTED)
    assert alone.estimate == pytest.approx(first.estimate)


def test_a_method_without_probabilities_and_one_that_saw_the_truths_are_not_corrected() -> None:
    result = compare(knowing(two_systems(200), 40), ["majority_agreement", "learned_prior"])
    rows = result.table[result.table["quantity"] == EXPECTED].set_index("method")["corrected"]
    assert rows.to_dict() == {"majority_agreement": False, "learned_prior": True}


def test_systems_that_answered_different_items_are_corrected_on_those_in_common() -> None:
    full = two_systems(300)
    answers = full.answers.copy()
    answers[200:, 1] = -1
    ratings = Ratings(full.codes, full.categories, system=answers, truth=full.truth)
    # Truths are known only where the second did not answer, and of 60 items of both.
    rows = np.arange(300)
    some = ratings.with_truth(np.where((rows >= 200) | (rows < 60), full.truth, -1))
    row = row_of(compare(some), IN_SAMPLE)
    assert row.n_items == 200
    common = full.take(rows < 200)
    alone = row_of(compare(knowing(common, 60)), IN_SAMPLE)
    assert row.estimate == pytest.approx(alone.estimate, abs=0.02)
