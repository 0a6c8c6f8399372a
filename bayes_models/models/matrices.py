"""Models of confusion matrices: of each rater, of all raters alike, or of a population of raters.

Two of them restrict the matrices: to equal errors, or to raters who know the truth or guess.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from bayes_models.density.priors import CLASS_CONDITIONAL, MATRICES, TAP, make_zero_sum_basis
from bayes_models.models import assemble, pm, pt, spec
from bayes_models.models.assemble import BASE_RATES, count_cells
from bayes_models.models.spec import DIAGONAL, WEAK_DIAGONAL, Effect, ModelSpec, Priors, Variable
from lehner import Ratings

CONFUSION = Variable(
    "confusion",
    "dirichlet",
    ("rater", "category", "response"),
    start=lambda at: at.confusion,
    ratings=spec.OF_A_RATER,
)
LAST_CONFUSION = Variable(
    "system_confusion", "dirichlet", last_row_of="confusion", ratings=spec.OF_THE_SYSTEM
)
RATER_CONFUSION = Variable(
    "rater_confusion",
    "dirichlet",
    ("true_category", "answer"),
    role="confusion",
    start=lambda at: at.mean_confusion,
    ratings=spec.OF_ALL,
)
SYSTEM_CONFUSION = Variable(
    "system_confusion",
    "dirichlet",
    ("true_category", "answer"),
    needs=(spec.SYSTEM,),
    start=lambda at: at.confusion[-1],
    ratings=spec.OF_THE_SYSTEM,
)
POPULATION_CONFUSION = replace(RATER_CONFUSION, name="population_confusion")
CONFUSION_SPREAD = spec.declare_spread(
    "confusion_spread", Effect("confusion_effect", spec.ERRORS_OF_RATER, n_contrasts=1)
)
ACCURACY = Variable(
    "accuracy_by_category",
    "beta",
    ("rater", "category"),
    start=lambda at: at.accuracy_by_category,
    ratings=spec.OF_A_RATER,
)
SYSTEM_ACCURACY = Variable(
    "system_accuracy_by_category",
    "beta",
    last_row_of="accuracy_by_category",
    ratings=spec.OF_THE_SYSTEM,
)
KNOWLEDGE = Variable(
    "knowledge", "beta", ("rater",), start=lambda at: np.clip(at.accuracy, 0.1, 0.9)
)
GUESSING = Variable("guessing", "dirichlet", ("rater", "guess"))


def dawid_skene(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the Bayesian Dawid-Skene model, the system being one more rater.

    .. math::
        \pi \sim \mathrm{Dirichlet}, \quad \theta_{jk} \sim \mathrm{Dirichlet}, \quad
        z_i \sim \mathrm{Categorical}(\pi), \quad y_{ij} \sim \mathrm{Categorical}(\theta_{j z_i})

    The likelihood is summed over the unknown true categories z; known ones enter as data. It does
    not change if the true categories are renamed (label switching); the prior, by which raters are
    right more often than wrong, decides which name belongs to which category.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" (as in R's rater: the prior of each row of a matrix counts as much as 8
        ratings, of which 60% are right; but that of the system as 2) or "flat"; or priors of
        `base_rates`, `confusion` and `system_confusion`, see `bayes_models.models.spec`. If
        `confusion` is given and `system_confusion` is not, it is also the prior of the system.

    Returns
    -------
    pymc.Model
        Variables `base_rates` (category), `confusion` (rater, category, response), `accuracy`
        (rater) and, with a system, `system_accuracy`; the system is the rater "system". If items
        are from populations, `base_rates_by_population` (population, category) are what is
        estimated, and `base_rates` those of all items.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Dawid & Skene (1979), https://doi.org/10.2307/2346806; priors as in Pullin, Gurrin &
    Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064

    Examples
    --------
    >>> import lehner
    >>> model = dawid_skene(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'confusion']
    """
    with assemble.open_model("dawid_skene", ratings, priors) as (model, observed, values):
        assemble.add_confusion(observed, values, values["confusion"])
    return model


