"""The Bayesian models as methods of estimation, which lehner finds by an entry point.

A command loads this file to list the methods. What fits a model is imported by the functions that
need it, because Numba and xarray take seconds to load.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import bayes_models
from lehner.contrasts.groups import allow_for_clusters
from lehner.core.arrays import derive_seeds
from lehner.core.errors import Warning, read_warnings, warn
from lehner.core.estimate import CREDIBLE, ESTIMANDS, Draws, Estimate, Row, row, stack_draws
from lehner.core.lazy import xr
from lehner.core.results import Look
from lehner.data.estimable import name_coords
from lehner.data.ratings import Ratings
from lehner.estimation.methods import INDEPENDENT, Method
from lehner.estimation.questions import Answer, Fit, Options, Question
from lehner.known_truths.one_judge import PSEUDO_ITEMS
from lehner.latent_class.em import MODELS

# Its 4 chains of 250 draws have effective sample sizes of about 1,000.
SHORTER = {"dawid_skene": {"draws": 250, "tune": 100}}
# The parameter that is 0 if all items are equally difficult for the raters.
DIFFICULTY = "difficulty_spread"
# Raters or categories above which Gibbs sampling takes the place of NUTS, if it can sample the
# model.
LARGE = 20
# With up to so many items NUTS needs half as many steps for relaxed_k if they are longer, and does
# not diverge; with more items it then has too few effective draws.
FEW_ITEMS, LONGER_STEPS = 500, {"target_accept": 0.85}
# Raters or categories above which there are as many draws, and as few checks, as in a study.
VERY_LARGE = 100
# With so many raters whom `is_centred` of `sampling/nuts.py` centres, relaxed_k has an effective
# draw of the accuracies in almost every draw. Their target acceptance is that of a study, .9: with
# longer steps draws diverge in more of the fits, which costs a second try.
OF_CENTRED = {"draws": 200, "tune": 80}
# By Gibbs the base rates of few items have effective sample sizes of a tenth of the draws, those of
# many items of two thirds.
MOST_DRAWS, FEWEST_DRAWS = 2500, 400
# Ratings times categories, and cells of matrices, for which there are as many draws as can be.
SMALL_TABLE = 140_000


def make_methods() -> list[Method]:
    """List the Bayesian models as methods.

    Examples
    --------
    >>> make_methods()[0].name
    'one_coin'
    """
    return [_make_method(name) for name in MODELS]


def _make_method(name: str) -> Method:
    declared = MODELS[name]
    questions = QUESTIONS.get(name, {})
    # A user gives the studies that the question is about.
    taken = {"earlier_studies"} & questions.keys()
    return Method(
        name=name,
        summary=f"{declared.summary}, Bayesian",
        fit=partial(_estimate, name),
        look=Look(name, declared.label, declared.color, declared.marker),
        takes=frozenset({"model_priors", "shortly", "in_study", "answers"} | taken),
        assumes=INDEPENDENT,
        functions={
            "populations": partial(draw_populations, name),
            "systems": draw_jointly,
            "items": partial(infer_by_sampling, name),
        },
        questions=questions,
    )


def _estimate(
    model: str,
    ratings: Ratings,
    *,
    level: float,
    seed: int,
    model_priors: str | None = None,
    earlier_studies: Mapping[str, Any] | None = None,
    shortly: bool = False,
    in_study: bool = False,
    **options: Any,
) -> Estimate:
    """Estimate by a model with options of `lehner.estimate`, or of `bayes_models.fit`."""
    from bayes_models.posterior.draws import TooLargeError
    from bayes_models.sampling.fit import FOR_STUDIES, fit_quietly

    if in_study:
        (child,) = derive_seeds(seed, 1)
        tree = fit_quietly(model, ratings, seed=child, **(FOR_STUDIES | options))
        return bayes_models.estimate_from_draws(tree, level=level)
    if shortly:  # As in a study, where there are many fits.
        options = FOR_STUDIES | SHORTER.get(model, {}) | options | {"cores": None}
        del options["progressbar"]
    elif earlier_studies:
        return estimate_with_studies(
            model, ratings, studies=earlier_studies, level=level, seed=seed
        )
    options = choose_options(model, ratings) | {"priors": model_priors} | options
    try:
        tree, messages = fit_and_check(model, ratings, seed, **options)
    except TooLargeError as error:
        problem = warn("too-large", f"no estimate: {error.problem}")
        return Estimate(method=model, system=ratings.systems[0], warnings=(problem,))
    estimate = bayes_models.estimate_from_draws(tree, level=level)
    return replace(estimate, warnings=tuple(dict.fromkeys((*estimate.warnings, *messages))))


def infer_by_sampling(model: str, ratings: Ratings, *, seed: int) -> Draws:
    """Give the probability of each category for each item.

    The system's answers are evidence in the labels, as those of one more rater. To train the system
    on labels of such a model, fit ratings without the system: `ratings.without_system()`.
    """
    tree, messages = fit_and_check(model, ratings, seed, **choose_options(model, ratings))
    truth = tree["truth"].to_dataset()["truth_probabilities"].transpose("item", "category")
    return Draws(point={"truth_probabilities": truth.values}, warnings=messages)


def _choose_engine(model: str) -> str:
    """Choose Gibbs sampling, if it can sample the model."""
    return "gibbs" if bayes_models.find_model(model).conjugate else "nuts"


def choose_options(model: str, ratings: Ratings) -> dict[str, Any]:
    """Choose options of `bayes_models.fit` by the size of the ratings.

    Parameters
    ----------
    model : str
        Name of the model.
    ratings : Ratings
        With or without a system.

    Returns
    -------
    dict
        For relaxed_k and up to 500 items longer steps of NUTS. For more than 20 raters or
        categories Gibbs sampling, if it can sample the model. For more than 100 as many draws as
        in a study, of which the system's accuracies are checked; for relaxed_k fewer, if the raters
        gave more than 100 ratings each.

    Examples
    --------
    >>> import lehner
    >>> ratings = lehner.Ratings([[0] * 21, [1] * 21], ["no", "yes"])
    >>> choose_options("dawid_skene", ratings), choose_options("relaxed_k", ratings)
    ({'engine': 'gibbs'}, {'target_accept': 0.85, 'engine': 'nuts'})
    """
    from bayes_models.sampling.fit import FOR_STUDIES
    from bayes_models.sampling.nuts import CENTRED_RATINGS

    few = model == "relaxed_k" and ratings.n_items <= FEW_ITEMS
    options: dict[str, Any] = dict(LONGER_STEPS) if few else {}
    size = max(ratings.n_raters, ratings.n_categories)
    if size > LARGE:
        options["engine"] = _choose_engine(model)
    if size > VERY_LARGE:
        names = ("draws", "tune", "target_accept", "check")
        options |= {name: FOR_STUDIES[name] for name in names}
        if model == "relaxed_k" and ratings.n_ratings > CENTRED_RATINGS * ratings.n_raters:
            options |= OF_CENTRED
    return options


def fit_and_check(
    model: str, ratings: Ratings, seed: int, **options: Any
) -> tuple["xr.DataTree", tuple[Warning, ...]]:
    """Fit a model, and say what the user should know before using it.

    Parameters
    ----------
    model : str
        Name of the model.
    ratings : Ratings
        With or without a system.
    seed : int
        The same seed gives the same draws.
    **options
        As `bayes_models.fit` takes them.

    Returns
    -------
    tree : xarray.DataTree
        As `bayes_models.fit` returns it.
    warnings : tuple of Warning
        Of identification, convergence, predictive checks, and of gold labels that entered.
    """
    from bayes_models.sampling.fit import fit_quietly

    before = bayes_models.identify(model, ratings, options.get("priors")).warnings
    tree = fit_quietly(model, ratings, seed=seed, progressbar=False, **options)
    against = bayes_models.find_contradictions(tree, ratings)
    return tree, (*before, *read_warnings(tree.attrs["warnings"]), *against)


def estimate_with_studies(
    method: str, ratings: Ratings, *, studies: Mapping[str, Any], level: float, seed: int
) -> Estimate:
    """Estimate with power priors of earlier studies, by Gibbs sampling where it is possible.

    The diagnostics have `earlier_studies`: rows of what these do to recalls and to the accuracy. A
    warning names the studies that contradict the ratings.
    """
    from bayes_models.earlier_studies import compare_recalls

    studies = bayes_models.read_studies(studies, ratings)
    priors = bayes_models.make_power_prior(ratings, studies)
    options: dict[str, Any] = {"level": level, "seed": seed, "engine": _choose_engine(method)}
    without = _estimate(method, ratings, **options)
    if not studies:
        return without
    estimate = _estimate(method, ratings, priors=priors, **options)
    if estimate.draws is None or without.draws is None:
        return estimate
    confusion = estimate.draws["posterior"].to_dataset()["confusion"]
    confusion_without = without.draws["posterior"].to_dataset()["confusion"]
    compared = list(compare_recalls(ratings, studies, priors, confusion, confusion_without, level))
    rows = [part for part in compared if not isinstance(part, Warning)]
    rows += [row(f"{name}_without_studies", getattr(without, name)) for name in ESTIMANDS]
    return replace(
        estimate,
        warnings=(*estimate.warnings, *(part for part in compared if isinstance(part, Warning))),
        diagnostics=estimate.diagnostics | {"earlier_studies": rows},
    )


def draw_populations(
    model: str,
    ratings: Ratings,
    estimate: Estimate | None = None,
    *,
    level: float,
    seed: int,
    earlier_studies: Mapping[str, Any] | None = None,
) -> Draws | None:
    """Draw base rates by population, and with a system the accuracies of an estimate by it.

    Parameters
    ----------
    model : str
    ratings : Ratings
        With populations.
    estimate : Estimate, optional
        Of the same ratings, which have a system; without a system the model is fitted.
    level : float
        Probability of the intervals, on which the allowance for few clusters depends.
    seed : int
    earlier_studies : mapping, optional
        As `lehner.Given` takes them, as priors of a model that is fitted.

    Returns
    -------
    Draws or None
        None if the estimate has no draws.
    """
    from bayes_models.models.spec import BY_POPULATION

    if estimate is not None:
        if estimate.draws is None:
            return None
        return bayes_models.draw_by_population(estimate.draws, ratings, seed=seed)
    engine = _choose_engine(model)
    studies = bayes_models.read_studies(earlier_studies or {}, ratings)
    priors = bayes_models.make_power_prior(ratings, studies) if studies else {}
    priors["base_rates"] = PSEUDO_ITEMS
    options: dict[str, Any] = {"engine": engine, "priors": priors, "log_likelihood": False}
    if ratings.n_raters > VERY_LARGE:
        options["check"] = "estimands"
    if engine == "gibbs":
        k = ratings.n_categories
        cells = (ratings.n_ratings + ratings.n_raters * k) * k
        n_draws = max(FEWEST_DRAWS, MOST_DRAWS * SMALL_TABLE // max(cells, SMALL_TABLE))
        options |= {"draws": n_draws, "tune": n_draws // 5}
    tree, messages = fit_and_check(model, ratings, seed, **options)
    posterior = tree["posterior"].to_dataset()
    confusion = stack_draws(posterior, "confusion", "rater", "category", "response")
    drawn = {
        "base_rates": stack_draws(posterior, BY_POPULATION, "population", ...),
        "rater_accuracy": stack_draws(posterior, "accuracy", "rater"),
        "rater_recall": np.diagonal(confusion, axis1=-2, axis2=-1),
    }
    point = {
        name: values.mean(axis=0)
        for name, values in (drawn | {"rater_confusion": confusion}).items()
    }
    point["truth_probabilities"] = tree["truth"].to_dataset()["truth_probabilities"].values
    drawn_rates = Draws(
        point=point,
        drawn=drawn,
        coords=name_coords(ratings),
        kind=CREDIBLE,
        posterior=True,
        warnings=messages,
    )
    return allow_for_clusters(drawn_rates, ratings, level)


def draw_jointly(
    estimates: Mapping[str, Estimate], ratings: Ratings, *, seed: int, **_: Any
) -> Draws | None:
    """Put draws of several systems' accuracies side by side; None if one has no draws."""
    trees = {name: fit.draws for name, fit in estimates.items() if fit.draws is not None}
    if len(trees) < len(estimates):
        return None
    return bayes_models.join_draws(trees, ratings, seed=seed)


