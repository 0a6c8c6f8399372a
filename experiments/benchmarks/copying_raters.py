"""A one-coin model in which a rater may repeat another's answer, sampled by Gibbs.

Tried and dropped, see `shared_mistakes.md`.
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from lehner import Ratings

TUNE, DRAWS = 200, 1200
N_UPDATES = 5
STEP = 0.5
MEAN_SD, SPREAD_SD = 1.2, 0.6
# Concentration of the Dirichlet prior of errors.
PREFERENCE = 2.0

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Copying:
    """What is assumed of raters.

    Parameters
    ----------
    by_rater : bool
        Whether raters differ in accuracy: as in `one_coin_by_rater`, else as in `one_coin`.
    preferences : bool
        Whether some errors are preferred to others, by all raters alike, and by the system in a
        way of its own; else errors are equally probable.
    copying : tuple of float, optional
        Parameters of the Beta prior of the share of items in which a rater repeats another; by
        default nobody does.
    with_system : bool
        Whether the system may repeat raters, and raters the system.
    """

    by_rater: bool = True
    preferences: bool = False
    copying: tuple[float, float] | None = None
    with_system: bool = False


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Draws from a posterior.

    Parameters
    ----------
    accuracy, in_sample : ndarray, shape (n_draws,)
        Expected accuracy of the system, and the share of these items that it got right.
    copied : ndarray, shape (n_draws,)
        Share of items in which a rater repeats another.
    """

    accuracy: Floats
    in_sample: Floats
    copied: Floats


def dense_patterns(ratings: Ratings) -> tuple[Integers, Integers]:
    """Give unique rows of the answers of raters and system, -1 where missing, and their counts."""
    assert ratings.system is not None
    rows = np.column_stack([ratings.codes, ratings.system]).astype(np.int64)
    patterns, counts = np.unique(rows, axis=0, return_counts=True)
    return patterns, counts


def sample_copying(ratings: Ratings, model: Copying, rng: np.random.Generator) -> Draws:
    r"""Sample the posterior of a model in which a rater may repeat another's answer.

    In item i of true category k the answers y of the raters have probability

    .. math::
        c_0 \prod_j \theta_{jk y_j}
            + \sum_{j \ne j'} c_{jj'} 1[y_j = y_{j'}] \prod_{h \ne j} \theta_{hk y_h},
        \qquad c_0 = 1 - \sum c_{jj'} .

    Parameters
    ----------
    ratings : Ratings
        With a system.
    model : Copying
    rng : numpy.random.Generator

    Returns
    -------
    Draws
    """
    patterns, counts = dense_patterns(ratings)
    n_raters = patterns.shape[1] - 1
    pairs, prior = _pairs(model, n_raters)
    accuracy, in_sample, copied = _sweeps(
        rng,
        patterns,
        counts,
        ratings.n_categories,
        np.arange(n_raters) if model.by_rater else np.zeros(n_raters, int),
        model.preferences,
        pairs,
        prior,
    )
    return Draws(accuracy=accuracy, in_sample=in_sample, copied=copied)


def _pairs(model: Copying, n_raters: int) -> tuple[Integers, Floats]:
    """Give who repeats whom, first nobody, and the concentration of the Dirichlet prior."""
    if model.copying is None:
        return np.full((1, 2), -1), np.ones(1)
    pairs = list(permutations(range(n_raters + model.with_system), 2))
    some, none = model.copying
    return np.array([(-1, -1), *pairs]), np.array([none] + [some / len(pairs)] * len(pairs))


