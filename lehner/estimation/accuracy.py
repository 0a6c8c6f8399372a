"""The system's accuracy, with what the method warns of; what correlated errors would do to it."""

import numpy as np

from lehner.core.estimate import ESTIMANDS, uses_truths
from lehner.core.rows import row
from lehner.data.ratings import Ratings
from lehner.dependence.check import check_dependence
from lehner.dependence.sensitivity import sensitivity
from lehner.estimation.question import Answer, Fit, Options


def ask_accuracy(fit: Fit, options: Options) -> Answer:
    """Give the expected accuracy, and the proportion of these items that the system got right."""
    entered = {"corrected": True} if uses_truths(fit.estimate) else {}
    for name in ESTIMANDS:
        value = getattr(fit.estimate, name)
        yield row(name, value, n_items=count_answered(fit.ratings), **entered)
    yield from fit.estimate.warnings
    pair = fit.estimate.diagnostics.get("dependent_pair", {}).get("pair", ())
    yield from check_dependence(fit.ratings).warnings_of_estimates(pair)


def count_answered(ratings: Ratings) -> int:
    """Count the items that the system answered."""
    return int(ratings.weights[np.asarray(ratings.system) >= 0].sum())


def ask_sensitivity(fit: Fit, options: Options) -> Answer:
    """Say what the estimate would be if items misled the raters."""
    if_misled = sensitivity(fit.estimate, fit.ratings.n_categories)
    assumed = {"versus": f"misleading_share={if_misled.misleading_share:g}"}
    alone = "if_raters_misled"
    for name in ESTIMANDS:
        yield row(f"{name}_if_all_misled", getattr(if_misled, name), **assumed)
    if if_misled.raters_alone is not None:
        yield row(f"system_accuracy_{alone}", if_misled.raters_alone, **assumed)
    if if_misled.raters_alone_in_sample is not None:
        in_sample = if_misled.raters_alone_in_sample
        yield row(f"system_accuracy_in_sample_{alone}", in_sample, **assumed)
    if if_misled.raters_alone_bounds is not None:
        ends = dict(zip(("lower", "upper"), if_misled.raters_alone_bounds, strict=True))
        yield {"quantity": f"system_accuracy_{alone}_bounds"} | ends | assumed
