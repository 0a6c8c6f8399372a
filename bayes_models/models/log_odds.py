"""Models of how often raters know the category of an item or guess it: log odds of being right.

In `one_coin` all K-properties (see the glossary) are true; in `one_coin_by_rater` raters differ in
accuracy; in `relaxed_k` spreads, estimated from the data, measure violations of each K-property.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_models.density.priors import LOG_ODDS, make_zero_sum_basis
from bayes_models.models import assemble, pm, pt
from bayes_models.models.assemble import BASE_RATES, Values
from bayes_models.models.spec import (
    ERRORS_OF_RATER,
    ORDER,
    SEVERAL_ERRORS,
    SYSTEM,
    Effect,
    ModelSpec,
    Priors,
    Variable,
    count_apart,
    declare_spread,
    varies,
)
from lehner import Patterns, Ratings
from lehner.core.arrays import Floats
from lehner.core.lazy import special

ERRORS = ("true_category", "contrast")
RATER_LOG_ODDS = Variable(
    "rater_log_odds", "normal", role="mean_log_odds", start=lambda at: at.log_odds_of_knowing
)
MEAN_LOG_ODDS = Variable("mean_log_odds", "normal", start=lambda at: at.log_odds_of_knowing)
RATER_SPREAD = declare_spread(
    "rater_spread",
    Effect("rater_effect", ERRORS_OF_RATER[:1]),
    k_property="equal accuracy of raters",
)
SYSTEM_LOG_ODDS = Variable(
    "system_log_odds", "logistic", needs=(SYSTEM,), start=lambda at: at.system_log_odds
)
POOLED = (BASE_RATES, MEAN_LOG_ODDS, RATER_SPREAD, SYSTEM_LOG_ODDS)
DIFFICULTY_SPREAD = declare_spread("difficulty_spread", k_property="equal difficulty of items")
SYSTEM_SLOPE = Variable("system_slope", "normal_above_zero", needs=(SYSTEM, DIFFICULTY_SPREAD.name))
CATEGORY_SPREAD = declare_spread(
    "category_spread",
    Effect("common_category_effect", ("true_category",), zero_sum=True),
    Effect("category_effect", ERRORS_OF_RATER[:2], zero_sum=True),
    k_property="equal errors: same accuracy in all categories",
)
COMMON_CATEGORY_SHARE = Variable("common_category_share", "beta", needs=(CATEGORY_SPREAD.name,))
SYSTEM_CATEGORY_SPREAD = declare_spread(
    "system_category_spread",
    Effect("system_category_effect", ("true_category",), zero_sum=True),
    needs=(SYSTEM,),
    k_property="equal errors of the system: same accuracy in all categories",
)
COMMON_ERROR_SPREAD = declare_spread(
    "common_error_spread",
    Effect("common_error_effect", ERRORS, n_contrasts=2),
    needs=(SEVERAL_ERRORS,),
    k_property="equal errors: no error preferred by all",
)
ERROR_SPREAD = declare_spread(
    "error_spread",
    Effect("error_effect", ERRORS_OF_RATER, n_contrasts=2),
    needs=(SEVERAL_ERRORS,),
    k_property="equal errors: no error preferred by one rater",
)
DISTANCE_DECAY = Variable(
    "distance_decay",
    "normal_around_zero",
    needs=(SEVERAL_ERRORS, ORDER),
    k_property="equal errors: none nearer than others",
)
SYSTEM_ERROR_SPREAD = declare_spread(
    "system_error_spread",
    Effect("system_error_effect", ERRORS, n_contrasts=2),
    needs=(SEVERAL_ERRORS, SYSTEM),
    k_property="equal errors of the system: no error preferred",
)
UNEQUAL_ERRORS = (
    *(CATEGORY_SPREAD, COMMON_CATEGORY_SHARE, COMMON_ERROR_SPREAD, ERROR_SPREAD, DISTANCE_DECAY),
    *(SYSTEM_CATEGORY_SPREAD, SYSTEM_ERROR_SPREAD),
)
NEVER = -1e3
N_LEVELS, ONE_LEVEL = 3, np.zeros(1)
# Scales of the priors of what is zero where a K-property holds.
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


def one_coin(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters share one accuracy and errors are equally probable.

    .. math:: \theta_{jkk} = p, \quad \theta_{jkl} = \frac{1 - p}{K - 1} \;(l \ne k)

    It makes the same assumptions as Lehner's algebra, but is estimated by likelihood. Raters know
    the category, with log odds `rater_log_odds`, or guess it, so that p is at least 1/K. The system
    has its own accuracy, which may be less than 1/K.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `rater_log_odds` and
        `system_log_odds`, see `bayes_models.models.spec`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Lehner (2015), Eq. 1-7; Zhang et al. (2016), Spectral methods meet EM, Sec. 3, for the name.

    Examples
    --------
    >>> import lehner
    >>> model = one_coin(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'rater_log_odds', 'system_log_odds']
    """
    with assemble.open_model("one_coin", ratings, priors) as (model, observed, values):
        _add_equal_errors(observed, values)
    return model


