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
# # Agreement says one thing, accuracy another
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
from experiments.reporting.figure_style import REFERENCE, figure_style
from experiments.reporting.method_style import method_style
from lehner import Scenario

MANY = 100_000
SHOWN = ["percent_agreement", "brennan_prediger_kappa", "fleiss_kappa", "gwet_ac1"]
pd.set_option("display.precision", 3, "display.max_colwidth", 120)


def coefficients(ratings):
    found = lehner.agreement(ratings)
    return {name: found[name].estimate for name in SHOWN}


# %% [markdown]
# ## One accuracy, many coefficients
#
# Three raters, each of accuracy .8 whatever the category, and two categories. Only the base
# rate of the first category differs.

# %%
rates = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
right = Scenario(n_items=MANY, n_categories=2, initial_rater_accuracy=(0.8,) * 3)
by_rate = pd.DataFrame(
    [coefficients(lehner.simulate(replace(right, base_rates=(p, 1 - p)), seed=1)) for p in rates],
    index=pd.Index(rates, name="base rate"),
)
by_rate

# %% [markdown]
# Percent agreement and the kappa of Brennan and Prediger, the paper's, stay where they are:
# together with equal errors they are a function of accuracy alone (Lehner's Eq. 1). The kappa of
# Fleiss falls from .36 to almost nothing, and Gwet's coefficient rises.
#
# ## One agreement, many accuracies
#
# In each of these five settings raters agree with a kappa of about .3.

# %%
settings = {
    "K-properties hold": lehner.scenario_with_kappa(0.3),
    "as in the paper's Figures 8-14": lehner.scenario_with_kappa(0.3, violation=1),
    "errors near the truth": Scenario(initial_rater_accuracy=(0.61,) * 3, asymmetric_dispersion=3),
    "rater 2 copies half of rater 1": Scenario(
        initial_rater_accuracy=(0.54,) * 3, copying=(0, 0.5, 0), initial_system_accuracy=0.9
    ),
    "a quarter of the items mislead everybody": Scenario(
        initial_rater_accuracy=(0.64,) * 3, misleading=0.25
    ),
}
rows = {}
for name, scenario in settings.items():
    scenario = replace(scenario, n_items=MANY, base_rates="equal")
    ratings = lehner.simulate(scenario, seed=1)
    truth = lehner.true_parameters(scenario, seed=1)
    found = lehner.estimate_algebraic(ratings, interval=None)
    rows[name] = {
        "kappa": lehner.pairwise_agreement(ratings).kappa,
        "raters right": np.mean(ratings.codes == ratings.truth[:, None]),
        "algebra: raters": float(found.rater_accuracy.mean()),
        "system right": float(truth.system_accuracy),
        "algebra: system": found.system_accuracy.estimate,
        "agrees with majority": lehner.majority_agreement(ratings).system_accuracy.estimate,
    }
same_kappa = pd.DataFrame(rows).T
same_kappa

# %% [markdown]
# Where the K-properties hold the algebra reads accuracy off agreement. Mistakes that raters
# share, because some are nearer at hand, one copied from another, or an item misleads them all,
# agree as well as knowledge does. The last row is the worst: nothing in the ratings tells it from
# the first.
#
# Agreement with the majority puts the system .2 to .36 too low, unless it is misled with the
# raters.
#
# ## A system that is better than its raters
#
# As the system gets better, how well it agrees with raters of accuracy .6:

# %%
accuracies = np.linspace(0.2, 1, 9)
found = [
    lehner.population_values(Scenario(initial_system_accuracy=p, base_rates="equal"))
    for p in accuracies
]
with figure_style(columns=1) as width:
    fig, ax = plt.subplots(figsize=(width, 3), layout="constrained")
    ax.axline((0, 0), slope=1, color=REFERENCE, lw=0.8)
    for method in ("majority_agreement", "algebraic"):
        style = method_style(method)
        estimates = [values[method].estimate for values in found]
        ax.plot(accuracies, estimates, label=style.label, **style.options())
    ax.axvline(0.6, color=REFERENCE, lw=0.8, ls=":")
    ax.set_xlabel("System accuracy")
    ax.set_ylabel("Estimate from infinitely many items")
    fig.legend(loc="outside lower center", ncols=2)
plt.show()

# %% [markdown]
# A perfect system agrees with the majority as often as the majority is right, no more. A system
# no better than the raters (dotted) is put too low as well.
#
# ## Real ratings
#
# Five dentists and 3,869 X-rays of teeth. Each dentist, how well he agrees with the other four,
# and the proportion of carious and of sound teeth that he calls so by the latent-class model:

# %%
teeth = lehner.load_dataset("caries")
lehner.agreement(teeth)

# %%
pairs = lehner.agreement(teeth).pairs_frame()
fit = lehner.fit_latent_class(teeth)
dentists = list(teeth.raters)
pd.DataFrame(
    [
        {
            "mean kappa with others": pairs[(pairs.rater == name) | (pairs.other_rater == name)][
                "cohen_kappa"
            ].mean(),
            "finds caries": float(fit.confusion.sel(rater=name, category=1, response=1)),
            "leaves sound teeth alone": float(
                fit.confusion.sel(rater=name, category=0, response=0)
            ),
        }
        for name in dentists
    ],
    index=dentists,
)

# %% [markdown]
# Percent agreement of .77 sounds like one thing, Fleiss' kappa of .3 like another; which of them
# people quote decides what readers think. The dentist who agrees least with the others is the one
# who finds most of the caries.
#
# ## Which assumption fails

# %%
lehner.check_k_properties(teeth, replicates=199)

# %% [markdown]
# ## Knowing and guessing
#
# The t-a-p model says what a kappa is: raters know the truth with probability a, or guess. For
# raters who guess categories as often as they occur Fleiss' kappa is a². In the first table's
# first row raters of accuracy .8 know the truth with probability .6 and are right on half of the
# rest: .6² = .36. Wine judges,
# with ratings up to 1, 2 or 3 as one class:

# %%
wine = lehner.load_dataset("wine")


def describe_cut(cut: int) -> dict[str, float]:
    up_to, above = wine.votes()[:, :cut], wine.votes()[:, cut:]
    votes = np.column_stack([up_to.sum(axis=1), above.sum(axis=1)])
    classes = ["up to the cut", "above"]
    ratings = lehner.Ratings.from_counts(votes, classes, item_counts=wine.weights)
    fit = lehner.fit_latent_class(ratings, "pooled_tap")
    return {
        "t, at or below": float(fit.base_rates[0]),
        "a": float(fit.knowledge[0]),
        "a²": float(fit.knowledge[0]) ** 2,
        "p, at or below": float(fit.guessing[0, 0]),
        "Fleiss' kappa": lehner.agreement(ratings)["fleiss_kappa"].estimate,
        "log-likelihood": fit.log_likelihood,
    }


pd.DataFrame({f"up to {cut}": describe_cut(cut) for cut in (1, 2, 3)})

# %% [markdown]
# **Answer.** Agreement is accuracy only under assumptions, and which coefficient tracks accuracy
# depends on them. The same accuracy gave kappas from .36 to almost 0, the same kappa raters right
# in .50 to .64; a system's agreement with raters is bounded by theirs with the truth. So report
# agreement as what it is, test the K-properties, and estimate accuracy with a model whose
# assumptions you state. What no method sees are mistakes that everybody shares.
