"""The simulations as `python -m experiments.known_truths {accuracy,parts} FOLDER`."""

import argparse
from pathlib import Path

from experiments.known_truths import parts, simulation

SIMULATIONS = {
    "accuracy": (simulation.write_simulation, simulation.DATA_SETS),
    "parts": (parts.write_parts, parts.DATA_SETS),
}


def main() -> None:
    """Simulate the cells that are missing in the folder, and write the table."""
    parser = argparse.ArgumentParser(
        description="Error and coverage with known truths. Finished cells are kept."
    )
    parser.add_argument("simulation", choices=SIMULATIONS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, help="for each cell")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    write, data_sets = SIMULATIONS[chosen.simulation]
    for path in write(chosen.folder, chosen.data_sets or data_sets, chosen.seed):
        print(f"wrote {path}", flush=True)


main()
