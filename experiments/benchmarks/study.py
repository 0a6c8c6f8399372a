"""What a study costs beside its estimates: replicates a second, memory, and the harness.

The algebra without intervals is the fastest method, so that all that is not estimation shows. For
Bayesian methods the peer is the fit itself: the seconds that each row carries.

Run in a clone, on Linux or macOS: `python -m experiments.benchmarks.study`
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from experiments.study import run_study

STUDY = """
name = "benchmark"
aims = "What a study costs beside its estimates."
seed = 1
replicates = {replicates}
methods = [{method}]

[[scenarios]]
name = "unequal raters"
n_items = 200
initial_rater_accuracy = [0.5, 0.6, 0.7]
initial_system_accuracy = 0.9
"""
ALGEBRAIC = '{ name = "algebraic", interval = "none" }'


def main() -> None:
    """Print rates, memory and overheads."""
    with tempfile.TemporaryDirectory() as folder:
        for replicates in (1_000, 10_000, 100_000):
            print(_rate(Path(folder), replicates), flush=True)
        for model, replicates in {"dawid_skene": 200, "relaxed_k": 50}.items():
            print(_overhead(Path(folder), model, replicates), flush=True)


def _rate(folder: Path, replicates: int) -> str:
    study = _write(folder, ALGEBRAIC, replicates)
    output = folder / f"algebraic_{replicates}"
    command = ["study", "run", str(study), "--output", str(output), "--workers", "2"]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "experiments", *command], check=True, capture_output=True)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return (
        f"{replicates:,} algebraic replicates on two cores: {replicates / seconds:,.0f} a second "
        f"({seconds:.1f} s from start to end), at most {peak:.0f} MB a process"
    )


def _overhead(folder: Path, model: str, replicates: int) -> str:
    output = folder / model
    warm = len(run_study(_write(folder, f'"{model}"', 5), output))
    start = time.perf_counter()
    results = run_study(_write(folder, f'"{model}"', replicates), output)
    wall = time.perf_counter() - start
    # Each replicate has a row for each of the two estimands.
    fits = results["seconds"].iloc[warm:].sum() / 2
    return (
        f"{model}: {100 * (wall / fits - 1):.1f}% of the time of {replicates - 5} fits beside them"
    )


def _write(folder: Path, method: str, replicates: int) -> Path:
    path = folder / "study.toml"
    path.write_text(STUDY.format(method=method, replicates=replicates))
    return path


if __name__ == "__main__":
    main()
