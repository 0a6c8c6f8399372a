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
# right. How far off are the estimates, why, and what changes if an expert labels twenty pairs?
#
# The data are hard on purpose: in 319 of the pairs the worse answer was made to look like the
# better one. Most data are kinder: see [33 public sets](../experiments/benchmarks/real/real.md).

# %%
# %matplotlib inline
import warnings
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayes_models
import lehner
from experiments.reporting.figure_style import figure_style
from experiments.reporting.method_style import method_style
from experiments.study import measure

warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
pd.set_option("display.precision", 3)

JUDGES = ["GPT-4", "PaLM2", "Falcon", "ChatGPT-0301", "LLaMA2", "ChatGPT"]
data = {judge: lehner.load_dataset("llmbar", system=judge) for judge in JUDGES}
hidden = {judge: ratings.with_truth(None) for judge, ratings in data.items()}


def share_right(ratings):
    answered = ratings.system >= 0
    return np.mean(ratings.system[answered] == ratings.truth[answered])


truth = pd.Series({judge: share_right(data[judge]) for judge in JUDGES}, name="truth")
truth.to_frame("share of pairs judged rightly")

# %% [markdown]
# GPT-4 as the system is better than its raters, which is the case that lehner is for. But three of
# the judges are right less often than a coin would be, which no method expects of raters.
#
# ## Without any truth

# %%
ENGINES = {"one_coin": "nuts", "dawid_skene": "gibbs", "relaxed_k": "nuts"}
estimates = {
    "majority_agreement": {j: lehner.majority_agreement(hidden[j]) for j in JUDGES},
    "algebraic": {j: lehner.estimate_algebraic(hidden[j], seed=1) for j in JUDGES},
}
for model, engine in ENGINES.items():
    trees = bayes_models.fit_many(model, hidden.values(), seed=1, engine=engine)
    estimates[model] = {
        judge: bayes_models.estimate_from_draws(tree)
        for judge, tree in zip(JUDGES, trees, strict=True)
    }
before = {
    method: {judge: one.system_accuracy_in_sample for judge, one in of_judge.items()}
    for method, of_judge in estimates.items()
}
pd.concat([truth, pd.DataFrame(before).map(str)], axis=1)


# %%
def distance(values):
    """Give the root mean squared error, and how many intervals contain the truth."""
    errors = [one.estimate - truth[j] for j, one in values.items() if one.estimate is not None]
    covered = [
        one.lower <= truth[j] <= one.upper for j, one in values.items() if one.lower is not None
    ]
    return {
        "root mean squared error": np.sqrt(np.mean(np.square(errors))),
        "contain the truth": f"{sum(covered)} of {len(covered)}" if covered else "no intervals",
    }


pd.DataFrame({method: distance(values) for method, values in before.items()}).T

# %% [markdown]
# The order is upside down: the judge who is right most often is put at or near the bottom, and
# judges who are wrong more often than right come out on top. The intervals are narrow because the
# pairs are many. They do not allow for assumptions that fail.
#
# ## Why: judges make the same mistakes
#
# How many judges of a pair are wrong, and how many would be if they erred independently of one
# another, each as often as it does:

# %%
judged = data["GPT-4"]
table = judged.to_wide().set_index("item").dropna()
wrong = table.drop(columns="truth").ne(table["truth"], axis="index")
independent = np.array([1.0])
for share in wrong.mean():
    independent = np.convolve(independent, [1 - share, share])
pd.DataFrame(
    {
        "share of pairs": np.bincount(wrong.sum(axis="columns"), minlength=7) / len(wrong),
        "if they erred independently": independent,
    },
    index=pd.Index(range(7), name="judges who are wrong"),
)

# %% [markdown]
# Nearly all judges are right, or nearly all wrong, on many more pairs than that. Where five raters
# agree on the wrong answer they look like five who know, and a system that knows better looks
# wrong. Can the ratings tell? What `lehner.check_dependence` says without the truth, and what it
# adds with it:

