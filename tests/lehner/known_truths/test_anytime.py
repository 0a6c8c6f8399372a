"""Confidence sequences against the published formulas, and how often they miss the truth."""

import math

import numpy as np
import pytest

from lehner.known_truths.anytime import confidence_sequence, estimate_anytime

LEVEL = 0.9


def is_excluded(mean, values, control, control_mean, size, level=LEVEL):
    """Bet against one mean, a label after the other (Waudby-Smith & Ramdas 2024)."""
    alpha, more, less = 1 - level, 1.0, 1.0
    total = of_control = together = variation = adjusted_total = squares = 0.0
    for t, (x, c) in enumerate(zip(values, control, strict=True), start=1):
        n_left = size - (t - 1)
        left = mean if size == math.inf else (size * mean - total) / n_left
        control_left = control_mean
        if size < math.inf:
            control_left = (size * control_mean - of_control) / n_left
        slope = min(1.0, max(0.0, together / (1 + variation)))
        adjusted = x - slope * (c - control_left)
        variance = (0.25 + squares) / t
        bet = math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t)))
        bet *= math.sqrt(size / n_left) if size < math.inf else 1
        more *= 1 + min(bet, 0.5 / (left + slope * (1 - control_left))) * (adjusted - left)
        less *= 1 - min(bet, 0.5 / (1 - left + slope * control_left)) * (adjusted - left)
        adjusted_total += adjusted
        squares += (adjusted - (0.5 + adjusted_total) / (t + 1)) ** 2
        together += (x - (0.5 + total) / t) * (c - control_mean)
        variation += (c - control_mean) ** 2
        total, of_control = total + x, of_control + c
    possible = total / size <= mean <= 1 - (len(values) - total) / size
    return not possible or max(more, less) / 2 >= 1 / alpha


def draw(rng, n, rate=0.7, right=0.85):
    truth = (rng.random(n) < rate).astype(float)
    return truth, np.where(rng.random(n) < right, truth, 1 - truth)


@pytest.mark.parametrize("size", [120, math.inf])
@pytest.mark.parametrize("with_control", [False, True])
def test_the_ends_are_where_the_published_bets_exclude_a_mean(size, with_control):
    truth, judge = draw(np.random.default_rng(3), 120)
    control, mean = (judge, judge.mean()) if with_control else (np.full(120, 0.5), 0.5)
    ends = confidence_sequence(truth[:60], size, control[:60] if with_control else None, mean)
    for n in (10, 35, 60):
        lower, upper = ends[n - 1]
        seen = truth[:n], control[:n], mean, size
        assert is_excluded(lower - 0.002, *seen) and is_excluded(upper + 0.002, *seen)
        for inside in np.linspace(lower + 0.0025, upper - 0.0025, 20):
            assert not is_excluded(inside, *seen)


@pytest.mark.parametrize("rate", [0.6, 0.95])
@pytest.mark.parametrize("right", [0.5, 0.9])
def test_it_seldom_excludes_the_truth_at_any_time(rate, right):
    rng, missed, n = np.random.default_rng(1), 0, 120
    for _ in range(n):
        truth, judge = draw(rng, 150, rate, right)
        ends = confidence_sequence(truth[:100], 150, judge[:100], judge.mean(), level=LEVEL)
        missed += ((ends[:, 0] > truth.mean()) | (ends[:, 1] < truth.mean())).any()
    assert missed / n <= 0.1 + 2 * math.sqrt(0.09 / n)


def test_a_judge_who_is_right_makes_it_narrower_and_all_labels_tell_all():
    truth, judge = draw(np.random.default_rng(2), 400)
    some = np.where(np.arange(400) < 100, truth, np.nan)
    alone, helped = (estimate_anytime(some, x, LEVEL) for x in (np.full(400, 0.5), judge))
    assert np.ptp(helped[1:]) < 0.8 * np.ptp(alone[1:])
    assert np.allclose(estimate_anytime(truth, judge, LEVEL), truth.mean())
    assert estimate_anytime(some * np.nan, judge, LEVEL)[1:].tolist() == [0, 1]
