"""Maximum likelihood for a crowd, against crowd-kit's DawidSkene.

Both start at each item's proportions of votes and go to the same optimum: for each data set
crowd-kit has the loosest tolerance, a power of ten, that brings its log-likelihood to within 1e-6
of ours. Everything from a table of ratings in memory to labelled estimates counts. `tap` is another
model and has no peer: its ratio is to the same run of crowd-kit.
"""

import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from experiments.benchmarks.bar import Bar, cpu_seconds
from lehner import Ratings, fit_latent_class
from lehner.latent_class.em import LatentClasses, expect
from lehner.latent_class.pattern_table import tabulate

N_DATA = 3
CROWDS = {(10_000, 100): 0.1, (20_000, 800): 1.0}
"""Items and raters, and what the ratio is to be at most."""
DIGITS = range(9, 13)
SAME = 1e-6


def measure() -> Iterator[Bar]:
    """Measure both models on crowds of 100 and 800 raters."""
    if find_spec("crowdkit") is None:
        print("crowd-kit is not installed: no row for it", file=sys.stderr)
        return
    for (n_items, n_raters), most in CROWDS.items():
        tables = [crowd(seed, n_items, n_raters) for seed in range(N_DATA)]
        rounds = [_to_same_likelihood(table) for table in tables]
        of_tap = [cpu_seconds(partial(_fit, table, "tap")) for table in tables]
        size, peer = f"{n_items:,} × {n_raters}", "crowd-kit's Dawid-Skene"
        yield Bar(name=f"fit_latent_class, {size}", peer=peer, rounds=rounds, most=most)
        against = [(tap, theirs) for tap, (_, theirs) in zip(of_tap, rounds, strict=True)]
        yield Bar(name=f"fit_latent_class, t-a-p, {size}", peer=peer, rounds=against, most=1.0)


def _to_same_likelihood(table: pd.DataFrame) -> tuple[float, float]:
    """Time both fits, crowd-kit's with the first tolerance that comes as far as ours."""
    from crowdkit.aggregation import DawidSkene

    ours = cpu_seconds(partial(_fit, table))
    reached = _fit(table).log_likelihood - SAME
    for digits in DIGITS:
        peer = DawidSkene(n_iter=100_000, tol=10.0**-digits)
        theirs = cpu_seconds(partial(peer.fit, table))
        if _log_likelihood_of(peer, table) > reached:
            break
    return ours, theirs


def crowd(seed: int, n_items: int, n_raters: int) -> pd.DataFrame:
    """5 ratings of each item by random raters, 4 categories, a row per rating."""
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
    """Log-likelihood of crowd-kit's parameters."""
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


def _fit(table: pd.DataFrame, model: str = "dawid_skene") -> Any:
    return fit_latent_class(_read(table), model)
