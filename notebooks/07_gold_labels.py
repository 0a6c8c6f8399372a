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
# better one. Most data are kinder: see the benchmark of 33 public data sets in the documentation.

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import lehner

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
# LLMBar is one of the 32 data sets on which `learned_prior` was trained, so that what it says here
# is no test of it. A panel of judges that it has not seen may be worse.

# %%
METHODS = ["majority_agreement", "algebraic", "dawid_skene_ml", "learned_prior"]
IN_SAMPLE = "system_accuracy_in_sample"
hidden = {judge: lehner.estimate(data[judge].with_truth(None), METHODS) for judge in JUDGES}


def pick(results, judge, method):
    return results.value(IN_SAMPLE, system=judge, method=method)


pd.DataFrame({m: {judge: pick(hidden[judge], judge, m) for judge in JUDGES} for m in METHODS}).map(
    str
).assign(truth=truth.round(3))

# %% [markdown]
# Every method puts GPT-4 last, although it is right most often. The methods that assume independent
# errors have narrow intervals, and hardly any contains the truth. That of `learned_prior` contains
# it for 2 of the 6 judges, who are better than their raters, and misses the others, although it
# learned from these judges too: in no other data set were raters so often wrong together.
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
# Which accuracies of GPT-4 are possible if errors correlate by no more than a cap? The first line
# has the true correlations, and the table has the bounds:

# %%
gpt = data["GPT-4"].with_truth(None)
of_raters, of_system = lehner.error_correlation(data["GPT-4"])
caps = {"0.1": (0.1, 0.1), "0.25": (0.25, 0.25), "the true ones": (of_raters, of_system)}
bounds = lehner.bound_accuracy(gpt, *zip(*caps.values(), strict=True), level=None)
rows = bounds.select(quantity="system_accuracy_in_sample_bounds")
table = pd.DataFrame([*caps.values()], pd.Index(caps, name="caps"), ["raters", "system"])
table.assign(lower=[*rows["lower"]], upper=[*rows["upper"]])

# %% [markdown]
# The lowest cap is narrow and wrong. With the true correlations as caps nearly everything is
# possible.
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
            "learned_prior": lehner.estimate_learned_prior(labelled).system_accuracy_in_sample,
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
looks = hidden["GPT-4"].looks
fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")


def draw(ax, method, positions, values):
    look = looks(method.removesuffix(", corrected").replace("labels alone", "known_items_alone"))
    label = look.label if method in METHODS else method.capitalize()
    ax.plot([value[0] for value in values], positions, look.marker, color=look.color, label=label)
    ax.hlines(positions, *np.transpose([value[1:] for value in values]), look.color)


for step, method in enumerate(METHODS):
    values = [pick(hidden[judge], judge, method) for judge in JUDGES]
    values = [(value.estimate, value.lower, value.upper) for value in values]
    draw(axes[0], method, np.arange(6) + 0.18 * (step - 1.5), values)
first = draws.groupby(["judge", "method"], sort=False).first()
for step, method in enumerate(summary.index.unique("method")):
    values = first.xs(method, level="method")[["estimate", "lower", "upper"]].to_numpy()
    draw(axes[1], method, np.arange(6) + 0.2 * (step - 1), values)
for ax, title in zip(axes, ["no gold labels", "20 gold labels, one draw"], strict=True):
    ax.plot(truth, range(6), "k|", markersize=22)
    ax.set(title=title, xlabel="accuracy, 90% interval (black: truth)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
axes[0].set_yticks(range(6), JUDGES)
axes[0].invert_yaxis()
plt.show()

# %% [markdown]
# **Answer.** Judges make the same errors. Every method that assumes independent ones is therefore
# wrong by far more than its interval says, and the best system comes out last. Without labels
# `learned_prior` covers the truth of 2 of 6 judges. With twenty labels of random pairs its
# intervals cover the truth in 40% to 95% of the draws, and those of the labels alone in 85% to 98%;
# its error is larger than that of the labels alone for the four judges whose raters are mostly
# wrong together. If items were chosen to mislead, believe the labels alone. Report them in any
# case.
