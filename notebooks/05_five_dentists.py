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
# # Five dentists: the same methods on real data
#
# **Question.** Five dentists judged 3,869 X-rays of teeth for caries (Espeland & Handelman 1989);
# nobody knows which teeth had it. Each dentist in turn plays the system, the other four the raters.
# How accurate is each, and does the method matter?

# %%
# %matplotlib inline
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayes_models
import lehner
from experiments.reporting.figure_style import figure_style
from experiments.reporting.method_style import method_style

warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
pd.set_option("display.max_colwidth", 110, "display.precision", 3)

DENTISTS = [f"dentist {number}" for number in range(1, 6)]
data = {dentist: lehner.load_dataset("caries", system=dentist) for dentist in DENTISTS}
data["dentist 1"]

# %%
teeth = lehner.load_dataset("caries")
called = pd.Series(
    {
        dentist: np.average(column == 1, weights=teeth.weights)
        for dentist, column in zip(DENTISTS, teeth.codes.T, strict=True)
    },
    name="proportion called carious",
)
called.to_frame()

# %% [markdown]
# Dentist 5 finds caries two to five times as often as the others.
#
# ## Accuracy by each method

# %%
ENGINES = {"one_coin": "nuts", "dawid_skene": "gibbs", "relaxed_k": "nuts"}
trees = {
    model: dict(
        zip(
            DENTISTS,
            bayes_models.fit_many(model, data.values(), seed=1, engine=engine),
            strict=True,
        )
    )
    for model, engine in ENGINES.items()
}
accuracy = {
    "majority_agreement": [lehner.majority_agreement(one).system_accuracy for one in data.values()],
    "algebraic": [lehner.estimate_algebraic(one, seed=1).system_accuracy for one in data.values()],
} | {
    model: [bayes_models.estimate_from_draws(tree).system_accuracy for tree in fitted.values()]
    for model, fitted in trees.items()
}
pd.DataFrame({method: map(str, values) for method, values in accuracy.items()}, index=DENTISTS)

# %%
with figure_style() as width:
    fig, ax = plt.subplots(figsize=(width, 3.2), layout="constrained")
    for step, (method, values) in enumerate(accuracy.items()):
        style = method_style(method)
        middle = np.array([value.estimate for value in values])
        ends = np.array(
            [(value.lower or value.estimate, value.upper or value.estimate) for value in values]
        )
        place = np.arange(5) + 0.13 * (step - 2)
        bars = abs(ends.T - middle)
        ax.errorbar(place, middle, bars, ls="", label=style.label, **style.options())
    ax.set_xticks(range(5), DENTISTS)
    ax.set_ylabel("Accuracy, 90% interval")
    fig.legend(loc="outside lower center", ncols=5)
plt.show()

# %% [markdown]
# All methods put dentist 5 last. Their estimates differ by up to .14 for dentist 1 and .09 for
# dentist 5, several times the width of most intervals. With 3,869 items the number of items no
# longer matters, and the assumptions do. The algebra and `one_coin` reward agreement with the many
# who rarely find caries, and so their estimate of its base rate is lower:

# %%
rates = {"algebraic": lehner.estimate_algebraic(data["dentist 1"], interval=None).base_rates} | {
    model: bayes_models.estimate_from_draws(fitted["dentist 1"]).base_rates
    for model, fitted in trees.items()
}
pd.Series({name: float(rate.sel(category=1)) for name, rate in rates.items()}, name="caries")

# %% [markdown]
# ## Which assumption fails
#
# Equal errors, with two categories, would mean that a dentist makes both mistakes with the same
# probability. According to `dawid_skene`, dentists 1, 3 and 4 hardly ever call a sound tooth
# carious and miss many carious ones; dentist 5 does the reverse, and dentist 2 is between them.

# %%
confusion = trees["dawid_skene"]["dentist 5"]["posterior"]["confusion"].mean(("chain", "draw"))
pd.DataFrame(
    {
        "finds caries": confusion.sel(category=1, response=1).values,
        "leaves sound teeth alone": confusion.sel(category=0, response=0).values,
    },
    index=[*DENTISTS[:4], "dentist 5"],
)

# %%
pd.DataFrame(
    [
        (one.name, one.k_property, str(one.value), one.evidence(), one.verdict())
        for one in bayes_models.read_k_properties(trees["relaxed_k"]["dentist 5"])
    ],
    columns=["parameter", "K-property", "posterior", "Bayes factor", "verdict"],
)

# %% [markdown]
# ## Does a model predict who agrees with whom?

# %%
checked = {
    model: bayes_models.predictive_checks(trees[model]["dentist 5"], data["dentist 5"]).warnings()
    for model in ENGINES
}
for model, found in checked.items():
    print(f"{model}, warnings: {len(found)}" + (f". The first: {found[0]}" if found else ""))

# %% [markdown]
# **Answer.** The method matters, and more data would not settle it. For dentist 1 estimates run
# from .83 to .97, for dentist 5 from .64 to .74, and most intervals are narrower than these gaps.
# The algebra and `one_coin` take both mistakes for equally probable. Their base rate of caries is
# half of what the other models estimate, and dentist 5 looks worse for finding caries.
# `dawid_skene` does not explain one pair (dentists 1 and 3 agree more than it predicts, with a
# residual correlation of .14). `relaxed_k` explains all pairs and has the widest intervals, so
# report this one, with the caveat of every method here: none can see caries that all dentists miss
# together.
