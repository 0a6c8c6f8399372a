"""Simulating and estimating many samples at once, against one sample at a time.

The peer is `tests/reference/loop.py`, NumPy over the items of a sample. Both draw base rates and
confusion matrices afresh for each sample, and take the paper's step 4.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from experiments.benchmarks.bar import Bar, cpu_seconds
from experiments.paper.figure_scenarios import FIGURES
from lehner import Scenario, simulate_estimates
from tests.reference.loop import simulate_and_estimate

ROUNDS = 7
SAMPLES = 10_000
LOOP_SAMPLES = {50: 300, 200: 300, 5000: 100}
MOST = {50: 1 / 20, 200: 1 / 20, 5000: 1 / 60}


def measure() -> Iterator[Bar]:
    """Measure where the K-properties hold, and where they are violated, which has no bar."""
    for figure, most in {3: MOST, 13: {}}.items():
        for n_items, n_loop in LOOP_SAMPLES.items():
            scenario = replace(FIGURES[figure].scenario(0.9), n_items=n_items)
            yield Bar(
                name=f"{SAMPLES:,} samples of {n_items:,} items, Figure {figure}",
                peer="one at a time",
                rounds=[_round(scenario, n_loop) for _ in range(ROUNDS)],
                most=most.get(n_items),
            )


def _round(scenario: Scenario, n_loop: int) -> tuple[float, float]:
    rng = np.random.default_rng(1)
    loop = cpu_seconds(lambda: [simulate_and_estimate(scenario, rng) for _ in range(n_loop)])
    batch = cpu_seconds(
        lambda: simulate_estimates(scenario, SAMPLES, methods=["algebraic_paper"], in_sample=False)
    )
    return batch, loop * SAMPLES / n_loop
