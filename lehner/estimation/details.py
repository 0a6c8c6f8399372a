"""The system in detail by each method: its confusion matrix and other measures."""

from typing import Any

from lehner.core.estimate import Estimate
from lehner.data.ratings import Ratings
from lehner.estimation.question import Options, Question
from lehner.performance.detail import describe_system
from lehner.performance.positive import find_positive
from lehner.performance.result import SystemPerformance

RESAMPLES = 1000
MANY_CATEGORIES = 100
"""Above these there are half the resamples, each of which has a matrix of K × K cells."""
IN_JSON = (
    "confusion",
    "recall",
    "precision",
    "specificity",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
    "f1",
    "balanced_accuracy",
    "mcc",
    "kappa_with_truth",
    "base_rate_intervals",
    "rater_accuracy_intervals",
    "performance_notes",
    "positive",
    "diagnostic_accuracy",
    "raters",
    "rater_notes",
)


def _answer(ratings: Ratings, estimate: Estimate, options: Options) -> SystemPerformance | None:
    positive = find_positive(ratings, options.positive)
    resamples = RESAMPLES if ratings.n_categories <= MANY_CATEGORIES else RESAMPLES // 2
    given = options.costs, positive, options.level, resamples, options.seed
    return describe_system(ratings, estimate, *given)


def _to_dict(details: SystemPerformance | None) -> dict[str, Any]:
    return dict.fromkeys(IN_JSON) | ({} if details is None else details.to_dict())


DETAILS = Question(name="details", answer=_answer, to_dict=_to_dict)
