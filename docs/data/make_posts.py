"""Simulate `posts.csv`: posts called toxic or fine by three raters, with a score of a system.

`python docs/data/make_posts.py` writes it again. The system ranks posts well, with scores that are
too low.
"""

from pathlib import Path

import numpy as np
import pandas as pd

N_POSTS, N_KNOWN = 300, 40
TOXIC, SIGNAL = 0.3, 1.8
ACCURACY = {"ana": 0.72, "ben": 0.68, "cai": 0.8}


def make(seed: int = 11) -> tuple[pd.DataFrame, float]:
    """Draw the posts; give the AUC of the scores on them, too."""
    rng = np.random.default_rng(seed)
    toxic = rng.random(N_POSTS) < TOXIC
    signal = rng.normal(size=N_POSTS) + SIGNAL * toxic
    log_odds = SIGNAL * signal - SIGNAL**2 / 2 + np.log(TOXIC / (1 - TOXIC))
    table = pd.DataFrame({"post": [f"t{i + 1:03}" for i in range(N_POSTS)]})
    for name, accuracy in ACCURACY.items():
        right = rng.random(N_POSTS) < accuracy
        table[name] = np.where(right == toxic, "toxic", "fine")
    table["p_toxic"] = (1 / (1 + np.exp(1 - log_odds))).round(3)
    is_labelled = rng.permutation(N_POSTS) < N_KNOWN
    table["gold"] = np.where(is_labelled, np.where(toxic, "toxic", "fine"), "")
    scores = table["p_toxic"].to_numpy()
    pairs = np.sign(scores[toxic][:, None] - scores[~toxic])
    return table, float((1 + pairs.mean()) / 2)


if __name__ == "__main__":
    posts, auc = make()
    posts.to_csv(Path(__file__).with_name("posts.csv"), index=False, lineterminator="\n")
    print(f"AUC {auc:.3f}")
