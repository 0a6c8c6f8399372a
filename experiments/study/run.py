"""Run a study: what is not finished, on as many processors or machines as there are."""

import logging
import math
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.reporting.files import write_csv
from experiments.study.cells import Cell, run_cells
from experiments.study.definition import Study, find_study, read_study
from experiments.study.identity import data_seed, scenario_id
from experiments.study.replicate import Task, check_code, simulate_ratings, task_size
from experiments.study.store import (
    finished_rows,
    forget_failed,
    open_store,
    read_results,
    stored_study,
)
from experiments.study.user_code import CELLS
from lehner import InputError
from lehner.core.errors import check_whole_number, find
from lehner.core.lazy import pd
from lehner.core.text import counted

logger = logging.getLogger(__name__)
PILOT = 100
OF_A_METHOD = ("scenario_id", "method_id")
EVERY = 5.0
"""Seconds between two messages."""


def run_study(
    study: str | Path,
    output: str | Path | None = None,
    *,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
) -> "pd.DataFrame":
    """Run a study, or what is missing of it.

    Every method sees the same simulated data. What is finished is kept in `output` at once. If a
    run is stopped in any way, the next one goes on where it was, and the numbers are the same for
    any number of workers. A method that fails leaves a row with the reason. What is cut short by an
    interrupt, or by a lack of memory or disk space, is no result, and is done again by the next
    run; so is what was damaged.

    Parameters
    ----------
    study : str or Path
        A study file, or the name of one that is shipped.
    output : str or Path, optional
        Folder for the results. Default: the name of the study file, in the working directory.
    workers : int
        Number of processes at work, 1 or more.
    dask : str, optional
        Address of a Dask scheduler, as in "tcp://host:8786", or "local".
    retry_failed : bool
        Whether methods that failed are tried again.

    Returns
    -------
    pandas.DataFrame
        As `read_results` gives it.

    Raises
    ------
    InputError
        If the file is not a study, the folder holds something else, or the machine lacks what a
        method needs.
    KeyboardInterrupt
        If it was interrupted.

    Examples
    --------
    Two methods on ten samples, without a model that must be compiled:

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "small.toml").write_text('''
    ... name = "small"
    ... seed = 1
    ... replicates = 10
    ... methods = ["majority_agreement", "algebraic"]
    ... [[scenarios]]
    ... name = "raters .6"
    ... ''')
    >>> results = run_study(folder / "small.toml", folder / "results")
    >>> results.groupby("method")["estimate"].mean().round(2).to_dict()
    {'algebraic': 0.88, 'majority_agreement': 0.64}
    >>> again = run_study(folder / "small.toml", folder / "results")  # all is there
    >>> again.equals(results)
    True
    """
    check_whole_number("workers", workers, 1)
    path = find_study(study)
    plan = read_study(path)
    check_code(plan)
    with open_store(path.stem if output is None else output, plan, path) as folder:
        if retry_failed:
            forget_failed(folder)
        for goal in _goals(folder, plan):
            tasks = _missing(folder, plan, goal)
            progress = _Progress(plan, tasks, sum(goal.values()), None if dask else workers)
            cells = [task.cell() for task in tasks]
            for _ in run_cells(
                cells, folder / CELLS, plan.seed, workers=workers, dask=dask, took=progress.add
            ):
                pass
    return read_results(folder)


class _Progress:
    """Log how much of a run is done, and how long the rest takes by what was measured of it."""

    def __init__(self, study: Study, tasks: list[Task], of: int, workers: int | None = 1) -> None:
        self.study, self.workers = study, workers
        self.left = {task.cell().name: task for task in tasks}
        self.of = of * max(len(study.methods), 1)
        self.seconds: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        self.computed = 0.0
        self.start = self.last = time.monotonic()
        if tasks:
            sizes = [(len(study.cells), "scenario"), (len(study.methods), "method")]
            shape = ", ".join(counted(n, name) for n, name in sizes if n)
            to_do = f"{self._number_left():,} of {self.of:,} results to compute"
            logger.info("%s: %s; %s", study.name, shape, to_do)

    def add(self, cell: Cell, seconds: float) -> None:
        """Take in that a task is done."""
        task = self.left.pop(cell.name)
        self.seconds[tuple(task.methods)].append(seconds / len(task.replicates))
        self.computed += seconds
        now = time.monotonic()
        if now - self.last >= EVERY and self.left:
            self.last = now
            share = 1 - self._number_left() / self.of
            rest = self._time_left(now - self.start)
            logger.info("%s: %.0f%% done, %s", self.study.name, 100 * share, rest)

    def _number_left(self) -> int:
        return sum(len(one.replicates) * max(len(one.methods), 1) for one in self.left.values())

    def _time_left(self, elapsed: float) -> str:
        """Say how long the rest takes, once each group of methods was measured."""
        if any(tuple(task.methods) not in self.seconds for task in self.left.values()):
            return "time left not known yet"
        # The first tasks take longer, since they load and compile.
        rest = sum(
            len(task.replicates) * float(np.median(self.seconds[tuple(task.methods)]))
            for task in self.left.values()
        )
        at_once = self.workers or self.computed / elapsed
        return f"{duration(rest / at_once)} left"


