"""The relaxed-K model: spreads, estimated from the data, measure violations of the K-properties."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.density.layout import LOG_ODDS as LOG_ODDS_LIKELIHOOD
from bayes_models.models.assemble import (
    BASE_RATES,
    Values,
    add_confusion,
    append_system,
    new_model,
)
from bayes_models.models.deferred import pm, pt
from bayes_models.models.density import ONE_LEVEL
from bayes_models.models.log_odds import LOG_ODDS, log_odds_of_knowing, right_or_guessed
from bayes_models.models.priors import Priors, n_apart, varies
from bayes_models.models.spec import SYSTEM, ModelSpec, Variable, declare_spread
from bayes_models.models.unequal_errors import (
    UNEQUAL_ERRORS,
    error_probabilities,
    n_error_parameters,
    rater_category_effects,
)
from lehner import Patterns, Ratings
from lehner.core.arrays import Floats
from lehner.core.lazy import special

N_LEVELS = 3
DIFFICULTY_SPREAD = declare_spread("difficulty_spread", k_property="equal difficulty of items")
SYSTEM_SLOPE = Variable("system_slope", "normal_above_zero", needs=(SYSTEM, DIFFICULTY_SPREAD.name))
SCALES = {
    "rater_spread": 0.6,
    "difficulty_spread": 0.4,
    "category_spread": 0.3,
    "common_error_spread": 1.0,
    "error_spread": 0.5,
    "distance_decay": 0.7,
    "system_category_spread": 0.75,
    "system_error_spread": 1.5,
}
K_PROPERTIES: dict[str, Any] = {
    "base_rates": 1.0,
    "mean_log_odds": (0.0, 1.2),
    "system_log_odds": (0.0, 1.0),
    "system_slope": (1.0, 0.6),
    "common_category_share": (1.0, 1.0),
    **dict.fromkeys(SCALES, 0.0),
}
PRIORS = {
    "default": K_PROPERTIES | SCALES,
    "k_properties": K_PROPERTIES,
    "unequal_raters": K_PROPERTIES | {"rater_spread": SCALES["rater_spread"]},
    "unequal_errors": K_PROPERTIES
    | {one.name: SCALES[one.name] for one in UNEQUAL_ERRORS if one.k_property},
    "unequal_difficulty": K_PROPERTIES | {"difficulty_spread": SCALES["difficulty_spread"]},
}


def relaxed_k(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which each K-property is relaxed by a spread, which is shrunk to zero.

    A spread is a standard deviation of random effects. Its half-normal prior shrinks it to zero,
    where the K-property is true, unless the data show otherwise. Rater j knows the category of an
    item of difficulty x with probability c, and otherwise guesses it, so that no difficulty makes
    raters less accurate than chance:

    .. math::
        \operatorname{logit} c_j(x) &= \beta_j - \sigma x, \qquad
            \beta_j \sim \mathrm{Normal}(\mu, \tau) \\
        \operatorname{logit} P(\text{rater } j \text{ right} \mid x, k)
            &= \operatorname{logit}\left(c_j(x) + \frac{1 - c_j(x)}{K}\right)
            + s \left(\sqrt{h}\, w_k + \sqrt{1 - h}\, u_{jk}\right) \\
        \operatorname{logit} P(\text{system right} \mid x, k)
            &= \beta_s - \rho \sigma x + s_s u_{sk}

    `rater_spread` τ relaxes equal accuracy of raters, and `difficulty_spread` σ equal difficulty of
    items. `category_spread` s relaxes equal accuracy in all categories; a share h
    (`common_category_share`) of its variance is common to the raters. Equal error probabilities are
    relaxed by preferences for some errors, see `bayes_models.models.unequal_errors`. With all
    spreads at zero the model is `one_coin`. Difficulty x takes three equally probable levels, over
    which the likelihood is summed. The system differs from the raters: it may be worse than chance,
    it has spreads of its own, `system_category_spread` and `system_error_spread`, and difficulty
    lowers its log odds `system_slope` ρ times as much as theirs. Groups of raters (see
    `Ratings.with_rater_groups`) have a mean μ and a `rater_spread` τ each, so that raters are drawn
    toward those of their group; the other parameters are common to all groups.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default"; "k_properties", with all spreads at zero; "unequal_raters", "unequal_errors"
        or "unequal_difficulty", with the others at zero; or priors by variable, where 0 fixes a
        spread at zero, see `bayes_models.models.families`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, the spreads and effects, and, with levels of difficulty,
        `confusion_by_level` (rater, level, category, response). With groups of raters
        `mean_log_odds` and `rater_spread` have the dimension `rater_group`, and there is
        `rater_group_accuracy` (rater_group), the mean of the raters' accuracies weighted by their
        numbers of ratings.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Lehner (2015) for the K-properties; Lord & Novick (1968), chapter 17, for guessing as the lower
    limit of a response curve.

    Examples
    --------
    >>> import lehner
    >>> model = relaxed_k(lehner.load_dataset("lehner_table2"), {"difficulty_spread": 0})
    >>> [variable.name for variable in model.free_RVs][1:4]
    ['mean_log_odds', 'rater_spread', 'rater_effect']
    """
    with new_model("relaxed_k", ratings, priors) as (model, observed, values):
        model.add_coord("level", _difficulty_levels().round(3))
        log_odds = _log_odds_of_being_right(observed, values)
        right, wrong = pt.sigmoid(log_odds)[..., None], pt.sigmoid(-log_odds)[..., None]
        errors = error_probabilities(observed, values)[:, None]
        confusion = right * np.eye(observed.n_categories) + wrong * errors
        if DIFFICULTY_SPREAD.name in values:
            add_confusion(observed, values, confusion, np.full(N_LEVELS, 1 / N_LEVELS))
        else:
            add_confusion(observed, values, confusion[:, 0])
    return model


