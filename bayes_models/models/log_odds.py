r"""Models of how often raters know the category of an item or guess it: log odds of being right.

In `one_coin` all K-properties (see the glossary) are true: raters share one accuracy, and all
errors are equally probable, as Lehner's algebra assumes (Lehner 2015, Eq. 1-7):

.. math:: \theta_{jkk} = p, \quad \theta_{jkl} = \frac{1 - p}{K - 1} \;(l \ne k)

Raters know the category, with log odds `rater_log_odds`, or guess it, so that p is at least 1/K.
The system has its own accuracy, which may be less than 1/K.

In `one_coin_by_rater` raters differ in accuracy. Rater j knows the category with probability c, and
otherwise guesses it:

.. math::
    p_j = c_j + \frac{1 - c_j}{K}, \quad
    \operatorname{logit} c_j \sim \mathrm{Normal}(\mu, \tau), \quad
    \theta_{jkk} = p_j, \quad \theta_{jkl} = \frac{1 - p_j}{K - 1} \;(l \ne k)

The system does not belong to the population of raters. The name is that of Zhang et al. (2016,
Sec. 3), whose model has an accuracy for each rater, without a population of raters.

In `relaxed_k` each K-property is relaxed by a spread, the standard deviation of random effects. Its
half-normal prior shrinks it to zero, where the K-property is true, unless the data show otherwise.
Rater j knows the category of an item of difficulty x with probability c, and otherwise guesses it,
so that no difficulty makes raters less accurate than chance (Lord & Novick 1968, chapter 17):

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
(`common_category_share`) of its variance is common to the raters. Difficulty x takes three equally
probable levels, over which the likelihood is summed. The system differs from the raters: it may be
worse than chance, it has spreads of its own, `system_category_spread` and `system_error_spread`,
and difficulty lowers its log odds `system_slope` ρ times as much as theirs. Equal probabilities of
errors are relaxed by preferences for some errors:

.. math:: P(\text{rater } j \text{ errs with } l \mid k)
    \propto \exp(-\lambda |k - l| + \omega w_{kl} + \epsilon_j v_{jkl})

`distance_decay` λ makes near errors more probable than far ones if categories are ordered.
Preferences w, with the standard deviation `common_error_spread` ω, are common to raters and system;
preferences v, with `error_spread` ε, are those of a single rater. For the system's own preferences
ε is `system_error_spread`. With all spreads at zero the model is `one_coin`.

References
----------
Lehner (2015), https://doi.org/10.22237/jmasm/1430453520; Lord & Novick (1968), Statistical theories
of mental test scores; Zhang et al. (2016), Spectral methods meet EM, Journal of Machine Learning
Research 17
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayes_models.density.priors import LOG_ODDS, make_zero_sum_basis
from bayes_models.models import pt, spec
from bayes_models.models.assemble import append_system, make_equal_errors
from bayes_models.models.spec import Effect, ModelSpec, Values, Variable, declare_spread, varies
from lehner import Patterns
from lehner.core.arrays import Floats

# Effects of the errors of each category sum to zero.
ERRORS = ("true_category", "contrast")
MEAN_LOG_ODDS = Variable("mean_log_odds", "normal", start=lambda start: start.log_odds_of_knowing)
RATER_LOG_ODDS = replace(MEAN_LOG_ODDS, name="rater_log_odds", role="mean_log_odds")
RATER_SPREAD = declare_spread(
    "rater_spread", "equal accuracy of raters", Effect("rater_effect", spec.ERRORS_OF_RATER[:1])
)
SYSTEM_LOG_ODDS = Variable(
    "system_log_odds", "logistic", needs=(spec.SYSTEM,), start=lambda start: start.system_log_odds
)
POOLED = (spec.BASE_RATES, MEAN_LOG_ODDS, RATER_SPREAD, SYSTEM_LOG_ODDS)
DIFFICULTY = "difficulty_spread"
UNEQUAL_ITEMS = (
    declare_spread(DIFFICULTY, "equal difficulty of items"),
    Variable("system_slope", "normal_above_zero", needs=(spec.SYSTEM, DIFFICULTY)),
)
UNEQUAL_ERRORS = (
    declare_spread(
        "category_spread",
        "equal errors: same accuracy in all categories",
        Effect("common_category_effect", ("true_category",), zero_sum=True),
        Effect("category_effect", spec.ERRORS_OF_RATER[:2], zero_sum=True),
    ),
    Variable("common_category_share", "beta", needs=("category_spread",)),
    declare_spread(
        "common_error_spread",
        "equal errors: no error preferred by all",
        Effect("common_error_effect", ERRORS, n_contrasts=2),
        needs=(spec.SEVERAL_ERRORS,),
    ),
    declare_spread(
        "error_spread",
        "equal errors: no error preferred by one rater",
        Effect("error_effect", spec.ERRORS_OF_RATER, n_contrasts=2),
        needs=(spec.SEVERAL_ERRORS,),
    ),
    Variable(
        "distance_decay",
        "normal_around_zero",
        needs=(spec.SEVERAL_ERRORS, spec.ORDER),
        k_property="equal errors: none nearer than others",
    ),
    declare_spread(
        "system_category_spread",
        "equal errors of the system: same accuracy in all categories",
        Effect("system_category_effect", ("true_category",), zero_sum=True),
        needs=(spec.SYSTEM,),
    ),
    declare_spread(
        "system_error_spread",
        "equal errors of the system: no error preferred",
        Effect("system_error_effect", ERRORS, n_contrasts=2),
        needs=(spec.SEVERAL_ERRORS, spec.SYSTEM),
    ),
)
# This is added to the log probability of the right answer, which is no error.
NEVER = -1e3
# What is zero where a K-property holds has a prior with this scale.
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


def _make_equal_errors(observed: Patterns, values: Values) -> Any:
    """Let raters know the category or guess, and give all errors the same probability."""
    of_raters = _add_guessing(_pool_log_odds(observed, values), observed.n_categories)
    log_odds = append_system(of_raters, values["system_log_odds"], observed)
    right, wrong = pt.sigmoid(log_odds)[:, None], pt.sigmoid(-log_odds)[:, None]
    return make_equal_errors(right, observed.n_categories, wrong)


def _relax_k_properties(observed: Patterns, values: Values) -> Any:
    """Let raters, items, categories and errors differ as far as their spreads say."""
    log_odds = _compute_log_odds(observed, values)
    right, wrong = pt.sigmoid(log_odds)[..., None], pt.sigmoid(-log_odds)[..., None]
    errors = _compute_errors(observed, values)[:, None]
    confusion = right * np.eye(observed.n_categories) + wrong * errors
    return confusion if DIFFICULTY in values else confusion[:, 0]


def _pool_log_odds(observed: Patterns, values: Values) -> Any:
    """Compute the log odds that each rater knows the category of an item, partially pooled."""
    effects = values["rater_spread"] * values["rater_effect"]
    return values["mean_log_odds"] + effects + np.zeros(observed.n_raters)


def _add_guessing(log_odds_of_knowing: Any, n_categories: int) -> Any:
    """Compute the log odds of being right for raters who know the category or guess it.

    A rater who does not know the category picks each with probability 1/K, so that no rater is less
    accurate than chance. This prevents label switching: the same ratings could also come from
    raters less accurate than chance if the names of the true categories were exchanged.
    """
    chance = 1 / n_categories
    return pt.logaddexp(log_odds_of_knowing, np.log(chance)) - np.log(1 - chance)


def _compute_log_odds(observed: Patterns, values: Values) -> Any:
    """Compute the log odds of a right answer, shape (n_raters, n_levels or 1, n_categories)."""
    harder = values[DIFFICULTY] * spec.make_levels(DIFFICULTY, values)
    knowing = _pool_log_odds(observed, values)[:, None] - harder
    of_raters = _add_guessing(knowing, observed.n_categories)[:, :, None]
    of_system = values["system_log_odds"] - values["system_slope"] * harder
    by_category = values["system_category_spread"] * values["system_category_effect"]
    by_category = by_category + np.zeros(observed.n_categories)
    return append_system(
        of_raters + _compute_category_effects(observed, values)[:, None, :],
        of_system[:, None] + by_category,
        observed,
    )


def _compute_category_effects(observed: Patterns, values: Values) -> Any:
    """Compute what each category adds to the log odds that a rater is right.

    The effects of a rater sum to zero over the categories. A share of their variance is common to
    all raters: categories that are hard for everybody. The shape is (n_raters, n_categories).
    """
    in_common = values["common_category_share"]
    common = pt.sqrt(in_common) * values["common_category_effect"]
    of_a_rater = pt.sqrt(1 - in_common) * values["category_effect"]
    none = np.zeros((observed.n_raters, observed.n_categories))
    return values["category_spread"] * (common + of_a_rater) + none


def _compute_errors(observed: Patterns, values: Values) -> Any:
    """Compute the probability of each error, given that the answer is wrong.

    The shape is (n_raters, n_categories, n_responses), with the system as the last rater; the
    probability is zero where the response is the category.
    """
    k = observed.n_categories
    preferences = append_system(
        _compute_preferences("error", values, (observed.n_raters, k, k)),
        _compute_preferences("system_error", values, (k, k)),
        observed,
    )
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    common = _compute_preferences("common_error", values, (k, k))
    common = common - values["distance_decay"] * distance
    return pt.special.softmax(NEVER * np.eye(k) + common + preferences, axis=-1)


def _compute_preferences(kind: str, values: Values, shape: tuple[int, ...]) -> Any:
    """Compute preferences for errors, which sum to zero over the errors of each category."""
    effect = values[f"{kind}_effect"]
    if np.ndim(effect):
        effect = (effect[..., None, :] * _make_contrasts(shape[-1])).sum(axis=-1)
    return values[f"{kind}_spread"] * effect + pt.zeros(shape)


def _make_contrasts(n_categories: int) -> Floats:
    """Make, for each category, a basis of those effects on its errors that sum to zero.

    The shape is (n_categories, n_responses, n_categories - 2), with zero where the response is the
    category.
    """
    basis = np.zeros((n_categories, n_categories, n_categories - 2))
    for category in range(n_categories):
        errors = np.arange(n_categories) != category
        basis[category, errors] = make_zero_sum_basis(n_categories - 1).T
    return basis


def _count_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count free probabilities of right answers and errors; spreads may be fixed at zero."""
    k = observed.n_categories
    accuracies = spec.count_varying(priors, "rater_spread", observed)
    if varies(priors, "category_spread"):
        accuracies += observed.n_raters * (k - 1)
    if observed.has_system:
        accuracies += k if varies(priors, "system_category_spread") else 1
    return accuracies + _count_error_parameters(priors, observed)


