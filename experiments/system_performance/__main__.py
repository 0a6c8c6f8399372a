"""The simulations as `python -m experiments.system_performance {measures,groups} FOLDER`."""

import argparse
from pathlib import Path

from experiments.system_performance import groups, recovery

SIMULATIONS = {
    "measures": (recovery.write_recovery, recovery.DATA_SETS),
    "groups": (groups.write_groups, groups.DATA_SETS),
}


def main() -> None:
    """Simulate the parts that are missing in the folder, and write the table."""
    parser = argparse.ArgumentParser(
        description="Recovery and coverage of the system's measures, and of its accuracy in groups "
        "of items. Finished parts are kept."
    )
    parser.add_argument("simulation", choices=SIMULATIONS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, help="for each cell and number of items")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    write, data_sets = SIMULATIONS[chosen.simulation]
    for path in write(chosen.folder, chosen.data_sets or data_sets, chosen.seed):
        print(f"wrote {path}", flush=True)


main()
