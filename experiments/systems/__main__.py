"""The simulations as `python -m experiments.systems {differences,better} FOLDER`."""

from experiments.study.cells import run_simulation
from experiments.systems import better, simulation

run_simulation(
    "Coverage of the difference of two systems, and calibration of the probability that one is "
    "better.",
    {
        "differences": (simulation.write_simulation, simulation.DATA_SETS),
        "better": (better.write_better, better.DATA_SETS),
    },
)
