from .earlier_studies import power_prior
from .identification import Identification, identify
from .methods import slope_sensitivity
from .models.families import diagonal_concentration
from .models.log_odds import one_coin, one_coin_by_rater, relaxed_k
from .models.matrices import (
    class_conditional,
    dawid_skene,
    hierarchical_dawid_skene,
    pooled,
    tap,
)
from .models.observations import observe
from .models.spec import MODELS, ModelSpec, find_model
from .posterior.diagnostics import ConvergenceWarning, Diagnostics, diagnose
from .posterior.estimate import estimate_from_draws, label_modes
from .posterior.groups import accuracy_by_group, accuracy_by_population
from .posterior.joint_systems import joint_draws
from .posterior.k_properties import KPropertyParameter, read_k_properties
from .posterior.predictive import add_posterior_predictive, add_prior, prior_draws
from .posterior.predictive_checks import PredictiveChecks, predictive_checks
from .posterior.truth import contradictions
from .sampling.fit import fit, fit_many

__all__ = [
    "MODELS",
    "ConvergenceWarning",
    "Diagnostics",
    "Identification",
    "KPropertyParameter",
    "ModelSpec",
    "PredictiveChecks",
    "accuracy_by_group",
    "accuracy_by_population",
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
    "power_prior",
    "predictive_checks",
    "prior_draws",
    "read_k_properties",
    "relaxed_k",
    "slope_sensitivity",
    "tap",
]
