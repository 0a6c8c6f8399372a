"""A speed bar: what something costs, as a ratio to a named peer that is timed in turn with it."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from experiments.report.table import Column, Table
from lehner.core.text import decimal

SECONDS = partial(decimal, digits=2)
COLUMNS = (
    Column("name", ""),
    Column("cost", "CPU-s", SECONDS),
    Column("peer"),
    Column("of_peer", "CPU-s", SECONDS),
    Column("ratio"),
    Column("largest"),
    Column("aim", "is to be"),
    Column("verdict", ""),
)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What is measured, against what.

    Parameters
    ----------
    name, peer : str
    rounds : sequence of tuple of float
        CPU seconds of both in each round, or on each data set.
    most : float, optional
        What the ratio of the medians is to be at most.
    more : float
        CPU seconds that are allowed in addition.
    """

    name: str
    peer: str
    rounds: Sequence[tuple[float, float]]
    most: float | None = None
    more: float = 0.0

    @property
    def row(self) -> tuple[str | float, ...]:
        """The cells of its line in the table."""
        cost, of_peer = (statistics.median(column) for column in zip(*self.rounds, strict=True))
        largest = max(ours / theirs for ours, theirs in self.rounds)
        aim = verdict = ""
        if self.most is not None:
            aim = f"at most {self.most:.2g}" + (f", and {self.more:g} CPU-s" if self.more else "")
            verdict = "met" if cost <= self.most * of_peer + self.more else "missed"
        return self.name, cost, self.peer, of_peer, cost / of_peer, largest, aim, verdict


def as_table(bars: Sequence[Bar]) -> Table:
    """Lay bars out, with the ratio of the medians and the largest of any round."""
    return Table(columns=COLUMNS, rows=[bar.row for bar in bars])


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process that something takes."""
    start = time.process_time()
    work()
    return time.process_time() - start