@numba.njit(cache=True)
def _sweeps(
    rng: Any,
    patterns: Integers,
    counts: Integers,
    k: int,
    coin: Integers,
    preferences: bool,
    pairs: Integers,
    prior: Floats,
) -> tuple[Floats, Floats, Floats]:
    n_coins, system = coin.max() + 1, len(coin)
    log_odds, mean = np.full(n_coins, 0.5), 0.0
    spread = SPREAD_SD if n_coins > 1 else MEAN_SD
    right = np.full(system + 1, 0.5)
    base_rates, share = np.full(k, 1 / k), prior / prior.sum()
    # Of raters, of the system: probability of each error given that there is one.
    errors = np.full((2, k, k), 1 / (k - 1))
    cumulative = np.empty((k, len(pairs)))
    found = np.empty((3, DRAWS))
    for sweep in range(TUNE + DRAWS):
        n_truths, n_pairs = np.zeros(k), np.zeros(len(pairs))
        # Answers that are no repetition.
        n_own = np.zeros((system + 1, k, k))
        system_right = 0
        confusion = _confusion(right, errors)
        for p in range(len(counts)):
            answers = patterns[p]
            total = 0.0
            for z in range(k):
                alone = base_rates[z]
                for j in range(system + 1):
                    if answers[j] >= 0:
                        alone *= confusion[j, z, answers[j]]
                for m in range(len(pairs)):
                    chance = share[m] * alone
                    if _repeats(answers, pairs[m]):
                        repeated = answers[pairs[m, 1]]
                        if answers[pairs[m, 0]] == repeated:
                            chance /= confusion[pairs[m, 0], z, repeated]
                        else:
                            chance = 0.0
                    total += chance
                    cumulative[z, m] = total
            for _ in range(counts[p]):
                chosen = np.searchsorted(cumulative.ravel(), rng.random() * total, side="right")
                z, m = divmod(min(chosen, cumulative.size - 1), len(pairs))
                n_truths[z] += 1
                n_pairs[m] += 1
                system_right += answers[system] == z
                repeater = pairs[m, 0] if _repeats(answers, pairs[m]) else -1
                for j in range(system + 1):
                    if answers[j] >= 0 and j != repeater:
                        n_own[j, z, answers[j]] += 1
        base_rates = _dirichlet(rng, n_truths + 1)
        share = _dirichlet(rng, n_pairs + prior)
        if preferences:
            errors[0] = _draw_errors(rng, n_own[:system].sum(axis=0))
            errors[1] = _draw_errors(rng, n_own[system])
        n_right, n_wrong = np.zeros(system + 1), np.zeros(system + 1)
        for j in range(system + 1):
            n_right[j] = np.trace(n_own[j])
            n_wrong[j] = n_own[j].sum() - n_right[j]
        for _ in range(N_UPDATES):
            for c in range(n_coins):
                shared = np.append(coin == c, False)
                tally = (n_right[shared].sum(), n_wrong[shared].sum())
                log_odds[c] = _move(rng, log_odds[c], tally, k, mean, spread)
            if n_coins > 1:
                mean, spread = _pool(rng, log_odds, mean, spread)
        right[:system] = _right(log_odds, k)[coin]
        right[system] = rng.beta(1 + n_right[system], 1 + n_wrong[system])
        if sweep >= TUNE:
            kept = sweep - TUNE
            accuracy = right[system]
            for m in range(1, len(pairs)):
                if pairs[m, 0] == system:
                    accuracy += share[m] * (right[pairs[m, 1]] - right[system])
            found[0, kept], found[1, kept] = accuracy, system_right / counts.sum()
            found[2, kept] = 1 - share[0]
    return found[0], found[1], found[2]


@numba.njit(cache=True)
def _repeats(answers: Integers, pair: Integers) -> bool:
    return pair[0] >= 0 and answers[pair[0]] >= 0 and answers[pair[1]] >= 0


@numba.njit(cache=True)
def _confusion(right: Floats, errors: Floats) -> Floats:
    k = errors.shape[1]
    confusion = np.empty((len(right), k, k))
    for j in range(len(right)):
        of = errors[int(j == len(right) - 1)]
        confusion[j] = (1 - right[j]) * of
        for z in range(k):
            confusion[j, z, z] = right[j]
    return confusion


@numba.njit(cache=True)
def _right(log_odds: Any, k: int) -> Any:
    """Give how often raters are right who know the category, or guess it."""
    knows = 1 / (1 + np.exp(-log_odds))
    return knows + (1 - knows) / k


@numba.njit(cache=True)
def _move(
    rng: Any, x: float, tally: tuple[float, float], k: int, mean: float, spread: float
) -> float:
    """Move the log odds that a rater knows by a Metropolis step."""
    proposed = x + STEP * rng.standard_normal()
    gain = tally[0] * np.log(_right(proposed, k) / _right(x, k))
    gain += tally[1] * np.log((1 - _right(proposed, k)) / (1 - _right(x, k)))
    gain += (((x - mean) / spread) ** 2 - ((proposed - mean) / spread) ** 2) / 2
    return proposed if np.log(1 - rng.random()) < gain else x


@numba.njit(cache=True)
def _pool(rng: Any, log_odds: Floats, mean: float, spread: float) -> tuple[float, float]:
    """Draw the mean of the log odds, and move their spread by a Metropolis step."""
    precision = len(log_odds) / spread**2 + 1 / MEAN_SD**2
    mean = log_odds.sum() / spread**2 / precision + rng.standard_normal() / np.sqrt(precision)
    squares = ((log_odds - mean) ** 2).sum()
    proposed = spread * np.exp(rng.standard_normal())
    gain = (squares / spread**2 - squares / proposed**2) / 2
    gain += (1 - len(log_odds)) * np.log(proposed / spread)
    gain += (spread**2 - proposed**2) / SPREAD_SD**2 / 2
    return mean, (proposed if np.log(1 - rng.random()) < gain else spread)


@numba.njit(cache=True)
def _draw_errors(rng: Any, n_answers: Floats) -> Floats:
    k = len(n_answers)
    drawn = np.zeros((k, k))
    for z in range(k):
        for answer in range(k):
            if answer != z:
                drawn[z, answer] = rng.standard_gamma(n_answers[z, answer] + PREFERENCE)
        drawn[z] /= drawn[z].sum()
    return drawn


@numba.njit(cache=True)
def _dirichlet(rng: Any, concentration: Floats) -> Floats:
    drawn = np.empty(len(concentration))
    for place in range(len(concentration)):
        drawn[place] = rng.standard_gamma(concentration[place])
    return drawn / drawn.sum()
