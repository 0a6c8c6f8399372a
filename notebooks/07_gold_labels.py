# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Gold labels: real ratings with truth, what goes wrong, and what twenty labels do
#
# **Question.** Six language models judged, for 419 pairs of answers, which of the two follows its
# instruction. The truth of these pairs is known (LLMBar, Zeng et al. 2024). We hide it, let each
# judge in turn play the system and the other five the raters, and ask how often the system is
# right. How far off are the estimates, why, and what if an expert labels twenty pairs?
#
# These data are hard on purpose: in 319 of the pairs the worse answer was made to look like the
# better one. Most data are kinder: see [33 public data
# sets](../docs/results/benchmark.md).

# %%
# %matplotlib inline
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import lehner
from lehner.empirical_prior.prior import format_priors, train_priors

pd.set_option("display.precision", 3)
JUDGES = ["GPT-4", "PaLM2", "Falcon", "ChatGPT-0301", "LLaMA2", "ChatGPT"]
table = lehner.load_dataset("llmbar").to_wide()


def read(judge):
    """Read the pairs with one judge as the system and the others as its raters."""
    raters = [name for name in JUDGES if name != judge]
    return lehner.read_ratings(table, system=judge, raters=raters, truth="truth")


data = {judge: read(judge) for judge in JUDGES}
truth = pd.Series({judge: (table[judge] == table["truth"]).mean() for judge in JUDGES})
truth.rename("accuracy").to_frame()

# %% [markdown]
# GPT-4 and PaLM2 are better than the others; three judges are right less often than a coin. A user
# knows none of this.
#
# ## Without gold labels
#
# LLMBar is among the data sets on which the shipped prior of `learned_prior` was trained. To be
# fair we train one without it, as `lehner train-prior` does on data sets of your own.

# %%
outcomes = pd.read_csv("../experiments/benchmarks/real/outcomes.csv")
others = outcomes[outcomes["family"] != "LLMBar"]
priors = Path(tempfile.mkdtemp()) / "priors.json"
priors.write_text(format_priors(train_priors(others)))


def estimate(ratings):
    return {
        "majority": lehner.majority_agreement(ratings).system_accuracy_in_sample,
        "algebraic": lehner.estimate_algebraic(ratings, seed=1).system_accuracy_in_sample,
        "dawid_skene_ml": lehner.estimate_latent_class(
            ratings, "dawid_skene", seed=1
        ).system_accuracy_in_sample,
        "learned_prior": lehner.estimate_learned_prior(
            ratings, priors=priors
        ).system_accuracy_in_sample,
    }


hidden = pd.DataFrame({judge: estimate(data[judge].with_truth(None)) for judge in JUDGES}).T
hidden.map(str).assign(truth=truth.round(3))

# %% [markdown]
# Every method puts GPT-4 last, although it is right most often. The methods that assume
# independent errors have narrow intervals, and hardly any contains the truth. `learned_prior`
# contains it for the two judges who are better than their raters, and misses the others: in no
# data set that it learned from were raters so often wrong together.
#
# ## Why: judges make the same errors

# %%
full = table.dropna()
wrong = full[JUDGES].ne(full["truth"], axis="index")
independent = np.array([1.0])
for share in wrong.mean():
    independent = np.convolve(independent, [1 - share, share])
pd.DataFrame(
    {
        "share of pairs": np.bincount(wrong.sum(axis="columns"), minlength=7) / len(full),
        "if they erred independently": independent,
    }
).rename_axis("judges who are wrong")

# %% [markdown]
# Five or six judges are wrong together far more often than independent judges would be. Where five
# raters agree on the wrong answer they look like five who know, and a system that knows better
# looks wrong. Ratings do not show it.
#
# ## What ratings say without a model
#
# Which accuracies of GPT-4 are possible if errors correlate by no more than a cap? First the true
# correlations, then the bounds:

# %%
gpt = data["GPT-4"].with_truth(None)
of_raters, of_system = lehner.error_correlation(data["GPT-4"])
caps = {"0.1": (0.1, 0.1), "0.25": (0.25, 0.25), "the true ones": (of_raters, of_system)}
bounds = lehner.bound_accuracy(gpt, *zip(*caps.values(), strict=True), level=None)
rows = bounds.select(quantity="system_accuracy_in_sample_bounds")
table = pd.DataFrame([*caps.values()], pd.Index(caps, name="caps"), ["raters", "system"])
table.assign(lower=[*rows["lower"]], upper=[*rows["upper"]])

# %% [markdown]
# A low cap is narrow and wrong. With the true correlations as caps nearly everything is possible.
#
# ## Twenty gold labels
#
# `lehner.choose_items`, like `lehner ask`, draws pairs at random for an expert to label. We do
# this forty times for each judge. `learned_prior` uses the labels; the labels alone (Wilson's
# interval) need no ratings.

# %%
rows = []
for number, judge in enumerate(JUDGES):
    ratings = data[judge]
    algebra = lehner.estimate_algebraic(ratings.with_truth(None), seed=1)
    for draw in range(40):
        seed = np.random.SeedSequence([number, draw])
        items = lehner.choose_items(ratings.with_truth(None), 20, seed=seed)
        labels = np.full(ratings.n_items, -1)
        labels[items] = ratings.truth[items]
        labelled = ratings.with_truth(labels)
        corrected = lehner.correct_accuracy(labelled, algebra)
        for method, value in {
            "learned_prior": lehner.estimate_learned_prior(
                labelled, priors=priors
            ).system_accuracy_in_sample,
            "algebraic, corrected": corrected.system_accuracy_in_sample,
            "labels alone": corrected.known_items_alone,
        }.items():
            rows.append((judge, method, value.estimate, value.lower, value.upper, truth[judge]))
draws = pd.DataFrame(rows, columns=["judge", "method", "estimate", "lower", "upper", "truth"])
draws["error²"] = (draws["estimate"] - draws["truth"]) ** 2
draws["covers"] = (draws["lower"] <= draws["truth"]) & (draws["truth"] <= draws["upper"])
summary = draws.groupby(["judge", "method"], sort=False).agg(
    rmse=("error²", lambda squares: np.sqrt(squares.mean())), coverage=("covers", "mean")
)
summary.unstack("method")

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
first = draws.groupby(["judge", "method"], sort=False).first()
for step, method in enumerate(["learned_prior", "labels alone"]):
    place = np.arange(6) + 0.2 * (step - 0.5)
    of = first.xs(method, level="method")
    lines = axes[1].plot(of["estimate"], place, "o", label=method)
    axes[1].hlines(place, of["lower"], of["upper"], lines[0].get_color())
for step, method in enumerate(hidden):
    place = np.arange(6) + 0.18 * (step - 1.5)
    lines = axes[0].plot([value.estimate for value in hidden[method]], place, "o", label=method)
    ends = np.transpose([[value.lower, value.upper] for value in hidden[method]])
    axes[0].hlines(place, *ends, lines[0].get_color())
for ax, title in zip(axes, ["no gold labels", "20 gold labels, one draw"], strict=True):
    ax.plot(truth, range(6), "k|", markersize=22)
    ax.set(title=title, xlabel="accuracy, 90% interval (black: truth)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
axes[0].set_yticks(range(6), JUDGES)
axes[0].invert_yaxis()
plt.show()

# %% [markdown]
# **Answer.** Judges make the same errors. Every method that assumes independent ones is therefore
# wrong by far more than its interval says, and the best system comes out last. `learned_prior`
# covers the truth for judges who are better than their raters, and fails where most raters are
# wrong together. Twenty gold labels of random pairs help in either case. Where items were chosen to
# mislead, believe the labels alone, and report them in any case.
