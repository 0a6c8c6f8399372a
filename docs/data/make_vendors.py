"""Make vendors.csv: eight vendors of content moderation, six months, and 2% of bad posts.

Bolt and Civis call few posts bad, so that their accuracy is the highest. The precision of Flux
falls from .49 to .11, and its recall from .62 to .33. Experts said of every post what it is.
"""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

N, RATE, MONTHS, SHARED = 6000, 0.02, 6, 0.16
# Recall and precision of each vendor.
VENDORS = {
    "Acme": (0.92, 0.62),
    "Bolt": (0.50, 0.90),
    "Civis": (0.45, 0.95),
    "Delta": (0.60, 0.50),
    "Echo": (0.50, 0.60),
    "Flux": (np.linspace(0.62, 0.33, MONTHS), np.linspace(0.49, 0.11, MONTHS)),
    "Guard": (0.80, 0.60),
    "Halo": (0.55, 0.45),
}


def make_vendors(seed: int) -> pd.DataFrame:
    """Draw the answers of the vendors, who find the same posts difficult."""
    rng = np.random.default_rng(seed)
    month, bad = np.sort(rng.integers(MONTHS, size=N)), rng.random(N) < RATE
    difficulty = np.sqrt(SHARED) * rng.normal(size=N)
    quantile = np.vectorize(NormalDist().inv_cdf)
    table = pd.DataFrame({"post": [f"p{i}" for i in range(N)], "month": month + 1})
    table["month"] = table["month"].map("2026-{:02d}".format)
    for name, both in VENDORS.items():
        recall, precision = (np.broadcast_to(x, MONTHS) for x in both)
        false_alarms = recall * RATE * (1 - precision) / precision / (1 - RATE)
        z = difficulty + np.sqrt(1 - SHARED) * rng.normal(size=N)
        found = z < quantile(recall)[month]
        alarm = -z < quantile(false_alarms)[month]
        table[name] = np.where(np.where(bad, found, alarm), "bad", "ok")
    return table.assign(gold=np.where(bad, "bad", "ok"))


if __name__ == "__main__":
    make_vendors(16).to_csv(
        Path(__file__).with_name("vendors.csv"), index=False, lineterminator="\n"
    )
