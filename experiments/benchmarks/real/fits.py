"""Fits of the benchmark: one method on the data of one system of one crowd, and gold labels.

The gold labels that correct an estimate are drawn at random among the items of a fit.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.benchmarks.real.sources import SOURCES, Source, read_crowd
from experiments.simulations.methods import LEVEL, estimate_as_in_studies
from experiments.study.cells import Cell, Row, result_row
from lehner import (
    Estimate,
    InputError,
    IntervalEstimate,
    Ratings,
    correct_by_truth,
    probabilities_right,
)
from lehner.core.seeds import place_of, seed_of
from lehner.empirical_prior.designs import DESIGNS, MOST_SYSTEMS, Panel, choose_panels, draw_design
from lehner.estimation.methods import find_method
from lehner.known_truths.correction import own_variance

NUMBERS_KNOWN = (10, 20, 50, 100)
MOST_KNOWN = 0.5
ALONE = "known_items_alone"
BY_PPI = "ppi_"
SHARED = ("crowd", "design", "system", "per_item", "seed", "n_items", "truth")
"""What a fit's corrections have in common with it."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A fit: one method on one data set.

    Parameters
    ----------
    crowd : str
    design : {"like", "better", "worse"}
        How the system compares with its raters.
    system : str
        The worker who is the system.
    per_item : {"3", "5", "all"}
        Ratings of each item.
    method : str
        Its label in results, see `method_labels`.
    seed : int
        Of the benchmark.
    """

    crowd: str
    design: str
    system: str
    per_item: str
    method: str
    seed: int

    @property
    def name(self) -> str:
        """Crowd, design, ratings of an item, method and system."""
        return f"{self.crowd} {self.design} {self.per_item} {self.method} {self.system}"

    def drawn(self, folder: Path) -> Ratings | None:
        """Draw the data, with truth: the same for every method."""
        panel = panels_of(self.crowd, self.design, folder)[self.system]
        return draw_design(panel, self.per_item, seed_of(self.seed, self.crowd, self.system))

    def cell(self, folder: Path, method: str) -> Cell:
        """Cell in which the data are drawn and fitted, by a method as a user names it."""
        return Cell(
            name=self.name,
            place=place_of(self.crowd, self.system, self.per_item, self.method),
            values=asdict(self),
            simulate=partial(_fit, self, folder, method),
        )


@cache
def crowd_of(name: str, folder: Path) -> Ratings:
    """Read a crowd, once."""
    return read_crowd(SOURCES[name], folder)


@cache
def panels_of(name: str, how: str, folder: Path) -> dict[str, Panel]:
    """Choose the systems of a crowd and their raters, once."""
    return {panel.system: panel for panel in choose_panels(crowd_of(name, folder), how)}


def method_labels(methods: Sequence[str]) -> dict[str, str]:
    """Label methods, as a user names them, for results.

    Parameters
    ----------
    methods : sequence of str
        Names, and functions as "file.py:function".

    Returns
    -------
    dict of str to str
        A method by its label: its name, with a hash of the file if it is a user's function, so that
        results of another version are those of another method.

    Raises
    ------
    InputError
        If there is no such method, or if it is `calibrated`.
    """
    labels = {}
    for text in methods:
        method = find_method(text)
        if method.name == "calibrated":
            raise InputError(
                "`calibrated` is trained on these crowds",
                "leave it out: majority_agreement brings its rows, trained on other families",
            )
        labels[f"{method.name}@{method.source_hash[:8]}".rstrip("@")] = text
    return labels


def list_tasks(
    sources: Sequence[Source],
    folder: Path,
    per_item: Sequence[str],
    methods: Sequence[str],
    seed: int,
    designs: Sequence[str] = DESIGNS,
    most_systems: int = MOST_SYSTEMS,
) -> list[Task]:
    """List all tasks, crowd by crowd.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path
        With the files.
    per_item : sequence of {"3", "5", "all"}
    methods : sequence of str
        Their labels.
    seed : int
    designs : sequence of {"like", "better", "worse"}
    most_systems : int
        Of a crowd in a design: the first of those whom `choose_panels` gives.

    Returns
    -------
    list of Task
    """
    return [
        Task(
            crowd=source.name, design=how, system=system, per_item=number, method=method, seed=seed
        )
        for source in sources
        for how in designs
        for system in list(panels_of(source.name, how, folder))[:most_systems]
        for number in per_item
        for method in methods
    ]


def size_cell(name: str, folder: Path) -> Cell:
    """Cell of how large a crowd is."""
    return Cell(name=name, place=(), values={"crowd": name}, simulate=partial(_size, name, folder))


def _size(name: str, folder: Path, _: np.random.SeedSequence) -> Iterator[Row]:
    crowd = crowd_of(name, folder)
    yield {
        "items": crowd.n_items,
        "with truth": int((np.asarray(crowd.truth) >= 0).sum()),
        "raters": crowd.n_raters,
        "ratings": crowd.n_ratings,
        "categories": crowd.n_categories,
        **{f"systems, {how}": len(panels_of(name, how, folder)) for how in DESIGNS},
    }


def _fit(task: Task, folder: Path, method: str, seed: np.random.SeedSequence) -> Iterator[Row]:
    drawn = task.drawn(folder)
    if drawn is None:
        return
    ratings, start = drawn.with_truth(None), time.process_time()
    row: Row = {name: getattr(ratings, name) for name in ("n_items", "n_raters", "n_categories")}
    try:
        estimate = estimate_as_in_studies(method, ratings, int(seed.generate_state(1)[0]))
        in_sample, variance = estimate.system_accuracy_in_sample, own_variance(estimate)
        right, messages = _probabilities_right(ratings, estimate), list(map(str, estimate.warnings))
    except InputError as error:
        in_sample, variance = IntervalEstimate(estimate=None), 0.0
        right, messages = None, [str(error)]
    row |= {"seconds": time.process_time() - start, "warnings": "\n".join(messages)}
    truth = float(np.mean(drawn.system == drawn.truth))
    yield result_row(truth, in_sample, right=right, variance=variance, **row)


def _probabilities_right(ratings: Ratings, estimate: Estimate) -> list[float] | None:
    """Probability by the method, for each item, that the system is right."""
    if estimate.truth_probabilities is None or estimate.system_accuracy.estimate is None:
        return None
    return list(map(float, probabilities_right(ratings, estimate)))


def correction_cells(fits: pd.DataFrame, folder: Path, draws: int) -> list[Cell]:
    """Cells in which fits are corrected.

    Parameters
    ----------
    fits : pandas.DataFrame
        As read from the cells of tasks.
    folder : Path
        With the files.
    draws : int
        How often labelled items are drawn for each fit.

    Returns
    -------
    list of Cell
    """
    if fits.empty:
        return []
    cells = []
    for fit in fits[fits["right"].notna()].to_dict("records"):
        task = Task(**{field.name: fit[field.name] for field in fields(Task)})
        cell = Cell(
            name=f"{task.name} {draws}",
            place=(),
            values={name: fit[name] for name in SHARED},
            simulate=partial(_correct, task, folder, fit["right"], fit["variance"], draws),
        )
        cells.append(cell)
    return cells


def _correct(
    task: Task,
    folder: Path,
    right: Sequence[float],
    variance: float,
    draws: int,
    _: np.random.SeedSequence,
) -> Iterator[Row]:
    drawn = task.drawn(folder)
    assert drawn is not None
    return corrected_rows(task, drawn, right, variance, draws)


def corrected_rows(
    task: Task, drawn: Ratings, right: Sequence[float], variance: float, draws: int
) -> Iterator[Row]:
    """Correct one fit by 10, 20, 50 and 100 gold labels, at most half of the items.

    Parameters
    ----------
    task : Task
        Its method plays no part in which items are known.
    drawn : Ratings
        With truth.
    right : sequence of float, length n_items
        Probability by the method that the system is right.
    variance : float
        With which the method states their mean.
    draws : int

    Yields
    ------
    dict
        `known`, `draw`, `method`, `estimate`, `lower`, `upper`: the method corrected, by PPI++, and
        without it, by the labelled items alone.
    """
    n, key = drawn.n_items, (task.crowd, task.system, task.per_item)
    numbers = [known for known in NUMBERS_KNOWN if known <= MOST_KNOWN * n]
    for known, draw in product(numbers, range(draws)):
        rng = np.random.default_rng(seed_of(task.seed, *key, str(known), str(draw)))
        labelled = np.isin(np.arange(n), rng.choice(n, known, replace=False))
        ratings = drawn.with_truth(np.where(labelled, np.asarray(drawn.truth), -1))
        correction = correct_by_truth(ratings, right, variance=variance, level=LEVEL)
        for method, estimate in (
            (task.method, correction.system_accuracy_in_sample),
            (BY_PPI + task.method, correction.prediction_powered),
            (ALONE, correction.known_items_alone),
        ):
            ends = {"estimate": estimate.estimate, "lower": estimate.lower, "upper": estimate.upper}
            yield {"known": known, "draw": draw, "method": method} | ends


def known_folder(output: Path, draws: int) -> Path:
    """Folder of the corrected estimates."""
    return output / f"known_{draws}"
