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
# # Real ratings with truth: what goes wrong, and what twenty known truths do
#
# **Question.** Six language models judged, for 419 pairs of answers, which of the two follows its
# instruction. For these pairs the truth is known (LLMBar, Zeng et al. 2024). We hide it, let each
# judge in turn play the system and the other five the raters, and ask how often the system is
# right. How far off are the estimates, why, and what if an expert labels ten or twenty pairs?
#
# The data are hard on purpose: in 319 of the pairs the worse answer was made to look like the
# better one; 100 are natural. Most data are kinder: see
# [33 public sets](../experiments/benchmarks/real/real.md).

# %%
# %matplotlib inline
import tempfile
import warnings
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayes_models
import lehner
from experiments.benchmarks.real.outcomes import read_outcomes
from experiments.reporting.bounds_figure import plot_bounds
from experiments.reporting.figure_style import figure_style
from experiments.reporting.method_style import method_style
from experiments.study import measure
from lehner.empirical_prior.training import priors_text, train_priors

warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
pd.set_option("display.precision", 3)

JUDGES = ["GPT-4", "PaLM2", "Falcon", "ChatGPT-0301", "LLaMA2", "ChatGPT"]
table = lehner.load_dataset("llmbar").to_wide()
pairs = {"all": table, "natural": table[table["item"].str.startswith("Natural")]}


def read(table, judge):
    """Read pairs with one judge as the system and the others as its raters."""
    others = [other for other in JUDGES if other != judge]
    return lehner.read_ratings(table, system=judge, raters=others, truth="truth")


def proportion_right(ratings):
    answered = ratings.system >= 0
    return (ratings.system[answered] == ratings.truth[answered]).mean()


data = {name: {judge: read(part, judge) for judge in JUDGES} for name, part in pairs.items()}
truths = pd.DataFrame(data).map(proportion_right)
truth = truths["all"]
above = truth - (truth.sum() - truth) / (len(JUDGES) - 1)
situation = pd.cut(above, [-1, -0.05, 0.05, 1], labels=["worse", "like", "better"]).astype(str)
truths.assign(**{"all: above its raters": above, "system is": situation})

# %% [markdown]
# Proportions of pairs judged rightly. On all pairs GPT-4 and PaLM2 are better than their raters,
# Falcon is like them, and the others are worse, and right less often than a coin. A user knows none
# of this.
#
# ## Without any truth
#
# `calibrated` rests on what agreement with the majority was worth in other crowds, whose truth is
# known. LLMBar is among those on which the shipped prior was trained, so we train one without it,
# as `lehner train-prior` does on crowds of your own.

# %%
outcomes = [outcome for outcome in read_outcomes() if outcome.family != "LLMBar"]
priors = Path(tempfile.mkdtemp()) / "priors.json"
priors.write_text(priors_text(train_priors(outcomes)))
print(f"Trained on {len({outcome.family for outcome in outcomes})} families of crowds")


def calibrated(ratings, system_is="unknown"):
    return lehner.estimate_calibrated(ratings, system_is=system_is, priors=priors)


def estimate(data):
    """Estimate the accuracy of each system by each method, the truth being hidden."""
    hidden = [ratings.with_truth(None) for ratings in data.values()]
    found = {
        "majority_agreement": [lehner.majority_agreement(one) for one in hidden],
        "algebraic": [lehner.estimate_algebraic(one, seed=1) for one in hidden],
    }
    for model, engine in {"dawid_skene": "gibbs", "relaxed_k": "nuts"}.items():
        trees = bayes_models.fit_many(model, hidden, seed=1, engine=engine)
        found[model] = [bayes_models.estimate_from_draws(tree) for tree in trees]
    for system_is in ("like", "better", "unknown"):
        found[f"calibrated, {system_is}"] = [calibrated(one, system_is) for one in hidden]
    return pd.DataFrame(found, index=JUDGES)


found = {name: estimate(data[name]) for name in data}
found["all"].map(lambda one: str(one.system_accuracy_in_sample)).T


# %%
def tidy(values):
    """Give a row for each estimate, with its truth."""
    keys, ends = ["pairs", "judge", "known", "draw", "method"], ["estimate", "lower", "upper"]
    rows = [
        (*key, truths.loc[key[1], key[0]], *(getattr(value, end) for end in ends))
        for key, value in values.items()
    ]
    rows = pd.DataFrame(rows, columns=[*keys, "truth", *ends]).astype(dict.fromkeys(ends, float))
    return rows.assign(situation=rows["judge"].map(situation))


