"""The simulation as `python -m experiments.likelihood_intervals FOLDER`."""

from experiments.likelihood_intervals.simulation import DATA_SETS, write_simulation
from experiments.study.cells import run_simulation

run_simulation(
    "Coverage of intervals by maximum likelihood.",
    {"likelihood_intervals": (write_simulation, DATA_SETS)},
)
