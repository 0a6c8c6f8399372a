"""Intervals: resampled items or clusters, Wilson's, widened for clusters; how far resampling is."""

import logging
import re
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from operator import itemgetter
from statistics import NormalDist
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehner.core.arrays import Booleans, Floats, Integers, Seed, make_rng
from lehner.core.errors import LostWorkerError, check_choice, check_level, check_whole_number
from lehner.core.estimate import IntervalEstimate
from lehner.core.lazy import sparse, special, stats


def wilson_interval(
    proportions: ArrayLike, n: ArrayLike, *, z: float, population: ArrayLike | None = None
) -> Floats:
    """Compute the proportions that a z-test of a random sample would not reject.

    Parameters
    ----------
    proportions : array_like of float
        Proportions in the samples, 0 to 1.
    n : array_like of int
        Sizes of the samples.
    z : float
        Quantile of the normal distribution, as 1.96 for 95%.
    population : array_like of int, optional
        Size of the population from which n were drawn without replacement; infinite if None.

    Returns
    -------
    numpy.ndarray, shape (2, ...)
        Lower and upper ends, within [0, 1]; NaN where n is 0.

    References
    ----------
    Wilson (1927), https://doi.org/10.2307/2276774; Brown, Cai & DasGupta (2001),
    https://doi.org/10.1214/ss/1009213286, Eq. 4; with z² multiplied by (N - n)/(N - 1) for a
    population of N, as in Cochran (1977), Sampling Techniques, section 3.2.

    Examples
    --------
    >>> wilson_interval(1.0, 200, z=1.96).round(3).tolist()
    [0.981, 1.0]
    >>> wilson_interval(1.0, 200, z=1.96, population=250).round(3).tolist()
    [0.996, 1.0]
    """
    p, n = np.asarray(proportions, dtype=float), np.asarray(n, dtype=float)
    left = 1.0
    if population is not None:
        total = np.asarray(population, dtype=float)
        left = (total - n) / np.maximum(total - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = z**2 * left / n
        middle = (p + weight / 2) / (1 + weight)
        half = np.sqrt(p * (1 - p) * weight + weight**2 / 4) / (1 + weight)
    return np.clip([middle - half, middle + half], 0, 1)


def find_wilson_n(proportion: float, width: float, *, z: float, population: int) -> int:
    """Compute the size of the smallest random sample whose Wilson interval is at most so wide."""

    def is_narrow(n: int) -> bool:
        lower, upper = wilson_interval(proportion, n, z=z, population=population)
        return bool(upper - lower <= width)

    return 1 + bisect_left(range(1, population + 1), True, key=is_narrow)


def estimate_wilson(
    proportion: float, n: float, level: float, *, population: float | None = None
) -> IntervalEstimate:
    """Give the proportion of a random sample with Wilson's interval.

    Parameters
    ----------
    proportion : float
        In the sample, 0 to 1.
    n : float
        Size of the sample, or number of independent items that would tell as much.
    level : float
        Probability of the interval, between 0 and 1.
    population : float, optional
        As of `wilson_interval`.

    Returns
    -------
    IntervalEstimate
        Without an estimate where n is 0.

    Examples
    --------
    >>> print(estimate_wilson(0.85, 80, 0.9))
    0.850 [0.773, 0.904]
    """
    if not n:
        return IntervalEstimate(estimate=None)
    z = NormalDist().inv_cdf((1 + level) / 2)
    lower, upper = wilson_interval(proportion, n, z=z, population=population).tolist()
    kind = "Wilson" if population is None else "Wilson, finite population"
    return IntervalEstimate(float(proportion), lower, upper, level, kind)


# Random tables behind a p-value.
TABLES, TIED = 4000, 1e-9


def check_tables(tables: Floats, *, seed: Seed = 1) -> float:
    """Test whether rows and columns are independent in each of some tables.

    Parameters
    ----------
    tables : ndarray, shape (n_tables, n_rows, n_columns)
        Numbers of independent items, which are rounded.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    float
        The p-value of Pearson's statistic, summed over tables, among tables with the same margins
        (Patefield 1981, https://doi.org/10.2307/2346669). 1 where no table has two rows.

    Examples
    --------
    >>> check_tables(np.array([[[9, 3], [9, 3]]]))
    1.0
    >>> round(check_tables(np.array([[[90, 3], [9, 30]]])), 6)
    0.00025
    """
    rng, seen, by_chance = make_rng(seed), 0.0, np.zeros(TABLES)
    for table in np.rint(tables).astype(int):
        if not table.any():
            continue
        margins = table.sum(axis=1), table.sum(axis=0)
        expected = np.maximum(np.outer(*margins) / table.sum(), TIED)
        drawn = stats.random_table(*margins).rvs(TABLES, random_state=rng)
        seen += float(((table - expected) ** 2 / expected).sum())
        by_chance += ((drawn - expected) ** 2 / expected).sum(axis=(1, 2))
    return float((1 + (by_chance >= seen - TIED).sum()) / (1 + TABLES))


# Numbers of items by row, (n_rows,), or by cluster and row, (n_clusters, n_rows).
type ItemCounts = "Integers | sparse.csr_array"

# EM approaches 0 and 1, but does not reach them in finitely many steps.
AT_THE_BOUNDARY = 1e-4
# Proportion of resamples that must be defined for a standard error.
LEAST_DEFINED = 0.5
# Of so many rows, most of one item, items are drawn: a multinomial draw takes ten times as long.
MANY_ROWS = 10_000
RESAMPLED_ROWS_AT_ONCE = 200_000
RESAMPLED_CELLS_AT_ONCE = 2_000_000
# Of 256 items, 94 are not in a resample, 95 once, and so on.
TIMES_DRAWN = bytes(np.repeat(np.arange(6, dtype=np.uint8), [94, 95, 46, 16, 4, 1]))


def bootstrap_interval(
    values: Floats, counts: ItemCounts, estimate: float, level: float
) -> tuple[IntervalEstimate, float]:
    """Find the interval of a statistic with range [0, 1] from its values in resamples of items.

    If the statistic is undefined in some resamples, these count as 0 for the lower end and as 1 for
    the upper end, because it could have any value there. The standard error is that of the other
    resamples, if these are half of all or more. The interval of an estimate of 0 or 1 is at least
    Wilson's.

    Parameters
    ----------
    values : ndarray of float, shape (n_resamples,)
        NaN where the statistic is undefined.
    counts : ndarray of int, shape (n_rows,), or sparse.csr_array, shape (n_clusters, n_rows)
        How many items have each unique row; in each cluster if whole clusters were resampled.
    estimate : float
        The statistic of the data.
    level : float
        Probability of the interval.

    Returns
    -------
    interval : IntervalEstimate
    undefined : float
        Proportion of the resamples in which the statistic is undefined.
    """
    undefined, tails = np.isnan(values), find_tails(level, counts)
    lower = float(np.quantile(np.where(undefined, 0.0, values), tails[0]))
    upper = float(np.quantile(np.where(undefined, 1.0, values), tails[1]))
    defined = values[~undefined]
    enough = len(defined) > 1 and len(defined) >= LEAST_DEFINED * len(values)
    error = float(defined.std(ddof=1)) if enough else None
    interval = IntervalEstimate(estimate, lower, upper, level, "percentile bootstrap", error)
    return widen_at_the_boundary(interval, counts), float(undefined.mean())


def check_bootstrap(kind: str, level: float, resamples: int) -> None:
    """Raise an InputError unless kind, level and number of resamples are allowed."""
    check_level(level)
    check_choice("interval", kind, ("percentile",))
    check_whole_number("resamples", resamples, 1)


def find_tails(level: float, counts: ItemCounts) -> Floats:
    """Give the tail probabilities of an interval; those of Student's t where clusters are few.

    Resamples of G clusters vary as a normal distribution does, and the mean of G clusters as
    Student's t with G - 1 degrees of freedom, whose quantiles are farther out: Hesterberg (2015),
    What teachers should know about the bootstrap, https://doi.org/10.1080/00031305.2015.1089789.
    """
    upper = (1 + level) / 2
    if counts.ndim > 1:
        upper = float(special.ndtr(special.stdtrit(max(counts.shape[0] - 1, 1), upper)))
    return np.array([1 - upper, upper])


def widen_at_the_boundary(interval: IntervalEstimate, counts: ItemCounts) -> IntervalEstimate:
    """Make the interval of an estimate of 0 or 1 at least Wilson's of as many items.

    Resamples of such an estimate hardly vary, however few the items are.

    Parameters
    ----------
    interval : IntervalEstimate
        Of a proportion.
    counts : ndarray of int, shape (n_rows,), or sparse.csr_array, shape (n_clusters, n_rows)
        As of `bootstrap_interval`.

    Returns
    -------
    IntervalEstimate
    """
    estimate, lower, upper = interval.estimate, interval.lower, interval.upper
    if estimate is None or lower is None or upper is None or interval.level is None:
        return interval
    if AT_THE_BOUNDARY < estimate < 1 - AT_THE_BOUNDARY:
        return interval
    n_units = counts.sum() if counts.ndim == 1 else counts.shape[0]
    z = -NormalDist().inv_cdf(find_tails(interval.level, counts)[0])
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
    size = max(1, most // max(1, n_cells or max(counts.shape)))
    sizes = [min(size, resamples - start) for start in range(0, resamples, size)]
    for n in with_progress("resampling", sizes):
        if counts.ndim == 1:
            # Rows without items take no random numbers, so that they change no resample.
            occupied, drawn = counts > 0, np.zeros((n, len(counts)))
            total = counts.sum()
            if len(counts) < MANY_ROWS or total > 2 * len(counts):
                drawn[:, occupied] = rng.multinomial(total, counts[occupied] / total, size=n)
            else:
                draw_items(np.repeat(np.arange(len(counts)), counts), drawn, rng)
            yield drawn
        else:
            g = counts.shape[0]
            clusters = rng.multinomial(max(g - 1, 1), np.full(g, 1 / g), size=n)
            yield np.asarray(clusters @ counts) * (g / max(g - 1, 1))


def draw_times(
    n_items: int, resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    """Resample many items one by one: yield how often each is drawn, for some resamples at a time.

    This number has nearly a Poisson distribution, with mean and variance 1, and does not depend on
    those of other items (Hanley & MacGibbon 2006, Computer Methods and Programs in Biomedicine 83,
    57-62). Of many items this is as good as to draw with replacement, and faster.

    Parameters
    ----------
    n_items : int
    resamples : int
    rng : numpy.random.Generator

    Yields
    ------
    ndarray of int, shape (n_items, n)

    Examples
    --------
    >>> (drawn,) = draw_times(20_000, 100, np.random.default_rng(1))
    >>> drawn.shape, float(drawn.mean().round(2)), float(drawn.var().round(2))
    ((20000, 100), 1.0, 1.0)
    """
    size = max(1, RESAMPLED_CELLS_AT_ONCE // n_items)
    sizes = [min(size, resamples - start) for start in range(0, resamples, size)]
    for n in with_progress("resampling", sizes):
        drawn = rng.bytes(n_items * n).translate(TIMES_DRAWN)
        yield np.frombuffer(drawn, np.uint8).reshape(n_items, n)


def draw_items(row: Integers, drawn: Floats, rng: np.random.Generator) -> None:
    """Resample items, each of a row, (n_items,), into their numbers by row, (n, n_rows)."""
    for sample in drawn:
        items = rng.integers(len(row), size=len(row))
        sample[:] = np.bincount(row[items], minlength=len(sample))


NEARLY_EQUAL = 1e-18
LEAST_CHANCE = 1e-6


def design_effect(values: Floats, weights: Floats, cluster: Integers | None) -> float:
    r"""Estimate by what factor the variance of a mean is larger if clusters are sampled, not items.

    .. math:: \frac{\frac{G}{G - 1} \sum_g \left(\sum_{i \in g} w_i (x_i - \bar x)\right)^2}
              {\frac{n}{n - 1} \sum_i w_i (x_i - \bar x)^2}

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        A number for each item, as whether the system is right, or its influence on an estimate.
    weights : ndarray of float, shape (n_rows,)
        Number of items of each row, 0 for rows that are left out.
    cluster : ndarray of int, shape (n_rows,), optional
        The cluster of each row, from 0; None if items are independent.

    Returns
    -------
    float
        1 or more; less would be chance. If all values are equal, as if clusters were single items.

    References
    ----------
    Kish (1965), Survey Sampling, section 8.2; the variance is that of linearised ratios, as in Rao
    & Scott (1992), https://doi.org/10.2307/2532311.

    Examples
    --------
    >>> values, four = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]), np.ones(8)
    >>> design_effect(values, four, np.array([0, 0, 1, 1, 2, 2, 3, 3])).__round__(2)
    2.33
    """
    if cluster is None:
        return 1.0
    used = weights > 0
    values, weights, cluster = values[used], weights[used], cluster[used]
    n, sizes = weights.sum(), np.bincount(cluster, weights)
    deviation = values - weights @ values / n
    within = weights @ deviation**2 * n / max(n - 1, 1)
    if within <= NEARLY_EQUAL * n:
        return float(sizes @ sizes / n)
    g = int(np.count_nonzero(sizes))
    between = (np.bincount(cluster, weights * deviation) ** 2).sum() * g / max(g - 1, 1)
    return max(1.0, float(between / within))


def estimate_effect(
    values: Floats, weights: Floats, labelled: Booleans, cluster: Integers | None
) -> float:
    """Estimate by what factor variances are larger if whole clusters are known, not single items.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        What is known of the known rows; that of others is not used.
    weights : ndarray of float, shape (n_rows,)
        Number of items of each row.
    labelled : ndarray of bool, shape (n_rows,)
    cluster : ndarray of int, shape (n_rows,), optional

    Returns
    -------
    float
        1 if no more items of a cluster are known together than by chance, the design effect of the
        labelled items if all are, and in proportion between.
    """
    clustering = measure_clustering(weights, labelled, cluster)
    if not clustering:
        return 1.0
    return 1 + (design_effect(values, weights * labelled, cluster) - 1) * clustering


def measure_clustering(weights: Floats, labelled: Booleans, cluster: Integers | None) -> float:
    """Tell how far whole clusters are known: 1 if they are, 0 if single items drawn at random."""
    weight = weights * labelled
    m, n = weight.sum(), weights.sum()
    if cluster is None or not 0 < m < n:
        return 0.0
    n_others, n_known = (np.bincount(cluster, w)[cluster] - 1 for w in (weights, weight))
    most, together = weight @ n_others / m, weight @ n_known / m
    by_chance = most * (m - 1) / (n - 1)
    if together <= by_chance:
        return 0.0
    return float((together - by_chance) / (most - by_chance))


def find_widening(effect: float, n_clusters: int, level: float) -> float:
    """Give the factor of the width of an interval: the root of the design effect, times t / z.

    Student's t has as many degrees of freedom as there are clusters but one (Korn & Graubard 1998,
    Survey Methodology 24, 193-201). It is 1 without clusters, whose design effect is 1.
    """
    upper = (1 + level) / 2
    student = special.stdtrit(max(n_clusters - 1, 1), upper) / special.ndtri(upper)
    return float(np.sqrt(effect) * student)


def widen(interval: IntervalEstimate, factor: float) -> IntervalEstimate:
    """Move the ends of a proportion's interval away from the estimate, on the scale of log odds."""
    if interval.estimate is None or interval.lower is None or interval.upper is None:
        return interval
    ends = np.array([interval.lower, interval.estimate, interval.upper])
    chance = np.clip(ends, LEAST_CHANCE, 1 - LEAST_CHANCE)
    odds = np.log(chance / (1 - chance))
    moved = 1 / (1 + np.exp(-(odds[1] + factor * (odds - odds[1]))))
    error = interval.standard_error
    return replace(
        interval,
        lower=min(float(moved[0]), interval.lower),
        upper=max(float(moved[2]), interval.upper),
        kind=f"{interval.kind}, widened for clusters",
        standard_error=None if error is None else error * factor,
    )


# Pieces of work that do not depend on one another, and how far they are


# Does pieces of work as `do_pieces` does.
type DoAll = Callable[..., list[Any]]


class Threaded(partial[Any]):
    """A piece of work that a second thread may do: one of NumPy alone, which has no threads."""


def do_pieces(
    pieces: Sequence[Callable[[], Any]],
    on_interrupt: Callable[[], Any] | None = None,
    run: Callable[..., Iterable[tuple[int, Any]]] | None = None,
) -> list[Any]:
    """Do pieces of work, list their results in the same order, and log how many are done.

    A second thread helps with the pieces that are `Threaded`, which come first. Results do not
    depend on it.

    Parameters
    ----------
    pieces : sequence of callable
        Functions without arguments.
    on_interrupt : callable, optional
        It is called if Ctrl-C or the death of a worker ends the work and some results are there.
        These are kept, and of what is not done the result is the exception. By default the
        exception is raised.
    run : callable, optional
        Applies a function to each of some tasks instead of the two threads, as `map` does in one
        thread, and gives the results in any order.

    Returns
    -------
    list

    Examples
    --------
    >>> do_pieces([dict, list])
    [{}, []]
    """
    tell, results = log_progress("fits", len(pieces)), dict[int, Any]()
    try:
        if run is None:
            _do_in_two_threads(pieces, results, tell)
        left = [(number, piece) for number, piece in enumerate(pieces) if number not in results]
        for number, result in (run or map)(_do_piece, left):
            results[number] = result
            tell(len(results))
    except (KeyboardInterrupt, LostWorkerError) as error:
        if on_interrupt is None or not results:
            raise
        on_interrupt()
        results = dict.fromkeys(range(len(pieces)), error) | results
    return [results[number] for number in range(len(pieces))]


def _do_piece(numbered: tuple[int, Callable[[], Any]]) -> tuple[int, Any]:
    number, piece = numbered
    return number, piece()


def _do_in_two_threads(
    pieces: Sequence[Callable[[], Any]], results: dict[int, Any], tell: Callable[[float], None]
) -> None:
    """Do the pieces that are `Threaded` here and in a second thread, all but those that fail.

    An interrupt does not wait for the second thread, which ends with its piece or the process.
    """
    threaded = ((n, piece) for n, piece in enumerate(pieces) if isinstance(piece, Threaded))
    waiting = iter(list(threaded))

    def work() -> None:
        for number, piece in waiting:
            try:
                results[number] = piece()
                tell(len(results))
            except Exception:
                # It is done again alone, where it raises, or has all memory. None is taken before.
                list(waiting)

    # NumPy's settings in the second thread are those of this one.
    second = Thread(target=copy_context().run, args=(work,), daemon=True)
    try:
        with suppress(RuntimeError):  # where no thread can start
            second.start()
        work()
        if second.is_alive():
            second.join()
    finally:
        list(waiting)


logger = logging.getLogger(__name__)

# Seconds between two messages, and those after which the step that goes on is named again.
EVERY, SILENCE = 5.0, 5.0
LEFT = re.compile(r", \d+ \w+ left$")
# Loggers whose messages say how far steps are.
STEPS = ("bayes_models", "lehner")


def with_progress[Part](what: str, parts: Sequence[Part]) -> Iterator[Part]:
    """Give equal parts of a computation one by one, and log how many are done.

    Examples
    --------
    >>> list(with_progress("resampling", [500, 500]))
    [500, 500]
    """
    tell = log_progress(what, len(parts))
    for done, part in enumerate(parts):
        tell(done)
        yield part


def log_progress(what: str, total: float, log: logging.Logger = logger) -> Callable[[float], None]:
    """Make a function that is told how much is done, and logs it.

    Messages are five seconds, and a hundredth of the work, apart.

    Parameters
    ----------
    what : str
        What goes on.
    total : float
        How much there is to do.
    log : logging.Logger

    Returns
    -------
    callable
        To be called with how much of it is done. The time left is that of the rest at the mean
        speed so far.

    Examples
    --------
    >>> done = log_progress("resampling", 1000)
    >>> done(250)
    """
    start, told = time.monotonic(), 0.0
    last = start
    log.debug(what)

    def tell(done: float) -> None:
        nonlocal last, told
        now = time.monotonic()
        if now - last >= EVERY and told + total / 100 <= done < total:
            last, told, left = now, done, (now - start) * (total / done - 1)
            text = f"{what}: {100 * done / total:.0f}% done, {_write_duration(left)} left"
            log.info(text, extra={"what": what, "end": now + left, "share": done / total})

    return tell


def _write_duration(seconds: float) -> str:
    """Write a duration in the unit in which it is read easily."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


@contextmanager
def handle_messages(handler: logging.Handler, *steps: str) -> Iterator[None]:
    """Give a handler the messages of loggers that have none, until the block ends.

    Messages of the level DEBUG name a step, and are not shown. If there is no message for five
    seconds, the handler gets that of the step which ends last by what was said, with the time left
    now, or else the name of the step that goes on. Handlers of the root logger, which are the
    user's, get none.

    Parameters
    ----------
    handler : logging.Handler
    *steps : str
        Names of the loggers; by default those of the packages.

    Examples
    --------
    >>> with handle_messages(logging.NullHandler()):
    ...     logging.getLogger("lehner").info("resampling")
    """
    loggers = [logger for logger in map(logging.getLogger, steps or STEPS) if not logger.handlers]
    before = [(logger.level, logger.propagate) for logger in loggers]
    step, last, ended = "computing", time.time(), Event()
    # The last message of each step, and when it said that the step ends.
    messages: dict[str, dict[str, Any]] = {}

    def note(record: logging.LogRecord) -> bool:
        nonlocal step, last
        step = LEFT.sub("", record.getMessage())
        message = {name: getattr(record, name, None) for name in ("share", "what")}
        message |= {"msg": step, "end": getattr(record, "end", 0.0)}
        messages[message["what"] or step] = message
        is_shown = record.levelno > logging.DEBUG
        last = record.created if is_shown else last
        return is_shown

    def remind() -> None:
        while not ended.wait(min(SILENCE, 1)):
            if time.time() - last >= SILENCE:
                message = max([*messages.values()], key=itemgetter("end"), default={"end": 0.0})
                left = message["end"] - time.monotonic()
                text = f"{message['msg']}, {_write_duration(left)} left" if left >= 1 else step
                shown = message | {"msg": text, "levelno": logging.INFO}
                handler.handle(logging.makeLogRecord(shown))

    handler.addFilter(note)
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
    if loggers and not steps:
        with suppress(RuntimeError):  # where no thread can start
            Thread(target=remind, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate


class BarHandler(logging.Handler):
    """Draws each message in a notebook in the place of the last, with a bar of how much is done."""

    display: Any = None

    def emit(self, record: logging.LogRecord) -> None:
        """Draw a message."""
        from IPython.display import DisplayHandle
        from rich.progress import BarColumn, Progress, TextColumn

        bar = Progress(TextColumn("{task.description}", markup=False), BarColumn())
        share = getattr(record, "share", None)
        bar.add_task(record.getMessage(), total=None if share is None else 1, completed=share or 0)
        if self.display is None:
            self.display = DisplayHandle()
            self.display.display(bar)
        self.display.update(bar)

    def close(self) -> None:
        """Take the bar away."""
        if self.display is not None:
            self.display.update({"text/plain": ""}, raw=True)
        super().close()


@contextmanager
def show_if_long(*steps: str) -> Iterator[None]:
    """Show how far a computation is once it takes five seconds: in a terminal, or a notebook's bar.

    Programs that have handlers of messages, as the command has, show them themselves.

    Parameters
    ----------
    *steps : str
        As of `handle_messages`.

    Examples
    --------
    >>> with show_if_long():
    ...     list(with_progress("resampling", [500, 500]))
    [500, 500]
    """
    in_notebook = "ipykernel" in sys.modules
    can_be_seen = sys.stderr.isatty() or in_notebook
    if not can_be_seen or any(logging.getLogger(step).hasHandlers() for step in STEPS):
        yield
        return
    start = time.time()
    handler = BarHandler() if in_notebook else logging.StreamHandler(sys.stderr)
    with closing(handler), handle_messages(handler, *steps):
        handler.addFilter(lambda record: record.created - start >= EVERY)
        yield
