"""Run a study: what is not finished, on as many processors or machines as there are."""

import logging
import math
import re
import time
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path

import numpy as np

from experiments.report.files import write_csv
from experiments.study.cells import run_cells
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
        tasks = {task.name: task for task in _missing(folder, plan)}
        progress = _Progress(plan, list(tasks.values()))
        cells = [task.cell() for task in tasks.values()]
        computed = run_cells(cells, folder / CELLS, plan.seed, workers=workers, dask=dask)
        for cell, seconds in computed:
            progress.add(tasks[cell.name], seconds)
    return read_results(folder)


class _Progress:
    """Log how much of a run is done, and how long the rest takes by what was measured of it."""

    def __init__(self, study: Study, tasks: list[Task]) -> None:
        self.name = study.name
        self.total = len(study.cells) * study.replicates * max(len(study.methods), 1)
        self.left = Counter(map(_kind, tasks))
        self.number_left = sum(map(_number_of_results, tasks))
        self.seconds: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
        self.start = self.last = time.monotonic()
        if tasks:
            sizes = [(len(study.cells), "scenario"), (len(study.methods), "method")]
            shape = ", ".join(counted(n, name) for n, name in sizes if n)
            to_do = f"{self.number_left:,} of {self.total:,} results to compute"
            logger.info("%s: %s; %s", self.name, shape, to_do)

    def add(self, task: Task, seconds: float) -> None:
        """Take in that a task is done."""
        self.left[_kind(task)] -= 1
        self.number_left -= _number_of_results(task)
        self.seconds[_kind(task)].append(seconds)
        now = time.monotonic()
        if now - self.last >= EVERY and self.number_left:
            self.last = now
            share = 1 - self.number_left / self.total
            logger.info("%s: %.0f%% done, %s", self.name, 100 * share, self._time_left(now))

    def _time_left(self, now: float) -> str:
        """Say how long the rest takes, once each method was measured in each scenario."""
        if any(n and kind not in self.seconds for kind, n in self.left.items()):
            return "time left not known yet"
        # The first tasks take longer, since they load and compile.
        rest = sum(n * float(np.median(self.seconds[kind])) for kind, n in self.left.items() if n)
        at_once = sum(map(sum, self.seconds.values())) / (now - self.start)
        return f"{duration(rest / at_once)} left"


def _kind(task: Task) -> tuple[str, ...]:
    """Tasks of a kind take about as long as one another."""
    return (task.key, *task.methods)


def _number_of_results(task: Task) -> int:
    return len(task.replicates) * max(len(task.methods), 1)


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


def _missing(folder: Path, study: Study) -> list[Task]:
    """List what is to do, the first replicates of all scenarios first.

    Replicates are cut into blocks that begin where a run from the start would begin them.
    """
    rows = finished_rows(folder, study)
    finished = {place: set(of["replicate"]) for place, of in rows.groupby(list(OF_A_METHOD))}
    by_key = {study.method_keys[method.label]: method for method in study.methods}
    quick = [key for key, method in by_key.items() if method.in_batches]
    groups = [group for group in (quick, [key for key in by_key if key not in quick]) if group]
    tasks: dict[tuple[str, int, tuple[str, ...]], Task] = {}
    for cell, group in product(study.cells, groups or [[""]]):
        scenario, stop = study.scenario_keys[cell.name], study.replicates
        size = task_size([by_key[key] for key in group if key], cell.scenario)
        for start in range(0, stop, size):
            replicates = range(start, min(start + size, stop))
            lacking = [
                key for key in group if set(replicates) - finished.get((scenario, key), set())
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
