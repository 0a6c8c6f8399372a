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
# # From a ratings file to an estimate
#
# **Question.** A system sorted 200 items into five categories, and so did three people who are
# worse at it than the system. Nobody knows the truth. How accurate is the system?

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import pandas as pd

import bayes_models
import lehner

pd.set_option("display.precision", 3)

# %% [markdown]
# ## Read the file
#
# Name the column of the system and those of the raters. In place of the table there may be the path
# of a CSV, Excel or JSON file. These ratings are simulated as for Figure 10 of Lehner (2015): the
# raters differ in accuracy, items in difficulty, and errors near the truth are more probable than
# others. So we can look at the true accuracy at the end.

# %%
table = lehner.load_dataset("figure10").to_wide()
raters = ["Rater 1", "Rater 2", "Rater 3"]
reading = {"system": "System", "raters": raters, "ordered": True}
ratings = lehner.read_ratings(table.drop(columns="truth"), **reading)
table.head()

# %% [markdown]
# ## Look at the agreement
#
# Two raters give the same category for fewer than half of the items. That says little about how
# often they are right, and less about the system.

# %%
lehner.pairwise_agreement(ratings)

# %% [markdown]
# ## Estimate
#
# `lehner.estimate` runs five methods: what agreement with the majority meant in public data sets
# with true labels (`learned_prior`), that agreement itself, Lehner's algebra, and two latent-class
# models whose posteriors are sampled.

# %%
results = lehner.estimate(ratings)
results.plot("system_accuracy_in_sample")
plt.show()
results.pivot()

# %% [markdown]
# The methods disagree. Agreement with the majority is the lowest number. The algebra, Dawid–Skene
# and `relaxed_k` have narrow intervals, which are right if raters and system err independently.
# Real raters mostly do not, and `learned_prior` allows for that: its interval is wide, because
# ratings alone cannot say more.
#
# ## Add gold labels
#
# An expert finds the true category of 25 items that are drawn at random, and the methods use them.
# The system got 22 of these 25 right, as many as one would expect of its accuracy: a typical draw.
# Other draws have 20 or 24, and move the estimates by their error.

# %%
items = lehner.choose_items(ratings, 25, seed=1)
labels = table[["item", "truth"]].copy()
labels.loc[~labels.index.isin(items), "truth"] = None
labelled = lehner.read_ratings(table.assign(truth=labels["truth"]), **reading, truth="truth")
corrected = lehner.estimate(labelled, ["learned_prior", "algebraic", "relaxed_k"])
corrected.plot("system_accuracy_in_sample")
plt.show()
corrected.pivot("system_accuracy_in_sample")

# %% [markdown]
# Twenty-five labels bring the methods together, and the interval of `learned_prior` is half as wide
# as before. Those of the algebra and of `relaxed_k` are wider than without labels: they no longer
# rest on independent errors alone.
#
# ## Look at the raters
#
# The models also say how accurate each rater is. A fit of a model is an `xarray.DataTree`, which
# ArviZ takes as it is.

# %%
tree = results.fits["System", "relaxed_k"].draws
bayes_models.estimate_from_draws(tree).rater_accuracy.to_series().round(3)

# %% [markdown]
# ## Check the assumptions
#
# A test can show that two raters make correlated errors. No test can show that all of them do.

# %%
lehner.check_dependence(ratings)

# %% [markdown]
# **Answer.** Without gold labels, `learned_prior` says that the system got about three quarters of
# the items right, with an interval from .49 to .96. If errors are independent it got .83 (the
# algebra) to .86 (the models) right. With 25 gold labels the methods say .85 or .86. In fact it got
# .865 of these simulated items right: here the errors *are* independent, given the category and the
# difficulty of the item, which nobody can know of real items.
