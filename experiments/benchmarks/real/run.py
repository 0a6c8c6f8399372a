"""Fits of the benchmark: one method on the data that one system, of one crowd, is dealt."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from experiments.benchmarks.real.protocol import (
    MOST_SYSTEMS,
    choose_systems,
    deal,
    place_of,
    seed_of,
)
from experiments.benchmarks.real.sources import SOURCES, Source, read_crowd
from experiments.simulations.methods import estimate_as_in_studies
from experiments.study.cells import Cell, Row, result_row
from lehner import Estimate, InputError, IntervalEstimate, Ratings, probabilities_right
from lehner.known_truths.correction import own_variance


@dataclass(frozen=True, kw_only=True)
class Task:
    """A fit: one method on one data set.

    Parameters
    ----------
    crowd : str
    system : str
        The worker who is the system.
    per_item : {"3", "5", "all"}
        Ratings of each item.
    method : str
    seed : int
        Of the benchmark.
    """

    crowd: str
    system: str
    per_item: str
    method: str
    seed: int

    @property
    def name(self) -> str:
        """Crowd, ratings of an item, method and system."""
        return f"{self.crowd} {self.per_item} {self.method} {self.system}"

    def dealt(self, folder: Path) -> Ratings | None:
        """Deal the data, with truth: the same for every method."""
        crowd = crowd_of(self.crowd, folder)
        key = (self.crowd, self.system)
        return deal(crowd, self.system, self.per_item, seed_of(self.seed, *key))

    def cell(self, folder: Path) -> Cell:
        """Cell in which the data are dealt and fitted."""
        return Cell(
            name=self.name,
            place=place_of(self.crowd, self.system, self.per_item, self.method),
            values=asdict(self),
            simulate=partial(_fit, self, folder),
        )


@cache
def crowd_of(name: str, folder: Path) -> Ratings:
    """Read a crowd, once."""
    return read_crowd(SOURCES[name], folder)


def list_tasks(
    sources: Sequence[Source],
    folder: Path,
    per_item: Sequence[str],
    methods: Sequence[str],
    seed: int,
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
    seed : int
    most_systems : int
        Of a crowd: the first of those whom `choose_systems` gives.

    Returns
    -------
    list of Task
    """
    return [
        Task(crowd=source.name, system=system, per_item=number, method=method, seed=seed)
        for source in sources
        for system in choose_systems(crowd_of(source.name, folder))[:most_systems]
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
        "systems": len(choose_systems(crowd)),
    }


def _fit(task: Task, folder: Path, seed: np.random.SeedSequence) -> Iterator[Row]:
    dealt = task.dealt(folder)
    if dealt is None:
        return
    ratings, start = dealt.with_truth(None), time.process_time()
    row: Row = {name: getattr(ratings, name) for name in ("n_items", "n_raters", "n_categories")}
    try:
        estimate = estimate_as_in_studies(task.method, ratings, int(seed.generate_state(1)[0]))
        found, variance = estimate.system_accuracy_in_sample, own_variance(estimate)
        right, said = _probabilities_right(ratings, estimate), list(map(str, estimate.warnings))
    except InputError as error:
        found, variance, right, said = IntervalEstimate(estimate=None), 0.0, None, [str(error)]
    row |= {"seconds": time.process_time() - start, "warnings": "\n".join(said)}
    truth = float(np.mean(dealt.system == dealt.truth))
    yield result_row(truth, found, right=right, variance=variance, **row)


def _probabilities_right(ratings: Ratings, estimate: Estimate) -> list[float] | None:
    """Probability by the method, for each item, that the system is right."""
    if estimate.truth_probabilities is None or estimate.system_accuracy.estimate is None:
        return None
    return list(map(float, probabilities_right(ratings, estimate)))
