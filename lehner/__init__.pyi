# ruff: noqa: TID252
from .algebra.algebraic import estimate_algebraic, majority_agreement
from .algebra.steps import pairwise_agreement
from .core.errors import DataWarning, InputError, Warning
from .core.estimate import Estimate, IntervalEstimate
from .core.results import Results
from .data.counts import Patterns
from .data.ratings import Ratings
from .data.reading import Reading
from .datasets import list_datasets, load_dataset
from .dependence.bounds import bound_accuracy, error_correlation, find_tipping_point
from .dependence.check import check_dependence, predict_effective_raters
from .empirical_prior.learned_prior import estimate_learned_prior
from .estimation.estimate import compare, estimate
from .estimation.gate import Verdict, gate
from .estimation.methods import Given, Method, label
from .interrater.agreement import agreement, set_agreement, within_rater_agreement
from .k_properties.check import check_k_properties
from .known_truths.correction import (
    choose_items,
    correct_accuracy,
    inclusion_probabilities,
    predict_correctness,
)
from .latent_class.fit import fit_latent_class
from .latent_class.intervals import estimate_latent_class
from .latent_class.label import SoftLabels
from .reading.read import read_ratings
from .simulation.draw import population_value, simulate, simulate_estimates
from .simulation.scenario import Scenario, draw_true_parameters
from .study.report import StudyResults
from .study.study import Study

__version__: str

__all__ = [
    "DataWarning",
    "Estimate",
    "Given",
    "InputError",
    "IntervalEstimate",
    "Method",
    "Patterns",
    "Ratings",
    "Reading",
    "Results",
    "Scenario",
    "SoftLabels",
    "Study",
    "StudyResults",
    "Verdict",
    "Warning",
    "agreement",
    "bound_accuracy",
    "check_dependence",
    "check_k_properties",
    "choose_items",
    "compare",
    "correct_accuracy",
    "draw_true_parameters",
    "error_correlation",
    "estimate",
    "estimate_algebraic",
    "estimate_latent_class",
    "estimate_learned_prior",
    "find_tipping_point",
    "fit_latent_class",
    "gate",
    "inclusion_probabilities",
    "label",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "pairwise_agreement",
    "population_value",
    "predict_correctness",
    "predict_effective_raters",
    "read_ratings",
    "set_agreement",
    "simulate",
    "simulate_estimates",
    "within_rater_agreement",
]
