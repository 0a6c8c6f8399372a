"""What a study costs beside its estimates, against the seconds that its rows carry."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.benchmarks.bar import Bar
from experiments.study import run_study

REPLICATES = {"algebraic": 1000, "dawid_skene": 200, "relaxed_k": 50}
WARM = 5
STUDY = """
name = "benchmark"
aims = "What a study costs beside its estimates."
seed = 1
replicates = {replicates}
methods = ["{method}"]

[[scenarios]]
name = "unequal raters"
n_items = 200
initial_rater_accuracy = [0.5, 0.6, 0.7]
initial_system_accuracy = 0.9
"""


def measure() -> Iterator[Bar]:
    """Measure studies of one scenario; the first replicates, which compile, do not count."""
    for method, replicates in REPLICATES.items():
        with tempfile.TemporaryDirectory() as folder:
            warm = len(run_study(_write(folder, method, WARM), Path(folder, method)))
            start = time.perf_counter()
            results = run_study(_write(folder, method, replicates), Path(folder, method))
            seconds = time.perf_counter() - start
        # Each replicate has a row for each of the two estimands.
        fits = results["seconds"].iloc[warm:].sum() / 2
        name = f"{method}, {replicates - WARM} replicates of a study"
        yield Bar(name=name, peer="the estimates alone", rounds=[(seconds, fits)])


def _write(folder: str, method: str, replicates: int) -> Path:
    path = Path(folder, "study.toml")
    path.write_text(STUDY.format(method=method, replicates=replicates), encoding="utf-8")
    return path
