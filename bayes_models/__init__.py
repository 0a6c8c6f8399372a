"""Bayesian models of ratings whose true categories are unknown."""

from bayes_models.dawid_skene import dawid_skene, diagonal_concentration
from bayes_models.diagnostics import ConvergenceWarning, Diagnostics, diagnose
from bayes_models.fit import MODELS, fit
from bayes_models.posterior import estimate_from_draws

__all__ = [
    "MODELS",
    "ConvergenceWarning",
    "Diagnostics",
    "dawid_skene",
    "diagnose",
    "diagonal_concentration",
    "estimate_from_draws",
    "fit",
]
