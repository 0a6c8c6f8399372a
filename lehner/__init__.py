"""lehner: the accuracy of a classification system when raters may be worse than the system."""

from lehner.adjustment import estimate_adjusted
from lehner.algebraic import estimate_algebraic
from lehner.coefficients.coefficient import Coefficient
from lehner.coefficients.contingency import expected_table
from lehner.coefficients.rater_agreement import agreement
from lehner.coefficients.result import Agreement
from lehner.coefficients.table_agreement import agreement_of_table
from lehner.coefficients.table_files import read_table
from lehner.confusion import confusion_matrix
from lehner.datasets import list_datasets, load_dataset
from lehner.dependence.check import check_dependence
from lehner.dependence.result import Dependence
from lehner.errors import DataWarning, InputError
from lehner.estimate import Estimate, IntervalEstimate
from lehner.fit_checks import rating_calibration, residual_correlation
from lehner.k_properties.check import KProperties, KPropertyTest, check_k_properties
from lehner.known_truths.asking import choose_items
from lehner.known_truths.base_rates import correct_base_rates
from lehner.known_truths.correction import TruthCorrection, correct_by_truth, probabilities_right
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.result import LatentClassFit
from lehner.least_squares.estimate import estimate_least_squares
from lehner.least_squares.fit import LeastSquaresFit, fit_least_squares
from lehner.naive import majority_agreement, mean_posterior
from lehner.pairwise import PairwiseAgreement, pairwise_agreement
from lehner.parameters import true_parameters
from lehner.patterns import Patterns
from lehner.planning.kappa import expected_kappa, scenario_with_kappa
from lehner.planning.sample_size import SampleSize, required_sample_size
from lehner.population import PopulationValue, population_value, population_values
from lehner.ratings import Ratings
from lehner.read import read_ratings
from lehner.scenario import Scenario
from lehner.shared_mistakes.sensitivity import Sensitivity, sensitivity, sensitivity_curve
from lehner.shared_mistakes.widened_interval import widen_interval
from lehner.simulation import simulate, simulate_estimates
from lehner.soft_labels import SoftLabels, label_algebraic
from lehner.tap.cuts import cut_ratings, fit_tap_by_cut
from lehner.tap.maximum_likelihood import TapFit, fit_tap
from lehner.violations import Violations, fit_violations

__all__ = [
    "Agreement",
    "Coefficient",
    "DataWarning",
    "Dependence",
    "Estimate",
    "InputError",
    "IntervalEstimate",
    "KProperties",
    "KPropertyTest",
    "LatentClassFit",
    "LeastSquaresFit",
    "PairwiseAgreement",
    "Patterns",
    "PopulationValue",
    "Ratings",
    "SampleSize",
    "Scenario",
    "Sensitivity",
    "SoftLabels",
    "TapFit",
    "TruthCorrection",
    "Violations",
    "agreement",
    "agreement_of_table",
    "check_dependence",
    "check_k_properties",
    "choose_items",
    "confusion_matrix",
    "correct_base_rates",
    "correct_by_truth",
    "cut_ratings",
    "estimate_adjusted",
    "estimate_algebraic",
    "estimate_least_squares",
    "expected_kappa",
    "expected_table",
    "fit_latent_class",
    "fit_least_squares",
    "fit_tap",
    "fit_tap_by_cut",
    "fit_violations",
    "label_algebraic",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "mean_posterior",
    "pairwise_agreement",
    "population_value",
    "population_values",
    "probabilities_right",
    "rating_calibration",
    "read_ratings",
    "read_table",
    "required_sample_size",
    "residual_correlation",
    "scenario_with_kappa",
    "sensitivity",
    "sensitivity_curve",
    "simulate",
    "simulate_estimates",
    "true_parameters",
    "widen_interval",
]
