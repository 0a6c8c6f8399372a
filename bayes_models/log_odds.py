"""Log odds that a rater is right: a population of raters, and the system by itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm

from bayes_models.assemble import with_system
from bayes_models.observations import Observations
from bayes_models.priors import add_logistic, add_normal, add_spread


def add_log_odds(observed: Observations, prior: Mapping[str, Any]) -> Any:
    """Add the log odds of raters, partially pooled, and those of the system.

    Parameters
    ----------
    observed : Observations
    prior : mapping
        Of `mean_log_odds`, `rater_spread` and `system_log_odds`.

    Returns
    -------
    TensorVariable, shape (n_raters,)
        The system last if there is one.
    """
    dim = "rater_without_system"
    n_raters = len(pm.modelcontext(None).coords[dim])
    log_odds = add_normal("mean_log_odds", prior["mean_log_odds"]) * np.ones(n_raters)
    spread = add_spread("rater_spread", prior["rater_spread"])
    if spread is not None:
        log_odds = log_odds + spread * pm.Normal("rater_effect", dims=dim)
    if not observed.has_system:
        return log_odds
    system = add_logistic("system_log_odds", prior["system_log_odds"])
    return with_system(log_odds, system)