def measured(rows, by, measures):
    """Tabulate measures of the methods in each group, with Monte Carlo standard errors."""
    table = measure(rows, by=["known", "method", by])
    table["text"] = table["value"].map("{:.3f}".format)
    table["text"] += table["standard_error"].map(" ± {:.3f}".format)
    table["text"] = table["text"].replace("nan ± nan", "no intervals")
    wide = table.pivot(index=["known", "method"], columns=[by, "measure"], values="text")
    return wide[list(product(rows[by].unique(), measures))]


before = tidy(
    {
        (name, judge, 0, 0, method): one.system_accuracy_in_sample
        for name in data
        for (judge, method), one in found[name].stack().items()
    }
)
of_all = before[before["pairs"] == "all"].assign(error=before["estimate"] - before["truth"])
of_all.pivot_table("error", "method", "situation", sort=False).add_prefix("mean error if ")

# %%
measured(before, "pairs", ["rmse", "coverage"])

# %% [markdown]
# Every method puts GPT-4 last, who is right most often. The methods that assume independent
# mistakes give narrow intervals, since the pairs are many, and hardly any contains the truth.
#
# `calibrated` contains it where it is told the situation: for both judges who are `better`, and for
# the one who is `like` its raters. Not told, it contains it for the two who are better. The three
# who are worse it misses with any setting: for this situation it has none. On the natural pairs,
# not told, it contains the truth for all six and errs as little as the majority.
#
# ## Why: judges make the same mistakes

# %%
full = table.dropna()
wrong = full[JUDGES].ne(full["truth"], axis="index")
independent = np.array([1.0])
for proportion in wrong.mean():
    independent = np.convolve(independent, [1 - proportion, proportion])
counts = pd.DataFrame(
    {
        "proportion of pairs": np.bincount(wrong.sum(axis="columns"), minlength=7) / len(full),
        "if they erred independently": independent,
    }
)
several = ["0 or 1"] * 2 + ["2 to 4"] * 3 + ["5 or 6"] * 2
counts.groupby(several).sum().rename_axis("judges who are wrong")

# %% [markdown]
# At most one judge is wrong on twice as many pairs as there would be if they erred independently,
# and five or six are wrong on four times as many. Where five raters agree on the wrong answer they
# look like five who know, and a system that knows better looks wrong. Ratings do not show it.
#
# ## The map: what ratings say without a model
#
# Which accuracies of GPT-4 are possible at all, if mistakes correlate by no more than so much? No
# model is needed for that, only that ratings are more often right than wrong. First, how much the
# mistakes of these judges really correlate, each in turn being the system; then the bounds under
# three caps, and under caps that are just what the correlations are for GPT-4.

# %%
gpt = data["all"]["GPT-4"].with_truth(None)
correlations = pd.DataFrame(
    {judge: lehner.mistake_correlations(ratings) for judge, ratings in data["all"].items()},
    index=["two raters", "system and rater"],
)
correlations

# %%
bounds = [
    lehner.accuracy_bounds(gpt, *caps, level=None)
    for caps in [(0.1, 0.1), (0.25, 0.25), (0.5, 0.5), correlations["GPT-4"]]
]
pd.DataFrame(bounds)[["raters", "system", "lower", "upper"]]

# %%
needed = lehner.mistakes_needed(gpt)
print(needed)
figure = plot_bounds(gpt, needed)
figure.legends[0].remove()
red = {"color": "#d62728", "markeredgecolor": "white"}
ax = figure.axes[0]
ax.plot(*correlations["GPT-4"], "*", **red, markersize=12, label="GPT-4 as the system")
ax.plot(*correlations.drop(columns="GPT-4").to_numpy(), "X", **red, label="another judge")
with figure_style(columns=1):
    figure.legend(loc="outside lower center", ncols=2, title="By their truths")
figure

