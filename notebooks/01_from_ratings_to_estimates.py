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
# # From a ratings file to both estimates
#
# **Question.** A system put items into categories, and so did a few raters who may be worse than
# the system. Nobody knows the truth. How accurate is the system, by Lehner's algebra and by a
# Dawid–Skene model, and when should we believe either?

# %%
import sys
import tempfile
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import pymc as pm

import bayes_models
import lehner
from experiments.report.figures import plot_methods

az.style.use("arviz-variat")
print(f"Python {sys.version.split()[0]}, PyMC {pm.__version__}, ArviZ {az.__version__}")

# %% [markdown]
# ## The data: a CSV with a column per rater
#
# Table 2 of Lehner (2015): 10 cases, 4 raters, a system. We write it to a CSV as you would have
# it, and read it back.

# %%
path = Path(tempfile.mkdtemp()) / "table2.csv"
lehner.load_dataset("lehner_table2").to_wide().to_csv(path, index=False)
print(path.read_text()[:120], "…")
ratings = lehner.read_ratings(path, system="System")
ratings

# %% [markdown]
# Everything keeps its name: categories, raters and items are coordinates.

# %%
ratings.to_xarray()

# %% [markdown]
# ## The algebra
#
# Raters agree on a third of the pairs of ratings, hardly more than the quarter they would agree on
# by chance.

# %%
lehner.pairwise_agreement(ratings)

# %%
algebra = lehner.estimate_algebraic(ratings)
algebra

# %% [markdown]
# The paper's Table 3, the probability of each true category, and Table 4, the bins of its step 4.
# (The paper prints three cells of Table 4 wrong; its total, .731, is right.) Its bins count by
# their items: the two of the first bin, in which all categories are nearly equally probable, add
# .2 to the total. Step 4 here weighs items by what they say and gives .804.

# %%
algebra.truth_probabilities.round(3).to_pandas()

# %%
paper = lehner.estimate_algebraic(ratings, aggregation="paper", interval=None)
paper.bins.to_dataframe().round(3)

# %% [markdown]
# The interval is the whole range from 0 to 1, and that is the honest answer: ten items cannot rule
# out raters at chance level, for whom the algebra is undefined.
#
# ## Dawid–Skene
#
# A full confusion matrix for each rater, the system being one more. The model is a `pm.Model`:
# extend it, change its priors, sample it with your own sampler.

# %%
model = bayes_models.dawid_skene(ratings)
model

# %% [markdown]
# `fit` samples it and adds what follows from the draws: the probability of each item's true
# category, the system's accuracy in this sample, and the log likelihood of each item.

# %%
table_2 = bayes_models.fit("dawid_skene", ratings, seed=1, progressbar=False)
az.summary(table_2, var_names=["system_accuracy", "accuracy", "base_rates"], filter_vars="like")

# %%
az.plot_trace_dist(table_2, var_names=["system_accuracy", "base_rates"], compact=False)
plt.show()

# %% [markdown]
# ## Side by side

# %%
estimates = [
    lehner.majority_agreement(ratings),
    algebra,
    bayes_models.estimate_from_draws(table_2),
]
plot_methods(lehner.estimate(ratings, estimates))

# %% [markdown]
# The same from the shell: `lehner estimate table2.csv --system System --output results/`.
#
# ## Real data: anesthesia
#
# Dawid and Skene's 45 patients, rated 1 to 4 for fitness by five anaesthetists, the first of them
# three times. A rater would have one vote; here each of these ratings counts, as it did in 1979. No
# system took part; we ask how accurate the *second anaesthetist* is, judged by the other four.
# Gibbs sampling needs no compilation, and draws from the same posterior as NUTS.

# %%
anesthesia = lehner.load_dataset("anesthesia", system="2").with_independent_repeats()
anesthesia

# %%
tree = bayes_models.fit("dawid_skene", anesthesia, seed=1, engine="gibbs")
estimates = [
    lehner.majority_agreement(anesthesia),
    lehner.estimate_algebraic(anesthesia),
    bayes_models.estimate_from_draws(tree),
]
results = lehner.estimate(anesthesia, estimates)
plot_methods(results)

# %% [markdown]
# The two agree on the system; they disagree on the raters. The algebra gives all of them one
# accuracy, the model tells them apart.

# %%
az.plot_forest(tree, var_names=["accuracy"], combined=True, ci_probs=(0.5, 0.9))
plt.show()

# %%
results.select(quantity="method_difference")[["method", "versus", "estimate", "kind", "n_items"]]

# %% [markdown]
# Whether the fit can be trusted: convergence, labels, and leave-one-out for every patient.

# %%
bayes_models.diagnose(tree)

# %%
az.loo(tree)

# %% [markdown]
# **Answer.** One call each: `estimate_algebraic(ratings)` and `fit("dawid_skene", ratings)`. On
# Table 2 the algebra says .80 and Dawid–Skene .67, and ten items support neither with any
# precision: the algebra says so by an interval over the whole range; the narrower interval of
# Dawid–Skene is mostly its prior. On the anesthesia data both put the second anaesthetist at
# .68. Agreement with the majority would have been .50 and .69. How far each can be trusted when
# raters are unequal, errors are uneven or items differ in difficulty is a matter for simulation.
