from .earlier_studies import make_power_prior, read_studies
from .identification import Identification, identify
from .models.assemble import observe
from .models.graph import build_model
from .models.registry import MODELS, find_model
from .models.spec import ModelSpec, make_diagonal_concentration
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
from .sampling.fit import estimate_model, fit, fit_many

__all__ = [
    "MODELS",
    "ConvergenceWarning",
    "Diagnostics",
    "Identification",
    "KPropertyParameter",
    "ModelSpec",
    "PredictiveChecks",
    "build_model",
    "check_predictions",
    "diagnose",
    "draw_by_population",
    "draw_from_prior",
    "estimate_from_draws",
    "estimate_model",
    "find_contradictions",
    "find_label_modes",
    "find_model",
    "fit",
    "fit_many",
    "identify",
    "join_draws",
    "make_diagonal_concentration",
    "make_power_prior",
    "observe",
    "read_k_properties",
    "read_studies",
]
