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
# # What ArviZ shows of a fit
#
# **Question.** A fit is an `xarray.DataTree` with the groups that ArviZ knows. Which of its plots
# apply to these models, and what does each say here?
#
# The ratings are the support tickets of the documentation: 250 items, four raters, and `gpt`, the
# system. With `posterior_predictive=True` and `prior=True` the fit has all groups.

# %%
# %matplotlib inline
import warnings

import arviz as az
import matplotlib.pyplot as plt

import bayes_models
import lehner

az.style.use("arviz-variat")
plt.rcParams["figure.dpi"] = 60
warnings.filterwarnings("ignore", message=".*look discrete")

raters = ["ana", "ben", "cai", "dee"]
ratings = lehner.read_ratings("../docs/data/tickets.csv", system="gpt", raters=raters)
tree = bayes_models.fit(
    "dawid_skene", ratings, seed=1, posterior_predictive=True, prior=True, progressbar=False
)
{name: list(group.data_vars) for name, group in tree.children.items()}

# %%
SYSTEM = ["system_accuracy"]
ACCURACIES = ["system_accuracy", "accuracy"]


def show(*plots, **options):
    """Draw each plot of the fit."""
    for plot in plots:
        plot(tree, **options)
        plt.show()


# %% [markdown]
# ## Estimates
#
# `accuracy` has the system as its last rater. The models have many variables: name those that you
# want to see, because ArviZ refuses to draw more than forty panels.

# %%
show(az.plot_dist, az.plot_forest, az.plot_ridge, var_names=ACCURACIES)

# %% [markdown]
# ## Have the chains converged?
#
# They mix, and the ranks of the draws are uniform. `bayes_models.diagnose(tree)` says the same in
# words, and `fit` warns if it is not so. `plot_energy` is for NUTS, and `plot_dgof` compares the
# density that is drawn with the draws that it is drawn from.

# %%
show(az.plot_trace_dist, az.plot_rank, az.plot_parallel, var_names=ACCURACIES)
show(az.plot_trace, az.plot_rank_dist, az.plot_autocorr, var_names=SYSTEM)
show(az.plot_ess, az.plot_ess_evolution, az.plot_mcse, var_names=SYSTEM)
show(az.plot_dgof, az.plot_dgof_dist, var_names=SYSTEM)
show(az.plot_energy, az.plot_convergence_dist)

# %% [markdown]
# ## What hangs together?
#
# The accuracies of two raters are hardly correlated: each is told by the other raters.

# %%
show(az.plot_pair, var_names=["accuracy"])
show(az.plot_pair_focus, var_names=["base_rates"], focus_var="system_accuracy")

# %% [markdown]
# ## How much does the prior say?
#
# The posterior is far narrower than the prior. Still ArviZ names a conflict of prior and data: if
# the prior counted for a quarter more, the accuracy of the system would be higher by about .01.
# The Bayes factor says by how much the ratings changed the density at .8, a value of interest.

# %%
show(az.plot_prior_posterior, var_names=ACCURACIES)
show(az.plot_psense_dist, az.plot_psense_quantities, var_names=SYSTEM)
show(az.plot_bf, var_names=SYSTEM, ref_val=0.8)
az.psense_summary(tree, var_names=ACCURACIES)

# %% [markdown]
# ## Does the model predict the ratings?
#
# ArviZ compares one number for each item with its predictions. A category is a name, and no
# number; what the raters of an item have in common is how many pairs of them agree, the system's
# answer among them. Of five ratings all ten pairs agree, or six (four are alike), four (three, and
# two others alike), and so on. This is `agreeing_pairs` in `observed_data`,
# `posterior_predictive` and `prior_predictive`. It would be more spread than predicted if some
# items were more difficult than others, and higher if raters shared mistakes that the model
# cannot take for accuracy.
#
# A rootogram and a histogram show how many items have so many pairs that agree.

# %%
show(az.plot_ppc_rootogram, az.plot_ppc_dist, az.plot_ppc_pit, az.plot_ppc_dist_pit)
for statistic in ("mean", "std"):
    show(az.plot_ppc_tstat, t_stat=statistic)
show(az.plot_ppc_dist, group="prior_predictive")

# %% [markdown]
# The interval of each item, of the first forty:

# %%
az.plot_ppc_interval(tree.isel(item=slice(40)))
plt.show()

# %% [markdown]
# ## And items that were left out?
#
# `log_likelihood` has the log density of all ratings of an item, because ratings of one item share
# its true category, and only items can be left out. It has the name `agreeing_pairs` too, by
# which ArviZ finds it. The probability integral transform of items left out is uniform, as it is
# for a model that is right.

# %%
loo = az.loo(tree, pointwise=True)
loo

# %%
az.plot_khat(loo)
plt.show()
show(az.plot_loo_pit)
az.plot_loo_interval(tree.isel(item=slice(40)))
plt.show()

# %% [markdown]
# A model with one confusion matrix for all raters predicts items left out no worse, and perhaps
# better:

# %%
pooled = bayes_models.fit("pooled", ratings, seed=1, engine="gibbs", progressbar=False)
compared = az.compare({"dawid_skene": tree, "pooled": pooled})
az.plot_compare(compared)
plt.show()
compared

# %% [markdown]
# ## What does not apply
#
# `plot_lm` is for regressions, `plot_ppc_censored` for censored data, and the plots with `pava`
# for probabilities that differ from item to item, while here all items are predicted alike.
# `plot_ecdf_pit` is for ranks in a simulation: `lehner study run calibration` makes them.
#
# **Answer.** All other plots work on what `fit` gives. Here the chains have converged, the prior
# moves the accuracy by about .01, and the model predicts how often raters agree.
# None of this says whether raters and system share mistakes that look like accuracy: see
# [how far known truths help](08_known_truths.ipynb).
