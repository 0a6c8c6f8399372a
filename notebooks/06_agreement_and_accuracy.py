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
# # Agreement is not accuracy
#
# **Question.** Papers report how well raters agree, and how well a system agrees with them. What
# does that say about how often raters, or the system, are right?

# %%
# %matplotlib inline
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import lehner
from lehner import Scenario

MANY = 100_000
SHOWN = ["percent_agreement", "brennan_prediger_kappa", "fleiss_kappa", "gwet_ac1"]
pd.set_option("display.precision", 3, "display.max_colwidth", 120)

# %% [markdown]
# ## One accuracy, many coefficients
#
# There are two categories and three raters, each of accuracy .8 whatever the category. Only the
# base rate of the first category differs.


# %%
def compute_coefficients(ratings):
    coefficients = lehner.agreement(ratings)
    return {name: coefficients.value(name).estimate for name in SHOWN}


rates = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
equal = Scenario(n_items=MANY, n_categories=2, initial_rater_accuracy=(0.8,) * 3)
pd.DataFrame(
    [
        compute_coefficients(lehner.simulate(replace(equal, base_rates=(p, 1 - p)), seed=1))
        for p in rates
    ],
    index=pd.Index(rates, name="base rate"),
)

# %% [markdown]
# Percent agreement and the kappa of Brennan and Prediger stay where they are: with equal errors
# they are a function of accuracy alone (Lehner's Eq. 1). The kappa of Fleiss falls from .36 to
# almost nothing, and Gwet's coefficient rises.
#
# ## One agreement, many accuracies
#
# In each of these five settings raters agree with a kappa of about .3.

# %%
settings = {
    "K-properties hold": Scenario(initial_rater_accuracy=(0.638,) * 3),
    "as in the paper's Figures 8-14": Scenario(
        initial_rater_accuracy=(0.5, 0.6, 0.7),
        easiness=(-0.2, 0, 0.2),
        asymmetric_dispersion=2,
        proportional_error_range=1,
        initial_system_accuracy=0.95,
    ),
    "errors near the truth": Scenario(initial_rater_accuracy=(0.61,) * 3, asymmetric_dispersion=3),
    "rater 2 copies half of rater 1": Scenario(
        initial_rater_accuracy=(0.54,) * 3, copying=(0, 0.5, 0), initial_system_accuracy=0.9
    ),
    "a quarter of the items mislead everybody": Scenario(
        initial_rater_accuracy=(0.64,) * 3, misleading=0.25
    ),
}
rows = {}
for name, setting in settings.items():
    scenario = replace(setting, n_items=MANY, base_rates="equal")
    ratings = lehner.simulate(scenario, seed=1)
    algebra = lehner.estimate_algebraic(ratings, interval=None)
    rows[name] = {
        "kappa": lehner.pairwise_agreement(ratings).kappa,
        "raters right": np.mean(ratings.codes == ratings.truth[:, None]),
        "algebra: raters": float(algebra.rater_accuracy.mean()),
        "system right": float(lehner.draw_true_parameters(scenario, seed=1).system_accuracy),
        "algebra: system": algebra.system_accuracy.estimate,
        "agrees with majority": lehner.majority_agreement(ratings).system_accuracy.estimate,
    }
pd.DataFrame(rows).T

# %% [markdown]
# Where the K-properties hold, the algebra derives the accuracy from the agreement. Errors that
# raters make together, because a wrong category is near, because one copies another, or because an
# item misleads them all, raise agreement as knowledge does. In the last row nothing in the ratings
# tells it from the first.
#
# ## A system that is better than its raters
#
# How well does a system agree with raters of accuracy .6, as it gets better?

# %%
accuracies = np.linspace(0.2, 1, 9)
limits = {
    method: [
        lehner.population_value(Scenario(initial_system_accuracy=p, base_rates="equal"), method)
        for p in accuracies
    ]
    for method in ("majority_agreement", "algebraic")
}
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.axline((0, 0), slope=1, color="grey", lw=0.8)
ax.axvline(0.6, color="grey", lw=0.8, ls=":")
looks = lehner.estimate(lehner.load_dataset("lehner_table2"), "algebraic").looks
for method, values in limits.items():
    look, estimates = looks(method), [value.estimate for value in values]
    ax.plot(accuracies, estimates, color=look.color, marker=look.marker, label=look.label)
ax.set(xlabel="accuracy of the system", ylabel="estimate from infinitely many items")
ax.legend()
plt.show()

# %% [markdown]
# A perfect system agrees with the majority as often as the majority is right, and cannot score
# higher. A system that is no better than the raters (dotted line) is put too low as well.
#
# ## Real ratings
#
# Five dentists judged 3,869 X-rays of teeth. The table has each dentist's mean kappa with the
# others and, by the latent-class model, the proportions of carious and of sound teeth that the
# dentist calls so:

# %%
teeth = lehner.load_dataset("caries")
pairs = lehner.agreement(teeth).select(quantity="cohen_kappa")
fit = lehner.fit_latent_class(teeth)
pd.DataFrame(
    {
        name: {
            "mean kappa with others": pairs[(pairs.rater == name) | (pairs.versus == name)][
                "estimate"
            ].mean(),
            "finds caries": float(fit.confusion.sel(rater=name, category=1, response=1)),
            "leaves sound teeth alone": float(
                fit.confusion.sel(rater=name, category=0, response=0)
            ),
        }
        for name in teeth.raters
    }
).T

# %% [markdown]
# The dentist who agrees least with the others is the one who finds most of the caries.
#
# **Answer.** Agreement is accuracy only under assumptions. The same accuracy gave kappas from .36
# to almost 0, and the same kappa had raters right in .50 to .64. A system's agreement with raters
# is bounded by their own accuracy. So report agreement as what it is, and estimate accuracy by a
# method whose assumptions you state.