# %%
print(lehner.check_dependence(hidden["GPT-4"]))
print("\nWith the truth of all:", lehner.check_dependence(data["GPT-4"]).lines()[-1])

# %% [markdown]
# It sees two raters who agree more than their accuracies explain. It cannot see mistakes that
# nearly all of them make. Therefore each estimate comes with what it would be if 10% of the pairs
# misled raters and system alike, or the raters alone (`lehner.sensitivity`), and on request with an
# interval widened by a prior for the share that misleads all:

# %%
pd.DataFrame(
    {
        judge: {
            "algebraic": str(found.system_accuracy_in_sample),
            "if 10% mislead all": str(moved.system_accuracy_in_sample),
            "if 10% mislead raters alone": str(moved.raters_alone_in_sample),
            "widened by Beta(0.5, 4.5)": str(moved.widened_in_sample),
            "truth": f"{truth[judge]:.3f}",
        }
        for judge, found in estimates["algebraic"].items()
        for moved in [lehner.sensitivity(found, 2, shared_mistakes=(0.5, 4.5))]
    }
).T

# %% [markdown]
# If all are misled, judges who share the mistakes come nearer to the truth, but not near enough:
# far more than 10% of these pairs mislead. GPT-4 and PaLM2 come nearer to it if the raters alone
# are misled: a system that does not share the raters' mistakes is better than the methods say. The
# ratings tell neither how many pairs mislead nor on which side the system is.
#
# ## Twenty known truths
#
# `lehner ask FILE --system COLUMN --n 20` names items for an expert to label, `lehner.choose_items`
# does the same in Python: at random, in proportion to how raters voted, and not those on which they
# disagree, since here the trouble lies where they agree. `lehner.correct_by_truth` recalibrates a
# method's probabilities by these items, without fitting again. Beside it stand the known items
# alone (Wilson's interval) and PPI++, which corrects the algebra's mean by its mean error.


# %%
NO_ESTIMATE = lehner.IntervalEstimate(estimate=None)


def correct(ratings, found, n, seed):
    """Correct methods by n known truths, drawn as `lehner ask` draws them."""
    chosen = lehner.choose_items(ratings.with_truth(None), n, seed=seed)
    known = np.full(ratings.n_items, -1)
    known[chosen] = ratings.truth[chosen]
    return {
        method: lehner.correct_by_truth(ratings.with_truth(known), found[method])
        for method in ("algebraic", "relaxed_k")
        if found[method].system_accuracy.estimate is not None
    }


def in_sample(corrected):
    """Give the corrected estimates of the share right, beside those that need no method."""
    values = {
        "known items alone": corrected["algebraic"].known_items_alone,
        "PPI++": corrected["algebraic"].prediction_powered,
    }
    for method in ("algebraic", "relaxed_k"):
        one = corrected.get(method)
        values[f"{method}, corrected"] = one.system_accuracy_in_sample if one else NO_ESTIMATE
    return values


found = {judge: {m: estimates[m][judge] for m in ("algebraic", "relaxed_k")} for judge in JUDGES}
twenty = {judge: correct(data[judge], found[judge], 20, seed=1) for judge in JUDGES}
after = pd.DataFrame({judge: in_sample(corrected) for judge, corrected in twenty.items()}).T
pd.concat([truth, after.map(str)], axis=1)

# %% [markdown]
# Where the known truths contradict a method, it is said; of the algebra:

# %%
for judge, corrected in twenty.items():
    print(f"{judge}:", *corrected["algebraic"].warnings or ["no contradiction seen"])

# %%
OTHERS = {"known items alone": ("#cc79a7", "D"), "PPI++": ("#56b4e9", "P")}


def draw_intervals(ax, y, values, method):
    """Draw a method's estimates and intervals, as far as it has them."""
    name = method.removesuffix(", corrected")
    if name in OTHERS:
        label, (color, marker) = name, OTHERS[name]
        options = {"color": color, "marker": marker}
    else:
        style = method_style(name)
        label, options = method.replace(name, style.label), style.options()
    for place, value in zip(y, values, strict=True):
        if value.lower is not None:
            ax.plot([value.lower, value.upper], [place, place], color=options["color"])
    middle = [np.nan if value.estimate is None else value.estimate for value in values]
    ax.plot(middle, y, ls="", label=label, **options)


