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
# # A study: which methods are biased when which K-property fails
#
# **Question.** Lehner's algebra rests on the K-properties: equal accuracy of raters, equal error
# probabilities, equal difficulty of items. It also assumes, as latent-class models do, that raters
# err independently. Who is biased when which of these fails, by how much, at what price in
# variance, and whose intervals hold?
#
# The skeleton of a methods paper. The study is a file, `experiments/studies/k_violations.toml`;
# `lehner study run k_violations --workers 2` runs it, 200 samples of each of 26 scenarios, and
# `lehner study report k_violations` writes the tables read here (of the paired differences, those
# from the algebra with the paper's step 4).

# %%
# %matplotlib inline
from pathlib import Path

import pandas as pd

import experiments
from experiments.study import read_study
from experiments.study.measure_figure import plot_measure

folder = Path(experiments.__file__).parent / "studies" / "k_violations"
study = read_study("k_violations")
measures = pd.read_csv(folder / "performance.csv")
differences = pd.read_csv(folder / "differences.csv")

# %% [markdown]
# ## Aims

# %%
print(study.aims)

# %% [markdown]
# ## Data-generating mechanisms
#
# Samples of 200 items in five categories, three raters, and a system that is better than each of
# them or worse. What fails is in the name of the scenario.

# %%
pd.DataFrame(
    {"scenario": [cell.name for cell in study.cells]}
    | {
        name: [getattr(cell.scenario, name) for cell in study.cells]
        for name in (
            "initial_rater_accuracy",
            "easiness",
            "asymmetric_dispersion",
            "proportional_error_range",
            "misleading",
            "copying",
        )
    }
)

# %% [markdown]
# ## Estimands, methods, measures
#
# Expected accuracy of the system, and its accuracy on the items of the sample. Every method sees
# the same samples. Bias, root mean squared error, coverage and width of 90% intervals, each with
# its Monte Carlo standard error.

# %%
pd.DataFrame(
    [(method.label, dict(method.options)) for method in study.methods],
    columns=["method", "options"],
)

# %% [markdown]
# ## Results: bias
#
# Bars are 95% Monte Carlo intervals.

# %%
plot_measure(study, measures)


# %%
def table(measure, estimand="system_accuracy"):
    rows = measures[(measures.measure == measure) & (measures.estimand == estimand)]
    entries = rows.assign(
        entry=[
            f"{value:.3f} ± {error:.3f}"
            for value, error in zip(rows.value, rows.standard_error, strict=True)
        ]
    )
    order = [method.label for method in study.methods]
    wide = entries.pivot(index="scenario", columns="method", values="entry")
    return wide.loc[[cell.name for cell in study.cells], order]


table("bias")

# %% [markdown]
# ## Results: at what price in variance

# %%
plot_measure(study, measures, "rmse")

# %%
table("rmse")

# %% [markdown]
# ## Results: whose intervals hold

# %%
plot_measure(study, measures, "coverage")

# %%
table("coverage")

# %% [markdown]
# ## Results: beyond noise
#
# Paired differences in squared error from the algebra with the paper's step 4, in standard errors:
# below -2 a method errs less, above 2 more.

# %%
pairs = differences[(differences.measure == "mse") & (differences.estimand == "system_accuracy")]
forward = pairs[pairs.other_method == "algebraic_paper"].assign(one=lambda t: t.method, sign=1)
backward = pairs[pairs.method == "algebraic_paper"].assign(one=lambda t: t.other_method, sign=-1)
against_algebra = pd.concat([forward, backward])
against_algebra["z"] = (
    against_algebra.sign * against_algebra.difference / against_algebra.standard_error
)
wide = against_algebra.pivot(index="scenario", columns="one", values="z").round(1)
wide.loc[
    [cell.name for cell in study.cells],
    [method.label for method in study.methods if method.label in wide],
]

# %% [markdown]
# **Answer.**
#
# - *Agreement with the majority* and the *mean truth probability* are too low by about a quarter
#   for a good system, whether the K-properties hold or not, and no interval of the majority's
#   contains the truth; for a poor one they are near the truth by accident.
# - *`calibrated`* has intervals that contain the truth in at least 92% of the samples in every
#   scenario, those with shared mistakes included, and that are four to five times as wide as those
#   of the models. Its points are .13 to .17 too low for a good system whose raters share no
#   mistakes, and .22 to .26 too high for a poor one.
# - *The algebra with the paper's step 4* is .03 too low for a good system even if all K-properties
#   hold, because its bins give items with a tie the weight of others. It is .08 too low if errors
#   fall near the truth and .07 if all properties fail; for a poor system it is .05 too high then.
# - *The algebra with the weighted step 4*, or with that by likelihood, is off by .044 at most for a
#   good system if raters err independently, and its RMSE is lower than with the paper's step in
#   each of these scenarios. For a poor system it is .065 too high if all properties fail.
# - *Dawid-Skene* is .03 to .06 too low for a good system and up to .10 too high for a poor one:
#   ratings by three raters are not enough for full confusion matrices.
# - *`one_coin`*, the algebra's assumptions as a likelihood, does well for a good system even where
#   they fail, and no better than the algebra for a poor one: it is .07 too high where all fail, and
#   its intervals contain the truth in 47% of the samples.
# - *`relaxed_k`* is off by at most .006 for a good and .026 for a poor system where only
#   K-properties fail; its intervals contain the truth in 88 to 95% of the samples.
# - *Shared mistakes* defeat them all, `relaxed_k` included. For a good system, algebra and models
#   are .13 to .17 too high if a fifth of the items mislead raters and system alike, and .12 to .20
#   too low if two raters copy a third on 30% of the items; few of their intervals contain it.
#   Ratings alone do not show it: only known truths do, or an interval as wide as that of
#   `calibrated`. For a poor system they matter little.
#
# Of the K-properties, equal errors matters most for a good system, and equal difficulty for a poor
# one.
