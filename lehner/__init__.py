"""lehner: the accuracy of a classification system when raters may be worse than the system."""

from lehner.agreement import PairwiseAgreement, pairwise_agreement
from lehner.algebraic import estimate_algebraic
from lehner.datasets import list_datasets, load_dataset
from lehner.errors import InputError
from lehner.estimate import Estimate, IntervalEstimate
from lehner.naive import majority_agreement, mean_posterior
from lehner.patterns import Patterns
from lehner.ratings import Ratings
from lehner.read import read_ratings

__all__ = [
    "Estimate",
    "InputError",
    "IntervalEstimate",
    "PairwiseAgreement",
    "Patterns",
    "Ratings",
    "estimate_algebraic",
    "list_datasets",
    "load_dataset",
    "majority_agreement",
    "mean_posterior",
    "pairwise_agreement",
    "read_ratings",
]
