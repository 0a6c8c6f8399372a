"""All speed bars in one table: what it costs, as a ratio to a named peer of the same run.

Run in a clone: `python -m uv run --group benchmark python -m experiments.benchmarks [NAME …]`.
Names: commands, crowd, numpyro, gibbs, simulator; all by default. Times are CPU
seconds, taken in turn with those of a peer, since machines differ and loads change. A peer that is
not installed has a line that says so instead.
"""

import os

# Before what starts threads is imported: the peers, too, have one.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import platform
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

from experiments.benchmarks import commands, estimators
from experiments.benchmarks.bar import Bar, as_table
from experiments.report.table import to_terminal
from lehner.core.errors import find

PACKAGES = ("numpy", "numba", "pandas", "pymc", "nutpie", "crowd-kit", "numpyro")
MEASURED: dict[str, Callable[[], Iterator[Bar]]] = {
    "commands": commands.measure,
    "crowd": estimators.against_crowd_kit,
    "numpyro": estimators.against_numpyro,
    "gibbs": estimators.against_nuts,
    "simulator": estimators.against_loop,
}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=", ".join(MEASURED))
    names = parser.parse_args().name or list(MEASURED)
    parts = [find("part of the benchmark", name, MEASURED) for name in names]
    packages = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors")
    print(f"Python {platform.python_version()}, {packages}")
    warnings.simplefilter("ignore")
    bars = [bar for measure in parts for bar in measure()]
    print(*to_terminal(as_table(bars), 200), sep="\n")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
