"""What a run shows: how far it is, how long it takes, and the bias so far."""

import math
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from experiments.reporting.terminal import console, line, one_line
from experiments.study.cells import Row
from experiments.study.definition import Study
from experiments.study.identity import method_id, scenario_id
from experiments.study.performance import of_main_estimand
from experiments.study.replicate import task_size
from experiments.study.store import read_results
from lehner.core.estimate import ESTIMANDS
from lehner.core.text import counted, decimal

if TYPE_CHECKING:
    import pandas as pd

MOST_LINES = 30
EVERY = 30.0
SECONDS = {1000: 0.001, 20: 0.3, 1: 3.0}
"""Of an estimate on one processor, by how many replicates are done in one go."""
BYTES = 300
"""Of an estimate on disk, at most."""


class RunningBias:
    """Mean error, its standard error and failures, by scenario and method, in a few numbers."""

    def __init__(self, study: Study, stored: "pd.DataFrame") -> None:
        self.study = study
        self.sums: dict[tuple[str, str], list[float]] = {}
        scenarios = {cell.name: scenario_id(cell.scenario) for cell in study.cells}
        methods = {method.label: method_id(method, study.level) for method in study.methods}
        main = of_main_estimand(stored)
        errors = (main["estimate"] - main["truth"]).groupby([main["scenario"], main["method"]])
        for (scenario, method), every in errors:
            known = every.dropna()
            sums = [len(known), known.sum(), (known**2).sum(), len(every) - len(known)]
            self.sums[scenarios[scenario], methods[method]] = sums

    def add(self, rows: Iterable[Row]) -> int:
        """Take in the rows of a task, and give the number of its replicates and methods."""
        number, unknown = 0, False
        for row in rows:
            expected = row["estimand"] == ESTIMANDS[0]
            if expected:
                number, unknown = number + 1, row["truth"] is None
            if expected == unknown:
                continue
            sums = self.sums.setdefault((row["scenario_id"], row["method_id"]), [0.0] * 4)
            if row["estimate"] is None:
                sums[3] += 1
                continue
            error = row["estimate"] - row["truth"]
            sums[:3] = np.add(sums[:3], (1, error, error**2))
        return number

    def table(self) -> Table:
        """Lay out bias ± standard error by scenario and method."""
        table, study = Table("bias so far", box=None, padding=(0, 1)), self.study
        for method in study.methods:
            table.add_column(line(method.label), justify="right")
        methods = [method_id(method, study.level) for method in study.methods]
        for cell in study.cells[:MOST_LINES]:
            sums = (self.sums.get((scenario_id(cell.scenario), method)) for method in methods)
            table.add_row(line(cell.name), *map(_entry, sums))
        if len(study.cells) > MOST_LINES:
            table.add_row(f"and {len(study.cells) - MOST_LINES} more")
        return table


def show_progress(
    study: Study, folder: Path, rows: Iterable[Iterable[Row]], to_do: int, of: int
) -> None:
    """Go through the rows of a run and show them, and those stored before, on standard error.

    Parameters
    ----------
    study : Study
    folder : Path
        With what is stored.
    rows : iterable of list of dict
        To come.
    to_do, of : int
        Estimates to compute, and all of the study.
    """
    shown = console(sys.stderr)
    shown.print(line(_size(study, to_do, of)), soft_wrap=True)
    bias = RunningBias(study, read_results(folder))
    (_live if shown.is_terminal else _lines)(shown, bias, rows, to_do, of)


def _size(study: Study, number: int, of: int) -> str:
    """Describe how much there is to do, and roughly what it takes."""
    scenario = study.cells[0].scenario
    each = np.mean([SECONDS[task_size((method,), scenario)] for method in study.methods])
    sizes = [(len(study.cells), "scenario"), (len(study.methods), "method")]
    if study.target_se is None:
        sizes.append((study.replicates, "replicate"))
    shape = ", ".join(counted(*size) for size in sizes)
    megabytes = math.ceil(number * BYTES / 1e5) / 10
    stored = f" ({of - number:,} are stored)" if number < of else ""
    return (
        f"{study.name}: {shape}; {number:,} estimates to compute{stored}, very roughly "
        f"{duration(number * each)} for one processor and up to {megabytes} MB"
    )


def duration(seconds: float) -> str:
    """Write a duration in the unit in which it is read easily."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{math.ceil(seconds)} s"


def _live(
    shown: Console, bias: RunningBias, rows: Iterable[Iterable[Row]], to_do: int, of: int
) -> None:
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    task = progress.add_task(one_line(bias.study.name), total=of, completed=of - to_do)
    with Live(console=shown, refresh_per_second=2) as live:
        for part in rows:
            progress.advance(task, bias.add(part))
            live.update(Group(bias.table(), progress))


def _lines(
    shown: Console, bias: RunningBias, rows: Iterable[Iterable[Row]], to_do: int, of: int
) -> None:
    done, start = 0, time.monotonic()
    last = start
    for part in rows:
        done += bias.add(part)
        now = time.monotonic()
        if now - last > EVERY or done == to_do:
            last, left = now, (now - start) / max(done, 1) * (to_do - done)
            text = f"{bias.study.name}: {of - to_do + done} of {of}, {left:.0f} s left"
            shown.print(line(text), soft_wrap=True)


def _entry(sums: list[float] | None) -> str:
    if sums is None:
        return ""
    n, total, squares, failed = sums
    text = "–"
    if n:
        mean = total / n
        text = decimal(mean, sign=True)
        if n > 1:
            text += f" ± {decimal((max(squares / n - mean**2, 0.0) / (n - 1)) ** 0.5)}"
    return f"{text} ({failed:.0f} without)" if failed else text
