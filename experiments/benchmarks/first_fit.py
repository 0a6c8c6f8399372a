"""The first fit of a process on Linux, for `experiments.benchmarks.fit`."""

import os
import time
from pathlib import Path

import bayes_models
from lehner import Scenario, simulate


def first_fit(model: str) -> float:
    """Fit a model, and give the seconds since this process started."""
    ratings = simulate(Scenario(initial_rater_accuracy=(0.5, 0.6, 0.7)), 1)
    next(bayes_models.fit_many(model, [ratings]))
    ticks = float(Path("/proc/self/stat").read_text().rsplit(")")[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
