"""The probability of each pattern of ratings, or of votes, with each answer of the system.

Given the level of difficulty and the category as which an item is perceived (together, the latent
state), raters and system answer independently, except for raters who copy.

Raters are added one by one. The work is proportional to the number of possible votes, which stays
in the thousands when there are far too many patterns of ratings.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations, count
from math import comb

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.errors import InputError
from lehner.data.votes import VoteTable, tabulate_votes
from lehner.simulation.parameters import DrawnParameters, perception
from lehner.simulation.scenario import Scenario

MOST_PATTERNS = 10_000_000


def n_patterns(scenario: Scenario) -> int:
    """Count the patterns of ratings and system answer."""
    symbols = scenario.n_categories + (scenario.missing > 0)
    return int(symbols) ** scenario.n_raters * scenario.n_categories


def has_few_patterns(scenario: Scenario) -> bool:
    """Whether the patterns are few enough to enumerate."""
    return n_patterns(scenario) <= MOST_PATTERNS


def require_few_patterns(scenario: Scenario) -> None:
    """Raise an InputError if there are too many patterns to enumerate."""
    if not has_few_patterns(scenario):
        raise InputError(
            f"{scenario.n_raters} raters and {scenario.n_categories} categories have "
            f"{n_patterns(scenario):,} patterns, more than {MOST_PATTERNS:,}",
            "take fewer raters or categories, or simulate",
        )


def pattern_probabilities(
    scenario: Scenario, parameters: DrawnParameters, *, right: bool = False
) -> Floats:
    """Joint probability of each pattern of ratings and each system answer.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    right : bool
        Whether only right answers are included.

    Returns
    -------
    ndarray, shape (n_samples, n_categories, n_rating_patterns)
        For each system answer, the patterns of ratings in lexical order; a missing rating comes
        last.
    """
    return _joint(scenario, parameters, _next_patterns, right=right)


def _latent_probabilities(
    scenario: Scenario, parameters: DrawnParameters, *, right: bool
) -> Floats:
    """Each latent state's probability.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    right : bool
        Whether to give, for each system answer, the probability that it is also the true category.

    Returns
    -------
    ndarray, shape (n_samples, 1 or n_categories, n_levels * n_categories)
        The second dimension has the answers if `right` is set.
    """
    seen = perception(scenario)
    if right:
        perceived = parameters.base_rates[:, :, None] * seen
    else:
        perceived = (parameters.base_rates @ seen)[:, None]
    level = scenario.level_probabilities[:, None]
    joint = level * perceived[:, :, None]
    return joint.reshape(*perceived.shape[:2], -1)


MOST_VOTE_CELLS = 10_000_000


def n_vote_cells(n_categories: int, n_raters: int, *, missing: bool = False) -> int:
    """Count the combinations of votes and system answer.

    Parameters
    ----------
    n_categories, n_raters : int
    missing : bool
        Whether ratings may be missing.

    Returns
    -------
    int

    Examples
    --------
    >>> n_vote_cells(5, 3)
    175
    """
    symbols = n_categories + missing
    return comb(n_raters + symbols - 1, symbols - 1) * n_categories


def n_cells(scenario: Scenario) -> int:
    """Count the combinations of votes and system answer that a scenario can give."""
    return n_vote_cells(scenario.n_categories, scenario.n_raters, missing=scenario.missing > 0)


def require_few_votes(scenario: Scenario, most: int = MOST_VOTE_CELLS) -> None:
    """Raise an InputError if there are too many votes to enumerate; it names the possible numbers.

    Parameters
    ----------
    scenario : Scenario
    most : int
        Greatest number of combinations of votes and system answer.
    """
    cells = n_cells(scenario)
    if cells > most:
        n_raters, k = scenario.n_raters, scenario.n_categories
        missing = scenario.missing > 0
        raters = _last(lambda n: n_vote_cells(k, n, missing=missing) <= most)
        categories = _last(lambda n: n_vote_cells(n, n_raters, missing=missing) <= most)
        possible = [f"{raters} raters with {k} categories"] if raters >= 2 else []
        possible += [f"{categories} categories with {n_raters} raters"] if categories >= 2 else []
        raise InputError(
            f"the votes of {n_raters} raters in {k} categories and the system's answer can "
            f"combine in {cells:,} ways, more than {most:,}",
            f"take at most {', or '.join(possible) or 'a few raters and categories'}",
        )


def _last(fits: Callable[[int], bool]) -> int:
    return next(n for n in count(1) if not fits(n + 1))


@lru_cache(maxsize=64)
def vote_table(n_raters: int, n_categories: int, *, missing: bool) -> VoteTable:
    """Enumerate the votes that raters can give, in lexical order.

    Parameters
    ----------
    n_raters, n_categories : int
    missing : bool
        Whether ratings may be missing.

    Returns
    -------
    VoteTable

    Examples
    --------
    >>> vote_table(2, 2, missing=False).votes.tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    return tabulate_votes(_compositions(n_raters, n_categories + missing)[:, :n_categories])


