from .earlier_studies import power_prior, read_studies
from .identification import Identification, identify
from .methods import slope_sensitivity
from .models.assemble import observe
from .models.log_odds import one_coin, one_coin_by_rater, relaxed_k
from .models.matrices import (
    class_conditional,
    dawid_skene,
    hierarchical_dawid_skene,
    pooled,
    tap,
)
from .models.spec import MODELS, ModelSpec, diagonal_concentration, find_model
from .posterior.bayes_factors import KPropertyParameter, read_k_properties
from .posterior.contrasts import accuracy_by_population, joint_draws
from .posterior.estimate import (
    ConvergenceWarning,
    Diagnostics,
    diagnose,
    estimate_from_draws,
    label_modes,
)
from .posterior.predictive import (
    PredictiveChecks,
    add_posterior_predictive,
    add_prior,
    contradictions,
    predictive_checks,
    prior_draws,
)
from .sampling.fit import fit, fit_many

__all__ = [
    "MODELS",
    "ConvergenceWarning",
    "Diagnostics",
    "Identification",
    "KPropertyParameter",
    "ModelSpec",
    "PredictiveChecks",
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
    "read_studies",
    "relaxed_k",
    "slope_sensitivity",
    "tap",
]
