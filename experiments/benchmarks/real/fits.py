"""The experiment of the study `real`: a method estimates each system of a crowd, without its truth.

The estimates are then corrected by gold labels, drawn at random among the items. All that is drawn
has a seed of its own, so that every method sees the same data, and a crowd that is added changes no
other.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lehner
from experiments.benchmarks.real import sources
from experiments.benchmarks.real.sources import SOURCES, read_crowd, read_outcomes
from lehner import Estimate, InputError, IntervalEstimate, Ratings
from lehner.core.arrays import derive_seed
from lehner.core.errors import find
from lehner.empirical_prior.designs import (
    MOST_SYSTEMS,
    Panel,
    choose_pairs,
    choose_panels,
    draw_design,
)
from lehner.empirical_prior.prior import format_priors, train_priors
from lehner.estimation.methods import find_method
from lehner.known_truths.correction import find_variance
from lehner.report.files import write_text
from lehner.study.performance import Row, make_result_row, measure_wide

LEVEL, SEED = 0.9, 1
NUMBERS_OF_LABELS = (10, 20, 50, 100)
MOST_LABELLED = 0.5
PAIR_MEASURES = ("bias", "rmse", "coverage", "interval_width")
ALONE = "known_items_alone"
BY_PPI = "ppi_"


def estimate_systems(
    seed: int,
    folder: str,
    crowd: str,
    design: str,
    per_item: str,
    method: str,
    draws: int = 2,
    systems: int = MOST_SYSTEMS,
) -> Iterator[Row]:
    """Estimate the accuracy of each system of a crowd, and correct it by gold labels.

    Parameters
    ----------
    seed : int
        Not used: see above.
    folder : str
        With a folder for each repository; a relative path starts from the working directory.
    crowd : str
        One of `sources.toml`.
    design : {"like", "better", "worse"}
        How the system compares with its raters.
    per_item : {"3", "5", "all"}
        Ratings per item.
    method : str
        A name, or a function as "file.py:function".
    draws : int
        How often labelled items are drawn for each number of them.
    systems : int
        The most of a crowd.

    Yields
    ------
    dict
        For each system, number of gold labels (`known`, 0 without), draw and method the estimate
        beside the `truth`.

    Raises
    ------
    InputError
        If a file or the method is not there, or the method is `learned_prior`.
    """
    registered = find_method(method)
    if registered.name == "learned_prior":
        raise InputError(
            "`learned_prior` is trained on these crowds",
            "leave it out: majority_agreement brings its rows, trained on other families",
        )
    label = f"{registered.name}@{registered.source_hash[:8]}".rstrip("@")
    for panel in list_panels(crowd, design, Path(folder))[:systems]:
        drawn = draw_design(panel, per_item, derive_seed(SEED, crowd, panel.system))
        if drawn is None:
            continue
        key = (crowd, panel.system, per_item)
        fit_seed = derive_seed(SEED, *key, label)
        start = time.process_time()
        estimate, messages = _estimate(method, drawn.with_truth(None), fit_seed)
        row: Row = {"system": panel.system, "n_items": drawn.n_items}
        row |= {"n_categories": drawn.n_categories, "seconds": time.process_time() - start}
        truth = float(np.mean(drawn.system == drawn.truth))
        in_sample = IntervalEstimate(estimate=None)
        if estimate is not None:
            in_sample = estimate.system_accuracy_in_sample
        yield make_result_row(
            truth, in_sample, **row, method=label, known=0, draw=0, warnings=messages
        )
        if estimate is None or estimate.truth_probabilities is None or in_sample.estimate is None:
            continue
        right = lehner.predict_correctness(drawn.with_truth(None), estimate)
        for corrected in correct_fit(
            drawn, right, find_variance(estimate.system_accuracy_in_sample), label, key, draws
        ):
            yield row | {"truth": truth} | corrected


@cache
def list_panels(name: str, design: str, folder: Path) -> list[Panel]:
    """List the systems of a crowd with their raters, once for all methods."""
    return choose_panels(_read_crowd(name, folder), design)


@cache
def _read_crowd(name: str, folder: Path) -> Ratings:
    return read_crowd(find("crowd", name, SOURCES), folder)


def _estimate(
    method: str, ratings: Ratings, seed: np.random.SeedSequence
) -> tuple[Estimate | None, str]:
    """Estimate with 90% intervals, which models by maximum likelihood need too many fits for."""
    registered = find_method(method)
    options: dict[str, Any] = {"level": LEVEL, "seed": int(seed.generate_state(1)[0])}
    if "restarts" in registered.takes:
        options |= {"interval": None, "restarts": 0}
    if "in_study" in registered.takes:
        options["in_study"] = True
    try:
        estimate = registered.fit(ratings, **options)
    except InputError as error:
        return None, str(error)
    return estimate, "\n".join(map(str, estimate.warnings))


def correct_fit(
    drawn: Ratings,
    right: Sequence[float] | np.ndarray,
    variance: float,
    method: str,
    key: tuple[str, ...],
    draws: int,
) -> Iterator[Row]:
    """Correct an estimate by 10, 20, 50 and 100 gold labels, at most half of the items.

    Parameters
    ----------
    drawn : Ratings
        With truth.
    right : array_like, shape (n_items,)
        Probability by the method that the system is right.
    variance : float
        With which the method states their mean.
    method : str
        Which plays no part in which items are labelled.
    key : tuple of str
        Crowd, system and ratings per item, by which labelled items are drawn.
    draws : int

    Yields
    ------
    dict
        `known`, `draw`, `method`, `estimate`, `lower`, `upper`: the method corrected, by PPI++, and
        without it, by the labelled items alone.
    """
    n = drawn.n_items
    numbers = [number for number in NUMBERS_OF_LABELS if number <= MOST_LABELLED * n]
    for number, draw in product(numbers, range(draws)):
        rng = np.random.default_rng(derive_seed(SEED, *key, str(number), str(draw)))
        labelled = np.isin(np.arange(n), rng.choice(n, number, replace=False))
        ratings = drawn.with_truth(np.where(labelled, np.asarray(drawn.truth), -1))
        correction = lehner.correct_accuracy(ratings, right, variance=variance, level=LEVEL)
        for name, estimate in (
            (method, correction.system_accuracy_in_sample),
            (BY_PPI + method, correction.prediction_powered),
            (ALONE, correction.known_items_alone),
        ):
            ends = {"estimate": estimate.estimate, "lower": estimate.lower, "upper": estimate.upper}
            yield {"known": number, "draw": draw, "method": name} | ends


def compare_systems(
    seed: int, folder: str, crowd: str, design: str, method: str, pairs: int = 6
) -> Iterator[Row]:
    """Say which of two systems is better: pairs of workers of a crowd, by three ratings per item.

    Parameters
    ----------
    seed : int
        Not used: see above.
    folder, crowd, method
        As of `estimate_systems`; `learned_prior` is trained without the family of the crowd.
    design : {"like", "better"}
        How the systems compare with their raters.
    pairs : int
        The most of a crowd.

    Yields
    ------
    dict
        For each pair the difference of their accuracies in the sample, the first minus the second:
        its `truth`, `estimate`, `lower` and `upper`, and `probability`, that it is above zero.
    """
    family, given = SOURCES[crowd].family, lehner.Given()
    if method == "learned_prior":
        given = lehner.Given(priors=_train_without(family))
    for panel in choose_pairs(_read_crowd(crowd, Path(folder)), design)[:pairs]:
        seed_of_pair = derive_seed(sources.SEED, crowd, *panel.systems)
        drawn = draw_design(panel, "3", seed_of_pair)
        if drawn is None:
            continue
        results = lehner.estimate(
            drawn.with_truth(None),
            method,
            level=LEVEL,
            seed=SEED,
            given=given,
            questions=["systems"],
        )
        right = drawn.answers == np.asarray(drawn.truth)[:, None]
        truth = float((right @ [1, -1]).mean())
        row: Row = {"family": family, "pair": " − ".join(drawn.systems), "truth": truth}
        difference = results.select(quantity="system_accuracy_in_sample_difference").iloc[0]
        yield row | difference[["estimate", "lower", "upper", "probability"]].to_dict()


@cache
def _train_without(family: str) -> Path:
    """Train the priors of `learned_prior` on crowds of other families, into a temporary file."""
    outcomes = read_outcomes()
    priors = train_priors(outcomes[outcomes["family"] != family])
    return write_text(format_priors(priors), Path(tempfile.mkdtemp()) / "priors.json")


def tabulate_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Measure the differences, and how often the system with P(better) of .9 or more is better."""
    sure = (rows["probability"] - 0.5).abs() >= 0.4
    right = (rows["probability"] > 0.5) == (rows["truth"] > 0)
    by = ["design", "method"]
    named = rows.assign(sure=sure.astype(float), sure_and_right=right.where(sure).astype(float))
    shares = named.groupby(by)[["sure", "sure_and_right"]].mean()
    return measure_wide(rows, by, PAIR_MEASURES).join(shares).reset_index()
