"""Simulate `tickets.csv`: 250 support tickets, four raters, two systems, a tenth with gold labels.

`python docs/data/make_tickets.py` writes it again. No ticket is real.
"""

from pathlib import Path

import numpy as np
import pandas as pd

CATEGORIES = ("access", "billing", "bug", "feature")
BASE_RATES = (0.2, 0.35, 0.3, 0.15)
EASY = {"ana": 0.70, "ben": 0.65, "cai": 0.75, "dee": 0.60, "gpt": 0.88, "bert": 0.78}
HARD = {"ana": 0.55, "ben": 0.50, "cai": 0.60, "dee": 0.50, "gpt": 0.78, "bert": 0.60}
ACCURACY = {"web": EASY, "app": HARD}
N_ITEMS = 250
N_KNOWN = 25


def make(seed: int = 1) -> pd.DataFrame:
    """Draw true categories, then each answer: right, or one of the three errors, equally likely."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(CATEGORIES), N_ITEMS, p=BASE_RATES)
    domain = rng.choice(list(ACCURACY), N_ITEMS, p=[0.6, 0.4])
    table = pd.DataFrame({"item": [f"t{i:03}" for i in range(1, N_ITEMS + 1)], "domain": domain})
    for who in EASY:
        accuracy = np.array([ACCURACY[where][who] for where in domain])
        shift = np.where(rng.random(N_ITEMS) < accuracy, 0, rng.integers(1, 4, N_ITEMS))
        table[who] = np.array(CATEGORIES)[(truth + shift) % len(CATEGORIES)]
    gold = np.array(CATEGORIES, dtype=object)[truth]
    gold[rng.permutation(N_ITEMS)[N_KNOWN:]] = ""
    table["gold"] = gold
    return table


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("tickets.csv"), index=False, lineterminator="\n")
