"""Questions that only Bayesian models answer, which `lehner.estimate` asks of their fits."""

from typing import Any

import numpy as np

from bayes_models import find_model, identify, read_k_properties
from bayes_models.models.registry import read_fitted_priors
from bayes_models.models.spec import name_distribution
from bayes_models.posterior.bayes_factors import describe_pair
from lehner.core.errors import warn
from lehner.core.estimate import Estimate, Row, row
from lehner.data.ratings import Ratings
from lehner.estimation.questions import Answer, Fit, Options, Question

# The parameter that is 0 if all items are equally difficult for the raters.
DIFFICULTY = "difficulty_spread"


def ask_k_properties(fit: Fit, options: Options) -> Answer:
    """Say what a fit found of each K-property, and warn if items differ in difficulty."""
    if fit.estimate.draws is None:
        return
    for parameter in read_k_properties(fit.estimate.draws, level=options.level):
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


def ask_dependent_pair(fit: Fit, options: Options) -> Answer:
    """Say what a dependent pair does to the estimate, and the evidence for it."""
    tree = fit.estimate.draws
    if tree is not None and "pair" in tree:
        yield from describe_pair(tree, options.level)


def describe_model(model: str, estimate: Estimate, ratings: Ratings) -> dict[str, Any]:
    """Describe a fitted model: what ratings can tell of it, and the prior of each variable.

    Parameters
    ----------
    model : str
        Name of the model.
    estimate : Estimate
        With draws.
    ratings : Ratings
        As they were fitted.

    Returns
    -------
    dict
        `identified`, an Identification, and `priors`, a text for each variable.
    """
    assert estimate.draws is not None
    studied = estimate.diagnostics.get("earlier_studies", ())
    raters = dict.fromkeys(x["rater"] for x in studied if x["quantity"] == "recall_prior")
    kept, shown = read_fitted_priors(estimate.draws), {}
    for variable in find_model(model).variables:
        prior, family = kept[variable.name], variable.family_name.replace("_", " ")
        text = name_distribution(prior) or f"{family}: {prior}"
        if np.ndim(prior) > 1:
            of_studies = f"counts of earlier studies of {', '.join(raters)}; no study of others"
            text = of_studies if raters else f"{family}, by category"
        shown[variable.name] = text
    return {"identified": identify(model, ratings, kept), "priors": shown}


QUESTIONS: dict[str, Question] = {
    "k_properties": ask_k_properties,
    "earlier_studies": ask_earlier_studies,
    "dependent_pair": ask_dependent_pair,
}
