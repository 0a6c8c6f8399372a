"""Bootstrap intervals: items, or clusters of them, resampled by counts over unique rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Floats, Integers
from lehner.core.checks import check_choice, check_level, check_whole_number
from lehner.core.estimate import IntervalEstimate
from lehner.core.progress import with_progress
from lehner.core.seeds import Seed, generator
from lehner.core.student_t import t_quantile
from lehner.core.wilson import wilson_interval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

type ItemCounts = "Integers | csr_array"
"""Numbers of items by row, (n_rows,), or by cluster and row, (n_clusters, n_rows)."""

AT_THE_BOUNDARY = 1e-4
"""EM approaches 0 and 1, but does not reach them in finitely many steps."""
RESAMPLED_ROWS_AT_ONCE = 200_000
RESAMPLED_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True, kw_only=True)
class BootstrapResult:
    """A bootstrap interval.

    Parameters
    ----------
    interval : IntervalEstimate
    undefined : float
        Proportion of the resamples in which the statistic is undefined.
    """

    interval: IntervalEstimate
    undefined: float


def bootstrap_interval(
    statistic: Callable[[Floats], Floats],
    counts: ItemCounts,
    estimate: float,
    level: float,
    resamples: int,
    seed: Seed,
) -> BootstrapResult:
    """Find the interval of a statistic with range [0, 1] by resampling items.

    If the statistic is undefined in some resamples, these count as 0 for the lower end and as 1 for
    the upper end, because it could have any value there. The interval of an estimate of 0 or 1 is
    at least Wilson's.

    Parameters
    ----------
    statistic : callable
        A function that takes counts, shape (n_resamples, n_rows), and returns values, shape
        (n_resamples,).
    counts : ndarray of int, shape (n_rows,), or csr_array, shape (n_clusters, n_rows)
        How many items have each unique row; in each cluster if whole clusters are resampled.
    estimate : float
        The statistic of the data.
    level : float
        Probability of the interval.
    resamples : int
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    BootstrapResult
    """
    drawn = draw_counts(counts, resamples, generator(seed))
    values = np.concatenate([statistic(weights) for weights in drawn])
    tails = tails_of(level, counts)
    undefined = np.isnan(values)
    lower = np.quantile(np.where(undefined, 0.0, values), tails[0])
    upper = np.quantile(np.where(undefined, 1.0, values), tails[1])
    known = not undefined.any() and len(values) > 1
    interval = IntervalEstimate(
        estimate=estimate,
        lower=float(lower),
        upper=float(upper),
        level=level,
        kind="percentile bootstrap",
        standard_error=float(values.std(ddof=1)) if known else None,
    )
    return BootstrapResult(
        interval=widen_at_the_boundary(interval, counts), undefined=float(undefined.mean())
    )


def check_bootstrap(kind: str, level: float, resamples: int) -> None:
    """Raise an InputError unless kind, level and number of resamples are allowed."""
    check_level(level)
    check_choice("interval", kind, ("percentile",))
    check_whole_number("resamples", resamples, 1)


def tails_of(level: float, counts: ItemCounts) -> Floats:
    """Give the tail probabilities of an interval; those of Student's t where clusters are few.

    Resamples of G clusters vary as a normal distribution does, and the mean of G clusters as
    Student's t with G - 1 degrees of freedom, whose quantiles are farther out: Hesterberg (2015),
    What teachers should know about the bootstrap, https://doi.org/10.1080/00031305.2015.1089789.
    """
    upper = (1 + level) / 2
    if counts.ndim > 1:
        upper = NormalDist().cdf(t_quantile(upper, max(counts.shape[0] - 1, 1)))
    return np.array([1 - upper, upper])


def widen_at_the_boundary(interval: IntervalEstimate, counts: ItemCounts) -> IntervalEstimate:
    """Make the interval of an estimate of 0 or 1 at least Wilson's of as many items.

    Resamples of such an estimate hardly vary, however few the items are.

    Parameters
    ----------
    interval : IntervalEstimate
        Of a proportion.
    counts : ndarray of int, shape (n_rows,), or csr_array, shape (n_clusters, n_rows)
        As of `bootstrap_interval`.

    Returns
    -------
    IntervalEstimate
    """
    estimate, lower, upper = interval.estimate, interval.lower, interval.upper
    level = interval.level
    if estimate is None or lower is None or upper is None or level is None:
        return interval
    if AT_THE_BOUNDARY < estimate < 1 - AT_THE_BOUNDARY:
        return interval
    n_units = counts.sum() if counts.ndim == 1 else counts.shape[0]
    z = -NormalDist().inv_cdf(tails_of(level, counts)[0])
    least, most = wilson_interval(round(estimate), n_units, z=z)
    return replace(interval, lower=min(lower, float(least)), upper=max(upper, float(most)))


def draw_counts(
    counts: ItemCounts, resamples: int, rng: np.random.Generator, n_cells: int | None = None
) -> Iterator[Floats]:
    """Resample items: yield their numbers by row, (n, n_rows), for some resamples at a time.

    Of G clusters, G - 1 are drawn, and count G / (G - 1) times, so that the variance is not too
    small (Rao & Wu 1988, https://doi.org/10.1080/01621459.1988.10478591). With `n_cells`, resamples
    are so few at a time that arrays of that many numbers for each fit into memory.
    """
    most = RESAMPLED_ROWS_AT_ONCE if n_cells is None else RESAMPLED_CELLS_AT_ONCE
    sizes = _chunk_sizes(resamples, n_cells or max(counts.shape), most)
    for n in with_progress("resampling", sizes):
        if counts.ndim == 1:
            total = counts.sum()
            yield rng.multinomial(total, counts / total, size=n).astype(float)
        else:
            g = counts.shape[0]
            drawn = rng.multinomial(max(g - 1, 1), np.full(g, 1 / g), size=n)
            yield np.asarray(drawn @ counts) * (g / max(g - 1, 1))


def _chunk_sizes(n: int, n_rows: int, most: int) -> list[int]:
    size = max(1, most // max(1, n_rows))
    return [min(size, n - start) for start in range(0, n, size)]