panels = {"No truth known": pd.DataFrame(before), "20 truths known": after}
places = np.arange(len(JUDGES))
with figure_style() as width:
    fig, axes = plt.subplots(
        1, 2, figsize=(width, 4.6), layout="constrained", sharey=True, sharex=True
    )
    for ax, (title, table) in zip(axes, panels.items(), strict=True):
        ax.vlines(truth, places - 0.42, places + 0.42, "black", lw=1.5, label="truth")
        for step, method in enumerate(table):
            y = places + 0.15 * (step - (table.shape[1] - 1) / 2)
            draw_intervals(ax, y, table[method], method)
        ax.set(title=title, xlabel="Pairs judged rightly (proportion), 90% intervals")
        ax.grid(axis="x")
        # The methods of the panels differ.
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    axes[0].set_yticks(places, JUDGES)
    axes[0].invert_yaxis()
plt.show()

# %% [markdown]
# ## Not only once, and on kinder data
#
# One draw may be lucky: here are forty for each judge, of ten, twenty and fifty pairs. The same for
# the 100 pairs of LLMBar that were not made to mislead, each judge again in turn the system.

# %%
natural_rows = [row for row, item in enumerate(judged.items) if item.startswith("Natural")]
natural = {judge: ratings.take(natural_rows) for judge, ratings in data.items()}
natural_hidden = [ratings.with_truth(None) for ratings in natural.values()]
fits = bayes_models.fit_many("relaxed_k", natural_hidden, seed=1)
natural_found = {
    judge: {
        "algebraic": lehner.estimate_algebraic(ratings, seed=1),
        "relaxed_k": bayes_models.estimate_from_draws(fit),
    }
    for judge, ratings, fit in zip(JUDGES, natural_hidden, fits, strict=True)
}

# %%
DRAWS = 40


def results(name, data, found):
    """Give a row for each judge, draw, number of known truths and method."""
    for number, judge in enumerate(JUDGES):
        right = {"pairs": name, "truth": share_right(data[judge])}
        for method, estimate in found[judge].items():
            yield right | {"known": 0, "method": method} | ends(estimate.system_accuracy_in_sample)
        for n, draw in product((10, 20, 50), range(DRAWS)):
            seed = np.random.SeedSequence([n, number, draw])
            corrected = correct(data[judge], found[judge], n, seed)
            for method, value in in_sample(corrected).items():
                yield right | {"known": n, "method": method} | ends(value)


def ends(value):
    return {end: getattr(value, end) for end in ("estimate", "lower", "upper")}


rows = pd.DataFrame([*results("all", data, found), *results("natural", natural, natural_found)])
rows = rows.astype({end: float for end in ("estimate", "lower", "upper")})
measured = measure(rows, by=["pairs", "known", "method"])
measured["text"] = [
    f"{v:.3f} ± {e:.3f}" for v, e in zip(measured.value, measured.standard_error, strict=True)
]
measured.pivot(index=["known", "method"], columns=["pairs", "measure"], values="text")[
    [("all", "rmse"), ("all", "coverage"), ("natural", "rmse"), ("natural", "coverage")]
]

# %% [markdown]
# Root mean squared error and coverage of 90% intervals over judges and draws, ± Monte Carlo
# standard error. With no known truth there are six results, one a judge, and the error says how
# much judges differ. Coverage is that of the intervals there are: where the system is right on all
# known items, or on none, PPI++ has none.
#
# **Answer.** Where raters share mistakes every method that sees only ratings is wrong by far more
# than its interval says, in either direction, and may put systems in the wrong order. Twenty known
# truths, drawn at random, mend most of that, whatever the method. How much the ratings add to them
# depends on the data: next to nothing where most pairs were made to mislead, more where they were
# not, and the correction need not be told which. So label some items, drawn at random, before you
# believe a number that rests on agreement alone.
