"""All speed bars in one table: what it costs, as a ratio to a named peer of the same run.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks`. Times are
medians of CPU seconds, taken in turn with those of a peer, since machines differ and loads change:
of commands five times in a process of their own, of the rest as the modules of this folder say,
which print what is behind the rows. A peer that is not installed has a line that says so instead.
"""

import os

# Before what starts threads is imported: the peers, too, have one.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from experiments.reporting.text_table import text_table
from lehner import Scenario, simulate

ROUNDS = 5
ESTIMATE = ["estimate", "lehner_table2", "--system", "System"]
PANDAS, PYMC = "import pandas", "import pymc"
LEHNER = "from experiments.cli.main import main; main()"
PACKAGES = ("numpy", "numba", "pandas", "pymc", "nutpie")
PEERS = ("crowd-kit", "numpyro")
EFFECTIVE = 1000
SIMULATED = 10_000


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What is measured, against what.

    Parameters
    ----------
    name : str
    cost, of_peer : float
        CPU seconds.
    peer : str
    most : float, optional
        What the ratio of both is to be at most.
    more : float
        CPU seconds that are allowed in addition.
    """

    name: str
    cost: float
    peer: str
    of_peer: float
    most: float | None = None
    more: float = 0.0


def main() -> None:
    """Measure, and print the table."""
    packages = ", ".join(f"{name} {_version(name)}" for name in (*PACKAGES, *PEERS))
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors")
    print(f"Python {platform.python_version()}, {packages}")
    head = ["", "CPU-s", "peer", "CPU-s", "ratio", "is to be", ""]
    bars = (*_commands(), *_fit(), *_crowd(), *_samplers(), *_simulator())
    print("\n".join(text_table([head, *map(_row, bars)], left=(2, 5, 6))))


def _row(bar: Bar) -> list[str]:
    """Give the cells of a bar: measured, to be, and whether it is met."""
    aim = verdict = ""
    if bar.most is not None:
        aim = f"at most {bar.most:.2g}" + (f", and {bar.more:g} CPU-s" if bar.more else "")
        met = bar.cost <= bar.most * bar.of_peer + bar.more
        verdict = "met" if met else "missed"
    ratio = f"{bar.cost / bar.of_peer:.3f}"
    return [bar.name, f"{bar.cost:.2f}", bar.peer, f"{bar.of_peer:.2f}", ratio, aim, verdict]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


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
            yield _against(name, arguments, PANDAS, 1.2)
        yield _against("plan, first line", ["plan"], PANDAS, 1.2, first_line=True)


def _fit() -> Iterator[Bar]:
    """Measure the README's first command when it has been run before."""
    _cpu_seconds(_lehner(ESTIMATE))
    yield _against("estimate, second run", ESTIMATE, PYMC, 1.3, more=3.0)


def _crowd() -> Iterator[Bar]:
    """Measure maximum likelihood on crowds of 100 and 800 raters."""
    if find_spec("crowdkit") is None:
        print("crowd-kit is not installed: no row for it", file=sys.stderr)
        return
    from experiments.benchmarks.latent_class import CROWDS, crowd, time_tap, to_same_likelihood

    for (n_items, n_raters), bar in zip(CROWDS, (0.1, 1.0), strict=True):
        tables = [crowd(seed, n_items, n_raters) for seed in range(3)]
        compared = [to_same_likelihood(table) for table in tables]
        theirs = statistics.median(one.theirs for one in compared)
        costs = {
            "fit_latent_class": (statistics.median(one.ours for one in compared), bar),
            "fit_latent_class, t-a-p": (statistics.median(map(time_tap, tables)), 1.0),
        }
        for name, (cost, of_name) in costs.items():
            yield Bar(
                name=f"{name}, {n_items:,} × {n_raters}",
                cost=cost,
                peer="crowd-kit's Dawid-Skene",
                of_peer=theirs,
                most=of_name,
            )


def _samplers() -> Iterator[Bar]:
    """Measure CPU seconds for 1,000 effective draws of the system's accuracy."""
    from experiments.benchmarks.fit import COMPARISONS

    bars = {
        "dawid_skene, n = 200, against NumPyro": 1.2,
        "dawid_skene, crowd, against NumPyro": 2,
        "dawid_skene, n = 200, against Stan": 3,
        "dawid_skene, n = 5000, against Stan": 15,
        "dawid_skene, n = 50, Gibbs against NUTS": 5,
        "dawid_skene, n = 200, Gibbs against NUTS": 5,
    }
    for compare in COMPARISONS.values():
        for title, rates in compare():
            name, _, peer = title.partition(" against ")
            ours, theirs = (statistics.median(column) for column in zip(*rates, strict=True))
            yield Bar(
                name=f"{name.rstrip(',')}, {EFFECTIVE:,} effective draws",
                cost=EFFECTIVE / ours,
                peer=peer,
                of_peer=EFFECTIVE / theirs,
                most=1 / bars[title] if title in bars else None,
            )


def _simulator() -> Iterator[Bar]:
    """Measure samples that are simulated and estimated by algebra."""
    from experiments.benchmarks.simulation import rates
    from experiments.paper.figure_scenarios import FIGURES

    for n_items, times in {50: 20, 200: 20, 5000: 60}.items():
        rounds = rates(replace(FIGURES[3].scenario(0.9), n_items=n_items))
        loop, batch = (statistics.median(column) for column in zip(*rounds, strict=True))
        yield Bar(
            name=f"{SIMULATED:,} samples of {n_items:,} items",
            cost=SIMULATED / batch,
            peer="one at a time",
            of_peer=SIMULATED / loop,
            most=1 / times,
        )


def _against(
    name: str,
    arguments: list[str],
    peer: str,
    most: float,
    *,
    more: float = 0.0,
    first_line: bool = False,
) -> Bar:
    times = [
        (
            _cpu_seconds(_lehner(arguments), first_line=first_line),
            _cpu_seconds([sys.executable, "-c", peer]),
        )
        for _ in range(ROUNDS)
    ]
    cost, of_peer = (float(x) for x in np.median(times, axis=0))
    return Bar(name=name, cost=cost, peer=peer, of_peer=of_peer, most=most, more=more)


def _lehner(arguments: list[str]) -> list[str]:
    return [sys.executable, "-c", LEHNER, *arguments]


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
