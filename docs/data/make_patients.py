"""Simulate `patients.csv`: lesions of patients, judged by a system and four readers; some verified.

`python docs/data/make_patients.py` writes it again. No patient is real.
"""

from pathlib import Path

import numpy as np
import pandas as pd

N_PATIENTS, N_KNOWN = 60, 30
ICC = 0.4
ACCURACY = {"net": 0.86, "ana": 0.80, "ben": 0.75, "cai": 0.82, "dee": 0.70}


def make(seed: int = 7) -> pd.DataFrame:
    """Draw two to eight lesions of a patient, who are alike in what is there and who errs."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(N_PATIENTS), rng.integers(2, 9, N_PATIENTS))

    def chance(mean: float) -> np.ndarray:
        total = 1 / ICC - 1
        return rng.beta(mean * total, (1 - mean) * total, N_PATIENTS)[patient]

    malignant = rng.random(len(patient)) < chance(0.4)
    table = pd.DataFrame(
        {"lesion": np.arange(1, len(patient) + 1), "patient": [f"p{i + 1:02}" for i in patient]}
    )
    for name, accuracy in ACCURACY.items():
        right = rng.random(len(patient)) < chance(accuracy)
        table[name] = np.where(right == malignant, "malignant", "benign")
    is_labelled = rng.permutation(len(patient)) < N_KNOWN
    table["histology"] = np.where(is_labelled, np.where(malignant, "malignant", "benign"), "")
    return table


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("patients.csv"), index=False, lineterminator="\n")