def ask_k_properties(fit: Fit, options: Options) -> Answer:
    """Say what a fit found of each K-property, and warn if items differ in difficulty."""
    if fit.estimate.draws is None:
        return
    for parameter in bayes_models.read_k_properties(fit.estimate.draws, level=options.level):
        direction = parameter.probability_of_direction
        value, versus = parameter.value, parameter.k_property
        yield row(parameter.name, value, versus=versus, probability=direction)
        factor, error = parameter.bayes_factor, parameter.bayes_factor_error
        tested: Row = {"quantity": "bayes_factor_against_zero", "versus": parameter.name}
        tested["kind"] = parameter.verdict()
        tested["lower" if parameter.is_lower_bound else "estimate"] = factor
        if not parameter.is_lower_bound and factor is not None and error is not None:
            tested |= {"lower": factor - error, "upper": factor + error}
        yield tested
        if parameter.name == DIFFICULTY and parameter.verdict() == "rejected":
            text = (
                "items differ in difficulty for the raters; how far the system finds the same "
                "items difficult is assumed rather than seen, and the estimate depends on it: "
                "compare fits with the prior of system_slope fixed at 0 and at 1"
            )
            yield warn("difficulty-of-system-assumed", text)


def ask_earlier_studies(fit: Fit, options: Options) -> Answer:
    """Say what earlier studies, as a prior, do to the recall of raters and to the accuracy."""
    yield from fit.estimate.diagnostics.get("earlier_studies", ())


# The questions that only these models answer.
QUESTIONS: dict[str, dict[str, Question]] = {
    "relaxed_k": {"k_properties": ask_k_properties},
    "dawid_skene": {"earlier_studies": ask_earlier_studies},
}
