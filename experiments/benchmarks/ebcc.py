"""Enhanced Bayesian classifier combination, sampled by Gibbs.

Tried and dropped, see `shared_mistakes.md`.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from experiments.benchmarks.copying_raters import Draws, dense_patterns
from lehner import Ratings

TUNE, DRAWS = 200, 1000
# As in the paper's experiments: of a diagonal entry, another entry, a subtype.
DIAGONAL, OTHER, SUBTYPE = 4.0, 1.0, 0.1

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]


def sample_ebcc(ratings: Ratings, n_subtypes: int, rng: np.random.Generator) -> Draws:
    r"""Sample the posterior of raters who are independent given a subtype of the true category.

    .. math::
        P(y) = \sum_k \pi_k \sum_{m=1}^M \rho_{km} \prod_j v_{jkm y_j}

    The system is one of the raters j. With one subtype it is the Bayesian Dawid and Skene model.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    n_subtypes : int
        M.
    rng : numpy.random.Generator

    Returns
    -------
    Draws

    References
    ----------
    Li, Rubinstein & Cohn (2019), Exploiting worker correlation for label aggregation in
    crowdsourcing.
    """
    patterns, counts = dense_patterns(ratings)
    accuracy, in_sample = _sweeps(rng, patterns, counts, ratings.n_categories, n_subtypes)
    return Draws(accuracy=accuracy, in_sample=in_sample, copied=np.zeros(DRAWS))


@numba.njit(cache=True)
def _sweeps(
    rng: Any, patterns: Integers, counts: Integers, k: int, n_subtypes: int
) -> tuple[Floats, Floats]:
    n_raters = patterns.shape[1]
    weights, tables = np.full((k, n_subtypes), 1.0), np.empty((n_raters, k, n_subtypes, k))
    for place in np.ndindex(tables.shape):
        # Near .7 on the diagonal, and not quite the same in any two subtypes.
        mean = 7.0 if place[1] == place[3] else 3.0 / (k - 1)
        tables[place] = rng.standard_gamma(5 * mean)
    for place in np.ndindex(tables.shape[:3]):
        tables[place] /= tables[place].sum()
    cumulative = np.empty(k * n_subtypes)
    found = np.empty((2, DRAWS))
    for sweep in range(TUNE + DRAWS):
        n_items = np.zeros((k, n_subtypes))
        n_answers = np.zeros_like(tables)
        system_right = 0
        for p in range(len(counts)):
            answers = patterns[p]
            total = 0.0
            for z in range(k):
                for m in range(n_subtypes):
                    chance = weights[z, m]
                    for j in range(n_raters):
                        if answers[j] >= 0:
                            chance *= tables[j, z, m, answers[j]]
                    total += chance
                    cumulative[z * n_subtypes + m] = total
            for _ in range(counts[p]):
                chosen = np.searchsorted(cumulative, rng.random() * total, side="right")
                z, m = divmod(min(chosen, cumulative.size - 1), n_subtypes)
                n_items[z, m] += 1
                if answers[-1] == z:
                    system_right += 1
                for j in range(n_raters):
                    if answers[j] >= 0:
                        n_answers[j, z, m, answers[j]] += 1
        accuracy = 0.0
        total = 0.0
        for z in range(k):
            # The category's base rate, and the subtypes' shares of it.
            of_category = rng.standard_gamma(n_items[z].sum() + 1)
            total += of_category
            for m in range(n_subtypes):
                weights[z, m] = rng.standard_gamma(n_items[z, m] + SUBTYPE)
                for j in range(n_raters):
                    for answer in range(k):
                        prior = DIAGONAL if answer == z else OTHER
                        tables[j, z, m, answer] = rng.standard_gamma(
                            n_answers[j, z, m, answer] + prior
                        )
                    tables[j, z, m] /= tables[j, z, m].sum()
            weights[z] *= of_category / weights[z].sum()
            for m in range(n_subtypes):
                accuracy += weights[z, m] * tables[-1, z, m, z]
        if sweep >= TUNE:
            found[0, sweep - TUNE] = accuracy / total
            found[1, sweep - TUNE] = system_right / n_items.sum()
    return found[0], found[1]