def pooled(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which all raters have the same confusion matrix.

    .. math:: \theta_{jk} = \theta_k \sim \mathrm{Dirichlet}

    Some errors may be more probable than others, but they are so for all raters. The system has its
    own matrix.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" (the prior of each row of a matrix counts as much as 8 ratings, of which 60%
        are right, that of the system as 2) or "flat"; or priors of `base_rates`, `rater_confusion`
        and `system_confusion`, see `bayes_models.models.spec`.

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
    Paun et al. (2018), https://doi.org/10.1162/tacl_a_00040, the multinomial model.

    Examples
    --------
    >>> import lehner
    >>> model = pooled(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'rater_confusion', 'system_confusion']
    """
    with assemble.open_model("pooled", ratings, priors) as (model, observed, values):
        of_raters = pt.stack([values["confusion"]] * observed.n_raters)
        confusion = assemble.append_system(of_raters, values["system_confusion"], observed)
        assemble.add_confusion(observed, values, confusion)
    return model


def hierarchical_dawid_skene(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which raters' confusion matrices vary around a common one.

    .. math:: \theta_{jk} = \operatorname{softmax}(\log \bar\theta_k + \sigma u_{jk})

    where u is standard normal among the vectors that sum to zero. The system has its own matrix,
    because it does not belong to the population of raters.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" or "flat", or priors of `base_rates`, `population_confusion`,
        `confusion_spread` and `system_confusion`, see `bayes_models.models.spec`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `population_confusion` (category, response) and
        `confusion_spread`.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Carpenter (2008), Multilevel Bayesian models of categorical data annotation; Paun et al.
    (2018), https://doi.org/10.1162/tacl_a_00040

    Examples
    --------
    >>> import lehner
    >>> model = hierarchical_dawid_skene(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs][1:]
    ['population_confusion', 'confusion_spread', 'confusion_effect', 'system_confusion']
    """
    with assemble.open_model("hierarchical_dawid_skene", ratings, priors) as (
        model,
        observed,
        values,
    ):
        log_confusion = pt.stack([pt.log(values["confusion"])] * observed.n_raters)
        if "confusion_effect" in values:
            # Not `pt.dot`: what calls BLAS cannot be kept on disk for another process.
            basis = make_zero_sum_basis(observed.n_categories)
            sums_to_zero = (values["confusion_effect"][..., None] * basis).sum(axis=-2)
            log_confusion = log_confusion + values["confusion_spread"] * sums_to_zero
        of_raters = pt.special.softmax(log_confusion, axis=-1)
        confusion = assemble.append_system(of_raters, values["system_confusion"], observed)
        assemble.add_confusion(observed, values, confusion)
    return model


