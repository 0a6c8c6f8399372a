"""Take from the table of the study `atlas` the bias that the page of results shows.

`python docs/results/make_atlas.py FOLDER`, the folder of its report, writes `atlas.csv`: three
raters, five categories, each base rate .7 of the one before it, violations at their strongest.
"""

import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent


def condense(folder: Path) -> pd.DataFrame:
    """Keep the centre of the grid, and of each violation the greatest strength."""
    table = pd.read_csv(folder / "atlas.csv")
    centre = (table.n_raters == 3) & (table.n_categories == 5) & (table["skew"] == 0.7)
    strongest = table.strength == table.groupby("violation").strength.transform("max")
    kept = ["violation", "strength", "system_accuracy", "rater_accuracy", "method", "bias"]
    return table.loc[centre & strongest, kept].round(4)


if __name__ == "__main__":
    condense(Path(sys.argv[1])).to_csv(HERE / "atlas.csv", index=False, lineterminator="\n")