def duration(seconds: float) -> str:
    """Write a duration in the unit in which it is read easily."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{math.ceil(seconds)} s"


def draw(
    study: str | Path, scenario: str, replicate: int, output: str | Path | None = None
) -> Path:
    """Draw the data of a replicate again, as CSV.

    Parameters
    ----------
    study : str or Path
        A study file, a folder of results, or the name of a study that is shipped.
    scenario : str
        Its name in the study.
    replicate : int
        Its number, from 0.
    output : str or Path, optional
        The file; by default named by study, scenario and replicate, in the working directory.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "data.csv"
    >>> scenario = "raters about .6, initial_system_accuracy 0.5"
    >>> draw("quick", scenario, 3, file).read_text().startswith("item,")
    True
    """
    folder = Path(study)
    plan = stored_study(folder) if folder.is_dir() else read_study(study)
    if plan.experiment is not None:
        raise InputError(f"{plan.name} has no ratings: it is an experiment", "draw from another")
    cell = find("scenario", scenario, {cell.name: cell for cell in plan.cells})
    replicate = check_whole_number("replicate", replicate, 0)
    seed = data_seed(plan.seed, scenario_id(cell.scenario), replicate)
    ratings, _ = simulate_ratings(cell.scenario, seed)
    name = "_".join(re.findall(r"[\w.]+", f"{plan.name} {cell.name} {replicate}"))
    return write_csv(ratings.to_wide(), Path(output or f"{name}.csv"))


def _goals(folder: Path, study: Study) -> Iterator[dict[str, int]]:
    """Number of replicates wanted of each scenario by its name, once or again and again."""
    every = {cell.name: study.replicates for cell in study.cells}
    if study.target_se is None:
        yield every
        return
    goal = {scenario: min(PILOT, most) for scenario, most in every.items()}
    while True:
        yield dict(goal)
        wanted = _wanted(folder, study, goal)
        if wanted == goal:
            return
        goal = wanted


def _wanted(folder: Path, study: Study, goal: dict[str, int]) -> dict[str, int]:
    """Choose numbers of replicates at which the bias is known well enough."""
    results = read_results(folder)
    # What a run that was stopped had done beyond them must not count.
    results = results[results["replicate"] < results["scenario"].map(goal)].copy()
    results["error"] = results["estimate"] - results["truth"]
    by = ["scenario", "method", "estimand"]
    spread = results.groupby(by)["error"].agg(["std", "count"]).groupby("scenario")
    assert study.target_se is not None
    wanted = dict(goal)
    for scenario, of_cell in spread:
        rate = (of_cell["count"] / goal[scenario]).where(of_cell["count"] > 1).min()
        needed = float((of_cell["std"] / study.target_se).pow(2).max()) / max(rate, 0.01)
        if math.isfinite(needed):
            rounded = PILOT * math.ceil(needed / PILOT)
            wanted[scenario] = min(study.replicates, max(goal[scenario], rounded))
    return wanted


def _missing(folder: Path, study: Study, goal: dict[str, int]) -> list[Task]:
    """List what is to do, the first replicates of all scenarios first.

    Replicates are cut into blocks that begin where a run from the start would begin them.
    """
    rows = finished_rows(folder, study)
    finished = {place: set(of["replicate"]) for place, of in rows.groupby(list(OF_A_METHOD))}
    tasks: dict[tuple[str, int, tuple[str, ...]], Task] = {}
    by_key = {study.method_keys[method.label]: method for method in study.methods}
    groups = [
        [key for key, method in by_key.items() if method.in_batches == in_batches]
        for in_batches in (True, False)
    ]
    for cell in study.cells:
        scenario, stop = study.scenario_keys[cell.name], goal[cell.name]
        for group in [keys for keys in groups if keys] or [[]]:
            size = task_size([by_key[key] for key in group], cell.scenario)
            for start in range(0, stop, size):
                replicates = range(start, min(start + size, stop))
                lacking = [
                    key
                    for key in group or [""]
                    if not finished.get((scenario, key), set()).issuperset(replicates)
                ]
                if lacking:
                    tasks[scenario, start, tuple(lacking)] = Task(
                        scenario=cell.scenario,
                        key=scenario,
                        methods={key: by_key[key] for key in lacking if key},
                        replicates=replicates,
                        level=study.level,
                        folder=folder,
                    )
    return sorted(tasks.values(), key=lambda task: task.replicates.start)
