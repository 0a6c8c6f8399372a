r"""Bounds of the system's accuracy if mistakes correlate by no more than so much: no model at all.

Ratings and answers are known, the true categories are not. Whatever they are, they make some
proportion :math:`e` of the ratings wrong, both ratings of a proportion :math:`b` of pairs, the
system on :math:`s` of the items, and system and rater together with the proportion :math:`c`. These
are linear in the unknown: the probability of each true category given what raters and system said.
It is assumed that

- ratings are more often right than wrong, :math:`e \le 1/2`;
- the mistakes of two raters correlate by no more than :math:`\rho`, in either direction:
  :math:`|b - e^2| \le \rho\, e (1 - e)`;
- those of the system and a rater by no more than :math:`\sigma`:
  :math:`|c - e s| \le \sigma \sqrt{e (1 - e)\, s (1 - s)}`.

For a given :math:`e` the second is linear, and the third convex: :math:`s` and
:math:`\sqrt{s (1 - s)}` are a point on a circle, whose tangents take its place. The least and the
greatest :math:`s` are then linear programs, and the bounds are the least and the greatest over
:math:`e`.

They are *sharp* for raters who are exchangeable, with any number of categories: each accuracy at a
bound belongs to true categories that agree with everything that was seen. Tangents and the grid of
:math:`e` make them wrong by about .001; by up to .01 where raters may be guessing.

Raters who can be told apart are compared with one rate of mistakes for all, so that bounds may be
too wide. If no two raters' mistakes correlate by more than :math:`\rho`, given their own rates,
then :math:`b \le e^2 + \rho\, e (1 - e)`. But unequal rates make the correlation lower, and below
:math:`-\rho` if they differ much and :math:`\rho` is small: take a greater one.

With two categories :math:`b = e - d/2`, where :math:`d` is how often two raters disagree, so that
the second assumption is :math:`(1 - \rho)\, e (1 - e) \le d/2 \le (1 + \rho)\, e (1 - e)`: at
:math:`\rho = 0` it says what :math:`e` is, and :math:`\sigma = 0` then what the accuracy is. With
more categories two raters may also be wrong and differ. Agreement then shows less, and bounds are
wider.
"""

from dataclasses import dataclass, replace

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.checks import check_level, check_probability
from lehner.core.estimate import number
from lehner.core.number_format import decimal
from lehner.core.seeds import Seed
from lehner.data.ratings import Ratings
from lehner.dependence.mistakes import Mistakes, possible_errors, tabulate_mistakes

TANGENTS = 40
TRIED = 20
NEAR = 8
ROUNDS = 3
PENALTY = 1000.0
FEASIBLE = 1e-6
MOST_DELETED = 20
ANY = 1.0


@dataclass(frozen=True, kw_only=True)
class AccuracyBounds:
    """The least and the greatest accuracy that agree with the ratings and a cap on correlations.

    Parameters
    ----------
    raters, system : float
        The greatest correlation between the mistakes of two raters, and of system and rater.
    lower, upper : float or None
        Bounds of the accuracy on the items that were counted. None if no true categories agree with
        the ratings: mistakes correlate more, or ratings are more often wrong than right.
    expected_lower, expected_upper : float or None
        Bounds of the expected accuracy: the items are a sample, from which the bounds are
        estimated. None as above, or without an interval.
    level : float or None
        Probability, at least, with which the expected accuracy is between these if the cap holds.
    n_items : int
        Number of items with two ratings or more and an answer of the system.
    """

    raters: float
    system: float
    lower: float | None
    upper: float | None
    expected_lower: float | None
    expected_upper: float | None
    level: float | None
    n_items: int

    def __str__(self) -> str:
        if self.lower is None:
            return "no accuracy agrees with the ratings"
        return f"{decimal(self.lower)} to {decimal(self.upper)}"


def accuracy_bounds(
    ratings: Ratings,
    raters: float = 0.25,
    system: float = ANY,
    *,
    level: float | None = 0.9,
    seed: Seed = 1,
) -> AccuracyBounds:
    """Bound the accuracy by how much mistakes may correlate, without a model of raters or items.

    Parameters
    ----------
    ratings : Ratings
        With a system. Known truths are not used, and each rating counts as one of another rater.
    raters : float
        The greatest correlation between the mistakes of two raters, 0 to 1, in either direction.
    system : float
        The same for the system and a rater; by default any.
    level : float, optional
        Probability of the bounds of the expected accuracy. None, to leave them out, is faster.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the groups of items, or of clusters, by which the sampling error is computed, if
        there are more than 20 kinds of items, or clusters.

    Returns
    -------
    AccuracyBounds
        Which contain the accuracy if the ratings are more often right than wrong and mistakes
        correlate no more than this.

    Raises
    ------
    InputError
        If no item has two ratings and an answer of the system, or an argument is not as above.

    See Also
    --------
    mistake_correlations : How much mistakes correlate where truths are known.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.simulate(lehner.Scenario(n_categories=2, n_items=300), seed=1)
    >>> print(lehner.accuracy_bounds(ratings, 0, 0, level=None))
    0.978 to 0.978
    >>> print(lehner.accuracy_bounds(ratings, 0.1, 0.1, level=None))
    0.643 to 1.000
    """
    raters = check_probability("raters", raters)
    system = check_probability("system", system)
    mistakes = tabulate_mistakes(ratings)
    ends = bounds_of(mistakes, raters, system)
    expected = np.full(2, np.nan)
    if level is not None and mistakes.counts.sum() > 1:
        from scipy.special import ndtri

        more = ndtri((1 + check_level(level)) / 2) * _standard_errors(
            mistakes, raters, system, seed
        )
        expected = np.clip(ends + more * [-1, 1], 0, 1)
    return AccuracyBounds(
        raters=raters,
        system=system,
        lower=number(ends[0]),
        upper=number(ends[1]),
        expected_lower=number(expected[0]),
        expected_upper=number(expected[1]),
        level=level,
        n_items=int(mistakes.counts.sum()),
    )


