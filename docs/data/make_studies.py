"""Simulate the files of `docs/five_studies.md`: lesions, a crowd's labels, graded essays.

`python docs/data/make_studies.py` writes them again. No case, worker or essay is real.
"""

from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent


def make_lesions(n_cases: int = 180, n_biopsies: int = 35) -> pd.DataFrame:
    """Draw lesions of which 40% are malignant; one in ten looks like the other kind to everybody.

    R3 misses more malignant lesions than the other readers do.
    """
    rng = np.random.default_rng(10)
    malignant = rng.random(n_cases) < 0.4
    looks = malignant ^ (rng.random(n_cases) < 0.1)
    table = pd.DataFrame({"case": [f"L{i:03}" for i in range(1, n_cases + 1)]})
    table["sex"] = rng.choice(["female", "male"], n_cases)
    table["age"] = rng.normal(58, 14, n_cases).round().clip(18, 92).astype(int)
    skills = {"R1": (0.85, 0.85), "R2": (0.8, 0.9), "R3": (0.6, 0.75), "R4": (0.85, 0.9)}
    for reader, (sensitivity, specificity) in (skills | {"AI": (0.95, 0.95)}).items():
        says = rng.random(n_cases) < np.where(looks, sensitivity, 1 - specificity)
        table[reader] = np.where(says, "malignant", "benign")
    biopsy = np.where(malignant, "malignant", "benign").astype(object)
    biopsy[rng.permutation(n_cases)[n_biopsies:]] = ""
    return table.assign(biopsy=biopsy)


def make_crowd(n_posts: int = 300, n_workers: int = 40, each: int = 5) -> pd.DataFrame:
    """Draw labels of posts by workers of unequal accuracy, five a post, and those of a model."""
    rng = np.random.default_rng(11)
    moods = np.array(["angry", "glad", "sad"])
    truth = rng.choice(3, n_posts, p=[0.3, 0.45, 0.25])
    accuracy = rng.beta(6, 3, n_workers)
    workers = [
        (post, worker) for post in range(n_posts) for worker in rng.permutation(n_workers)[:each]
    ]
    post, worker = np.array(workers).T

    def answer(item: np.ndarray, right: np.ndarray) -> np.ndarray:
        wrong = np.where(rng.random(len(item)) < right, 0, rng.integers(1, 3, len(item)))
        return moods[(truth[item] + wrong) % 3]

    model = answer(np.arange(n_posts), np.full(n_posts, 0.85))
    return pd.DataFrame(
        {
            "item": [f"p{i + 1:03}" for i in [*post, *range(n_posts)]],
            "rater": [*(f"w{i + 1:02}" for i in worker), *["model"] * n_posts],
            "rating": [*answer(post, accuracy[worker]), *model],
        }
    )


def make_essays(n_essays: int = 120) -> pd.DataFrame:
    """Draw the grades 1 to 5 of essays by three teachers, the third of whom is stricter."""
    rng = np.random.default_rng(12)
    quality = rng.normal(3.2, 1.0, n_essays)
    table = pd.DataFrame({"essay": [f"e{i:03}" for i in range(1, n_essays + 1)]})
    for teacher, strict in {"adams": 0.0, "brown": 0.0, "clark": 0.5}.items():
        grade = quality - strict + rng.normal(0, 0.6, n_essays)
        table[teacher] = grade.round().clip(1, 5).astype(int)
    return table


if __name__ == "__main__":
    made = {"lesions": make_lesions(), "crowd": make_crowd(), "essays": make_essays()}
    for name, table in made.items():
        table.to_csv(HERE / f"{name}.csv", index=False, lineterminator="\n")