# %% [markdown]
# A low cap is narrow and wrong: at .1 the accuracy of .828 is outside. At .25 it is inside, but the
# raters' mistakes correlate by more. With caps at the real correlations the ratings leave anything
# from .26 to 1 possible. GPT-4 lies outside the dashed corner of the sentence, as 13 of the 31
# crowds do. (The contours are for GPT-4; each other judge, as the system, has a map of its own.)
#
# The two judges who are better share fewer mistakes with their raters than these with one another,
# the others share more, and were put too high by every method.
#
# ## Ten and twenty known truths
#
# `lehner.choose_items`, like `lehner ask`, draws items for an expert to label: at random, and not
# those on which raters disagree, since here the trouble lies where they agree. `calibrated` weighs
# its prior by them, `lehner.correct_by_truth` recalibrates the probabilities of `relaxed_k`, and
# the known items alone (Wilson's interval) need no ratings. Forty draws for each judge; root mean
# squared error, coverage and width of 90% intervals, ± Monte Carlo standard error:


# %%
def estimate_partly_known(ratings, fitted, n, seed):
    """Estimate the accuracy with n known truths, drawn as `lehner ask` draws them."""
    chosen = lehner.choose_items(ratings.with_truth(None), n, seed=seed)
    known = np.full(ratings.n_items, -1)
    known[chosen] = ratings.truth[chosen]
    partly_known = ratings.with_truth(known)
    corrected = lehner.correct_by_truth(partly_known, fitted)
    return {
        "calibrated, unknown": calibrated(partly_known).system_accuracy_in_sample,
        "relaxed_k, corrected": corrected.system_accuracy_in_sample,
        "known items alone": corrected.known_items_alone,
    }


after = {}
for name, (number, judge), n, draw in product(data, enumerate(JUDGES), (10, 20), range(40)):
    seed = np.random.SeedSequence([n, number, draw])
    fitted = found[name].loc[judge, "relaxed_k"]
    values = estimate_partly_known(data[name][judge], fitted, n, seed)
    after |= {(name, judge, n, draw, method): value for method, value in values.items()}
after = tidy(after)
measured(after, "pairs", ["rmse", "coverage", "interval_width"])

# %% [markdown]
# On the natural pairs `calibrated` errs least, and its intervals hold and are narrower than those
# of the known items alone. On all pairs they hold in .6 of the draws, and with twenty truths the
# known items alone err least. The same for all pairs, by situation:

# %%
measured(after[after["pairs"] == "all"], "situation", ["rmse", "coverage"])

# %% [markdown]
# Where the system is better than its raters, `calibrated` errs least here, too. It fails for the
# three judges who are worse: its prior puts them much higher, as above, and ten or twenty truths do
# not outweigh it. The known items alone and `relaxed_k` corrected by
# them hold in .79 of the draws or more, whatever the situation. One of the forty draws:

# %%
panels = {
    "No truth known": of_all.query("method not in ['calibrated, like', 'calibrated, better']"),
    "20 truths known": after.query("pairs == 'all' and known == 20 and draw == 0"),
}
places = np.arange(len(JUDGES))
with figure_style() as width:
    fig, axes = plt.subplots(
        1, 2, figsize=(width, 4.6), layout="constrained", sharey=True, sharex=True
    )
    for ax, (title, rows) in zip(axes, panels.items(), strict=True):
        ax.vlines(truth, places - 0.42, places + 0.42, "black", lw=1.5, label="truth")
        methods = rows["method"].unique()
        for step, method in enumerate(methods):
            of = rows[rows["method"] == method].set_index("judge").loc[JUDGES]
            y = places + 0.15 * (step - (len(methods) - 1) / 2)
            options = method_style(method.partition(",")[0]).options()
            ax.hlines(y, of["lower"], of["upper"], options["color"])
            ax.plot(of["estimate"], y, ls="", label=method, **options)
        ax.set(title=title, xlabel="Pairs judged rightly (proportion), 90% intervals")
        # The methods of the panels differ.
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    axes[0].set_yticks(places, JUDGES)
    axes[0].invert_yaxis()
plt.show()

# %% [markdown]
# **Answer.** Judges make the same mistakes. Therefore every method that assumes independent ones is
# wrong by far more than its interval says, in either direction, and the best system may come out
# last. `calibrated` says how little is known. Its interval held on the natural pairs; on all,
# most of which were made to mislead, it held for systems that are no worse than their raters, if
# told which situation it is, and for none that is worse. Twenty known truths, drawn at random, help
# in either case. Where the data are like other crowds they are best used with `calibrated`. Where
# items were chosen to mislead, believe the known items alone, and report them in any case.
