"""Fits of the benchmark, each kept in a file of its own as soon as it is done."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from bayes_models.methods import fit_as_in_studies
from experiments.benchmarks.real.maximum_likelihood import find_method
from experiments.benchmarks.real.protocol import (
    MOST_SYSTEMS,
    Dealt,
    choose_systems,
    deal,
    seed_of,
)
from experiments.benchmarks.real.sources import SOURCES, Source, read_crowd
from experiments.reporting.files import write_text
from experiments.study.identity import digest
from experiments.study.parts import keep_parts, missing_parts
from lehner import Estimate, InputError, Ratings, probabilities_right
from lehner.known_truths.correction import own_variance
from lehner.latent_class.models import MODELS

LEVEL = 0.9

type Part = dict[str, Any]


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

    def path(self, output: Path) -> Path:
        """Give the file of the result."""
        return output / "parts" / f"{self.crowd}_{self.per_item}_{self.method}_{self.id}.json"

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits that stand for the task."""
        return digest(asdict(self))

    def dealt(self, folder: Path) -> Dealt | None:
        """Deal the data: the same for every method."""
        crowd = crowd_of(self.crowd, folder)
        key = (self.crowd, self.system)
        return deal(crowd, self.system, self.per_item, seed_of(self.seed, *key))


@cache
def crowd_of(name: str, folder: Path) -> Ratings:
    """Read a crowd, once."""
    return read_crowd(SOURCES[name], folder)


def list_tasks(
    sources: Sequence[Source],
    folder: Path,
    output: Path,
    per_item: Sequence[str],
    methods: Sequence[str],
    seed: int,
    most_systems: int = MOST_SYSTEMS,
) -> Iterator[Task]:
    """Give all tasks, crowd by crowd, and keep the size of each crowd.

    Parameters
    ----------
    sources : sequence of Source
    folder : Path
        With the files.
    output : Path
        Where results are kept.
    per_item : sequence of {"3", "5", "all"}
    methods : sequence of str
    seed : int
    most_systems : int
        Of a crowd: the first of those whom `choose_systems` gives.

    Yields
    ------
    Task
    """
    for source in sources:
        systems = choose_systems(crowd_of(source.name, folder))
        _keep_size(source.name, crowd_of(source.name, folder), len(systems), output)
        for system in systems[:most_systems]:
            for number in per_item:
                for method in methods:
                    yield Task(
                        crowd=source.name,
                        system=system,
                        per_item=number,
                        method=method,
                        seed=seed,
                    )


def run_tasks(tasks: Sequence[Task], folder: Path, output: Path, workers: int = 1) -> Iterator[int]:
    """Do the tasks that have no result yet.

    Parameters
    ----------
    tasks : sequence of Task
    folder : Path
        With the files.
    output : Path
        Where results are kept.
    workers : int
        Processes at work.

    Yields
    ------
    int
        How many are still to be done.
    """
    missing = missing_parts({task.path(output): partial(_part, task, folder) for task in tasks})
    yield len(missing)
    kept = keep_parts(missing, workers=workers, modules=["bayes_models"])
    for done, _ in enumerate(kept, start=1):
        yield len(missing) - done


def _keep_size(name: str, crowd: Ratings, systems: int, output: Path) -> None:
    """Keep how large a crowd is, for the tables."""
    path = output / "crowds" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    size = {
        "items": crowd.n_items,
        "with_truth": int((np.asarray(crowd.truth) >= 0).sum()),
        "raters": crowd.n_raters,
        "ratings": crowd.n_ratings,
        "categories": crowd.n_categories,
        "systems": systems,
    }
    write_text(json.dumps(size), path)


def _part(task: Task, folder: Path) -> str:
    dealt = task.dealt(folder)
    part = {"n_items": 0} if dealt is None else _fit(task, dealt)
    return json.dumps(asdict(task) | part)


def _fit(task: Task, dealt: Dealt) -> Part:
    ratings = dealt.ratings
    state = seed_of(task.seed, task.crowd, task.system, task.per_item, task.method)
    start = time.process_time()
    part = {
        "n_items": ratings.n_items,
        "n_raters": ratings.n_raters,
        "n_categories": ratings.n_categories,
        "truth": float(dealt.right.mean()),
        "estimate": None,
        "lower": None,
        "upper": None,
        "right": None,
        "variance": 0.0,
    }
    try:
        estimate = _estimate(task.method, ratings, int(state.generate_state(1)[0]))
    except InputError as error:
        return part | {"warnings": [str(error)], "seconds": time.process_time() - start}
    accuracy = estimate.system_accuracy_in_sample
    return part | {
        "estimate": accuracy.estimate,
        "lower": accuracy.lower,
        "upper": accuracy.upper,
        "right": _probabilities_right(ratings, estimate),
        "variance": own_variance(estimate),
        "warnings": list(map(str, estimate.warnings)),
        "seconds": time.process_time() - start,
    }


def _estimate(method: str, ratings: Ratings, seed: int) -> Estimate:
    """Estimate as the command does; models are fitted as in studies, with fewer draws."""
    if method not in MODELS:
        return find_method(method).estimate(ratings, level=LEVEL, seed=seed)
    import bayes_models

    engine = "gibbs" if bayes_models.find_model(method).conjugate else "nuts"
    tree = fit_as_in_studies(method, ratings, seed, engine=engine)
    return bayes_models.estimate_from_draws(tree, level=LEVEL)


def _probabilities_right(ratings: Ratings, estimate: Estimate) -> list[float] | None:
    """Give for each item how probable the method holds it that the system is right."""
    if estimate.truth_probabilities is None or estimate.system_accuracy.estimate is None:
        return None
    right: list[float] = probabilities_right(ratings, estimate).tolist()
    return right
