"""The experiment of the study `real`: a method estimates each system of a crowd, without its truth.

The estimates are then corrected by gold labels, drawn at random among the items. All that is drawn
has a seed of its own, so that every method sees the same data, and a crowd that is added changes no
other.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import lehner
from experiments.benchmarks.real import sources
from lehner import Estimate, InputError, Ratings
from lehner.core.arrays import derive_seed
from lehner.core.errors import find
from lehner.empirical_prior import designs
from lehner.empirical_prior.prior import format_priors, train_priors
from lehner.estimation.methods import find_method
from lehner.known_truths.correction import find_variance
from lehner.report.files import write_text
from lehner.study.performance import Row, make_result_row

LEVEL, SEED = 0.9, 1
NUMBERS_OF_LABELS = (10, 20, 50, 100)
MOST_LABELLED = 0.5
FEW_FITS = {"interval": None, "restarts": 0}
RATERS_ARE = ("models", "people")
HIDDEN = ", names hidden"
# What may be said of a system that is drawn so.
SAID_OF_SYSTEM = {
    "like": ("like", "unknown"),
    "better": ("better", "unknown"),
    "worse": ("unknown",),
}
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
    systems: int = designs.MOST_SYSTEMS,
    told: Sequence[str] = (),
    leave_out: str = "family",
    intervals: bool = False,
    labelled: bool = False,
    named: bool = True,
) -> Iterator[Row]:
    """Estimate the accuracy of each system of a crowd, and correct it by gold labels.

    Parameters
    ----------
    seed : int
        Not used: see above.
    folder : str
        With a folder for each repository; a relative path starts from the working directory.
    crowd : str
        One of `sources.toml` or `panels.toml`.
    design : {"like", "better", "worse"}
        How the system compares with its raters.
    per_item : str
        Ratings per item: a number, or "all".
    method : str
        A name, or a function as "file.py:function". `learned_prior` is trained on other crowds.
    draws : int
        How often labelled items are drawn for each number of them.
    systems : int
        The most of a crowd, spaced evenly among those that there are.
    told : sequence of str
        What `learned_prior` assumes of the system, or of the raters ("models", "people"), one after
        the other; by default what may be said of a system that is drawn so, among people.
    leave_out : {"family", "domain"}
        What `learned_prior` is trained without. For crowds of the exam it is the shipped one.
    intervals : bool
        Whether models by maximum likelihood have intervals, which take many fits.
    labelled : bool
        Whether the method itself uses gold labels, as `learned_prior` does; others are corrected.
    named : bool
        Whether raters have names, by which `learned_prior` knows language models.

    Yields
    ------
    dict
        For each system, number of gold labels (`known`, 0 without), draw and method the estimate
        beside the `truth`.

    Raises
    ------
    InputError
        If a file or the method is not there.
    """
    registered = find_method(method)
    label = f"{registered.name}@{registered.source_hash[:8]}".rstrip("@")
    options: dict[str, Any] = {label: {} if intervals else FEW_FITS}
    if label == "learned_prior":
        source = find("crowd", crowd, sources.EVERY)
        trained: dict[str, Any] = {} if told else {"raters_are": "people"}
        if not source.exam:
            trained["priors"] = _train(leave_out, getattr(source, leave_out))
        options = {}
        for name in told or SAID_OF_SYSTEM[design]:
            what = "raters_are" if name in RATERS_ARE else "system_is"
            options[f"{label}, {name}{'' if named else HIDDEN}"] = trained | {what: name}
    panels = list_panels(crowd, design, Path(folder))
    spaced = np.linspace(0, len(panels) - 1, min(systems, len(panels))).round().astype(int)
    for panel in (panels[i] for i in spaced):
        key = (crowd, panel.system, per_item)
        drawn = designs.draw_design(panel, per_item, derive_seed(SEED, crowd, panel.system))
        if drawn is None:
            continue
        if not named:
            drawn = drawn.replace(raters=tuple(f"rater {j + 1}" for j in range(drawn.n_raters)))
        row: Row = {"system": panel.system, "leave_out": leave_out, "n_items": drawn.n_items}
        row |= {"n_categories": drawn.n_categories}
        row["truth"] = float(np.mean(drawn.system == drawn.truth))
        data_sets = [(0, 0, drawn.with_truth(None))]
        if labelled or "truths" in registered.takes:
            data_sets += draw_labels(drawn, key, draws)
        for (name, taken), (known, draw, shown) in product(options.items(), data_sets):
            start = time.process_time()
            estimate, messages = _estimate(method, shown, derive_seed(SEED, *key, name), taken)
            in_sample = estimate.system_accuracy_in_sample
            row["seconds"] = time.process_time() - start
            yield make_result_row(
                value=in_sample, **row, method=name, known=known, draw=draw, warnings=messages
            )
            if in_sample.estimate is None or estimate.truth_probabilities is None:
                continue
            right = lehner.predict_correctness(shown, estimate)
            variance = find_variance(in_sample)
            for corrected in correct_fit(drawn, right, variance, name, key, draws):
                yield row | corrected


@cache
def list_panels(name: str, design: str, folder: Path) -> list[designs.Panel]:
    """List the systems of a crowd with their raters, once for all methods."""
    crowd = sources.read_crowd(find("crowd", name, sources.EVERY), folder)
    return designs.choose_panels(crowd, design)


def _estimate(
    method: str, ratings: Ratings, seed: np.random.SeedSequence, taken: Mapping[str, Any]
) -> tuple[Estimate, str]:
    """Estimate with intervals of 90%, and with those of the options that the method takes."""
    registered = find_method(method)
    options: dict[str, Any] = {"level": LEVEL, "seed": int(seed.generate_state(1)[0])}
    every = {"in_study": True, **taken}
    options |= {name: value for name, value in every.items() if name in registered.takes}
    try:
        estimate = registered.fit(ratings, **options)
    except InputError as error:
        return Estimate(method=registered.name, system=ratings.systems[0]), str(error)
    return estimate, "\n".join(map(str, estimate.warnings))


def draw_labels(
    drawn: Ratings, key: tuple[str, ...], draws: int
) -> Iterator[tuple[int, int, Ratings]]:
    """Yield the numbers of gold labels, at most half of the items, the draws, and the ratings.

    Parameters
    ----------
    drawn : Ratings
        With truth.
    key : tuple of str
        Crowd, system and ratings per item, by which labelled items are drawn.
    draws : int
    """
    n = drawn.n_items
    numbers = [number for number in NUMBERS_OF_LABELS if number <= MOST_LABELLED * n]
    for number, draw in product(numbers, range(draws)):
        rng = np.random.default_rng(derive_seed(SEED, *key, str(number), str(draw)))
        labelled = np.isin(np.arange(n), rng.choice(n, number, replace=False))
        yield number, draw, drawn.with_truth(np.where(labelled, np.asarray(drawn.truth), -1))


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
    key, draws
        As of `draw_labels`.

    Yields
    ------
    dict
        `known`, `draw`, `method`, `estimate`, `lower`, `upper`: the method corrected, by PPI++, and
        without it, by the labelled items alone.
    """
    for known, draw, ratings in draw_labels(drawn, key, draws):
        correction = lehner.correct_accuracy(ratings, right, variance=variance, level=LEVEL)
        for name, estimate in (
            (method, correction.system_accuracy_in_sample),
            (BY_PPI + method, correction.prediction_powered),
            (ALONE, correction.known_items_alone),
        ):
            ends = {"estimate": estimate.estimate, "lower": estimate.lower, "upper": estimate.upper}
            yield {"known": known, "draw": draw, "method": name} | ends


@cache
def _train(leave_out: str, name: str) -> Path:
    groups = {crowd: getattr(source, leave_out) for crowd, source in sources.EVERY.items()}
    priors = {}
    for raters_are, path in (("people", sources.OUTCOMES), ("models", sources.PANEL_OUTCOMES)):
        outcomes = sources.read_outcomes(path)
        kept = outcomes[outcomes["crowd"].map(groups) != name]
        # No models are left where all of their domain are left out.
        if len(kept):
            priors[raters_are] = train_priors(kept, raters_are)
    return write_text(format_priors(priors), Path(tempfile.mkdtemp()) / "priors.json")
