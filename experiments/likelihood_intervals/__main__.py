"""The simulation as `python -m experiments.likelihood_intervals FOLDER`."""

import argparse
from pathlib import Path

from experiments.likelihood_intervals.simulation import DATA_SETS, write_simulation


def main() -> None:
    """Simulate the cells that are missing in the folder, and write the table."""
    parser = argparse.ArgumentParser(
        description="Coverage of intervals by maximum likelihood. Finished cells are kept."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for path in write_simulation(chosen.folder, chosen.data_sets, chosen.seed):
        print(f"wrote {path}", flush=True)


main()
