"""A simulation as `python -m experiments.simulations NAME FOLDER`."""

import argparse
from importlib import import_module
from pathlib import Path

from experiments.simulations.simulation import run_simulation

NAMES = (
    *("better_system", "clustered_items", "compare", "dependent_pair"),
    *("item_groups", "known_truths", "known_truths_by_category", "known_truths_in_parts"),
    *("likelihood_intervals", "power", "rater_groups", "scores", "sequential_truths"),
    *("shared_mistakes", "system_differences"),
    *("system_differences_known_truths", "system_measures", "unequal_truths", "warning_rates"),
)
BY_RELAXED_K = "_relaxed_k"


def main() -> None:
    """Simulate the designs that are missing in the folder; print the name of each written file."""
    parser = argparse.ArgumentParser(description="A small simulation. Finished designs are kept.")
    more = [f"{name}{BY_RELAXED_K}" for name in ("better_system", "system_differences")]
    parser.add_argument("name", choices=(*NAMES, *more))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, help="for each design")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    module = import_module(f"experiments.simulations.{chosen.name.removesuffix(BY_RELAXED_K)}")
    simulation = module.BY_RELAXED_K if chosen.name in more else module.SIMULATION
    data_sets = chosen.data_sets or simulation.data_sets
    for done in run_simulation(chosen.name, simulation, chosen.folder, data_sets, chosen.seed):
        print(done, flush=True)


if __name__ == "__main__":
    main()
