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
