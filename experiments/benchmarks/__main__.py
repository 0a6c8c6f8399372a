"""All speed bars in one table: what it costs, as a ratio to a named peer of the same run.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks`. Times are CPU
seconds of processes of their own, medians of five, taken in turn with their peer's, since machines
differ and their load changes. What is behind the rows is printed by the modules of this folder.
"""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from experiments.reporting.text_table import text_table
from lehner import Scenario, simulate

ROUNDS = 5
ESTIMATE = ["estimate", "lehner_table2", "--system", "System"]
PANDAS, PYMC = "import pandas", "import pymc"
PACKAGES = ("numpy", "numba", "pandas", "pymc", "nutpie")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What is measured, against what.

    Parameters
    ----------
    name : str
    cost, of_peer : float
        CPU seconds.
    peer : str
    bar : str
        What the ratio of both is to be.
    """

    name: str
    cost: float
    peer: str
    of_peer: float
    bar: str


def main() -> None:
    """Measure, and print the table."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors")
    print(f"Python {platform.python_version()}, {packages}")
    head = ["", "CPU-s", "peer", "CPU-s", "ratio", "is to be"]
    rows = [
        [
            bar.name,
            f"{bar.cost:.2f}",
            bar.peer,
            f"{bar.of_peer:.2f}",
            f"{bar.cost / bar.of_peer:.2f}",
            bar.bar,
        ]
        for bar in (*_commands(), *_fit(), *_crowd())
    ]
    print("\n".join(text_table([head, *rows], left=(2, 5))))


def _commands() -> Iterator[Bar]:
    """Measure commands that need no model, against pandas."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ratings.csv")
        simulate(Scenario(), 1).to_wide().drop(columns="truth").to_csv(path, index=False)
        commands = {
            "estimate --method algebraic": [*ESTIMATE, "--method", "algebraic"],
            "agreement": ["agreement", "lehner_table2"],
            "check, 200 items": ["check", str(path), "--system", "system"],
        }
        for name, arguments in commands.items():
            yield _against(name, arguments, PANDAS, "at most 1.2")
        yield _against("plan, first line", ["plan"], PANDAS, "at most 1.2", first_line=True)


def _fit() -> Iterator[Bar]:
    """Measure the README's first command when it has been run before."""
    _cpu_seconds(_lehner(ESTIMATE))
    yield _against("estimate, second run", ESTIMATE, PYMC, "at most 1.3, and 3 CPU-s")


def _crowd() -> Iterator[Bar]:
    """Measure maximum likelihood on a crowd of 10,000 items by 100 raters."""
    if find_spec("crowdkit") is None:
        print("crowd-kit is not installed: no row for it", file=sys.stderr)
        return
    from experiments.benchmarks.latent_class import CROWDS, crowd, to_same_likelihood

    ratios = [to_same_likelihood(crowd(seed, *CROWDS[0])) for seed in range(3)]
    ours = statistics.median(one.ours for one in ratios)
    theirs = statistics.median(one.theirs for one in ratios)
    yield Bar(
        name="fit_latent_class, 10,000 × 100",
        cost=ours,
        peer="crowd-kit, same likelihood",
        of_peer=theirs,
        bar="at most 0.1",
    )


def _against(
    name: str, arguments: list[str], peer: str, bar: str, *, first_line: bool = False
) -> Bar:
    times = [
        (
            _cpu_seconds(_lehner(arguments), first_line=first_line),
            _cpu_seconds([sys.executable, "-c", peer]),
        )
        for _ in range(ROUNDS)
    ]
    cost, of_peer = (float(x) for x in np.median(times, axis=0))
    return Bar(name=name, cost=cost, peer=peer, of_peer=of_peer, bar=bar)


def _lehner(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "experiments", *arguments]


def _cpu_seconds(command: list[str], *, first_line: bool = False) -> float:
    """Run a command, to its end or to its first line, and give what it took."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    with process.stdout:
        if first_line:
            process.stdout.readline()
            process.kill()
        process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status and not first_line:
        raise RuntimeError(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
