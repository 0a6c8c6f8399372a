"""Simulate `answers.csv`: answers of four language models, judged by four raters, some verified.

`python docs/data/make_answers.py` writes it again. No model is real.
"""

from pathlib import Path

import numpy as np
import pandas as pd

GOOD = {"atlas": 0.72, "birch": 0.66, "cedar": 0.55, "delta": 0.45}
RECALL = {"ana": (0.80, 0.85), "ben": (0.85, 0.70), "cai": (0.60, 0.90), "dee": (0.65, 0.70)}
"""How often a rater is right about bad answers, and about good ones."""
N_PROMPTS, N_KNOWN = 150, 20


def make(seed: int = 4) -> pd.DataFrame:
    """Draw which answers are good, and what each rater calls them; a tenth is not rated."""
    rng = np.random.default_rng(seed)
    model = np.tile(list(GOOD), N_PROMPTS)
    good = rng.random(len(model)) < [GOOD[name] for name in model]
    table = pd.DataFrame({"item": [f"a{i:03}" for i in range(len(model))], "model": model})
    for rater, recall in RECALL.items():
        right = rng.random(len(model)) < np.array(recall)[good.astype(int)]
        said = np.where(right == good, "good", "bad").astype(object)
        said[rng.random(len(model)) < 0.1] = ""
        table[rater] = said
    is_labelled = np.isin(np.arange(len(model)) // len(GOOD), rng.permutation(N_PROMPTS)[:N_KNOWN])
    table["gold"] = np.where(is_labelled, np.where(good, "good", "bad"), "")
    return table


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("answers.csv"), index=False, lineterminator="\n")
