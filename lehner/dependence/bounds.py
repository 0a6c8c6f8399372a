r"""Bounds of the system's accuracy if errors correlate by no more than so much, with no model.

Draw an item, and two of its raters. Of the answers that may be wrong, four numbers are kept: the
probability that a rater is wrong, that both are, that the system is, and that the system and a
rater are. Correlations of errors are made of these.

Ratings and answers are known, the true categories are not. Whatever they are, they make some
proportion :math:`e` of the ratings wrong, both ratings of a proportion :math:`b` of pairs, the
system on :math:`s` of the items, and system and rater together with the proportion :math:`c`. These
are linear in the unknown: the probability of each true category given what raters and system said.
It is assumed that

- ratings are more often right than wrong, :math:`e \le 1/2`;
- the errors of two raters correlate by no more than :math:`\rho`, in either direction:
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

Raters who can be told apart are compared with one rate of errors for all, so that bounds may be
too wide. If no two raters' errors correlate by more than :math:`\rho`, given their own rates,
then :math:`b \le e^2 + \rho\, e (1 - e)`. But unequal rates make the correlation lower, and below
:math:`-\rho` if they differ much and :math:`\rho` is small: take a greater one.

With two categories :math:`b = e - d/2`, where :math:`d` is how often two raters disagree, so that
the second assumption is :math:`(1 - \rho)\, e (1 - e) \le d/2 \le (1 + \rho)\, e (1 - e)`: at
:math:`\rho = 0` it says what :math:`e` is, and :math:`\sigma = 0` then what the accuracy is. With
more categories two raters may also be wrong and differ. Agreement then shows less, and bounds are
wider.

The least accuracy under caps on the correlations, as in `lehner.dependence.bounds`, but in
closed form, and for correlations that are no greater, however negative. It takes no time. If there
are two categories it is sharp, and else at most as high as a linear program finds, so that it
holds. It also holds for raters whose rates of errors differ: see there.

For any numbers :math:`\mu` the sum :math:`c - \mu_1 e - \mu_2 s + \mu_3 b` is at least what it is
if each item has the true category that makes it least, :math:`h(\mu)`; with the cap of the raters

.. math:: c \ge \mu_1 e + \mu_2 s - \mu_3 (e^2 + \rho\, e (1 - e)) + h(\mu).

The cap of the system is an upper limit of :math:`c`, so that the greatest :math:`s` at each
:math:`e` is a root of a quadratic equation; the smallest such limit counts. With two categories
:math:`\mu = (1/2, 1/2, 0)` is enough: :math:`h` is then half of how often a rater and the system
differ. In the same way :math:`b - e` has a least value, which limits :math:`e`. And at so many
errors of raters the system is wrong on most items, or right, if these are first the items on
which that costs the fewest errors.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats, Integers, Seed
from lehner.core.errors import InputError, check_level, check_probability
from lehner.core.estimate import Row
from lehner.core.lazy import optimize, sparse, special
from lehner.core.resampling import show_if_long
from lehner.core.results import Results, tabulate
from lehner.core.text import pluralise, to_decimal
from lehner.data.counts import find_unique_rows
from lehner.data.estimable import require_estimable
from lehner.data.ratings import Ratings

MOST_WRONG = 0.5
MOST_VARIANCE = MOST_WRONG * (1 - MOST_WRONG)
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Mistakes:
    """Items that nothing distinguishes but which category is which, and their possible truths.

    Each kind of item has some options: the true category may be one that a certain number of raters
    named, and the system or not. Categories for which these are the same are one option.

    Parameters
    ----------
    counts : ndarray, shape (n_kinds,)
        Number of items.
    kind : ndarray of int, shape (n_options,)
        The kind of item that an option is of.
    rater, both, system, joint : ndarray, shape (n_options,)
        Proportion of the raters who are then wrong, and of the pairs of raters in which both are;
        whether the system is; and the proportion of the raters who are wrong with the system.
    n_categories : int
    of_clusters : sparse.csr_array, shape (n_clusters, n_kinds), optional
        Number of items of each kind in each cluster; None if items are independent.
    """

    counts: Floats
    kind: Integers
    rater: Floats
    both: Floats
    system: Floats
    joint: Floats
    n_categories: int
    of_clusters: "sparse.csr_array | None" = None

    @property
    def proportions(self) -> Floats:
        """Proportions of the items that are of each kind."""
        return self.counts / self.counts.sum()

    def find_least(self, values: Floats) -> Floats:
        """Compute the least value of the options of each kind."""
        least = np.full(len(self.counts), np.inf)
        np.minimum.at(least, self.kind, values)
        return least


def tabulate_mistakes(ratings: Ratings) -> Mistakes:
    """Count the items that have two ratings or more and an answer of the system.

    Parameters
    ----------
    ratings : Ratings
        With a system. Each rating counts as one of another rater.

    Returns
    -------
    Mistakes

    Raises
    ------
    InputError
        If there is no such item, if the accuracy cannot be estimated by any method, or if raters
        and system give the same answer to each item, so that nothing shows how errors correlate.

    Examples
    --------
    >>> ratings = Ratings([[0, 0, 1], [1, 1, 0]], ["no", "yes"], system=[0, 1])
    >>> mistakes = tabulate_mistakes(ratings)
    >>> mistakes.counts.tolist(), mistakes.rater.round(2).tolist(), mistakes.system.tolist()
    ([2.0], [0.67, 0.33], [1.0, 0.0])
    """
    votes, answers, items = _select_items(ratings)
    require_estimable(ratings)
    if (votes[np.arange(len(items)), answers] == votes.sum(axis=1)).all():
        problem = "raters and system give the same answer to each of "
        problem += f"{pluralise(len(items), 'item')}, so that nothing shows how errors correlate"
        remedy = "give more items, or estimate the accuracy with gold labels of some"
        raise InputError(problem, remedy)
    # A number for each option, the same for categories that are alike; -1 for one seen before.
    options = np.sort(2 * votes + (np.arange(ratings.n_categories) == answers[:, None]), axis=1)
    options[:, 1:][options[:, 1:] == options[:, :-1]] = -1
    keys = np.column_stack([votes.sum(axis=1), np.sort(options, axis=1)])
    kinds, of_item = find_unique_rows(keys)
    kind, column = np.nonzero(kinds[:, 1:] >= 0)
    option = kinds[kind, column + 1]
    rater, both = _count_wrong(option // 2, kinds[kind, 0])
    system = np.asarray(1.0 - option % 2, dtype=float)
    weights, of_clusters = ratings.weights[items].astype(float), None
    if ratings.cluster is not None:
        cluster = np.unique(ratings.cluster[items], return_inverse=True)[1]
        of_clusters = sparse.coo_array((weights, (cluster, of_item))).tocsr()
    return Mistakes(
        counts=np.bincount(of_item, weights),
        kind=kind,
        rater=rater,
        both=both,
        system=system,
        joint=system * rater,
        n_categories=ratings.n_categories,
        of_clusters=of_clusters,
    )


def error_correlation(ratings: Ratings) -> tuple[float, float]:
    """Correlate the errors on items with gold labels: of two raters, and of system and raters.

    All raters are compared with one rate of errors. Raters whose rates differ seem less
    correlated than each two of them are.

    Parameters
    ----------
    ratings : Ratings
        With a system and gold labels.

    Returns
    -------
    raters, system : float
        Mean correlation between two raters of an item, and between a rater and the system; NaN
        where nobody errs.

    Raises
    ------
    InputError
        If no item with a gold label has two ratings and an answer of the system.

    Examples
    --------
    Two raters who err on one item together, and the system on another.

    >>> codes = [[0, 0], [0, 0], [1, 1], [0, 0]]
    >>> ratings = Ratings(codes, ["no", "yes"], system=[0, 0, 1, 1], truth=[0, 0, 1, 1])
    >>> raters, system = error_correlation(ratings)
    >>> round(raters, 2)
    1.0
    """
    if ratings.truth is None:
        raise InputError("there are no gold labels", "give ratings with the truth of some items")
    votes, answers, items = _select_items(ratings, ratings.truth >= 0)
    truth = ratings.truth[items]
    rater, both = _count_wrong(votes[np.arange(len(truth)), truth], votes.sum(axis=1))
    system = (answers != truth).astype(float)
    weights = ratings.weights[items] / ratings.weights[items].sum()
    e, e_system = weights @ rater, weights @ system
    variance, of_system = e * (1 - e), e_system * (1 - e_system)
    with np.errstate(invalid="ignore", divide="ignore"):
        raters = (weights @ both - e**2) / variance
        shared = (weights @ (system * rater) - e * e_system) / np.sqrt(variance * of_system)
    return float(raters), float(shared)


def _select_items(ratings: Ratings, among: "np.ndarray | bool" = True) -> tuple[Integers, ...]:
    """Select items that two rated and the system answered: votes, answers, and their numbers."""
    if ratings.system is None:
        raise InputError("there is no system", "name the system whose answers are evaluated")
    votes = ratings.count_votes()
    counted = (votes.sum(axis=1) >= 2) & (ratings.system >= 0) & (ratings.weights > 0) & among
    items = np.flatnonzero(counted)
    if not len(items):
        problem = "no item has two ratings and an answer of the system"
        raise InputError(problem, "give more ratings of each item")
    return votes[items], ratings.system[items], items


def _count_wrong(right: Integers, n_ratings: Integers) -> tuple[Floats, Floats]:
    """Compute the proportion of raters, and of pairs of raters, who are wrong."""
    wrong = n_ratings - right
    return wrong / n_ratings, wrong * (wrong - 1) / (n_ratings * (n_ratings - 1))


def list_error_rates(mistakes: Mistakes, cap: ArrayLike, steps: int) -> Floats:
    """List rates of errors of raters, up to a half, with which their correlation may keep a cap.

    How often only one of two raters is wrong is limited by how often they differ. The more errors
    there are beside these, the more do the errors correlate.

    Parameters
    ----------
    mistakes : Mistakes
    cap : array_like
        0 to 1.
    steps : int
        How many rates.

    Returns
    -------
    ndarray, shape (..., steps)
        For each cap, the closer to one another the fewer errors; NaN if none is possible.
    """
    cap = np.asarray(cap, dtype=float)[..., None]
    one_wrong = -(mistakes.proportions @ mistakes.find_least(mistakes.both - mistakes.rater))
    # The rate of errors, at most a half, that has this variance.
    variance = np.minimum(one_wrong / np.maximum(1 - cap, ROUNDING), MOST_VARIANCE)
    high = np.where(cap < 1, (1 - np.sqrt(1 - 4 * variance)) / 2, MOST_WRONG)
    low = np.full_like(high, mistakes.proportions @ mistakes.find_least(mistakes.rater))
    # Rounding may part two ends that are the same.
    low = np.where(low <= high + ROUNDING, low, np.nan)
    first, last = np.arcsin(np.sqrt([low, high]))
    rates: Floats = np.sin(first + (last - first) * np.linspace(0, 1, steps)) ** 2
    return rates


TANGENTS = 40
TRIED = 20
NEAR = 8
ROUNDS = 3
PENALTY = 1000.0
FEASIBLE = 1e-6
MOST_DELETED = 20
ANY = 1.0


@show_if_long()
def bound_accuracy(
    ratings: Ratings,
    raters: ArrayLike = 0.25,
    system: ArrayLike = ANY,
    *,
    level: float | None = 0.9,
    seed: Seed = 1,
) -> Results:
    """Bound the accuracy by how much errors may correlate, without a model of raters or items.

    Parameters
    ----------
    ratings : Ratings
        With a system. Gold labels are not used, and each rating counts as one of another rater.
    raters : array_like of float
        The greatest correlation between the errors of two raters, 0 to 1, in either direction; one
        or several such caps.
    system : array_like of float
        The same for the system and a rater, a cap for each of `raters`; by default any.
    level : float, optional
        Probability of the bounds of the expected accuracy. None, to leave them out, is faster.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Seed of the groups of items, or of clusters, by which the sampling error is computed, if
        there are more than 20 kinds of items, or clusters.

    Returns
    -------
    Results
        For each two caps (column `versus`) `system_accuracy_in_sample_bounds`, of the items that
        were counted, and `system_accuracy_bounds`, of the expected accuracy. They contain the
        accuracy if the ratings are more often right than wrong and errors correlate no more than
        this, the expected one with a probability of `level` at least. They are missing where no
        true categories agree with the ratings, and those of the expected accuracy also without a
        level, or if all items are alike.

    Raises
    ------
    InputError
        If no item has two ratings and an answer of the system, or an argument is not as above.

    See Also
    --------
    error_correlation : How much errors correlate on items with gold labels.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.simulate(lehner.Scenario(n_categories=2, n_items=300), seed=1)
    >>> results = lehner.bound_accuracy(ratings, [0, 0.1], [0, 0.1], level=None)
    >>> bounds = results.select(quantity="system_accuracy_in_sample_bounds")
    >>> bounds[["lower", "upper"]].round(3).to_numpy().tolist()
    [[0.978, 0.978], [0.643, 1.0]]
    """
    mistakes = tabulate_mistakes(ratings)
    rows: list[Row] = []
    for cap, cap_of_system in np.broadcast(np.atleast_1d(raters), system):
        check_probability("raters", cap), check_probability("system", cap_of_system)
        rows += _bound(mistakes, float(cap), float(cap_of_system), level, seed)
    return Results(ratings=ratings, table=tabulate(rows))


def _bound(
    mistakes: Mistakes, raters: float, system: float, level: float | None, seed: Seed
) -> list[Row]:
    """Make the rows of the bounds under two caps."""
    ends = find_bounds(mistakes, raters, system)
    expected = np.full(2, np.nan)
    # Items that are all alike do not show how much a sample of them may vary.
    if level is not None and len(mistakes.counts) > 1:
        error = _estimate_errors(mistakes, raters, system, seed)
        half = special.ndtri((1 + check_level(level)) / 2) * error
        expected = np.clip(ends + half * [-1, 1], 0, 1)
    caps = {"versus": name_caps(raters, system), "n_items": mistakes.counts.sum()}
    intervals = {
        "system_accuracy_in_sample_bounds": (*ends, None),
        "system_accuracy_bounds": (*expected, level),
    }
    return [
        {"quantity": name, "lower": lower, "upper": upper, "level": level} | caps
        for name, (lower, upper, level) in intervals.items()
    ]


def name_caps(raters: float, system: float) -> str:
    """Name two caps of the correlation of errors, as the column `versus` of results does."""
    return f"raters={raters:g}, system={system:g}"


def find_bounds(mistakes: Mistakes, raters: float, system: float) -> Floats:
    """Compute the least and greatest accuracy; NaN if none is possible."""
    possible = list_error_rates(mistakes, raters, TRIED)
    if np.isnan(possible).any():
        return np.array([np.nan, np.nan])
    return np.array(
        [1 - _find_most_wrong(mistakes, sign, possible, raters, system) for sign in (1, -1)]
    )


def _find_most_wrong(
    mistakes: Mistakes, sign: int, tried: Floats, raters: float, system: float
) -> float:
    """Find the greatest proportion of wrong answers of the system, or with sign -1 the least."""
    best = np.nan
    for _ in range(ROUNDS):
        extremes = _solve_extremes(mistakes, sign, tried, raters, system)
        if np.isnan(extremes).all():
            break
        index = int(np.nanargmax(sign * extremes))
        best = float(extremes[index])
        around = tried[max(index - 1, 0)], tried[min(index + 1, len(tried) - 1)]
        tried = np.sort(np.append(np.linspace(*around, NEAR), tried[index]))
    return best


def _make_caps(error: Floats, raters: float, system: float) -> tuple[Floats, Floats]:
    """Make the inequalities of :math:`b`, :math:`s` and :math:`c` by the rate: rows and limits."""
    variance = error * (1 - error)
    rows = [np.stack([np.full_like(error, sign), 0 * error, 0 * error]) for sign in (1.0, -1.0)]
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


def _solve_extremes(
    mistakes: Mistakes, sign: int, error: Floats, raters: float, system: float
) -> Floats:
    """Find the extreme proportion of wrong answers, by rates of errors; NaN if impossible.

    All are solved as one program, which consists of blocks. In each the unknown are the
    probabilities of the options, what they add up to (:math:`b`, :math:`s` and :math:`c`), and by
    how much the limits are exceeded, which costs so much that it is nothing where it can be.
    """
    rows, limits = _make_caps(error, raters, system)
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
    solved = optimize.linprog(
        np.tile(cost, n),
        A_ub=sparse.block_diag([sparse.csr_array(block) for block in left]),
        b_ub=limits.ravel(),
        A_eq=sparse.block_diag([sparse.csr_array(equal)] * n),
        b_eq=np.column_stack([counts, error, np.zeros((n, len(sums)))]).ravel(),
        method="highs",
        # Without it, as many programs take two thirds of the time.
        options={"presolve": False},
    )
    blocks = solved.x.reshape(n, -1)
    return np.where(blocks[:, -1] < FEASIBLE, blocks[:, :n_options] @ mistakes.system, np.nan)


def _estimate_errors(mistakes: Mistakes, raters: float, system: float, seed: Seed) -> Floats:
    """Estimate standard errors of both bounds by the jackknife; equal items are left out at once.

    Clusters are left out as a whole.
    """
    counts, rng = mistakes.counts, np.random.default_rng(seed)
    n_kinds = len(counts)
    if mistakes.of_clusters is not None:
        clusters = rng.permutation(mistakes.of_clusters.shape[0])
        groups = np.array_split(clusters, min(MOST_DELETED, len(clusters)))
        deleted = np.array([mistakes.of_clusters[group].sum(axis=0) for group in groups])
    elif n_kinds <= MOST_DELETED:
        deleted = np.eye(n_kinds)
    else:
        items = rng.permutation(np.repeat(np.arange(n_kinds), counts.astype(int)))
        groups = np.array_split(items, MOST_DELETED)
        deleted = np.array([np.bincount(group, minlength=n_kinds) for group in groups])
    alone = mistakes.of_clusters is None and n_kinds <= MOST_DELETED
    times = counts if alone else np.ones(len(deleted))
    left = [replace(mistakes, counts=counts - out) for out in deleted]
    values = np.array([find_bounds(left_out, raters, system) for left_out in left])
    mean = times @ values / times.sum()
    return np.sqrt((1 - 1 / times.sum()) * (times @ (values - mean) ** 2))


# Of the public crowds with truth, three ratings per item: made by version 0.2.0.
REAL_CROWDS = Path(__file__).with_name("real_crowds.csv")
STEPS = 200
GRID = (0, 1 / 3, 0.5, 2 / 3, 1)
# With two categories, and with more.
MULTIPLIERS = {False: [(0.5, 0.5, 0.0)], True: list(product(GRID, GRID, (0, 0.25, 0.5, 1)))}
CAPS = np.linspace(0, 1, 101)
STEP = 0.05


@cache
def read_real_crowds() -> "np.ndarray":
    """Read where the crowds lie that were measured by their truths.

    The systems are workers of the crowd who are about as accurate as their raters.

    Returns
    -------
    numpy structured array, with a row for each crowd
        `crowd`, its `family`, which shares items or a study, its `domain`, "crowd", "experts" or
        "language models"; means over `systems` of the correlations of two `raters` and of `system`
        and rater, and of the `accuracy`.

    Examples
    --------
    >>> sorted(set(read_real_crowds()["domain"].tolist()))
    ['crowd', 'experts', 'language models']
    """
    read = np.genfromtxt(REAL_CROWDS, delimiter=",", names=True, dtype=None, encoding="utf-8")
    return read[read["design"] == "like"]


@dataclass(frozen=True, kw_only=True)
class TippingPoint:
    """How much errors must correlate for the accuracy not to be above some number.

    `str` gives a sentence, and `list_rows` the rows of the table of results.

    Parameters
    ----------
    above : float
        The accuracy on the items that have two ratings and an answer of the system.
    correlation : float or None
        What the errors of two raters, or of system and rater, must correlate by more than. None
        if the accuracy is above the number however much they do.
    crowds_beyond, n_crowds : int
        Number of the public crowds in which one of the two correlates by more, and of all.
    """

    above: float
    correlation: float | None
    crowds_beyond: int
    n_crowds: int

    def __str__(self) -> str:
        above = to_decimal(self.above, 2)
        if self.above == 0:
            return (
                "any accuracy on these items is possible if errors correlate as they do in half "
                "of the public crowds"
            )
        if self.correlation == 0:
            return f"the accuracy on these items may be {above} or less even if no errors correlate"
        if self.correlation is None:
            return f"the accuracy on these items is above {above}, however much errors correlate"
        return (
            f"the accuracy on these items is above {above} unless errors of raters, or of system "
            f"and rater, correlate by more than {to_decimal(self.correlation, 2)}, as in "
            f"{self.crowds_beyond} of {self.n_crowds} public crowds"
        )

    def list_rows(self) -> list[Row]:
        """List its numbers as rows of the table of results."""
        crowds = {"estimate": self.crowds_beyond, "n_items": self.n_crowds}
        return [
            {"quantity": "system_accuracy_above", "estimate": self.above},
            {"quantity": "mistake_correlation_needed", "estimate": self.correlation},
            {"quantity": "crowds_beyond"} | crowds,
        ]


def find_tipping_point(ratings: Ratings, above: float | None = None) -> TippingPoint:
    """Find how much errors must correlate for the accuracy not to be above some number.

    No model is assumed, but that ratings are more often right than wrong.

    Parameters
    ----------
    ratings : Ratings
        With a system. Each rating counts as one of another rater.
    above : float, optional
        The accuracy, 0 to 1. By default the highest multiple of .05 that at least half of the real
        crowds do not leave in doubt.

    Returns
    -------
    TippingPoint

    Raises
    ------
    InputError
        If no item has two ratings and an answer of the system, or `above` is not from 0 to 1.

    Examples
    --------
    >>> import lehner
    >>> scenario = lehner.Scenario(
    ...     n_categories=2, n_items=300, initial_rater_accuracy=(0.9, 0.9, 0.9)
    ... )
    >>> needed = find_tipping_point(lehner.simulate(scenario, seed=1), above=0.8)
    >>> round(needed.correlation, 2), needed.n_crowds
    (0.44, 31)
    """
    mistakes = tabulate_mistakes(ratings)
    crowds = np.maximum(read_real_crowds()["raters"], read_real_crowds()["system"])
    median = np.median(crowds)
    # The least accuracy falls with the cap, so that few caps tell between which two it crosses.
    looked = np.union1d(np.arange(0, len(CAPS), 10), np.searchsorted(CAPS, median) - [1, 0])
    least = find_least_accuracy(mistakes, CAPS[looked], CAPS[looked])
    if above is None:
        usual = np.interp(median, CAPS[looked], least)
        steps = np.ceil(np.nan_to_num(usual) / STEP - ROUNDING) - 1
        above = round(max(float(steps), 0) * STEP, 2)
    check_probability("above", above)
    correlation: float | None = None if np.isfinite(least).any() else 0.0
    for i in np.flatnonzero(least <= above)[:1]:
        caps = CAPS[looked[max(i - 1, 0)] : looked[i] + 1]
        least = find_least_accuracy(mistakes, caps, caps)
        possible = np.isfinite(least)
        correlation = float(np.interp(above, least[possible][::-1], caps[possible][::-1]))
    beyond = 0 if correlation is None else int((crowds > correlation).sum())
    return TippingPoint(
        above=above, correlation=correlation, crowds_beyond=beyond, n_crowds=len(crowds)
    )


def find_least_accuracy(mistakes: Mistakes, raters: ArrayLike, system: ArrayLike) -> Floats:
    """Compute the least accuracy under each pair of caps.

    Parameters
    ----------
    mistakes : Mistakes
    raters, system : array_like
        Caps, 0 to 1, broadcast against each other.

    Returns
    -------
    ndarray
        NaN where no true categories agree with the ratings.
    """
    x, y = (cap[..., None] for cap in np.broadcast_arrays(raters, system))
    error = list_error_rates(mistakes, x[..., 0], STEPS)
    variance = error * (1 - error)
    room, both = y**2 * variance, error**2 + x * variance
    wrong = _find_most(mistakes, error, wrong=1)
    for cap, two, three in MULTIPLIERS[mistakes.n_categories > 2]:
        values = mistakes.joint - cap * mistakes.rater - two * mistakes.system
        least = mistakes.proportions @ mistakes.find_least(values + three * mistakes.both)
        limit = _find_root(two - error, cap * error - three * both + least, room)
        wrong = np.where(y < ANY, np.minimum(wrong, limit), wrong)
    wrong[wrong < 1 - _find_most(mistakes, error, wrong=0) - ROUNDING] = np.nan
    most = np.where(np.isnan(wrong), -np.inf, wrong).max(axis=-1)
    return np.where(np.isfinite(most), 1 - most, np.nan)


def _find_root(slope: Floats, start: Floats, room: Floats) -> Floats:
    """Find the greatest s from 0 to 1 with start + slope s at most the root of room s (1 - s)."""
    # Not 0, and not of the other sign by rounding.
    slope = np.where(np.abs(slope) < ROUNDING, ROUNDING, slope)
    with np.errstate(invalid="ignore"):
        root = np.sqrt(room * (room - 4 * slope * start - 4 * start**2))
    largest = (room - 2 * slope * start + root) / (2 * (slope**2 + room))
    return np.where(slope + start <= 0, 1.0, largest)


def _find_most(mistakes: Mistakes, error: Floats, *, wrong: int) -> Floats:
    """Find the greatest proportion of wrong, or right, answers at no more mistakes."""
    fewest = mistakes.find_least(mistakes.rater)
    cost = mistakes.find_least(np.where(mistakes.system == wrong, mistakes.rater, np.inf)) - fewest
    order = np.argsort(cost)
    proportions = mistakes.proportions
    paid = np.append(0, np.cumsum((proportions * cost)[order])) + proportions @ fewest
    return np.interp(error, paid, np.append(0, np.cumsum(proportions[order])))
