"""The simulations as `python -m experiments.known_truths {accuracy,parts} FOLDER`."""

from experiments.known_truths import parts, simulation
from experiments.study.cells import run_simulation

run_simulation(
    "Error and coverage with known truths.",
    {
        "accuracy": (simulation.write_simulation, simulation.DATA_SETS),
        "parts": (parts.write_parts, parts.DATA_SETS),
    },
)
