# ruff: noqa: TID252
from .algebra.algebraic import estimate_algebraic, majority_agreement, mean_posterior
from .algebra.steps import pairwise_agreement
from .core.errors import DataWarning, InputError, Warning
from .core.estimate import Estimate, IntervalEstimate
from .data.patterns import Patterns
from .data.ratings import Ratings
from .data.reading import Reading
from .datasets import list_datasets, load_dataset
from .dependence.bounds import (
    accuracy_bounds,
    mistake_correlations,
    mistakes_needed,
)
from .dependence.check import check_dependence, effective_in_crowds
from .dependence.sensitivity import (
    accuracy_by_confusion,
    accuracy_if_misled,
    sensitivity,
    sensitivity_curve,
)
from .empirical_prior.calibrated import estimate_calibrated
from .estimation.compare import compare
from .estimation.estimate import estimate
from .estimation.methods import Method, label
from .estimation.results import Results
from .interrater.agreement import agreement, set_agreement, within_rater_agreement
from .k_properties.check import check_k_properties
from .known_truths.correction import (
    choose_items,
    correct_base_rates,
    correct_by_truth,
    probabilities_right,
)
from .labels.label import SoftLabels, label_algebraic
from .latent_class.fit import fit_latent_class
from .latent_class.intervals import estimate_latent_class
from .planning.sample_size import expected_kappa, required_sample_size, scenario_with_kappa
from .reading.read import read_ratings
from .scores.performance import score_performance
from .simulation.draw import simulate, simulate_estimates
from .simulation.population import population_value
from .simulation.scenario import Scenario, true_parameters

__version__: str

__all__ = [
    "DataWarning",
    "Estimate",
    "InputError",
    "IntervalEstimate",
    "Method",
    "Patterns",
    "Ratings",
    "Reading",
    "Results",
    "Scenario",
    "SoftLabels",
    "Warning",
    "accuracy_bounds",
    "accuracy_by_confusion",
    "accuracy_if_misled",
    "agreement",
    "check_dependence",
    "check_k_properties",
    "choose_items",
    "compare",
    "correct_base_rates",
    "correct_by_truth",
    "effective_in_crowds",
    "estimate",
    "estimate_algebraic",
    "estimate_calibrated",
    "estimate_latent_class",
    "expected_kappa",
    "fit_latent_class",
    "label",
    "label_algebraic",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "mean_posterior",
    "mistake_correlations",
    "mistakes_needed",
    "pairwise_agreement",
    "population_value",
    "probabilities_right",
    "read_ratings",
    "required_sample_size",
    "scenario_with_kappa",
    "score_performance",
    "sensitivity",
    "sensitivity_curve",
    "set_agreement",
    "simulate",
    "simulate_estimates",
    "true_parameters",
    "within_rater_agreement",
]
