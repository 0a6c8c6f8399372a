"""Commands in a process of their own, against the import of pandas or PyMC."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.benchmarks.bar import Bar
from lehner import Scenario, simulate

ROUNDS = 5
SHAPES = ((3, 2), (2, 3), (3, 4), (4, 3), (3, 5))
"""Numbers of raters and categories of files that are new to a computer."""
ACCURACIES = (0.6, 0.7, 0.8, 0.75)
ESTIMATE = ["estimate", "lehner_table2", "--system", "System"]
LEHNER = "from experiments.cli.main import main; main()"


def measure() -> Iterator[Bar]:
    """Measure commands without a model, and the README's first when it has been run before."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ratings.csv")
        simulate(Scenario(), 1).to_wide().drop(columns="truth").to_csv(path, index=False)
        for name, arguments in {
            "estimate --method algebraic": [*ESTIMATE, "--method", "algebraic"],
            "estimate --method calibrated": [*ESTIMATE, "--method", "calibrated"],
            "agreement": ["agreement", "lehner_table2"],
            "check, 200 items": ["check", str(path), "--system", "system"],
        }.items():
            yield _against("import pandas", name, arguments, most=1.2)
    yield _against("import pandas", "plan, first line", ["plan"], most=1.2, first_line=True)
    _cpu_seconds(LEHNER, ESTIMATE)
    yield _against("import pymc", "estimate, second run", ESTIMATE, most=1.3, more=3.0)
    yield _new_shapes()


def _new_shapes() -> Bar:
    """Estimate files of numbers of raters and categories that no run has had, and again."""
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for n_raters, n_categories in SHAPES:
            path = Path(folder, f"{n_raters}-{n_categories}.csv")
            accuracies = ACCURACIES[:n_raters]
            scenario = Scenario(n_categories=n_categories, initial_rater_accuracy=accuracies)
            simulate(scenario, 1).to_wide().drop(columns="truth").to_csv(path, index=False)
            command = ["estimate", str(path), "--system", "system"]
            rounds.append((_cpu_seconds(LEHNER, command), _cpu_seconds(LEHNER, command)))
    return Bar(name="estimate, a new shape", peer="the same file again", rounds=rounds, most=1.3)


def _against(
    peer: str, name: str, arguments: list[str], *, first_line: bool = False, **allowed: Any
) -> Bar:
    rounds = [
        (_cpu_seconds(LEHNER, arguments, first_line=first_line), _cpu_seconds(peer))
        for _ in range(ROUNDS)
    ]
    return Bar(name=name, peer=peer, rounds=rounds, **allowed)


def _cpu_seconds(code: str, arguments: Sequence[str] = (), *, first_line: bool = False) -> float:
    """CPU seconds of a new process that runs code to its end, or to its first line."""
    command = [sys.executable, "-c", code, *arguments]
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
