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
# # A family of models, and what ArviZ shows of a fit
#
# **Question.** Between Lehner's algebra, which assumes the K-properties, and the Dawid–Skene
# model, which assumes nothing about confusion matrices, lie models that relax one property at a
# time. How do you fit, check and compare them? The ratings are those of a simulated sample like
# Figure 10 of Lehner (2015), in which raters, items and errors all are unequal.

# %%
# %matplotlib inline
import arviz as az
import matplotlib.pyplot as plt
import pandas as pd

import bayes_models
import lehner

az.style.use("arviz-variat")
az.rcParams["stats.ci_prob"] = 0.9
plt.rcParams["figure.dpi"] = 60
pd.set_option("display.max_colwidth", 90, "display.precision", 3)

ratings = lehner.load_dataset("figure10").with_truth(None)

# %% [markdown]
# ## The models
#
# Each is a function from ratings to a `pm.Model`. All have base rates and a confusion matrix for
# each rater, and they differ in how the confusion matrices are made. The true categories are
# summed out.

# %%
pd.Series(
    {
        name: ", ".join(v.name for v in bayes_models.build_model(name, ratings).free_RVs)
        for name in bayes_models.MODELS
    },
    name="parameters",
).to_frame()

# %% [markdown]
# ## Fit
#
# `fit` starts each chain near a mode, samples, checks the draws, and samples longer if needed. It
# warns if the chains have not converged.

# %%
trees = {
    name: bayes_models.fit(name, ratings, seed=1, progressbar=False)
    for name in ("one_coin", "dawid_skene", "relaxed_k")
}
bayes_models.diagnose(trees["relaxed_k"])

# %% [markdown]
# ## What ArviZ shows
#
# A fit is an `xarray.DataTree` with the groups that ArviZ knows. The chains mix, and the ranks of
# the draws are uniform.

# %%
relaxed = trees["relaxed_k"]
az.plot_rank_dist(relaxed, var_names=["system_accuracy"])
plt.show()
az.summary(relaxed, var_names=["system_accuracy", "accuracy", "base_rates"])

# %% [markdown]
# The figure has the accuracy of each rater, with 50% and 90% intervals. `Rater 3` is more accurate
# than the others, and the system is the most accurate of all.

# %%
az.plot_forest(relaxed, var_names=["accuracy"], combined=True, ci_probs=(0.5, 0.9))
plt.show()

# %% [markdown]
# ## Which model predicts the ratings best?
#
# Each model predicts each item from all others. `elpd_diff` is how much worse it predicts them than
# the best model, and `dse` is the standard error of this number. The column `diag_elpd` would say
# if single items influence a model so much that its `elpd` is approximate (k̂ above .7).

# %%
az.compare(trees)

# %% [markdown]
# ## Which K-property fails?
#
# A Bayes factor above 10 speaks against the property, one below 1/10 for it. If its Monte Carlo
# error is large, it decides nothing.

# %%
pd.DataFrame(
    [
        (parameter.name, parameter.k_property, parameter.evidence(), parameter.verdict())
        for parameter in bayes_models.read_k_properties(relaxed)
    ],
    columns=["parameter", "K-property", "Bayes factor", "verdict"],
)

# %% [markdown]
# ## Do the raters err independently?
#
# All these models assume it. Data simulated from the fit say how often two raters would agree.

# %%
bayes_models.check_predictions(relaxed, ratings).list_warnings() or "nothing found"

# %% [markdown]
# **Answer.** Each of these steps is one line: `fit`, `diagnose`, `az.summary`, `az.compare`,
# `read_k_properties`, `check_predictions`. `relaxed_k` predicts these ratings best, Dawid–Skene
# with its many parameters somewhat worse, and `one_coin`, which assumes all K-properties, far
# worse. Two hundred items are enough to reject three K-properties, and not enough to decide on the
# other five. `relaxed_k` puts the accuracy of the system at .86, and it is .865 in this sample.
# None of this shows whether all raters and the system make correlated errors that look like
# accuracy: for that you need [gold labels](07_gold_labels.ipynb).
