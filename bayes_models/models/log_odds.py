"""How often raters know the category of an item, and how often the system is right."""

from typing import Any

import numpy as np

from bayes_models.models.assemble import (
    Values,
    add_confusion,
    append_system,
    equal_errors,
    take_of_group,
)
from bayes_models.models.deferred import pt
from bayes_models.models.spec import GROUP, SYSTEM, Effect, Variable, declare_spread
from lehner import Patterns

MEAN_LOG_ODDS = Variable(
    "mean_log_odds", "normal", (GROUP,), start=lambda at: at.log_odds_of_knowing_by_group
)
RATER_SPREAD = declare_spread(
    "rater_spread",
    Effect("rater_effect", ("rater_without_system",)),
    dims=(GROUP,),
    k_property="equal accuracy of raters",
)
SYSTEM_LOG_ODDS = Variable(
    "system_log_odds", "logistic", needs=(SYSTEM,), start=lambda at: at.system_log_odds
)
LOG_ODDS = (MEAN_LOG_ODDS, RATER_SPREAD, SYSTEM_LOG_ODDS)


def log_odds_of_knowing(observed: Patterns, values: Values) -> Any:
    """Compute the log odds that each rater knows the category of an item, partially pooled.

    Groups of raters have a mean and a spread each, and raters are pooled within their group.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `new_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters,)
        Log odds of the raters without the system.
    """
    mean, scale = (take_of_group(observed, values[n]) for n in ("mean_log_odds", "rater_spread"))
    return mean + scale * values["rater_effect"] + np.zeros(observed.n_raters)


def add_equal_errors(observed: Patterns, values: Values) -> Any:
    """Add ratings by raters who know the category or guess, and a system, with equal errors.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `new_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters,)
        Log odds of being right, of raters and system.
    """
    of_raters = right_or_guessed(log_odds_of_knowing(observed, values), observed.n_categories)
    log_odds = append_system(of_raters, values["system_log_odds"], observed)
    right, wrong = pt.sigmoid(log_odds)[:, None], pt.sigmoid(-log_odds)[:, None]
    add_confusion(observed, values, equal_errors(right, observed.n_categories, wrong))
    return log_odds


def right_or_guessed(log_odds_of_knowing: Any, n_categories: int) -> Any:
    """Log odds of being right for raters who know the category or guess it.

    A rater who does not know the category picks each with probability 1/K, so that no rater is less
    accurate than chance. This prevents label switching: the same ratings could also come from
    raters less accurate than chance if the names of the true categories were exchanged.

    Parameters
    ----------
    log_odds_of_knowing : TensorVariable
        Log odds of knowing, of any shape.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    TensorVariable
        Of the same shape: log (e^x + 1/K) - log (1 - 1/K) for log odds x of knowing.
    """
    chance = 1 / n_categories
    return pt.logaddexp(log_odds_of_knowing, np.log(chance)) - np.log(1 - chance)
