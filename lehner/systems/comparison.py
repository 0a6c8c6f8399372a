"""Differences between systems and their ranks, from joint draws of their accuracies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_level
from lehner.core.estimate import IntervalEstimate, number, plain

TIED = 1e-9
"""Accuracies that differ by less are tied: the rest is rounding error."""
OTHER_ITEMS = "the systems are judged by different items"


@dataclass(frozen=True, kw_only=True)
class SystemDifference:
    """The difference in accuracy between two systems.

    Parameters
    ----------
    method : str
        Name of the method.
    systems : tuple of str
        Names of the first and the second system.
    difference : IntervalEstimate
        Accuracy of the first system minus that of the second, from -1 to 1.
    probability_better : float or None
        Probability that the first is more accurate, between 0 and 1: the proportion of draws (for a
        bootstrap, of resamples) in which it is; ties count half. None without draws.
    difference_in_sample : IntervalEstimate
        The same for the proportions of these items that the systems got right.
    probability_better_in_sample : float or None
        Probability that the first got more of these items right.
    n_common_items : int or None
        Number of items that both systems answered; None if it is not known.
    reason : str
        Why there is no difference, or none in the sample; empty if there is.
    uncorrected : SystemDifference, optional
        The same without the known truths, where they correct it.
    """

    method: str
    systems: tuple[str, str]
    difference: IntervalEstimate
    probability_better: float | None
    difference_in_sample: IntervalEstimate
    probability_better_in_sample: float | None
    n_common_items: int | None = None
    reason: str = ""
    uncorrected: "SystemDifference | None" = None

    def to_dict(self) -> dict[str, Any]:
        """Give it in plain types, ready for JSON.

        Returns
        -------
        dict
            The fields by name.
        """
        return dict(plain(self))


@dataclass(frozen=True, kw_only=True)
class SystemRank:
    """The rank of a system among the others, by one method.

    Parameters
    ----------
    method : str
        Name of the method.
    system : str
        Name of the system.
    rank : int
        Rank by the estimated accuracy: 1 and the number of more accurate systems. Tied systems have
        the same rank, and the ranks after it are left out (1, 1, 3).
    lower, upper : int or None
        Ends of the equal-tailed interval of the rank in the draws, where ties count likewise.
    probability_best : float or None
        Probability that no other system is more accurate. In draws in which several are the best
        they share it equally.
    n_common_items : int or None
        Number of items that all ranked systems answered; None if it is not known.
    corrected : bool
        Whether known truths correct the rank, or entered it.
    """

    method: str
    system: str
    rank: int
    lower: int | None
    upper: int | None
    probability_best: float | None
    n_common_items: int | None = None
    corrected: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Give it in plain types, ready for JSON.

        Returns
        -------
        dict
            The fields by name.
        """
        return dict(plain(self))


@dataclass(frozen=True, kw_only=True, eq=False)
class JointDraws:
    """Joint draws of the accuracies of several systems by one method.

    Parameters
    ----------
    method : str
        Name of the method.
    kind : str
        How the intervals are made, such as "percentile bootstrap".
    expected, in_sample : mapping of str to ndarray, shape (n_draws,)
        For each system, the expected accuracy, and the proportion of these items that it got right.
        The i-th draws of all systems belong together. NaN if the accuracy is undefined.
    same_items : bool
        Whether each system is judged by the same items. If not, there is no difference in the
        sample.
    n_common_items : int or None
        Number of items that all these systems answered; None if it is not known.
    corrected : bool
        Whether known truths correct the draws, or entered them.
    """

    method: str
    kind: str
    expected: Mapping[str, Floats]
    in_sample: Mapping[str, Floats]
    same_items: bool = True
    n_common_items: int | None = None
    corrected: bool = False


def compare_systems(
    estimates: Mapping[str, tuple[IntervalEstimate, ...]],
    draws: JointDraws,
    *,
    level: float = 0.9,
) -> tuple[SystemDifference, ...]:
    """Compare each two systems.

    Parameters
    ----------
    estimates : mapping of str to two IntervalEstimate
        For each system, the estimates of its expected accuracy and its accuracy in the sample.
    draws : JointDraws
        Of the same systems, and from the same answers: if the draws rest on items that all systems
        answered, the estimates do, see `Ratings.on_common_items`.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    tuple of SystemDifference
        A difference for each pair of systems, in the order of `estimates`. There is none for an
        accuracy that is undefined. If only some draws are undefined, the interval and the
        probability allow for either system being better in these.

    Raises
    ------
    InputError
        If the level is not a probability, or if a system has no draws.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> both = {"a": rng.normal(0.8, 0.02, 4000), "b": rng.normal(0.7, 0.02, 4000)}
    >>> draws = JointDraws(method="x", kind="", expected=both, in_sample=both)
    >>> a, b = IntervalEstimate(estimate=0.8), IntervalEstimate(estimate=0.7)
    >>> (found,) = compare_systems({"a": (a, a), "b": (b, b)}, draws)
    >>> round(found.difference.estimate, 2), found.probability_better
    (0.1, 1.0)
    """
    check_level(level)
    missing = [name for name in estimates if name not in draws.expected]
    if missing:
        raise InputError(
            f"there are no draws of the system {missing[0]!r}", "give draws of each system"
        )
    return tuple(_compare(pair, estimates, draws, level) for pair in combinations(estimates, 2))


