"""lehner: the accuracy of a classification system when raters may be worse than the system."""

from lehner.algebra.algebraic import estimate_algebraic
from lehner.algebra.least_squares.estimate import estimate_least_squares
from lehner.algebra.least_squares.fit import LeastSquaresFit, fit_least_squares
from lehner.algebra.naive import majority_agreement, mean_posterior
from lehner.algebra.pairwise import PairwiseAgreement, pairwise_agreement
from lehner.algebra.soft_labels import SoftLabels, label_algebraic
from lehner.coefficients.coefficient import Coefficient
from lehner.coefficients.contingency import expected_table
from lehner.coefficients.rater_agreement import agreement
from lehner.coefficients.result import Agreement
from lehner.coefficients.table_agreement import agreement_of_table
from lehner.coefficients.table_files import read_table
from lehner.core.errors import DataWarning, InputError
from lehner.core.estimate import Estimate, IntervalEstimate
from lehner.core.warning import Warning
from lehner.data.patterns import Patterns
from lehner.data.ratings import Ratings
from lehner.datasets import list_datasets, load_dataset
from lehner.dependence.check import check_dependence
from lehner.dependence.result import Dependence
from lehner.dependence.sensitivity import Sensitivity, sensitivity, sensitivity_curve
from lehner.dependence.widened_interval import widen_interval
from lehner.estimation.estimate import estimate
from lehner.estimation.methods import Method
from lehner.estimation.result import Comparison, MethodResult
from lehner.groups.algebra import estimate_groups
from lehner.groups.populations import estimate_populations
from lehner.groups.rater_groups import estimate_rater_groups
from lehner.groups.result import (
    GroupDifference,
    GroupEstimate,
    GroupEstimates,
    RaterGroupEstimate,
)
from lehner.judges.position_bias import PositionBias, position_bias
from lehner.k_properties.adjustment import estimate_adjusted
from lehner.k_properties.check import KProperties, KPropertyTest, check_k_properties
from lehner.k_properties.violations import Violations, fit_violations
from lehner.known_truths.base_rates import correct_base_rates
from lehner.known_truths.correction import TruthCorrection, correct_by_truth, probabilities_right
from lehner.known_truths.sampling_design import choose_items
from lehner.labels.label import label
from lehner.latent_class.cuts import cut_ratings, fit_tap_by_cut
from lehner.latent_class.estimate import estimate_latent_class
from lehner.latent_class.fit_checks import rating_calibration, residual_correlation
from lehner.latent_class.maximum_likelihood import fit_latent_class
from lehner.latent_class.result import LatentClassFit
from lehner.performance.costs import read_costs
from lehner.performance.detail import system_performance
from lehner.performance.result import SystemPerformance
from lehner.planning.kappa import expected_kappa, scenario_with_kappa
from lehner.planning.sample_size import SampleSize, required_sample_size
from lehner.reading.read import read_ratings
from lehner.simulation.confusion import confusion_matrix
from lehner.simulation.draw import simulate, simulate_estimates
from lehner.simulation.parameters import true_parameters
from lehner.simulation.population import PopulationValue, population_value, population_values
from lehner.simulation.scenario import Scenario
from lehner.systems.bootstrap import bootstrap_systems
from lehner.systems.comparison import (
    JointDraws,
    SystemDifference,
    SystemRank,
    compare_systems,
    rank_systems,
)

__version__ = "0.2.0"

__all__ = [
    "Agreement",
    "Coefficient",
    "Comparison",
    "DataWarning",
    "Dependence",
    "Estimate",
    "GroupDifference",
    "GroupEstimate",
    "GroupEstimates",
    "InputError",
    "IntervalEstimate",
    "JointDraws",
    "KProperties",
    "KPropertyTest",
    "LatentClassFit",
    "LeastSquaresFit",
    "Method",
    "MethodResult",
    "PairwiseAgreement",
    "Patterns",
    "PopulationValue",
    "PositionBias",
    "RaterGroupEstimate",
    "Ratings",
    "SampleSize",
    "Scenario",
    "Sensitivity",
    "SoftLabels",
    "SystemDifference",
    "SystemPerformance",
    "SystemRank",
    "TruthCorrection",
    "Violations",
    "Warning",
    "agreement",
    "agreement_of_table",
    "bootstrap_systems",
    "check_dependence",
    "check_k_properties",
    "choose_items",
    "compare_systems",
    "confusion_matrix",
    "correct_base_rates",
    "correct_by_truth",
    "cut_ratings",
    "estimate",
    "estimate_adjusted",
    "estimate_algebraic",
    "estimate_groups",
    "estimate_latent_class",
    "estimate_least_squares",
    "estimate_populations",
    "estimate_rater_groups",
    "expected_kappa",
    "expected_table",
    "fit_latent_class",
    "fit_least_squares",
    "fit_tap_by_cut",
    "fit_violations",
    "label",
    "label_algebraic",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "mean_posterior",
    "pairwise_agreement",
    "population_value",
    "population_values",
    "position_bias",
    "probabilities_right",
    "rank_systems",
    "rating_calibration",
    "read_costs",
    "read_ratings",
    "read_table",
    "required_sample_size",
    "residual_correlation",
    "scenario_with_kappa",
    "sensitivity",
    "sensitivity_curve",
    "simulate",
    "simulate_estimates",
    "system_performance",
    "true_parameters",
    "widen_interval",
]


def __dir__() -> list[str]:
    """List the public names, so that tab completion shows no others."""
    return sorted([*__all__, "__version__"])
