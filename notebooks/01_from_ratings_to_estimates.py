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
# **Question.** A system sorted 250 support tickets into four categories, and so did four people
# who may be worse than the system. Nobody knows the truth. How accurate is the system?

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
# Name the column of the system and those of the raters. The tickets are simulated, so that we can
# look at the true accuracy at the end.

# %%
raters = ["ana", "ben", "cai", "dee"]
ratings = lehner.read_ratings("../docs/data/tickets.csv", system="gpt", raters=raters)
ratings

# %% [markdown]
# ## Look at the agreement
#
# Two raters give the same category for fewer than half of the tickets. That says little about how
# often they are right, and less about the system.

# %%
lehner.pairwise_agreement(ratings)

# %% [markdown]
# ## Estimate
#
# `lehner.estimate` runs five methods. The first, `learned_prior`, is the default: it learned on
# public data sets with true labels how agreement with the majority relates to accuracy.

# %%
results = lehner.estimate(ratings)
results.plot("system_accuracy_in_sample")
plt.show()
results.pivot()

# %% [markdown]
# The methods disagree. Agreement with the majority is the lowest number. The algebra, Dawid–Skene
# and `relaxed_k` have narrow intervals near .85, which are right if raters and system err
# independently. Real raters mostly do not, and `learned_prior` allows for that: its interval is
# wide, because ratings alone cannot say more.
#
# ## Add gold labels
#
# An expert found the true category of 25 tickets that were drawn at random. All methods now use
# them.

# %%
labelled = lehner.read_ratings(
    "../docs/data/tickets.csv", system="gpt", raters=raters, truth="gold"
)
corrected = lehner.estimate(labelled, ["learned_prior", "algebraic", "relaxed_k"])
corrected.pivot("system_accuracy_in_sample")

# %% [markdown]
# Twenty-five labels bring the methods together, and narrow the interval of `learned_prior` by half.
#
# ## Look at the raters
#
# The models also say how accurate each rater is. A fit of a model is an `xarray.DataTree`, which
# ArviZ takes as it is.

# %%
tree = results.fits["gpt", "relaxed_k"].draws
accuracy = bayes_models.estimate_from_draws(tree).rater_accuracy
accuracy.to_series().round(3)

# %% [markdown]
# ## Check the assumptions
#
# A test can show that two raters make correlated errors. No test can show that all of them do.

# %%
lehner.check_dependence(ratings)

# %% [markdown]
# **Answer.** Without gold labels, `learned_prior` says that the system got about three quarters of
# the tickets right, with an interval from .51 to .96. If the errors are independent it is about
# .85. With 25 gold labels the two come together. In fact `gpt` got .852 of these simulated tickets
# right: here the errors *are* independent, which nobody can know of real tickets.
