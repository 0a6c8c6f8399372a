"""Simulate `replies.csv`: 300 replies, four moderators, a system that saw what one of them said.

`python docs/data/make_replies.py` writes it again. No reply is real.
"""

from pathlib import Path

import numpy as np
import pandas as pd

CATEGORIES = ("fine", "rude", "threat")
BASE_RATES = (0.5, 0.3, 0.2)
ACCURACY = {"ana": 0.75, "ben": 0.70, "cai": 0.80, "dee": 0.70, "gpt": 0.75}
N_ITEMS, COPIED = 300, 0.35


def make(seed: int = 3) -> tuple[pd.DataFrame, float]:
    """Draw the answers, and how many of the system's are right."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(CATEGORIES), N_ITEMS, p=BASE_RATES)
    codes = {}
    for who, accuracy in ACCURACY.items():
        right = rng.random(N_ITEMS) < accuracy
        codes[who] = np.where(right, truth, (truth + rng.integers(1, 3, N_ITEMS)) % 3)
    codes["gpt"] = np.where(rng.random(N_ITEMS) < COPIED, codes["ana"], codes["gpt"])
    answers = {who: np.array(CATEGORIES)[code] for who, code in codes.items()}
    table = pd.DataFrame({"reply": [f"r{i:03}" for i in range(1, N_ITEMS + 1)]} | answers)
    return table, float((codes["gpt"] == truth).mean())


if __name__ == "__main__":
    table, right = make()
    table.to_csv(Path(__file__).with_name("replies.csv"), index=False, lineterminator="\n")
    print(f"{right:.3f} of the system's answers are right")