def bounds_of(mistakes: Mistakes, raters: float, system: float) -> Floats:
    """Least and greatest accuracy; NaN if none is possible."""
    possible = possible_errors(mistakes, raters, TRIED)
    if np.isnan(possible).any():
        return np.array([np.nan, np.nan])
    return np.array([1 - _most_wrong(mistakes, sign, possible, raters, system) for sign in (1, -1)])


def _most_wrong(
    mistakes: Mistakes, sign: int, tried: Floats, raters: float, system: float
) -> float:
    """Greatest proportion of items that the system gets wrong, or with sign -1 the least."""
    best = np.nan
    for _ in range(ROUNDS):
        found = _extremes(mistakes, sign, tried, raters, system)
        if np.isnan(found).all():
            break
        place = int(np.nanargmax(sign * found))
        best = float(found[place])
        around = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
        tried = np.sort(np.append(np.linspace(*around, NEAR), tried[place]))
    return best


def _caps(error: Floats, raters: float, system: float) -> tuple[Floats, Floats]:
    """Rows and limits of the inequalities of :math:`b`, :math:`s` and :math:`c`, by the rate."""
    variance = error * (1 - error)
    rows = [np.stack([np.full_like(error, one), 0 * error, 0 * error]) for one in (1.0, -1.0)]
    limits = [error**2 + raters * variance, raters * variance - error**2]
    if system < ANY:
        scale = system * np.sqrt(variance)
        for sign in (1, -1):
            for angle in (np.arange(TANGENTS) + 0.5) * np.pi / TANGENTS:
                shared = sign * np.sin(angle)
                across = scale * np.cos(angle)
                rows.append(np.stack([0 * error, across - shared * error, 0 * error + shared]))
                limits.append(scale * (1 + np.cos(angle)) / 2)
    return np.stack(rows).transpose(2, 0, 1), np.stack(limits, axis=1)


def _extremes(mistakes: Mistakes, sign: int, error: Floats, raters: float, system: float) -> Floats:
    """Extreme proportion that the system gets wrong, by rates of mistakes; NaN if impossible.

    All are solved as one program, which consists of blocks. In each the unknown are the
    probabilities of the options, what they add up to (:math:`b`, :math:`s` and :math:`c`), and by
    how much the limits are exceeded, which costs so much that it is nothing where it can be.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, csr_array

    rows, limits = _caps(error, raters, system)
    (n_kinds, n_options), n = (len(mistakes.counts), len(mistakes.kind)), len(error)
    sums = np.array([mistakes.both, mistakes.system, mistakes.joint])
    equal = np.zeros((n_kinds + 1 + len(sums), n_options + len(sums) + 1))
    equal[mistakes.kind, np.arange(n_options)] = 1.0
    equal[n_kinds, :n_options] = mistakes.rater
    equal[n_kinds + 1 :, :n_options] = sums
    equal[n_kinds + 1 :, n_options:-1] = -np.eye(len(sums))
    left = np.pad(rows, [(0, 0), (0, 0), (n_options, 1)])
    left[..., -1] = -1.0
    counts = np.tile(mistakes.proportions, (n, 1))
    cost = np.zeros(equal.shape[1])
    cost[n_options + 1], cost[-1] = -sign, PENALTY
    solved = linprog(
        np.tile(cost, n),
        A_ub=block_diag([csr_array(block) for block in left]),
        b_ub=limits.ravel(),
        A_eq=block_diag([csr_array(equal)] * n),
        b_eq=np.column_stack([counts, error, np.zeros((n, len(sums)))]).ravel(),
        method="highs",
        # Without it, as many programs take two thirds of the time.
        options={"presolve": False},
    )
    found = solved.x.reshape(n, -1)
    return np.where(found[:, -1] < FEASIBLE, found[:, :n_options] @ mistakes.system, np.nan)


def _standard_errors(mistakes: Mistakes, raters: float, system: float, seed: Seed) -> Floats:
    """Standard errors of both bounds, by the jackknife: items are left out, alike ones at once.

    Clusters are left out as a whole.
    """
    counts = mistakes.counts
    n_kinds = len(counts)
    rng = np.random.default_rng(seed)
    if mistakes.of_clusters is not None:
        clusters = rng.permutation(mistakes.of_clusters.shape[0])
        groups = np.array_split(clusters, min(MOST_DELETED, len(clusters)))
        deleted = np.array([mistakes.of_clusters[group].sum(axis=0) for group in groups])
        times = np.ones(len(groups))
    elif n_kinds <= MOST_DELETED:
        deleted, times = np.eye(n_kinds), counts
    else:
        items = rng.permutation(np.repeat(np.arange(n_kinds), counts.astype(int)))
        groups = np.array_split(items, MOST_DELETED)
        deleted = np.array([np.bincount(group, minlength=n_kinds) for group in groups])
        times = np.ones(len(groups))
    left = [replace(mistakes, counts=counts - out) for out in deleted]
    values = np.array([bounds_of(one, raters, system) for one in left])
    mean = times @ values / times.sum()
    return np.sqrt((1 - 1 / times.sum()) * (times @ (values - mean) ** 2))
