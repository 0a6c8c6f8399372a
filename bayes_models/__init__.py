"""Bayesian models of ratings whose true categories are unknown."""

from bayes_models.adjustment import adjust_algebraic
from bayes_models.class_conditional import class_conditional
from bayes_models.contradictions import contradictions
from bayes_models.dawid_skene import dawid_skene
from bayes_models.diagnostics import ConvergenceWarning, Diagnostics, diagnose
from bayes_models.dials import Dial, read_dials
from bayes_models.fit import fit, fit_many
from bayes_models.hierarchical_dawid_skene import hierarchical_dawid_skene
from bayes_models.identification import Identification, identify
from bayes_models.label_modes import LabelMode, label_modes
from bayes_models.models import ModelSpec, find_model
from bayes_models.observations import observe
from bayes_models.one_coin import one_coin
from bayes_models.one_coin_by_rater import one_coin_by_rater
from bayes_models.pooled import pooled
from bayes_models.posterior import estimate_from_draws
from bayes_models.predictive_checks import PredictiveChecks, predictive_checks
from bayes_models.priors import diagonal_concentration
from bayes_models.relaxed_k import relaxed_k
from bayes_models.slope_sensitivity import slope_sensitivity
from bayes_models.tap import tap
from lehner.latent_class.models import MODELS

__all__ = [
    "MODELS",
    "ConvergenceWarning",
    "Diagnostics",
    "Dial",
    "Identification",
    "LabelMode",
    "ModelSpec",
    "PredictiveChecks",
    "adjust_algebraic",
    "class_conditional",
    "contradictions",
    "dawid_skene",
    "diagnose",
    "diagonal_concentration",
    "estimate_from_draws",
    "find_model",
    "fit",
    "fit_many",
    "hierarchical_dawid_skene",
    "identify",
    "label_modes",
    "observe",
    "one_coin",
    "one_coin_by_rater",
    "pooled",
    "predictive_checks",
    "read_dials",
    "relaxed_k",
    "slope_sensitivity",
    "tap",
]
