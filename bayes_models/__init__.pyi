from .earlier_studies import make_power_prior, read_studies
from .identification import Identification, identify
from .models.assemble import observe
from .models.log_odds import one_coin, one_coin_by_rater, relaxed_k
from .models.matrices import class_conditional, dawid_skene, hierarchical_dawid_skene, pooled, tap
from .models.spec import MODELS, ModelSpec, find_model, make_diagonal_concentration
from .posterior.bayes_factors import KPropertyParameter, read_k_properties
from .posterior.contrasts import draw_by_population, join_draws
from .posterior.estimate import (
    ConvergenceWarning,
    Diagnostics,
    diagnose,
    estimate_from_draws,
    find_label_modes,
)
from .posterior.predictive import (
    PredictiveChecks,
    check_predictions,
    draw_from_prior,
    find_contradictions,
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
    "check_predictions",
    "class_conditional",
    "dawid_skene",
    "diagnose",
    "draw_by_population",
    "draw_from_prior",
    "estimate_from_draws",
    "find_contradictions",
    "find_label_modes",
    "find_model",
    "fit",
    "fit_many",
    "hierarchical_dawid_skene",
    "identify",
    "join_draws",
    "make_diagonal_concentration",
    "make_power_prior",
    "observe",
    "one_coin",
    "one_coin_by_rater",
    "pooled",
    "read_k_properties",
    "read_studies",
    "relaxed_k",
    "tap",
]
