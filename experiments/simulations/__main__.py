"""A simulation as `python -m experiments.simulations NAME FOLDER`."""

import argparse
from pathlib import Path

from experiments.simulations import (
    adjustment,
    better_system,
    item_groups,
    known_truths,
    known_truths_in_parts,
    likelihood_intervals,
    power,
    rater_groups,
    repeated_ratings,
    shared_mistakes,
    system_differences,
    system_measures,
)
from experiments.simulations.simulation import run_simulation

MODULES = (
    adjustment,
    better_system,
    item_groups,
    known_truths,
    known_truths_in_parts,
    likelihood_intervals,
    power,
    rater_groups,
    repeated_ratings,
    shared_mistakes,
    system_differences,
    system_measures,
)
SIMULATIONS = {module.__name__.rpartition(".")[2]: module.SIMULATION for module in MODULES} | {
    "better_system_relaxed_k": better_system.BY_RELAXED_K,
    "system_differences_relaxed_k": system_differences.BY_RELAXED_K,
}


def main() -> None:
    """Simulate the designs that are missing in the folder; print the name of each written file."""
    parser = argparse.ArgumentParser(description="A small simulation. Finished designs are kept.")
    parser.add_argument("name", choices=SIMULATIONS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, help="for each design")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    simulation = SIMULATIONS[chosen.name]
    data_sets = chosen.data_sets or simulation.data_sets
    for done in run_simulation(chosen.name, simulation, chosen.folder, data_sets, chosen.seed):
        print(done, flush=True)


if __name__ == "__main__":
    main()
