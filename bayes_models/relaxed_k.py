"""The relaxed-K model: each K-property holds up to a dial that the data turn."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from scipy.stats import norm

from bayes_models.assemble import add_confusion, rater_coords, with_system
from bayes_models.log_odds import add_log_odds
from bayes_models.observations import Observations, observe
from bayes_models.priors import (
    Priors,
    add_decay,
    add_dirichlet,
    add_slope,
    add_spread,
    choose_priors,
)
from bayes_models.simplex import zero_sum_basis
from lehner import Ratings

N_LEVELS = 3
NEVER = -1e3


def relaxed_k(ratings: Ratings, priors: Priors = None) -> pm.Model:
    r"""Build the model in which each K-property is relaxed by a dial that shrinks to zero.

    .. math::
        \operatorname{logit} P(\text{rater } j \text{ right} \mid i, k)
            &= \beta_j + \rho_j \sigma x_i + s u_{jk} \\
        P(\text{rater } j \text{ errs with } l \mid i, k)
            &\propto \exp(-\lambda |k - l| + \epsilon v_{jkl}) \\
        \beta_j &\sim \mathrm{Normal}(\mu, \tau)

    `rater_spread` τ relaxes equal accuracy of raters, `difficulty_spread` σ equal difficulty of
    items, `category_spread` s, `error_spread` ε and `distance_decay` λ equal errors. With all of
    them at zero it is `one_coin`. Difficulty x takes three equally probable levels, summed out;
    the system's log odds move `system_slope` ρ times as far as the raters'. λ needs ordered
    categories. u and v are standard normal, β of the system has its own prior.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default"; "k_properties", with all dials at zero; "unequal_raters",
        "unequal_errors" or "unequal_difficulty", with the others at zero; or priors of
        `base_rates`, `mean_log_odds`, `system_log_odds`, `system_slope` and the dials, 0 fixing a
        dial at zero, see `bayes_models.priors`.

    Returns
    -------
    pymc.Model
        Variables as of `dawid_skene`, the dials, and, with levels of difficulty,
        `confusion_by_level` (rater, level, category, response).

    References
    ----------
    Lehner (2015) for the K-properties.

    Examples
    --------
    >>> import lehner
    >>> model = relaxed_k(lehner.load_dataset("lehner_table2"), {"difficulty_spread": 0})
    >>> [variable.name for variable in model.free_RVs][1:4]
    ['mean_log_odds', 'rater_spread', 'rater_effect']
    """
    observed = observe(ratings)
    prior = choose_priors("relaxed_k", priors)
    with pm.Model(coords=_coords(observed)) as model:
        base_rates = add_dirichlet("base_rates", prior["base_rates"], ("category",))
        log_odds = add_log_odds(observed, prior)[:, None, None] + _category_effect(prior)
        difficulty = _difficulty(observed, prior)
        if difficulty is not None:
            log_odds = log_odds + difficulty[:, :, None]
        right = pt.sigmoid(log_odds)[..., None]
        errors = _errors(observed, prior)[:, None]
        confusion = right * np.eye(observed.n_categories) + (1 - right) * errors
        if difficulty is None:
            add_confusion(observed, base_rates, confusion[:, 0])
        else:
            add_confusion(observed, base_rates, confusion, np.full(N_LEVELS, 1 / N_LEVELS))
    return model


def difficulty_levels() -> NDArray[np.float64]:
    """Give equally probable levels of difficulty with mean 0 and variance 1.

    Returns
    -------
    ndarray, shape (3,)

    Examples
    --------
    >>> difficulty_levels().round(3)
    array([-1.225,  0.   ,  1.225])
    """
    levels = norm.ppf((np.arange(N_LEVELS) + 0.5) / N_LEVELS)
    return np.asarray(levels / np.sqrt((levels**2).mean()))


def _coords(observed: Observations) -> dict[str, Any]:
    return rater_coords(observed) | {
        "level": difficulty_levels().round(3),
        "contrast": np.arange(observed.n_categories - 2),
    }


def _category_effect(prior: Mapping[str, Any]) -> Any:
    spread = add_spread("category_spread", prior["category_spread"])
    if spread is None:
        return np.zeros((1, 1, 1))
    return (spread * pm.Normal("category_effect", dims=("rater", "category")))[:, None, :]


def _difficulty(observed: Observations, prior: Mapping[str, Any]) -> Any:
    """Add what each level of difficulty adds to log odds, shape (n_raters, n_levels)."""
    spread = add_spread("difficulty_spread", prior["difficulty_spread"])
    if spread is None:
        return None
    if not observed.has_system:
        return spread * np.ones((len(observed.rater_names), 1)) * difficulty_levels()
    slope = add_slope("system_slope", prior["system_slope"])
    slopes = with_system(pt.ones(len(observed.rater_names) - 1), slope)
    return spread * slopes[:, None] * difficulty_levels()


def _errors(observed: Observations, prior: Mapping[str, Any]) -> Any:
    """Add the probability of each error given that there is one, zero on the diagonal."""
    k = observed.n_categories
    log = pt.as_tensor(np.broadcast_to(NEVER * np.eye(k), (len(observed.rater_names), k, k)))
    if k > 2 and observed.patterns.ratings.ordered:
        decay = add_decay("distance_decay", prior["distance_decay"])
        if decay is not None:
            distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
            log = log - decay * distance
    if k > 2:
        spread = add_spread("error_spread", prior["error_spread"])
        if spread is not None:
            effect = pm.Normal("error_effect", dims=("rater", "category", "contrast"))
            log = log + spread * (effect[:, :, None, :] * error_contrasts(k)).sum(axis=-1)
    return pt.special.softmax(log, axis=-1)


def error_contrasts(n_categories: int) -> NDArray[np.float64]:
    """Give for each category a basis of the effects on its errors that sum to zero.

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
        basis[category, errors] = zero_sum_basis(n_categories - 1).T
    return basis
