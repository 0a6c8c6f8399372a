"""The system's accuracy, with what the method warns of; and what shared mistakes would do to it."""

from collections.abc import Iterator

import numpy as np

from lehner.core.estimate import ESTIMANDS, uses_truths
from lehner.core.rows import Row, row
from lehner.core.warning import Warning
from lehner.data.ratings import Ratings
from lehner.dependence.check import check_dependence
from lehner.dependence.sensitivity import sensitivity
from lehner.estimation.question import Answer, Fit, Options


def ask_accuracy(fit: Fit, options: Options) -> Answer:
    """Give the expected accuracy, and the proportion of these items that the system got right."""
    entered = uses_truths(fit.estimate)
    for name in ESTIMANDS:
        value = getattr(fit.estimate, name)
        yield row(name, value, n_items=count_answered(fit.ratings)) | (
            {"corrected": True} if entered else {}
        )
    yield from fit.estimate.warnings
    pair = fit.estimate.diagnostics.get("dependent_pair", {}).get("pair", ())
    yield from check_dependence(fit.ratings).warnings_of_estimates(pair)


def count_answered(ratings: Ratings) -> int:
    """Count the items that the system answered."""
    return int(ratings.weights[np.asarray(ratings.system) >= 0].sum())


def ask_sensitivity(fit: Fit, options: Options) -> Answer:
    """Say what the estimate would be if items misled the raters, or with other slopes."""
    found = sensitivity(fit.estimate, fit.ratings.n_categories)
    assumed = {"versus": f"misleading_share={found.misleading_share:g}"}
    both, alone = "if_all_misled", "if_raters_misled"
    for name in ESTIMANDS:
        yield row(f"{name}_{both}", getattr(found, name), **assumed)
    if found.raters_alone is not None:
        yield row(f"system_accuracy_{alone}", found.raters_alone, **assumed)
        yield row(f"system_accuracy_in_sample_{alone}", found.raters_alone_in_sample, **assumed)
    if found.raters_alone_bounds is not None:
        lower, upper = found.raters_alone_bounds
        yield row(f"system_accuracy_{alone}_bounds", lower=lower, upper=upper, **assumed)
    yield from _at_slopes(fit)


def _at_slopes(fit: Fit) -> Iterator[Row | Warning]:
    for slope, fixed in fit.at_slopes.items():
        for name in ESTIMANDS:
            versus = f"system_slope={slope:g}"
            yield row(f"{name}_if_slope", getattr(fixed, name), versus=versus)
