"""The system in detail by each method: its confusion matrix and other measures."""

from typing import Any

from lehner.core.estimate import Estimate
from lehner.data.ratings import Ratings
from lehner.estimation.question import Options, Question
from lehner.performance.detail import replicates_of, summarise
from lehner.performance.result import SystemPerformance

RESAMPLES = 1000
IN_JSON = (
    "confusion",
    "recall",
    "precision",
    "specificity",
    "f1",
    "balanced_accuracy",
    "mcc",
    "kappa_with_truth",
    "base_rate_intervals",
    "rater_accuracy_intervals",
    "performance_notes",
)


def describe_system(
    ratings: Ratings, estimate: Estimate, options: Options
) -> SystemPerformance | None:
    """Describe the system in detail; None if the method says nothing of it by category."""
    replicates = replicates_of(ratings, estimate, resamples=RESAMPLES, seed=options.seed)
    if replicates is None:
        return None
    return summarise(ratings, estimate, replicates, options.costs, options.level)


def _to_dict(details: SystemPerformance | None) -> dict[str, Any]:
    return dict.fromkeys(IN_JSON) | ({} if details is None else details.to_dict())


DETAILS = Question(name="details", answer=describe_system, to_dict=_to_dict)
