"""What models say beside estimates: K-properties, earlier studies, a dependent pair."""

from collections.abc import Iterator
from typing import Any

from lehner.core.estimate import ESTIMANDS
from lehner.core.rows import Row, row
from lehner.core.warning import Warning, warn
from lehner.estimation.question import Answer, Fit, Options

DIFFICULTY = "difficulty_spread"
"""The parameter that is 0 if all items are equally difficult for the raters."""


def ask_k_properties(fit: Fit, options: Options) -> Answer:
    """Say what a fit found of each K-property."""
    if fit.method.k_properties is None:
        return
    tested = fit.method.k_properties(fit.estimate, level=options.level)
    for one in tested:
        yield from _parameter(one)
    yield from _assumed_difficulty(fit, tested)


def _parameter(one: Any) -> Iterator[Row]:
    name, _, group = one.name.partition("[")
    names = {"grouping": "rater_group", "group": group.rstrip("]")} if group else {}
    direction = one.probability_of_direction
    yield row(name, one.value, versus=one.k_property, probability=direction, **names)
    factor, error = one.bayes_factor, one.bayes_factor_error
    bound = {"estimate": factor}
    if one.is_lower_bound:
        bound = {"lower": factor}
    elif factor is not None and error is not None:
        bound |= {"lower": factor - error, "upper": factor + error}
    yield row("bayes_factor_against_zero", versus=one.name, kind=one.verdict(), **bound)


def _assumed_difficulty(fit: Fit, tested: tuple[Any, ...]) -> Iterator[Warning]:
    """Warn if items differ in difficulty, and what this means for the system was not looked at."""
    if fit.method.at_slopes is None or fit.at_slopes:
        return
    if any(one.name == DIFFICULTY and one.verdict() == "rejected" for one in tested):
        text = (
            "items differ in difficulty for the raters; how far the system finds the same items "
            "difficult is assumed rather than seen, and the estimate depends on it: look at the "
            "estimates without and with the same difficulty (sensitivity=True)"
        )
        yield warn("difficulty-of-system-assumed", text)


def ask_earlier_studies(fit: Fit, options: Options) -> Answer:
    """Say what earlier studies, as a prior, do to the estimate."""
    found = fit.estimate.diagnostics.get("earlier_studies")
    if found is None:
        return
    for one in found["raters"]:
        names = {"rater": one["rater"], "category": one["category"] or ""}
        yield row("recall_prior", one["prior"], **names)
        yield row("recall_posterior", one["posterior"], **names)
        yield row("study_right", estimate=one["right"], n_items=one["items"], **names)
    for one in found["by_weight"]:
        for name in ESTIMANDS:
            versus = f"study_weight={one['weight']:g}"
            yield row(f"{name}_if_study_weight", one[name], versus=versus)


def ask_dependent_pair(fit: Fit, options: Options) -> Answer:
    """Say what a dependent pair does to the estimate, and the evidence for it."""
    found = fit.estimate.diagnostics.get("dependent_pair")
    if found is None:
        return
    names = {"rater": found["pair"][0], "versus": found["pair"][1]}
    for when in ("if_dependent", "if_independent"):
        for name in ESTIMANDS:
            yield row(f"{name}_{when}", found[when][name], **names)
    factor = "log_bayes_factor"
    yield row(f"{factor}_dependent", estimate=found[factor], **names)
    yield row(f"{factor}_dependent_error", estimate=found[f"{factor}_error"], **names)
    for one in found["categories"]:
        category = {"category": one["category"]}
        yield row("shared_answers_prior", one["prior"], **category, **names)
        yield row("shared_answers", one["posterior"], **category, **names)
        yield row("shared_covariance", one["covariance"], **category, **names)