def class_conditional(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which a rater's accuracy depends on the true category.

    .. math::
        \theta_{jkk} \sim \mathrm{Beta}, \quad
        \theta_{jkl} = \frac{1 - \theta_{jkk}}{K - 1} \;(l \ne k)

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default" (the prior of each accuracy counts as much as 8 ratings, that of the system's
        as 2) or "flat"; or priors of `base_rates`, `accuracy_by_category` and
        `system_accuracy_by_category`, see `bayes_models.models.spec`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `accuracy_by_category` (rater, category).

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Pullin, Gurrin & Vukcevic (2023), https://doi.org/10.32614/RJ-2023-064

    Examples
    --------
    >>> import lehner
    >>> model = class_conditional(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'accuracy_by_category']
    """
    with assemble.open_model("class_conditional", ratings, priors) as (model, observed, values):
        accuracy = values["accuracy_by_category"]
        confusion = assemble.make_equal_errors(accuracy, observed.n_categories)
        assemble.add_confusion(observed, values, confusion)
    return model


def tap(ratings: Ratings, priors: Priors = None) -> "pm.Model":
    r"""Build the model in which a rater knows the true category or guesses.

    .. math:: \theta_{jkl} = a_j [k = l] + (1 - a_j) g_{jl}

    Rater j knows the category with probability a and otherwise gives category l with probability g,
    whatever the truth. Raters therefore cannot do worse than by guessing.

    Parameters
    ----------
    ratings : Ratings
        With or without a system.
    priors : str or mapping, optional
        Set "default", which is also "flat"; or priors of `base_rates`, `knowledge` and `guessing`,
        see `bayes_models.models.spec`.

    Returns
    -------
    pymc.Model
        Variables as in `dawid_skene`, and `knowledge` (rater) and `guessing` (rater, response).

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`), or if there is no such set of priors or no
        such variable in it.

    References
    ----------
    Eubanks (2024), The Kappa Zoo, https://kappazoo.com, the t-a-p model.

    Examples
    --------
    >>> import lehner
    >>> model = tap(lehner.load_dataset("lehner_table2"))
    >>> [variable.name for variable in model.free_RVs]
    ['base_rates', 'knowledge', 'guessing']
    """
    with assemble.open_model("tap", ratings, priors) as (model, observed, values):
        knowledge = values["knowledge"][:, None, None]
        guessed = (1 - knowledge) * values["guessing"][:, None, :]
        confusion = knowledge * np.eye(observed.n_categories) + guessed
        assemble.add_confusion(observed, values, confusion)
    return model


def _list_priors(of_raters: str, **spread: float) -> dict[str, Any]:
    names = ("base_rates", of_raters, *spread, "system_confusion")
    return {
        "default": dict(zip(names, (3.0, DIAGONAL, *spread.values(), WEAK_DIAGONAL), strict=True)),
        "flat": dict.fromkeys(names, 1.0),
    }


FLAT = (1.0, 1.0)
FLAT_TAP = {"base_rates": 1.0, "knowledge": FLAT, "guessing": 1.0}
SPECS = {
    "dawid_skene": ModelSpec(
        build=dawid_skene,
        variables=(BASE_RATES, CONFUSION, LAST_CONFUSION),
        priors=_list_priors("confusion"),
        n_parameters=lambda priors, observed: count_cells(observed) * len(observed.raters),
        conjugate=True,
        takes_pair=True,
        likelihood=MATRICES,
    ),
    "pooled": ModelSpec(
        build=pooled,
        variables=(BASE_RATES, RATER_CONFUSION, SYSTEM_CONFUSION),
        priors=_list_priors("rater_confusion"),
        n_parameters=lambda priors, observed: count_cells(observed) * (1 + observed.has_system),
        conjugate=True,
        likelihood=MATRICES,
        raters_alike=True,
    ),
    "hierarchical_dawid_skene": ModelSpec(
        build=hierarchical_dawid_skene,
        variables=(BASE_RATES, POPULATION_CONFUSION, CONFUSION_SPREAD, SYSTEM_CONFUSION),
        priors=_list_priors("population_confusion", confusion_spread=0.5),
        n_parameters=lambda priors, observed: (
            count_cells(observed)
            * (spec.count_apart(priors, "confusion_spread", observed) + observed.has_system)
        ),
        likelihood=MATRICES,
        raters_alike=True,
    ),
    "class_conditional": ModelSpec(
        build=class_conditional,
        variables=(BASE_RATES, ACCURACY, SYSTEM_ACCURACY),
        priors={
            "default": {
                "base_rates": 3.0,
                "accuracy_by_category": (4.8, 3.2),
                "system_accuracy_by_category": (1.2, 0.8),
            },
            "flat": {
                "base_rates": 1.0,
                "accuracy_by_category": FLAT,
                "system_accuracy_by_category": FLAT,
            },
        },
        n_parameters=lambda priors, observed: observed.n_categories * len(observed.raters),
        likelihood=CLASS_CONDITIONAL,
    ),
    "tap": ModelSpec(
        build=tap,
        variables=(BASE_RATES, KNOWLEDGE, GUESSING),
        priors={"default": FLAT_TAP, "flat": FLAT_TAP},
        n_parameters=lambda priors, observed: observed.n_categories * len(observed.raters),
        likelihood=TAP,
    ),
}
