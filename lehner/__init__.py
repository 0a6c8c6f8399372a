"""lehner: the accuracy of a classification system when raters may be worse than the system."""

from lehner.adjustment import estimate_adjusted
from lehner.agreement import PairwiseAgreement, pairwise_agreement
from lehner.algebraic import estimate_algebraic
from lehner.confusion import confusion_matrix
from lehner.datasets import list_datasets, load_dataset
from lehner.errors import InputError
from lehner.estimate import Estimate, IntervalEstimate
from lehner.naive import majority_agreement, mean_posterior
from lehner.parameters import true_parameters
from lehner.patterns import Patterns
from lehner.population import PopulationValue, population_value, population_values
from lehner.ratings import Ratings
from lehner.read import read_ratings
from lehner.scenario import Scenario
from lehner.simulation import simulate, simulate_estimates
from lehner.violations import Violations, fit_violations

__all__ = [
    "Estimate",
    "InputError",
    "IntervalEstimate",
    "PairwiseAgreement",
    "Patterns",
    "PopulationValue",
    "Ratings",
    "Scenario",
    "Violations",
    "confusion_matrix",
    "estimate_adjusted",
    "estimate_algebraic",
    "fit_violations",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "mean_posterior",
    "pairwise_agreement",
    "population_value",
    "population_values",
    "read_ratings",
    "simulate",
    "simulate_estimates",
    "true_parameters",
]
