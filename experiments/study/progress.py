"""What a run shows: how far it is, how long it takes, and the bias so far."""

import math
import sys
import time
from collections.abc import Iterable

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from experiments.reporting.terminal import console, line, one_line
from experiments.study.cells import Row
from experiments.study.definition import Study
from experiments.study.identity import method_id, scenario_id
from experiments.study.replicate import task_size
from lehner.core.estimate import ESTIMANDS
from lehner.core.number_format import decimal
from lehner.core.wording import counted

MOST_LINES = 30
EVERY = 30.0
SECONDS = {1000: 0.001, 20: 0.3, 1: 3.0}
"""Of an estimate on one processor, by how many replicates are done in one go."""
BYTES = 300
"""Of an estimate on disk, at most."""


class RunningBias:
    """Mean error, its standard error and failures, by scenario and method, in a few numbers."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.sums: dict[tuple[str, str], list[float]] = {}

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
            for i, value in enumerate((1, error, error**2)):
                sums[i] += value
        return number

    def table(self) -> Table:
        """Lay out bias ± standard error by scenario and method."""
        table = Table("bias so far", box=None, padding=(0, 1))
        for method in self.study.methods:
            table.add_column(line(method.label), justify="right")
        for cell in self.study.cells[:MOST_LINES]:
            scenario, level = scenario_id(cell.scenario), self.study.level
            keys = ((scenario, method_id(one, level)) for one in self.study.methods)
            table.add_row(line(cell.name), *(_entry(self.sums.get(key)) for key in keys))
        if len(self.study.cells) > MOST_LINES:
            table.add_row(f"and {len(self.study.cells) - MOST_LINES} more")
        return table


def show_progress(study: Study, number: int, rows: Iterable[Iterable[Row]]) -> None:
    """Go through the rows of a run and show them on standard error.

    Parameters
    ----------
    study : Study
    number : int
        Of replicates times methods to come.
    rows : iterable of list of dict
    """
    shown = console(sys.stderr)
    shown.print(line(_size(study, number)), soft_wrap=True)
    if shown.is_terminal:
        _live(shown, study, number, rows)
    else:
        _lines(study, number, rows)


def _size(study: Study, number: int) -> str:
    """Describe how much there is to do, and roughly what it takes."""
    each = sum(
        SECONDS[task_size((method,), study.cells[0].scenario)] for method in study.methods
    ) / len(study.methods)
    sizes = [(len(study.cells), "scenario"), (len(study.methods), "method")]
    if study.target_se is None:
        sizes.append((study.replicates, "replicate"))
    shape = ", ".join(counted(*size) for size in sizes)
    megabytes = math.ceil(number * BYTES / 1e5) / 10
    return (
        f"{study.name}: {shape}; {number:,} estimates to compute, very roughly "
        f"{duration(number * each)} for one processor and up to {megabytes} MB"
    )


def duration(seconds: float) -> str:
    """Write a duration in the unit in which it is read easily."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{math.ceil(seconds)} s"


def _live(shown: Console, study: Study, number: int, rows: Iterable[Iterable[Row]]) -> None:
    bias = RunningBias(study)
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    task = progress.add_task(one_line(study.name), total=number)
    with Live(console=shown, refresh_per_second=2) as live:
        for part in rows:
            progress.advance(task, bias.add(part))
            live.update(Group(bias.table(), progress))


def _lines(study: Study, number: int, rows: Iterable[Iterable[Row]]) -> None:
    bias, done, start = RunningBias(study), 0, time.monotonic()
    last = start
    for part in rows:
        done += bias.add(part)
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            left = (last - start) / max(done, 1) * (number - done)
            text = f"{study.name}: {done} of {number}, {left:.0f} s left"
            print(text, file=sys.stderr, flush=True)
    print(f"{study.name}: {done} of {number}, 0 s left", file=sys.stderr, flush=True)


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
