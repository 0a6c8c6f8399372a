"""lehner: the accuracy of a classification system when raters may be worse than the system."""

from lehner.agreement import PairwiseAgreement, pairwise_agreement
from lehner.algebraic import estimate_algebraic
from lehner.confusion import confusion_matrix
from lehner.datasets import list_datasets, load_dataset
from lehner.errors import InputError
from lehner.estimate import Estimate, IntervalEstimate
from lehner.fit_checks import rating_calibration, residual_correlation
from lehner.least_squares import LeastSquaresFit, fit_least_squares
from lehner.least_squares_estimate import estimate_least_squares
from lehner.naive import majority_agreement, mean_posterior
from lehner.parameters import true_parameters
from lehner.patterns import Patterns
from lehner.population import PopulationValue, population_value, population_values
from lehner.ratings import Ratings
from lehner.read import read_ratings
from lehner.scenario import Scenario
from lehner.simulation import simulate, simulate_estimates
from lehner.tap import TapFit, fit_tap
from lehner.tap_cuts import cut_ratings, fit_tap_by_cut

__all__ = [
    "Estimate",
    "InputError",
    "IntervalEstimate",
    "LeastSquaresFit",
    "PairwiseAgreement",
    "Patterns",
    "PopulationValue",
    "Ratings",
    "Scenario",
    "TapFit",
    "confusion_matrix",
    "cut_ratings",
    "estimate_algebraic",
    "estimate_least_squares",
    "fit_least_squares",
    "fit_tap",
    "fit_tap_by_cut",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "mean_posterior",
    "pairwise_agreement",
    "population_value",
    "population_values",
    "rating_calibration",
    "read_ratings",
    "residual_correlation",
    "simulate",
    "simulate_estimates",
    "true_parameters",
]
