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
from experiments.simulations.cells import run_cells

SIMULATIONS = {
    "adjustment": adjustment.SIMULATION,
    "better_system": better_system.SIMULATION,
    "better_system_relaxed_k": better_system.BY_RELAXED_K,
    "item_groups": item_groups.SIMULATION,
    "known_truths": known_truths.SIMULATION,
    "known_truths_in_parts": known_truths_in_parts.SIMULATION,
    "likelihood_intervals": likelihood_intervals.SIMULATION,
    "power": power.SIMULATION,
    "rater_groups": rater_groups.SIMULATION,
    "repeated_ratings": repeated_ratings.SIMULATION,
    "shared_mistakes": shared_mistakes.SIMULATION,
    "system_differences": system_differences.SIMULATION,
    "system_differences_relaxed_k": system_differences.BY_RELAXED_K,
    "system_measures": system_measures.SIMULATION,
}


def main() -> None:
    """Simulate the cells that are missing in the folder; print the name of each written file."""
    parser = argparse.ArgumentParser(description="A small simulation. Finished cells are kept.")
    parser.add_argument("name", choices=SIMULATIONS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, help="for each cell")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    simulation = SIMULATIONS[chosen.name]
    data_sets = chosen.data_sets or simulation.data_sets
    for path in run_cells(chosen.name, simulation, chosen.folder, data_sets, chosen.seed):
        print(f"wrote {path}", flush=True)


if __name__ == "__main__":
    main()
