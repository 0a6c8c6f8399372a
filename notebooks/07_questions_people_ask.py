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
# # Which system is better, where does it fail, and whom may we trust?
#
# **The data.** Four people sorted 250 support tickets into four categories, and so did two systems,
# `gpt` and `bert`. Each ticket comes from the web or from an app. An expert found the true category
# of 25 tickets. The data are simulated ([script](../docs/data/make_tickets.py)), so that we know
# what the answers should be: `gpt` is right on .88 of the web's tickets and .78 of the app's,
# `bert` on .78 and .60, and the raters on .50 to .75.

# %%
# %matplotlib inline
import warnings

import pandas as pd

import bayes_models
import lehner
from experiments.report.figures import plot_systems

warnings.simplefilter("ignore", bayes_models.ConvergenceWarning)
pd.set_option("display.precision", 3)

table = pd.read_csv("../docs/data/tickets.csv")
ratings = lehner.read_ratings(
    table,
    system=["gpt", "bert"],
    raters=["ana", "ben", "cai", "dee"],
    truth="gold",
)
ratings

# %% [markdown]
# ## Which system is better?
#
# Each method estimates both systems. Neither system counts as a rater of the other: if they shared
# mistakes, they would praise one another. Expected accuracy first, then the difference with its 90%
# interval and the probability that `gpt` is the better one.

# %%
results = lehner.estimate(ratings, groups=table["domain"], name="tickets")
accuracy = results.select(quantity="system_accuracy", group="")
accuracy[["method", "system", "estimate", "lower", "upper"]].reset_index(drop=True)

# %%
columns = ["method", "system", "versus", "estimate", "lower", "upper", "probability"]
results.select(quantity="system_accuracy_difference", group="")[columns]

# %%
plot_systems(results)

# %% [markdown]
# All methods say that `gpt` is better. (The truth: .84 and .71, a difference of .13.) Both systems
# rest on the same tickets and raters, so that what makes the raters look better or worse moves both
# alike: the interval of the difference is narrower than it would be for two systems judged by other
# raters on other tickets. Agreement with the majority puts both systems far too low, and the
# interval of its difference, from resampled tickets, does not allow for raters who err.
# `calibrated` puts `gpt` lower than the models do, since real raters share mistakes; these do not.
# Its difference rests on the crowds, too.
#
# ## What do the 25 known truths say?
#
# `calibrated` has used them above. They correct the estimates of the algebra and of the models for
# these 250 tickets.

# %%
known = results.table.query("quantity == 'system_accuracy_in_sample' and group == ''")
columns = ["estimate", "lower", "upper"]
known.set_index(["system", "method", "corrected"])[columns].sort_index()

# %% [markdown]
# ## Where does it fail?
#
# The confusion matrix, recall and precision of `gpt`, by Dawid and Skene's model, each with its
# interval; in the command `--details` prints them.

# %%
gpt = {"system": "gpt", "method": "dawid_skene"}
recall = results.select(quantity="recall", rater="", **gpt)
recall[["category", "estimate", "lower", "upper", "corrected"]]

# %%
confusion = results.select(quantity="confusion", **gpt)
confusion.pivot(index="category", columns="response", values="estimate")

# %%
{name: str(results.value(name, **gpt)) for name in ("balanced_accuracy", "mcc", "kappa_with_truth")}

# %% [markdown]
# ## Does it depend on where the tickets come from?
#
# The accuracy of each system on tickets of the app and of the web, and the difference between them.

# %%
by_domain = results.select(
    quantity=["system_accuracy", "system_accuracy_difference"],
    grouping="group",
    method=["algebraic", "dawid_skene"],
)
by_domain[["system", "method", "group", "versus", "estimate", "lower", "upper"]]

# %% [markdown]
# If the systems and raters are as accurate on a category of tickets wherever the tickets come from,
# and only the categories' frequencies differ, then the domains are two populations with the same
# confusion matrices (Hui & Walter, 1980). Here that is not true, and it hides that `gpt` is worse
# on the app's tickets.

# %%
seen = ratings.for_system("gpt").with_truth(None)
populations = lehner.estimate(seen, "dawid_skene_ml", populations=table["domain"])
columns = ["quantity", "group", "category", "estimate", "lower", "upper"]
populations.select(grouping="population", quantity=["system_accuracy", "base_rates"])[columns]

# %% [markdown]
# ## Any other question
#
# A fit keeps what it takes to ask about any part of the items: here the tickets on which the raters
# are split two to two.

# %%
tree = bayes_models.fit("dawid_skene", seen, seed=1, progressbar=False)
votes = seen.votes()
split = (votes.max(axis=1) == 2) & ((votes == 2).sum(axis=1) == 2)
print(
    int(split.sum()),
    "tickets:",
    bayes_models.accuracy_where(tree, seen, split).system_accuracy_in_sample,
)

# %% [markdown]
# ## Whom may we trust?
#
# The accuracy of each rater with its interval, and of groups of raters; whether raters share
# mistakes; and which label each ticket should get.

# %%
raters = results.select(quantity="rater_accuracy", group="", **gpt)
raters[["rater", "estimate", "lower", "upper"]].reset_index(drop=True)

# %%
staff = {"ana": "staff", "ben": "crowd", "cai": "staff", "dee": "crowd"}
grouped = seen.with_rater_groups(staff)
columns = ["quantity", "group", "versus", "estimate", "lower", "upper", "probability"]
found = lehner.estimate(grouped, results.fits["gpt", "dawid_skene"])
found.select(grouping="rater_group")[columns]

# %% [markdown]
# `dawid_skene` fits each rater alone. `one_coin_by_rater`, `hierarchical_dawid_skene` and
# `relaxed_k` draw each rater toward the mean of the group, if the ratings say who is in which
# group. This helps most if each rater rated few items.

# %%
pooled = bayes_models.fit("one_coin_by_rater", grouped, seed=1, progressbar=False)
found = lehner.estimate(grouped, bayes_models.estimate_from_draws(pooled))
found.select(grouping="rater_group")[columns]

# %%
for line in lehner.check_dependence(seen).lines():
    print(line)

# %%
labels = lehner.label(ratings.without_system())
print(labels.method)
labels.to_frame().head(3)