def one_coin_by_rater(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters differ in accuracy and errors are equally probable.

    .. math::
        p_j = c_j + \frac{1 - c_j}{K}, \quad
        \operatorname{logit} c_j \sim \mathrm{Normal}(\mu, \tau), \quad
        \theta_{jkk} = p_j, \quad \theta_{jkl} = \frac{1 - p_j}{K - 1} \;(l \ne k)

    Rater j knows the category with probability c, and otherwise guesses it. The system has its own
    accuracy; it does not belong to the population of raters, and may be worse than guessing.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `mean_log_odds`, `rater_spread` and
        `system_log_odds`, see `bayes_models.models.spec`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Zhang et al. (2016), Spectral methods meet EM, Sec. 3, whose one-coin model has an accuracy for
    each rater, without a population of raters.

    Examples
    --------
    >>> import lehner
    >>> model = one_coin_by_rater(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs][1:]
    ['mean_log_odds', 'rater_spread', 'rater_effect', 'system_log_odds']
    """
    with assemble.open_model("one_coin_by_rater", ratings, priors) as (model, observed, values):
        _add_equal_errors(observed, values)
    return model


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
    relaxed by preferences for some errors, see `compute_errors`. With all
    spreads at zero the model is `one_coin`. Difficulty x takes three equally probable levels, over
    which the likelihood is summed. The system differs from the raters: it may be worse than chance,
    it has spreads of its own, `system_category_spread` and `system_error_spread`, and difficulty
    lowers its log odds `system_slope` ρ times as much as theirs.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default", or priors by variable, where 0 fixes a spread at zero, see
        `bayes_models.models.spec`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, the spreads and effects, and, with levels of difficulty,
        `confusion_by_level` (rater, level, category, response).

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
    with assemble.open_model("relaxed_k", ratings, priors) as (model, observed, values):
        model.add_coord("level", _make_levels().round(3))
        log_odds = _compute_log_odds(observed, values)
        right, wrong = pt.sigmoid(log_odds)[..., None], pt.sigmoid(-log_odds)[..., None]
        errors = compute_errors(observed, values)[:, None]
        confusion = right * np.eye(observed.n_categories) + wrong * errors
        if DIFFICULTY_SPREAD.name in values:
            assemble.add_confusion(observed, values, confusion, np.full(N_LEVELS, 1 / N_LEVELS))
        else:
            assemble.add_confusion(observed, values, confusion[:, 0])
    return model


def pool_log_odds(observed: Patterns, values: Values) -> Any:
    """Compute the log odds that each rater knows the category of an item, partially pooled.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `open_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters,)
        Log odds of the raters without the system.
    """
    effects = values["rater_spread"] * values["rater_effect"]
    return values["mean_log_odds"] + effects + np.zeros(observed.n_raters)


def _add_equal_errors(observed: Patterns, values: Values) -> None:
    """Add ratings by raters who know the category or guess, and a system, with equal errors.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `open_model` gives them.
    """
    of_raters = add_guessing(pool_log_odds(observed, values), observed.n_categories)
    log_odds = assemble.append_system(of_raters, values["system_log_odds"], observed)
    right, wrong = pt.sigmoid(log_odds)[:, None], pt.sigmoid(-log_odds)[:, None]
    confusion = assemble.make_equal_errors(right, observed.n_categories, wrong)
    assemble.add_confusion(observed, values, confusion)


def add_guessing(log_odds_of_knowing: Any, n_categories: int) -> Any:
    """Compute the log odds of being right for raters who know the category or guess it.

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


def _make_levels() -> Floats:
    """Make equally probable levels of difficulty with mean 0 and variance 1, the hardest last.

    Returns
    -------
    ndarray, shape (3,)

    Examples
    --------
    >>> _make_levels().round(3)
    array([-1.225,  0.   ,  1.225])
    """
    levels = special.ndtri((np.arange(N_LEVELS) + 0.5) / N_LEVELS)
    return np.asarray(levels / np.sqrt((levels**2).mean()))


def _compute_log_odds(observed: Patterns, values: Values) -> Any:
    """Compute the log odds of a right answer, shape (n_raters, n_levels or 1, n_categories)."""
    levels = _make_levels() if DIFFICULTY_SPREAD.name in values else ONE_LEVEL
    harder = values[DIFFICULTY_SPREAD.name] * levels
    knowing = pool_log_odds(observed, values)[:, None] - harder
    of_raters = add_guessing(knowing, observed.n_categories)[:, :, None]
    of_system = values["system_log_odds"] - values["system_slope"] * harder
    by_category = values["system_category_spread"] * values["system_category_effect"]
    by_category = by_category + np.zeros(observed.n_categories)
    return assemble.append_system(
        of_raters + add_category_effects(observed, values)[:, None, :],
        of_system[:, None] + by_category,
        observed,
    )


def add_category_effects(observed: Patterns, values: Values) -> Any:
    """Compute what each category adds to the log odds that a rater is right.

    The effects of a rater sum to zero over the categories. A share of their variance is common to
    all raters: categories that are hard for everybody.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `open_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories)
        Effects for the raters without the system.
    """
    in_common = values["common_category_share"]
    common = pt.sqrt(in_common) * values["common_category_effect"]
    own = pt.sqrt(1 - in_common) * values["category_effect"]
    none = np.zeros((observed.n_raters, observed.n_categories))
    return values["category_spread"] * (common + own) + none


def compute_errors(observed: Patterns, values: Values) -> Any:
    r"""Compute the probability of each error, given that the answer is wrong.

    .. math:: P(\text{rater } j \text{ errs with } l \mid k)
        \propto \exp(-\lambda |k - l| + \omega w_{kl} + \epsilon_j v_{jkl})

    `distance_decay` λ makes near errors more probable than far ones if categories are ordered.
    Preferences w, with the standard deviation `common_error_spread` ω, are common to raters and
    system; preferences v, with `error_spread` ε, are those of a single rater. For the system's own
    preferences ε is `system_error_spread`.

    Parameters
    ----------
    observed : Patterns
        The ratings.
    values : Values
        As `open_model` gives them.

    Returns
    -------
    TensorVariable, shape (n_raters, n_categories, n_responses)
        Of raters and system; zero where the response is the category.
    """
    k = observed.n_categories

    def draw_preferences(kind: str, *shape: int) -> Any:
        effect = values[f"{kind}_effect"]
        if np.ndim(effect):
            # They sum to zero over the errors of each category.
            effect = (effect[..., None, :] * _make_contrasts(k)).sum(axis=-1)
        return values[f"{kind}_spread"] * effect + pt.zeros((*shape, k, k))

    own = draw_preferences("error", observed.n_raters)
    own = assemble.append_system(own, draw_preferences("system_error"), observed)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    common = draw_preferences("common_error") - values["distance_decay"] * distance
    return pt.special.softmax(NEVER * np.eye(k) + common + own, axis=-1)


def _make_contrasts(n_categories: int) -> Floats:
    """Make, for each category, a basis of those effects on its errors that sum to zero.

    Parameters
    ----------
    n_categories : int
        K, 3 or more.

    Returns
    -------
    ndarray, shape (n_categories, n_responses, n_categories - 2)
        Zero where the response is the category.
    """
    basis = np.zeros((n_categories, n_categories, n_categories - 2))
    for category in range(n_categories):
        errors = np.arange(n_categories) != category
        basis[category, errors] = make_zero_sum_basis(n_categories - 1).T
    return basis


def _count_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count free probabilities of right answers and errors; spreads may be fixed at zero."""
    k = observed.n_categories
    accuracies = count_apart(priors, "rater_spread", observed)
    if varies(priors, "category_spread"):
        accuracies += observed.n_raters * (k - 1)
    if observed.has_system:
        accuracies += k if varies(priors, "system_category_spread") else 1
    return accuracies + _count_error_parameters(priors, observed)


