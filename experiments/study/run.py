"""Run a study: what is not finished, on as many processors or machines as there are."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.study.cells import Row, compute_cells
from experiments.study.definition import Study, find_study, read_study
from experiments.study.identity import method_id, scenario_id
from experiments.study.options import MethodChoice
from experiments.study.replicate import Task, check_code, task_size
from experiments.study.stopping import note_interrupts
from experiments.study.store import Store, open_store, read_results
from experiments.study.workers import open_workers
from lehner.core.arrays import Integers
from lehner.core.errors import check_whole_number

if TYPE_CHECKING:
    import pandas as pd

PILOT = 100
NOTHING = np.zeros(0, dtype=np.int64)


def run_study(
    study: str | Path,
    output: str | Path | None = None,
    *,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    report: Callable[[Study, Path, Iterable[Iterable[Row]], int, int], None] | None = None,
) -> "pd.DataFrame":
    """Run a study, or what is missing of it.

    Every method sees the same simulated data. What is finished is kept in `output` at once. If a
    run is stopped in any way, the next one goes on where it was, and the numbers are the same for
    any number of workers. A method that fails leaves a row with the reason. What is cut short by an
    interrupt, or by a lack of memory or disk space, is no result, and is done again by the next
    run.

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
    report : callable, optional
        A function that is called with the study, its folder, an iterable of the rows to come, all
        of which it must take, the number of estimates to compute and that of all.

    Returns
    -------
    pandas.DataFrame
        As `read_results` gives it.

    Raises
    ------
    InputError
        If the file is not a study, the folder holds another one or one of an earlier version, a
        default of a method is another than when its results were stored, or the machine lacks what
        a method needs.
    KeyboardInterrupt
        If it was interrupted.

    Warns
    -----
    StudyWarning
        If stored results were damaged or of another study: they are moved to the folder `damaged`
        and computed again.

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
    output = path.stem if output is None else output
    # Importing these takes longer than a fit.
    modules = ["experiments.study.replicate"]
    modules += ["bayes_models"] * any(method.bayesian for method in plan.methods)
    with (
        note_interrupts() as stop_if_told,
        open_store(output, plan, path) as store,
        open_workers(workers, dask, modules) as opened,
    ):
        if retry_failed:
            store.forget_failed()
        for goal in _goals(store, plan):
            tasks = _missing(store, plan, goal)
            if not tasks:
                continue
            cells = [task.cell() for task in tasks]
            done = compute_cells(cells, plan.seed, store.keep, opened, stop_if_told)
            number = sum(len(task.replicates) * len(task.methods) for task in tasks)
            whole = len(plan.methods) * sum(goal.values())
            (report or _silent)(plan, store.folder, (rows for _, rows in done), number, whole)
    return read_results(output)


def _goals(store: Store, study: Study) -> Iterator[dict[str, int]]:
    """Number of replicates wanted of each scenario, once or again and again."""
    every = {scenario_id(cell.scenario): study.replicates for cell in study.cells}
    if study.target_se is None:
        yield every
        return
    goal = {scenario: min(PILOT, most) for scenario, most in every.items()}
    while True:
        yield dict(goal)
        wanted = _wanted(store, study, goal)
        if wanted == goal:
            return
        goal = wanted


def _wanted(store: Store, study: Study, goal: dict[str, int]) -> dict[str, int]:
    """Choose numbers of replicates at which the bias is known well enough."""
    results = read_results(store.folder)
    goals = {cell.name: goal[scenario_id(cell.scenario)] for cell in study.cells}
    # What a run that was stopped had done beyond them must not count.
    results = results[results["replicate"] < results["scenario"].map(goals)].copy()
    results["error"] = results["estimate"] - results["truth"]
    by = ["scenario", "method", "estimand"]
    spread = results.groupby(by)["error"].agg(["std", "count"]).groupby("scenario")
    assert study.target_se is not None
    wanted = dict(goal)
    for cell in study.cells:
        if cell.name not in spread.groups:
            continue
        of_cell = spread.get_group(cell.name)
        scenario = scenario_id(cell.scenario)
        rate = (of_cell["count"] / goal[scenario]).where(of_cell["count"] > 1).min()
        needed = float((of_cell["std"] / study.target_se).pow(2).max()) / max(rate, 0.01)
        if math.isfinite(needed):
            rounded = PILOT * math.ceil(needed / PILOT)
            wanted[scenario] = min(study.replicates, max(goal[scenario], rounded))
    return wanted


def _missing(store: Store, study: Study, goal: dict[str, int]) -> list[Task]:
    """List what is to do, the first replicates of all scenarios first."""
    finished = store.finished()
    scenarios = {scenario_id(cell.scenario): cell.scenario for cell in study.cells}
    tasks: list[Task] = []
    for scenario, wanted in goal.items():
        missing = {}
        for method in study.methods:
            there = finished.get((scenario, method_id(method, study.level)), NOTHING)
            missing[method.label] = np.setdiff1d(np.arange(wanted), there)
        task = partial(Task, scenario=scenarios[scenario], level=study.level, folder=store.folder)
        for in_batches in (True, False):
            methods = [method for method in study.methods if method.in_batches == in_batches]
            size = task_size(methods, scenarios[scenario])
            tasks += [
                task(replicates=replicates, methods=chosen)
                for replicates, chosen in _blocks(methods, missing, size)
            ]
    return sorted(tasks, key=lambda task: task.replicates.start)


def _blocks(
    methods: Sequence[MethodChoice], missing: dict[str, Integers], size: int
) -> Iterator[tuple[range, tuple[MethodChoice, ...]]]:
    """Cut missing replicates into blocks that begin where a run from the start would begin them."""
    if not methods:
        return
    lacking: dict[int, list[MethodChoice]] = {}
    for method in methods:
        for block in np.unique(missing[method.label] // size).tolist():
            lacking.setdefault(block, []).append(method)
    most = 1 + max(int(missing[method.label].max(initial=-1)) for method in methods)
    for block, chosen in sorted(lacking.items()):
        yield range(block * size, min((block + 1) * size, most)), tuple(chosen)


def _silent(study: Study, folder: Path, rows: Iterable[Iterable[Row]], *numbers: int) -> None:
    for _ in rows:
        pass
