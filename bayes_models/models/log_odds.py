"""How often raters know the category of an item, and how often the system is right."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.density.layout import LOG_ODDS as LOG_ODDS_LIKELIHOOD
from bayes_models.likelihood.observations import group_index
from bayes_models.models.assemble import (
    add_confusion,
    common_parameters,
    equal_errors,
    group_dims,
    of_each_rater,
    with_system,
)
from bayes_models.models.deferred import pm, pt
from bayes_models.models.density import ModelDensity, effects, parameter
from bayes_models.models.priors import add_variable, prior_numbers, varies
from bayes_models.models.spec import Variable, spread
from lehner import Patterns

MEAN_LOG_ODDS = Variable(
    "mean_log_odds", "normal", start=lambda at: at.log_odds_of_knowing_by_group
)
RATER_SPREAD = spread("rater_spread", "equal accuracy of raters")
SYSTEM_LOG_ODDS = Variable("system_log_odds", "logistic", start=lambda at: at.system_log_odds)
RATER_LOG_ODDS = Variable("rater_log_odds", "normal", start=lambda at: at.log_odds_of_knowing)
EARLIER_ANSWERS = Variable("earlier_answers", "answers", of="accuracy")
LOG_ODDS = (MEAN_LOG_ODDS, RATER_SPREAD, SYSTEM_LOG_ODDS)


def add_log_odds_of_knowing(observed: Patterns, priors: Mapping[str, Any]) -> Any:
    """Add the log odds that each rater knows the category of an item, partially pooled.

    Groups of raters have a mean and a spread each, and raters are pooled within their group.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    priors : mapping
        With those of `mean_log_odds` and `rater_spread`.

    Returns
    -------
    TensorVariable, shape (n_raters,)
        Log odds of the raters without the system.
    """
    groups = group_dims(observed)
    mean = add_variable(MEAN_LOG_ODDS, priors, groups)
    log_odds = of_each_rater(observed, mean) * np.ones(observed.n_raters)
    scale = add_variable(RATER_SPREAD, priors, groups)
    if scale is not None:
        effect = pm.Normal("rater_effect", dims="rater_without_system")
        log_odds = log_odds + of_each_rater(observed, scale) * effect
    return log_odds


def log_odds_density(observed: Patterns, priors: Mapping[str, Any]) -> ModelDensity:
    """What compiled code needs to know of raters who know the category or guess, and a system."""
    groups, raters = group_dims(observed), ("rater_without_system",)
    given = common_parameters(observed, priors)
    # Raters who are all alike have log odds of another name.
    mean = RATER_LOG_ODDS if RATER_LOG_ODDS.name in priors else MEAN_LOG_ODDS
    dims = groups if mean is MEAN_LOG_ODDS else ()
    given["mean_log_odds"] = parameter(mean, priors, observed, dims)
    if RATER_SPREAD.name in priors and varies(priors, RATER_SPREAD.name):
        given["rater_spread"] = parameter(RATER_SPREAD, priors, observed, groups)
        given["rater_effect"] = effects("rater_effect", raters, (observed.n_raters,))
    if observed.has_system:
        given["system_log_odds"] = parameter(SYSTEM_LOG_ODDS, priors, observed)
    index = np.full(len(observed.raters), -1)
    index[: observed.n_raters] = group_index(observed) if dims else 0
    answers = None
    if EARLIER_ANSWERS.name in priors:
        prior, shape = priors[EARLIER_ANSWERS.name], (len(index), 2)
        answers = EARLIER_ANSWERS.family.numbers(EARLIER_ANSWERS.name, prior, shape)
    return ModelDensity(
        likelihood=LOG_ODDS_LIKELIHOOD,
        parameters=given,
        observed=observed,
        index=index,
        answers=answers,
    )


def add_equal_errors(
    observed: Patterns, base_rates: Any, log_odds_of_knowing: Any, priors: Mapping[str, Any]
) -> Any:
    """Add ratings by raters who know the category or guess, and a system, with equal errors.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    base_rates : TensorVariable
        As `add_base_rates` gives them.
    log_odds_of_knowing : TensorVariable, shape (n_raters,)
        Of the raters without the system.
    priors : mapping
        With that of `system_log_odds`.

    Returns
    -------
    TensorVariable, shape (n_raters,)
        Log odds of being right, of raters and system.
    """
    log_odds = right_or_guessed(log_odds_of_knowing, observed.n_categories)
    if observed.has_system:
        log_odds = with_system(log_odds, add_variable(SYSTEM_LOG_ODDS, priors))
    right, wrong = pt.sigmoid(log_odds)[:, None], pt.sigmoid(-log_odds)[:, None]
    confusion = equal_errors(right, observed.n_categories, wrong)
    add_confusion(observed, base_rates, confusion)
    return log_odds


def add_earlier_answers(log_odds_right: Any, priors: Mapping[str, Any]) -> None:
    """Add the likelihood of right and wrong answers in earlier studies.

    Parameters
    ----------
    log_odds_right : TensorVariable, shape (n_raters,)
        Of raters and system.
    priors : mapping
        With `earlier_answers`.
    """
    pm.modelcontext(None).add_coord("answer", ["right", "wrong"])
    counts = prior_numbers(EARLIER_ANSWERS, priors, ("rater", "answer"))
    EARLIER_ANSWERS.family.distribution(EARLIER_ANSWERS.name, counts, log_odds_right)


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
