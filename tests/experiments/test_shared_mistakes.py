"""Copying and subtypes, tried for raters who share mistakes: against draws from the prior."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from experiments.benchmarks.copying_raters import Copying, sample_copying
from experiments.benchmarks.ebcc import DIAGONAL, OTHER, SUBTYPE, sample_ebcc
from experiments.benchmarks.shared_mistakes import compare
from lehner import Ratings

CODES = np.array(
    [[0, 0, 0], [1, 1, 1], [2, 2, 0], [0, 0, 1], [1, 1, -1], [2, -1, 2], [2, 2, 2], [0, 0, 0]]
)
SYSTEM = np.array([0, 1, 2, 0, 0, 2, 1, 0])
K = 3
N = 60_000


@pytest.fixture
def ratings() -> Ratings:
    return Ratings(CODES, list("abc"), system=SYSTEM)


def draw_confusion(rng: np.random.Generator, right: np.ndarray, errors: np.ndarray) -> np.ndarray:
    return right[:, None, None] * np.eye(K) + (1 - right)[:, None, None] * errors


def chances(confusion: np.ndarray, answer: int) -> np.ndarray:
    """Give the probability of an answer, 1 if it is missing, shape (n_draws, category)."""
    return confusion[..., answer] if answer >= 0 else np.ones(confusion.shape[:-1])


@pytest.mark.parametrize("with_system", [False, True])
def test_copying_agrees_with_importance_sampling(ratings: Ratings, with_system: bool) -> None:
    rng = np.random.default_rng(1)
    model = Copying(copying=(2.0, 2.0), preferences=True, with_system=with_system)
    pairs = list(permutations(range(3 + with_system), 2))
    mean, spread = rng.normal(0, 1.2, N), np.abs(rng.normal(0, 0.6, N))
    knows = expit(mean + spread * rng.normal(size=(3, N)))
    right = [*(knows + (1 - knows) / K), rng.random(N)]
    errors = np.zeros((2, N, K, K))
    for z in range(K):
        split = rng.dirichlet([2.0, 2.0], (2, N))
        errors[:, :, z, [other for other in range(K) if other != z]] = split
    confusion = [draw_confusion(rng, right[j], errors[int(j == 3)]) for j in range(4)]
    base_rates = rng.dirichlet(np.ones(K), N)
    share = rng.dirichlet([2.0] + [2.0 / len(pairs)] * len(pairs), N)
    log_weight = np.zeros(N)
    for answers in np.column_stack([CODES, SYSTEM]):
        factors = [chances(confusion[j], answers[j]) for j in range(4)]
        independent = np.prod(factors, axis=0)
        mixed = share[:, :1] * independent
        for m, (j, h) in enumerate(pairs, start=1):
            if answers[j] < 0 or answers[h] < 0:
                mixed += share[:, m : m + 1] * independent
            elif answers[j] == answers[h]:
                mixed += share[:, m : m + 1] * independent / factors[j]
        log_weight += np.log((base_rates * mixed).sum(axis=1))
    accuracy = right[3].copy()
    for m, (j, h) in enumerate(pairs, start=1):
        if j == 3:
            accuracy += share[:, m] * (right[h] - right[3])
    weight = np.exp(log_weight - log_weight.max())
    draws = [sample_copying(ratings, model, np.random.default_rng(s)) for s in range(8)]
    found = [np.mean([getattr(one, name) for one in draws]) for name in ("accuracy", "copied")]
    expected = [np.average(values, weights=weight) for values in (accuracy, 1 - share[:, 0])]
    assert found == pytest.approx(expected, abs=0.012)


def test_ebcc_agrees_with_importance_sampling(ratings: Ratings) -> None:
    rng = np.random.default_rng(2)
    base_rates = rng.dirichlet(np.ones(K), N)
    subtypes = rng.dirichlet(np.full(2, SUBTYPE), (N, K))
    tables = np.empty((4, N, K, 2, K))
    for z in range(K):
        prior = np.where(np.arange(K) == z, DIAGONAL, OTHER)
        tables[:, :, z] = rng.dirichlet(prior, (4, N, 2))
    log_weight = np.zeros(N)
    for answers in np.column_stack([CODES, SYSTEM]):
        factors = [chances(tables[j], answers[j]) for j in range(4)]
        mixed = (subtypes * np.prod(factors, axis=0)).sum(axis=2)
        log_weight += np.log((base_rates * mixed).sum(axis=1))
    right = np.stack([tables[3, :, z, :, z] for z in range(K)], axis=1)
    accuracy = (base_rates * (subtypes * right).sum(axis=2)).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    draws = [sample_ebcc(ratings, 2, np.random.default_rng(s)).accuracy for s in range(8)]
    assert np.mean(draws) == pytest.approx(np.average(accuracy, weights=weight), abs=0.012)


def test_extensions_are_compared_on_the_same_data() -> None:
    rows = pd.DataFrame({"data_set": [1, 2] * 2, "estimate": [0.5, 0.7, 0.6, 0.6], "data": "x"})
    rows["model"] = ["one_coin_by_rater"] * 2 + ["one_coin_by_rater + copying"] * 2
    table = compare(rows.assign(lower=0.0, upper=1.0, truth=0.6, copied=0.1))
    assert table[["n", "rmse", "new_rmse", "difference"]].to_numpy() == pytest.approx(
        np.array([[2, 0.1, 0, -0.1]])
    )