def _count_error_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count the free parameters of error preferences; with two categories there are none.

    Parameters
    ----------
    priors : mapping
        Of the four.

    Returns
    -------
    int
    """
    k = observed.n_categories
    if k == 2:
        return 0
    matrix = k * (k - 2)
    own = observed.n_raters * varies(priors, "error_spread")
    own += observed.has_system and varies(priors, "system_error_spread")
    common = 0
    if varies(priors, "common_error_spread"):
        common = matrix
    elif observed.ordered and varies(priors, "distance_decay"):
        common = 1
    return own * matrix + (common if own < len(observed.raters) else 0)


def _list_priors(**of_raters: Any) -> dict[str, Any]:
    return {"base_rates": 1.0, **of_raters, "system_log_odds": (0.0, 1.0)}


SPECS = {
    "one_coin": ModelSpec(
        build=one_coin,
        variables=(BASE_RATES, RATER_LOG_ODDS, SYSTEM_LOG_ODDS),
        priors={
            "default": _list_priors(rater_log_odds=(0.0, 1.2)),
            "flat": _list_priors(rater_log_odds=(0.0, 1.7)),
        },
        n_parameters=lambda priors, observed: 1 + observed.has_system,
        likelihood=LOG_ODDS,
        raters_alike=True,
    ),
    "one_coin_by_rater": ModelSpec(
        build=one_coin_by_rater,
        variables=POOLED,
        priors={
            "default": _list_priors(mean_log_odds=(0.0, 1.2), rater_spread=0.6),
            "flat": _list_priors(mean_log_odds=(0.0, 1.7), rater_spread=1.0),
        },
        n_parameters=lambda priors, observed: (
            count_apart(priors, "rater_spread", observed) + observed.has_system
        ),
        likelihood=LOG_ODDS,
        raters_alike=True,
        takes_pair=True,
    ),
    "relaxed_k": ModelSpec(
        build=relaxed_k,
        variables=(*POOLED, DIFFICULTY_SPREAD, SYSTEM_SLOPE, *UNEQUAL_ERRORS),
        priors={
            "default": _list_priors(mean_log_odds=(0.0, 1.2))
            | {"system_slope": (1.0, 0.6), "common_category_share": (1.0, 1.0)}
            | SCALES
        },
        n_parameters=_count_parameters,
        likelihood=LOG_ODDS,
        raters_alike=True,
        levels=lambda priors: (
            _make_levels() if varies(priors, DIFFICULTY_SPREAD.name) else ONE_LEVEL
        ),
    ),
}
