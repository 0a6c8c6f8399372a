"""Simulate `scans.csv`: scans judged by a system and three readers, verified by chance.

`python docs/data/make_scans.py` writes it again. No patient is real.
"""

from pathlib import Path

import numpy as np
import pandas as pd

N_SCANS, PREVALENCE = 600, 0.25
SENSITIVITY, SPECIFICITY = 0.7, 0.88
READERS = {"ana": 0.8, "ben": 0.75, "cai": 0.85}
VERIFIED = {"ill": 0.5, "well": 0.08}


def make(seed: int = 4) -> pd.DataFrame:
    """Draw scans; those on which the system sees the illness are verified more often."""
    rng = np.random.default_rng(seed)
    ill = rng.random(N_SCANS) < PREVALENCE
    right = rng.random(N_SCANS) < np.where(ill, SENSITIVITY, SPECIFICITY)
    table = pd.DataFrame({"scan": np.arange(1, N_SCANS + 1)})
    table["net"] = np.where(right == ill, "ill", "well")
    for name, accuracy in READERS.items():
        table[name] = np.where((rng.random(N_SCANS) < accuracy) == ill, "ill", "well")
    table["chance"] = table["net"].map(VERIFIED)
    verified = rng.random(N_SCANS) < table["chance"]
    table["biopsy"] = np.where(verified, np.where(ill, "ill", "well"), "")
    table.attrs["truth"] = ill
    return table


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("scans.csv"), index=False, lineterminator="\n")
