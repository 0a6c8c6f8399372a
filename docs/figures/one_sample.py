"""Draw the README's figure: one simulated sample, four methods, and the truth.

`python docs/figures/one_sample.py` writes `one_sample.png` and `one_sample.csv`. Raters, difficulty
and errors are those of Figure 10 of Lehner (2015): the K-properties fail. The system is right with
probability .9; seed 1.
"""

from dataclasses import asdict
from pathlib import Path
from statistics import NormalDist

import pandas as pd
from matplotlib.figure import Figure

import bayes_models
import lehner
from experiments.reporting.figure_style import REFERENCE, figure_style, limits
from experiments.reporting.files import figure_bytes
from experiments.reporting.method_style import method_label, method_style
from lehner.core.wilson import wilson_interval

HERE = Path(__file__).parent
SCENARIO = lehner.Scenario(
    n_items=200,
    initial_rater_accuracy=(0.5, 0.6, 0.7),
    initial_system_accuracy=0.9,
    easiness=(-0.2, 0, 0.2),
    asymmetric_dispersion=2,
    proportional_error_range=1,
)


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


def draw(table: pd.DataFrame) -> Figure:
    """Draw estimates and 90% intervals beside the truth; that of the majority is Wilson's."""
    n, agreement = SCENARIO.n_items, table.estimate["majority_agreement"]
    low, high = wilson_interval(agreement, n, z=NormalDist().inv_cdf(0.95))
    truth = table.truth.iloc[0]
    with figure_style() as width:
        figure = Figure(figsize=(width, 1.9), layout="constrained")
        ax = figure.subplots()
        ax.axvline(truth, color=REFERENCE, lw=1, ls="--", zorder=1)
        ax.text(truth, -0.6, f"truth {truth:.2f}", ha="center", va="bottom")
        for row, (method, one) in enumerate(table.iterrows()):
            style = method_style(str(method))
            ax.hlines(row, one.lower, one.upper, color=style.color, lw=2)
            ax.plot(one.estimate, row, ls="", ms=6.5, **style.options())
        color = method_style("majority_agreement").color
        ax.hlines(0, low, high, color=color, lw=1.3, ls=":")
        ax.set_yticks(range(len(table)), [method_label(str(name)) for name in table.index])
        ax.set(ylim=(len(table) - 0.5, -0.6), xlim=limits(table, low, high))
        ax.set_xlabel("Accuracy of the system, with 90% intervals; dotted: of the agreement alone")
        ax.grid(axis="x")
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
    said = [f"{method_label(str(name))} {one.estimate:.2f}" for name, one in table.iterrows()]
    figure.set_label(
        f"Accuracy of a system from one simulated sample of {n} items. The truth is {truth:.2f}; "
        f"estimates: {', '.join(said)}."
    )
    return figure


if __name__ == "__main__":
    found = estimate(seed=1)
    found.round(4).to_csv(HERE / "one_sample.csv", index_label="method", lineterminator="\n")
    (HERE / "one_sample.png").write_bytes(figure_bytes(draw(found), "png"))
    print(found.round(3))
