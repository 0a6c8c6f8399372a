"""The simulation as `python -m experiments.system_performance FOLDER`."""

import argparse
from pathlib import Path

from experiments.system_performance.recovery import DATA_SETS, write_recovery


def main() -> None:
    """Simulate the parts that are missing in the folder, and write the table."""
    parser = argparse.ArgumentParser(
        description="Recovery and coverage of the system's measures. Finished parts are kept."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for path in write_recovery(chosen.folder, chosen.data_sets, chosen.seed):
        print(f"wrote {path}", flush=True)


main()
