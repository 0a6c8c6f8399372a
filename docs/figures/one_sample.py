"""Draw the README's figure: one simulated sample, four methods, and the truth.

`python docs/figures/one_sample.py` writes `one_sample.png` and `one_sample.csv`. Raters, difficulty
and errors are those of Figure 10 of Lehner (2015): the K-properties fail. The system is right with
probability .9; seed 1.
"""

from dataclasses import asdict
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import bayes_models
import lehner

HERE = Path(__file__).parent
SCENARIO = lehner.Scenario(
    n_items=200,
    rater_accuracy=(0.5, 0.6, 0.7),
    system_accuracy=0.9,
    difficulty=(-0.2, 0, 0.2),
    asymmetric_dispersion=2,
    proportional_error_range=1,
)
NAMES = {
    "majority_agreement": "Agreement with the majority",
    "algebraic": "Algebra (Lehner)",
    "dawid_skene": "Dawid–Skene",
    "relaxed_k": "Relaxed K",
}
COLOURS = ("#666666", "#0072B2", "#D55E00", "#009E73")


def estimate(seed: int) -> pd.DataFrame:
    """Estimate the system's accuracy in one sample by four methods."""
    ratings = lehner.simulate(SCENARIO, seed)
    found = {
        "majority_agreement": lehner.majority_agreement(ratings).system_accuracy,
        "algebraic": lehner.estimate_algebraic(ratings, seed=seed).system_accuracy,
    }
    for model in ("dawid_skene", "relaxed_k"):
        tree = bayes_models.fit(model, ratings.with_truth(None), seed=seed)
        found[model] = bayes_models.estimate_from_draws(tree).system_accuracy
    rows = {method: asdict(accuracy) for method, accuracy in found.items()}
    table = pd.DataFrame(rows).T[["estimate", "lower", "upper"]].astype(float)
    return table.assign(truth=float(lehner.true_parameters(SCENARIO, seed).system_accuracy))


def draw(table: pd.DataFrame) -> plt.Figure:
    """Draw estimates and 90% intervals beside the truth."""
    figure, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
    truth = table.truth.iloc[0]
    ax.axvline(truth, color="black", lw=1.2, ls="--")
    ax.text(truth, -0.65, f"truth {truth:.2f}", ha="center", va="bottom", fontsize=9)
    for row, (method, one) in enumerate(table.iterrows()):
        ax.plot([one.lower, one.upper], [row, row], color=COLOURS[row], lw=2.5)
        ax.plot(one.estimate, row, "o", color=COLOURS[row], ms=8)
    ax.set_yticks(range(len(table)), [NAMES[method] for method in table.index], fontsize=10)
    ax.set(ylim=(len(table) - 0.5, -0.6), xlim=(0.5, 1.0))
    ax.set_xlabel("Accuracy of the system, with 90% intervals where a method has one", fontsize=9)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


if __name__ == "__main__":
    found = estimate(seed=1)
    found.round(4).to_csv(HERE / "one_sample.csv", index_label="method", lineterminator="\n")
    draw(found).savefig(HERE / "one_sample.png", dpi=200)
    print(found.round(3))
