"""Raters who depend on one another, or who seem to: simulated, to see whom the tests name.

In most behaviours raters err independently: nobody should be named. Unequal difficulty and errors
near the truth make all pairs agree more than accuracies explain. In the last a rater repeats
another one, or the system repeats a rater, on 40% of the items.
"""

import numpy as np

from lehner import Ratings, check_dependence
from lehner.core.arrays import draw_categories

ACCURACY = {
    "3 raters and the system": (0.55, 0.65, 0.75, 0.9),
    "4 raters and the system": (0.55, 0.6, 0.7, 0.8, 0.9),
    "8 raters": (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9),
}
"""Of four raters or five the last is the system."""
BEHAVIOURS = (
    "independent",
    "unequal base rates",
    "40% missing",
    "errors of their own",
    "unequal difficulty",
    "accuracy by category",
    "errors near the truth",
    "rater 2 repeats rater 1",
    "rater 2 repeats rater 1, 40% missing",
    "the system repeats rater 1",
)
REPEATED = 0.4


def draw(process, n_raters, k, n_items, rng):
    """Ratings by raters and, in the last column, the system."""
    n, truth = n_raters + 1, rng.integers(k, size=n_items)
    accuracy = np.full(n, 0.7)
    if process.startswith("unequal"):
        accuracy = np.append(rng.permutation(np.linspace(0.55, 0.95, n - 1)), rng.uniform(0.6, 1))
    right = np.tile(accuracy, (n_items, 1))
    wrong = (truth[:, None] + rng.integers(1, k, size=right.shape)) % k
    codes = np.where(rng.random(right.shape) < right, truth[:, None], wrong)
    if process.startswith("hidden"):
        matrices = rng.dirichlet(np.ones(k), (1, 2, k))
        matrices = 0.5 * np.eye(k) + 0.5 * np.broadcast_to(matrices, (n, 2, k, k))
        cell = (rng.random(n_items) < 0.4) * k + truth
        drawn = [draw_categories(m.reshape(-1, k), rng.random(n_items), cell) for m in matrices]
        codes = np.transpose(drawn)
    if process.startswith("the system"):
        codes[:, -1] = np.where(rng.random(n_items) < 0.35, codes[:, 0], codes[:, -1])
    return Ratings(codes[:, :-1], list(map(str, range(k))), system=codes[:, -1])


def name_pairs_of(seed, raters, behaviour, categories, items):
    """Which pairs `check_dependence` names in a data set.

    `anyone`: some pair was named; `right`: the pair that shares errors, alone or as one of two of
    which one does; `innocent`: a pair that does not, and not as one of such two; `undecided`: one
    of two pairs.
    """
    rng = np.random.default_rng(seed)
    codes = _draw(np.array(ACCURACY[raters]), behaviour, categories, items, rng)
    system = codes[:, -1] if raters.endswith("system") else None
    codes = codes if system is None else codes[:, :-1]
    names = [str(j + 1) for j in range(codes.shape[1])]
    ratings = Ratings(codes, range(categories), names, system=system)
    dependence = check_dependence(ratings)
    named = [pair.raters for pair in dependence.pairs if pair.stands_out]
    true = ("1", "system") if behaviour.startswith("the system") else ("1", "2")
    hit = "repeats" in behaviour and true in named
    return {
        "anyone": float(bool(named)),
        "right": float(hit),
        "innocent": float(len(named) > hit + dependence.undecided),
        "undecided": float(dependence.undecided),
    }


def _draw(accuracy, behaviour, k, n_items, rng):
    """Answers of all, (n_items, n_raters), -1 where missing."""
    rates = np.full(k, 1 / k)
    if behaviour == "unequal base rates":
        rates = np.array([0.7, *[0.3 / (k - 1)] * (k - 1)])
    truth = rng.choice(k, n_items, p=rates)
    by_category = np.repeat(accuracy[:, None], k, axis=1)
    if behaviour == "accuracy by category":
        by_category = rng.uniform(0.5, 0.95, by_category.shape)
    chance = by_category[:, truth].T
    if behaviour == "unequal difficulty":
        chance = np.clip(chance + rng.choice([-0.2, 0, 0.2], n_items)[:, None], 0.05, 0.98)
    errors = _errors(behaviour, k, len(accuracy), rng)
    wrong = np.stack([draw_categories(e, rng.random(n_items), truth) for e in errors], axis=1)
    codes = np.where(rng.random(chance.shape) < chance, truth[:, None], wrong)
    if "repeats" in behaviour:
        repeated = rng.random(n_items) < REPEATED
        who = -1 if behaviour.startswith("the system") else 1
        codes[repeated, who] = codes[repeated, 0]
    if "missing" in behaviour:
        codes[rng.random(codes.shape) < REPEATED] = -1
        codes = codes[(codes[:, :-1] >= 0).any(axis=1)]
    return codes


def _errors(behaviour, k, n_raters, rng):
    """Probabilities of wrong answers given the truth, (n_raters, k, k)."""
    preferred = np.ones((n_raters, k, k))
    if behaviour == "errors near the truth":
        preferred *= 3.0 ** -np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    if behaviour == "errors of their own":
        preferred *= rng.uniform(0.2, 1.8, preferred.shape)
    preferred *= 1 - np.eye(k)
    return np.asarray(preferred / preferred.sum(axis=2, keepdims=True))