def _difficulty_levels() -> Floats:
    """Equally probable levels of difficulty with mean 0 and variance 1, the hardest last.

    Returns
    -------
    ndarray, shape (3,)

    Examples
    --------
    >>> _difficulty_levels().round(3)
    array([-1.225,  0.   ,  1.225])
    """
    levels = special.ndtri((np.arange(N_LEVELS) + 0.5) / N_LEVELS)
    return np.asarray(levels / np.sqrt((levels**2).mean()))


def _log_odds_of_being_right(observed: Patterns, values: Values) -> Any:
    """Compute the log odds of a right answer, shape (n_raters, n_levels or 1, n_categories)."""
    levels = _difficulty_levels() if DIFFICULTY_SPREAD.name in values else ONE_LEVEL
    harder = values[DIFFICULTY_SPREAD.name] * levels
    knowing = log_odds_of_knowing(observed, values)[:, None] - harder
    of_raters = right_or_guessed(knowing, observed.n_categories)[:, :, None]
    of_system = values["system_log_odds"] - values["system_slope"] * harder
    by_category = values["system_category_spread"] * values["system_category_effect"]
    by_category = by_category + np.zeros(observed.n_categories)
    return append_system(
        of_raters + rater_category_effects(observed, values)[:, None, :],
        of_system[:, None] + by_category,
        observed,
    )


def _n_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count free probabilities of right answers and errors; spreads may be fixed at zero."""
    k = observed.n_categories
    accuracies = n_apart(priors, "rater_spread", observed)
    if varies(priors, "category_spread"):
        accuracies += observed.n_raters * (k - 1)
    if observed.has_system:
        accuracies += k if varies(priors, "system_category_spread") else 1
    return accuracies + n_error_parameters(priors, observed)


def _levels(priors: Mapping[str, Any]) -> Floats:
    return _difficulty_levels() if varies(priors, DIFFICULTY_SPREAD.name) else ONE_LEVEL


SPEC = ModelSpec(
    build=relaxed_k,
    variables=(BASE_RATES, *LOG_ODDS, DIFFICULTY_SPREAD, SYSTEM_SLOPE, *UNEQUAL_ERRORS),
    priors=PRIORS,
    n_parameters=_n_parameters,
    pools_rater_groups=True,
    likelihood=LOG_ODDS_LIKELIHOOD,
    matrices="group",
    levels=_levels,
)