def rank_systems(
    estimates: Mapping[str, float | None], draws: JointDraws, *, level: float = 0.9
) -> tuple[SystemRank, ...]:
    """Rank systems by their expected accuracy.

    Parameters
    ----------
    estimates : mapping of str to float or None
        Expected accuracy of each system; systems without an accuracy are left out.
    draws : JointDraws
        Of the same systems.
    level : float
        Probability of the intervals of ranks, between 0 and 1.

    Returns
    -------
    tuple of SystemRank
        The ranks, the best system first.

    Raises
    ------
    InputError
        If the level is not a probability.

    Examples
    --------
    >>> both = {"a": np.array([0.8, 0.7, 0.9]), "b": np.array([0.6, 0.75, 0.7])}
    >>> draws = JointDraws(method="x", kind="", expected=both, in_sample=both)
    >>> first, second = rank_systems({"a": 0.8, "b": 0.68}, draws)
    >>> first.system, first.rank, round(first.probability_best, 2)
    ('a', 1, 0.67)
    """
    check_level(level)
    known = {name: value for name, value in estimates.items() if value is not None}
    names = sorted(known, key=lambda name: -known[name])
    if not names:
        return ()
    several = np.array([draws.expected[name] for name in names])
    # An undefined accuracy may be the best or the worst.
    low, high = np.nan_to_num(several, nan=-1.0), np.nan_to_num(several, nan=2.0)
    tails = [(1 - level) / 2, (1 + level) / 2]
    ranks = []
    for place, name in enumerate(names):
        others = np.arange(len(names)) != place
        most = 1 + (high[others] > low[place] + TIED).sum(axis=0)
        least = 1 + (low[others] > high[place] + TIED).sum(axis=0)
        ranks.append(
            SystemRank(
                method=draws.method,
                system=name,
                rank=1 + sum(value > known[name] + TIED for value in known.values()),
                lower=int(np.quantile(least, tails[0], method="inverted_cdf")),
                upper=int(np.quantile(most, tails[1], method="inverted_cdf")),
                probability_best=_probability_best(several, place),
                n_common_items=draws.n_common_items,
                corrected=draws.corrected,
            )
        )
    return tuple(ranks)


def _probability_best(several: Floats, place: int) -> float | None:
    defined = np.nan_to_num(several, nan=-1.0)
    best = defined >= defined.max(axis=0) - TIED
    return float((best[place] / best.sum(axis=0)).mean())


def _compare(
    pair: tuple[str, str],
    estimates: Mapping[str, tuple[IntervalEstimate, ...]],
    draws: JointDraws,
    level: float,
) -> SystemDifference:
    differences = []
    for place, several in enumerate((draws.expected, draws.in_sample)):
        first, second = (estimates[name][place].estimate for name in pair)
        differences.append(
            _difference(first, second, [several[name] for name in pair], draws, level)
        )
    (expected, better), (in_sample, better_in_sample) = differences
    if not draws.same_items:
        in_sample, better_in_sample = IntervalEstimate(estimate=None), None
    return SystemDifference(
        method=draws.method,
        systems=pair,
        difference=expected,
        probability_better=better,
        difference_in_sample=in_sample,
        probability_better_in_sample=better_in_sample,
        n_common_items=draws.n_common_items,
        reason="" if draws.same_items else OTHER_ITEMS,
    )


def _difference(
    first: float | None,
    second: float | None,
    pair: Sequence[Floats],
    draws: JointDraws,
    level: float,
) -> tuple[IntervalEstimate, float | None]:
    if first is None or second is None:
        return IntervalEstimate(estimate=None), None
    difference = pair[0] - pair[1]
    undefined = np.isnan(difference)
    lower = np.quantile(np.where(undefined, -1.0, difference), (1 - level) / 2)
    upper = np.quantile(np.where(undefined, 1.0, difference), (1 + level) / 2)
    tied = np.abs(difference) <= TIED
    better = np.where(undefined | tied, 0.5, difference > 0)
    estimate = first - second
    # An estimate at an end of its range may be beyond all draws.
    interval = IntervalEstimate(
        estimate=estimate,
        lower=number(min(lower, estimate)),
        upper=number(max(upper, estimate)),
        level=level,
        kind=draws.kind,
        corrected=draws.corrected,
    )
    return interval, float(better.mean())