def _count_error_parameters(priors: Mapping[str, Any], observed: Patterns) -> int:
    """Count the free parameters of error preferences; with two categories there are none."""
    k = observed.n_categories
    if k == 2:
        return 0
    n_errors = k * (k - 2)
    n_matrices = observed.n_raters * varies(priors, "error_spread")
    n_matrices += observed.has_system and varies(priors, "system_error_spread")
    common = 0
    if varies(priors, "common_error_spread"):
        common = n_errors
    elif observed.ordered and varies(priors, "distance_decay"):
        common = 1
    return n_matrices * n_errors + (common if n_matrices < len(observed.raters) else 0)


def _list_priors(**of_raters: Any) -> dict[str, Any]:
    return {"base_rates": 1.0, **of_raters, "system_log_odds": (0.0, 1.0)}


SPECS = {
    "one_coin": ModelSpec(
        confusion=_make_equal_errors,
        variables=(spec.BASE_RATES, RATER_LOG_ODDS, SYSTEM_LOG_ODDS),
        priors={
            "default": _list_priors(rater_log_odds=(0.0, 1.2)),
            "flat": _list_priors(rater_log_odds=(0.0, 1.7)),
        },
        n_parameters=lambda priors, observed: 1 + observed.has_system,
        likelihood=LOG_ODDS,
    ),
    "one_coin_by_rater": ModelSpec(
        confusion=_make_equal_errors,
        variables=POOLED,
        priors={
            "default": _list_priors(mean_log_odds=(0.0, 1.2), rater_spread=0.6),
            "flat": _list_priors(mean_log_odds=(0.0, 1.7), rater_spread=1.0),
        },
        n_parameters=lambda priors, observed: (
            spec.count_varying(priors, "rater_spread", observed) + observed.has_system
        ),
        likelihood=LOG_ODDS,
    ),
    "relaxed_k": ModelSpec(
        confusion=_relax_k_properties,
        variables=(*POOLED, *UNEQUAL_ITEMS, *UNEQUAL_ERRORS),
        priors={
            "default": _list_priors(mean_log_odds=(0.0, 1.2))
            | {"system_slope": (1.0, 0.6), "common_category_share": (1.0, 1.0)}
            | SCALES
        },
        n_parameters=_count_parameters,
        likelihood=LOG_ODDS,
        difficulty=DIFFICULTY,
    ),
}
