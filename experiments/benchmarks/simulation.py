"""Simulating and estimating many samples at once, against one sample at a time.

The peer is `loop.py`, NumPy over the items of a sample. Both draw base rates and confusion matrices
afresh for each sample, and take the paper's step 4. The two alternate; times are CPU
time of one thread, and each round gives a ratio.

Run in a clone: `OMP_NUM_THREADS=1 python -m experiments.benchmarks.simulation`
"""

import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from experiments.benchmarks.loop import simulate_and_estimate
from experiments.paper.figure_scenarios import FIGURES
from lehner import Scenario, population_value, simulate_estimates

ROUNDS = 7
LOOP_SAMPLES = {50: 300, 200: 300, 5000: 100}
BATCH_SAMPLES = 10_000


def main() -> None:
    """Print the ratios."""
    print(f"{'scenario':<24}{'items':>6}{'loop/s':>9}{'batch/s':>10}{'ratio (least)':>16}")
    for name, number in {"K-properties hold": 3, "violated, Figure 13": 13}.items():
        for n_items in LOOP_SAMPLES:
            print(_compare(name, replace(FIGURES[number].scenario(0.9), n_items=n_items)))
    for replicates in (5_000, 50_000):
        print(f"peak memory of {replicates:,} samples: {_peak(replicates):.1f} MB")
    print(f"population values of the algebra: {_population_rate():.0f} a second")


def rates(scenario: Scenario) -> list[tuple[float, float]]:
    """Give samples a CPU-second, one at a time and many at once, for each round.

    Parameters
    ----------
    scenario : Scenario
        With one of the numbers of items of `LOOP_SAMPLES`.

    Returns
    -------
    list of tuple of float
    """
    n_loop = LOOP_SAMPLES[scenario.n_items]
    rng = np.random.default_rng(1)
    return [
        (
            n_loop / _cpu(lambda: _loop(scenario, rng, n_loop)),
            BATCH_SAMPLES / _cpu(lambda: _batch(scenario)),
        )
        for _ in range(ROUNDS)
    ]


def _compare(name: str, scenario: Scenario) -> str:
    rounds = rates(scenario)
    loop, batch = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratios = [fast / slow for slow, fast in rounds]
    ratio = f"{statistics.median(ratios):.0f} ({min(ratios):.0f})"
    return f"{name:<24}{scenario.n_items:>6}{loop:>9.0f}{batch:>10.0f}{ratio:>16}"


def _loop(scenario: Scenario, rng: np.random.Generator, n: int) -> None:
    for _ in range(n):
        simulate_and_estimate(scenario, rng)


def _batch(scenario: Scenario) -> None:
    simulate_estimates(scenario, BATCH_SAMPLES, methods=["algebraic_paper"], in_sample=False)


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _peak(replicates: int) -> float:
    tracemalloc.start()
    simulate_estimates(FIGURES[13].scenario(0.9), replicates)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def _population_rate() -> float:
    scenario = Scenario(
        base_rates=(0.3, 0.25, 0.2, 0.15, 0.1), initial_rater_accuracy=(0.4, 0.6, 0.8)
    )
    population_value(scenario)
    return 1000 / _cpu(lambda: [population_value(scenario) for _ in range(1000)])


if __name__ == "__main__":
    main()
