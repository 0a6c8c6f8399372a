"""Maximum likelihood for a crowd, against crowd-kit's DawidSkene.

Both start at each item's share of votes and go to the same optimum: for each data set crowd-kit
has the loosest tolerance, a power of ten, that brings its log-likelihood to within 1e-6 of ours.
Everything from a table of ratings in memory to labelled estimates counts. The two alternate on
the same data; times are CPU time of one thread, and each data set gives a ratio. `tap` is
another model and has no peer: its ratio is to the same run of crowd-kit.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks.latent_class`
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lehner import Ratings, fit_latent_class
from lehner.latent_class.expectation_maximisation import (
    LatentClasses,
    expect,
    fit_patterns,
    vote_start,
)
from lehner.latent_class.models import LATENT_CLASS_MODELS
from lehner.latent_class.pattern_table import tabulate

N_DATA = 3
CROWDS = ((10_000, 100), (20_000, 800))
DIGITS = range(9, 13)
SAME = 1e-6
N_STEPS = 30


def main() -> None:
    """Print the ratios."""
    if find_spec("crowdkit") is None:
        sys.exit("crowd-kit is not installed; run with `python -m uv run --group benchmark`")
    warnings.simplefilter("ignore")
    first = crowd(99, *CROWDS[0])
    _ours(first), _theirs(first, n_iter=2)
    print(f"{'items':>6}{'raters':>7}{'data':>5}{'log-likelihood':>16}{'tolerance':>11}", end="")
    print(f"{'apart':>9}{'steps':>12}{'CPU-s':>14}{'ratio':>7}{'t-a-p CPU-s':>13}{'ratio':>7}")
    for n_items, n_raters in CROWDS:
        pairs = [_compare(seed, n_items, n_raters) for seed in range(N_DATA)]
        for name, ratios in zip(("Dawid-Skene", "t-a-p"), zip(*pairs, strict=True), strict=True):
            print(f"{name} ratio: {statistics.median(ratios):.0f}, at least {min(ratios):.0f}")
    print(f"the same number of steps: {_ratio_of_steps(crowd(0, *CROWDS[0])):.0f}")
    fit = _ours(first)
    more = _timed(fit.standard_errors)[0]
    print(f"standard errors of {fit.n_parameters} parameters: {more:.2f} CPU-s more")


class Compared(NamedTuple):
    """Both fits of a crowd: CPU seconds, steps, and by how much ours is the more likely."""

    ours: float
    theirs: float
    steps: tuple[int, int]
    log_likelihood: float
    apart: float
    digits: int


def to_same_likelihood(table: pd.DataFrame) -> Compared:
    """Time both fits, crowd-kit's with the first tolerance that comes as far as ours.

    Parameters
    ----------
    table : pandas.DataFrame
        As `crowd` gives it.

    Returns
    -------
    Compared
    """
    for digits in DIGITS:
        ours, fit = _timed(partial(_ours, table))
        theirs, peer = _timed(partial(_theirs, table, tolerance=10.0**-digits))
        apart = fit.log_likelihood - _log_likelihood_of(peer, table)
        if apart < SAME:
            break
    steps = fit.iterations, len(peer.loss_history_)
    return Compared(ours, theirs, steps, fit.log_likelihood, apart, digits)


def _compare(seed: int, n_items: int, n_raters: int) -> tuple[float, float]:
    """Print a line, and give the ratios of crowd-kit's CPU time to that of both models."""
    table = crowd(seed, n_items, n_raters)
    compared = to_same_likelihood(table)
    tap = time_tap(table)
    steps, seconds = (
        f"{compared.steps[0]}, {compared.steps[1]}",
        f"{compared.ours:.2f}, {compared.theirs:.1f}",
    )
    ratios = compared.theirs / compared.ours, compared.theirs / tap
    print(
        f"{n_items:>6}{n_raters:>7}{seed:>5}{compared.log_likelihood:>16.6f}{f'1e-{compared.digits}':>11}"
        f"{compared.apart:>9.0e}{steps:>12}{seconds:>14}{ratios[0]:>7.0f}{tap:>13.2f}{ratios[1]:>7.0f}"
    )
    return ratios


def time_tap(table: pd.DataFrame) -> float:
    """Give the CPU seconds of a fit of t-a-p, the table in memory."""
    return _timed(lambda: fit_latent_class(_read(table), "tap"))[0]


def crowd(seed: int, n_items: int, n_raters: int) -> pd.DataFrame:
    """Give 5 ratings of each item by random raters, 4 categories, a row per rating."""
    rng = np.random.default_rng(seed)
    per_item, k = 5, 4
    truth = rng.integers(0, k, n_items)
    accuracy = rng.uniform(0.4, 0.9, n_raters)
    rater = rng.random((n_items, n_raters)).argsort(axis=1)[:, :per_item]
    right = rng.random(rater.shape) < accuracy[rater]
    wrong = (truth[:, None] + rng.integers(1, k, rater.shape)) % k
    rating = np.where(right, truth[:, None], wrong)
    item = np.repeat(np.arange(n_items), per_item)
    return pd.DataFrame({"task": item, "worker": rater.ravel(), "label": rating.ravel()})


def _log_likelihood_of(peer: Any, table: pd.DataFrame) -> float:
    """Compute the log-likelihood of crowd-kit's parameters."""
    ratings = _read(table)
    classes = list(ratings.categories)
    errors = peer.errors_.unstack("label").reindex(
        columns=pd.MultiIndex.from_product([classes] * 2)
    )
    by_rater = errors.loc[[int(rater) for rater in ratings.raters]].fillna(0.0).to_numpy()
    fit = LatentClasses(
        base_rates=peer.priors_.loc[classes].to_numpy(),
        confusion=by_rater.reshape(ratings.n_raters, len(classes), len(classes)),
    )
    patterns, _ = tabulate(ratings)
    return float(patterns.weights @ expect(patterns, fit)[1])


def _read(table: pd.DataFrame) -> Ratings:
    return Ratings.from_long(table, item="task", rater="worker", rating="label")


def _ours(table: pd.DataFrame) -> Any:
    return fit_latent_class(_read(table))


def _theirs(table: pd.DataFrame, n_iter: int = 100_000, tolerance: float = 0.0) -> Any:
    from crowdkit.aggregation import DawidSkene

    return DawidSkene(n_iter=n_iter, tol=tolerance).fit(table)


def _ratio_of_steps(table: pd.DataFrame) -> float:
    """Compare as many steps of EM; crowd-kit's include its start, a small part."""
    patterns, _ = tabulate(_read(table))
    start, model = vote_start(patterns), LATENT_CLASS_MODELS["dawid_skene"]
    ratios = []
    for _ in range(N_DATA):
        ours, fit = _timed(
            lambda: fit_patterns(patterns, start, model, tolerance=0, max_iterations=N_STEPS)
        )
        theirs, peer = _timed(lambda: _theirs(table, n_iter=N_STEPS))
        ratios.append((theirs / len(peer.loss_history_)) / (ours / fit.iterations))
    return statistics.median(ratios)


def _timed[T](work: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
