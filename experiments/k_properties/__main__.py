"""Size and power as `python -m experiments.k_properties FOLDER`."""

import argparse
from pathlib import Path

from experiments.k_properties.power import CELLS, DATA_SETS, SIZES, write_power


def main() -> None:
    """Compute the cells that are missing in the folder; print and write the table and figure."""
    parser = argparse.ArgumentParser(
        description="Size and power of the tests of the K-properties. Finished cells are kept."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cell", nargs="+", choices=tuple(CELLS), default=tuple(CELLS))
    parser.add_argument("--items", type=int, nargs="+", default=SIZES)
    parser.add_argument("--data-sets", type=int, default=DATA_SETS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for path in write_power(
        chosen.folder, chosen.cell, chosen.items, chosen.data_sets, chosen.seed
    ):
        print(f"wrote {path}")


main()
