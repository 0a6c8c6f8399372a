"""Bayesian models of ratings whose true categories are unknown."""

from bayes_models.identification import Identification, identify
from bayes_models.likelihood.observations import observe
from bayes_models.models.class_conditional import class_conditional
from bayes_models.models.dawid_skene import dawid_skene
from bayes_models.models.hierarchical_dawid_skene import hierarchical_dawid_skene
from bayes_models.models.one_coin import one_coin
from bayes_models.models.one_coin_by_rater import one_coin_by_rater
from bayes_models.models.pooled import pooled
from bayes_models.models.prior_numbers import diagonal_concentration
from bayes_models.models.relaxed_k import relaxed_k
from bayes_models.models.spec import ModelSpec, find_model
from bayes_models.models.tap import tap
from bayes_models.posterior.accuracy_where import accuracy_where
from bayes_models.posterior.contradictions import contradictions
from bayes_models.posterior.data_groups import add_posterior_predictive
from bayes_models.posterior.diagnostics import ConvergenceWarning, Diagnostics, diagnose
from bayes_models.posterior.dials import Dial, read_dials
from bayes_models.posterior.estimate import estimate_from_draws
from bayes_models.posterior.groups import accuracy_by_group
from bayes_models.posterior.joint_systems import joint_draws
from bayes_models.posterior.label_modes import LabelMode, label_modes
from bayes_models.posterior.populations import accuracy_by_population
from bayes_models.posterior.predictive_checks import PredictiveChecks, predictive_checks
from bayes_models.posterior.prior_draws import add_prior, prior_draws
from bayes_models.sampling.fit import fit, fit_many
from bayes_models.sampling.slope_sensitivity import slope_sensitivity
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
    "accuracy_by_group",
    "accuracy_by_population",
    "accuracy_where",
    "add_posterior_predictive",
    "add_prior",
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
    "joint_draws",
    "label_modes",
    "observe",
    "one_coin",
    "one_coin_by_rater",
    "pooled",
    "predictive_checks",
    "prior_draws",
    "read_dials",
    "relaxed_k",
    "slope_sensitivity",
    "tap",
]