def vote_probabilities(
    scenario: Scenario, parameters: DrawnParameters, *, right: bool = False
) -> Floats:
    """Joint probability of each combination of votes and system answer.

    Parameters
    ----------
    scenario : Scenario
    parameters : DrawnParameters
        Of n_samples.
    right : bool
        Whether only right answers are included.

    Returns
    -------
    ndarray, shape (n_samples, n_categories, n_votes)
        For each system answer, the votes in the order of `vote_table`.
    """
    return _joint(scenario, parameters, _next_votes, right=right)


type Places = Callable[[int, int], Integers]
"""From numbers of raters and symbols: the place of each outcome when one more rater has rated."""


def _joint(
    scenario: Scenario, parameters: DrawnParameters, places: Places, *, right: bool
) -> Floats:
    """Probability of each system answer and outcome of the raters, added one by one."""
    confusion = parameters.confusion
    if confusion.strides[0] == 0:
        # The parameters are not random, so that all samples share one.
        confusion = confusion[:1]
    n, n_levels, n_answering, k, _ = confusion.shape
    # Raters and responses are the first axes, so that samples and latent states are contiguous in
    # memory.
    rows = confusion.transpose(2, 4, 0, 1, 3).reshape(n_answering, k, n, n_levels * k)
    given_state = _outcomes_given_state(scenario, rows[:-1], places)
    latent = _latent_probabilities(scenario, parameters, right=right)
    answers = latent.swapaxes(1, 2) * rows[-1].transpose(1, 2, 0)
    return (given_state.swapaxes(0, 1) @ answers).swapaxes(1, 2)


def _outcomes_given_state(scenario: Scenario, rows: Floats, places: Places) -> Floats:
    """Each outcome's probability given the latent state, (n_outcomes, n_samples, n_states)."""
    if not any(scenario.copying):
        return _add_raters(scenario, rows, places)
    copying = np.array(scenario.copying)[:, None, None, None]
    total = np.zeros(())
    for first in range(scenario.n_categories):
        copied = np.zeros((scenario.n_categories, 1, 1))
        copied[first] = 1
        given_first = (1 - copying) * rows + copying * copied
        given_first[0] = rows[0] * copied
        total = total + _add_raters(scenario, given_first, places)
    return np.asarray(total)


def _add_raters(scenario: Scenario, rows: Floats, places: Places) -> Floats:
    n_raters, _, n, n_states = rows.shape
    if scenario.missing > 0:
        missing = scenario.missing * rows.sum(axis=1, keepdims=True)
        rows = np.concatenate([(1 - scenario.missing) * rows, missing], axis=1)
    given_state = np.ones((1, n, n_states))
    for rater in range(n_raters):
        after = places(rater, rows.shape[1])
        joined = np.zeros((after.max() + 1, n, n_states))
        for symbol, probability in enumerate(rows[rater]):
            joined[after[:, symbol]] += given_state * probability
        given_state = joined
    return given_state


def _next_patterns(n_raters: int, symbols: int) -> Integers:
    """Pattern with one more rater, (n_patterns, symbols), for each possible rating."""
    return np.arange(symbols ** (n_raters + 1)).reshape(-1, symbols)


@lru_cache(maxsize=256)
def _next_votes(n_raters: int, symbols: int) -> Integers:
    """Votes with one more rater, (n_votes, symbols), for each possible rating."""
    # Python integers are used, because with many categories the numbers exceed 64 bits.
    place = np.array([(n_raters + 2) ** i for i in reversed(range(symbols))], dtype=object)
    before = _compositions(n_raters, symbols) @ place
    keys = _compositions(n_raters + 1, symbols) @ place
    return np.searchsorted(keys, before[:, None] + place)


@lru_cache(maxsize=256)
def _compositions(total: int, parts: int) -> Integers:
    """Enumerate the ways to write a total as a sum of parts, in lexical order."""
    bars = np.array(list(combinations(range(total + parts - 1), parts - 1)), dtype=np.int64)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, total + parts - 1)))
    return np.diff(edges, axis=1) - 1
