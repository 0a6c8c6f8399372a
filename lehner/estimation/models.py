"""What models say beside estimates: slopes, K-properties, earlier studies, a dependent pair."""

from lehner.core.estimate import ESTIMANDS
from lehner.core.rows import Row, row
from lehner.core.warning import warn
from lehner.estimation.question import Answer, Fit, Options

DIFFICULTY = "difficulty_spread"
"""The parameter that is 0 if all items are equally difficult for the raters."""


def ask_slopes(fit: Fit, options: Options) -> Answer:
    """Give the estimates with the system's slope on difficulty fixed."""
    for slope, estimate in fit.at_slopes.items():
        for name in ESTIMANDS:
            versus = f"system_slope={slope:g}"
            yield row(f"{name}_if_slope", getattr(estimate, name), versus=versus)


def ask_k_properties(fit: Fit, options: Options) -> Answer:
    """Say what a fit found of each K-property.

    It warns if items differ in difficulty, and what this means for the system was not looked at.
    """
    if fit.method.k_properties is None:
        return
    for one in fit.method.k_properties(fit.estimate, level=options.level):
        name, _, group = one.name.partition("[")
        names = {"grouping": "rater_group", "group": group.rstrip("]")} if group else {}
        direction = one.probability_of_direction
        yield row(name, one.value, versus=one.k_property, probability=direction, **names)
        factor, error = one.bayes_factor, one.bayes_factor_error
        tested: Row = {"quantity": "bayes_factor_against_zero", "versus": one.name}
        tested["kind"] = one.verdict()
        tested["lower" if one.is_lower_bound else "estimate"] = factor
        if not one.is_lower_bound and factor is not None and error is not None:
            tested |= {"lower": factor - error, "upper": factor + error}
        yield tested
        assumed = fit.method.at_slopes is not None and not fit.at_slopes
        if assumed and one.name == DIFFICULTY and one.verdict() == "rejected":
            text = (
                "items differ in difficulty for the raters; how far the system finds the same "
                "items difficult is assumed rather than seen, and the estimate depends on it: look "
                "at the estimates without and with the same difficulty (sensitivity=True)"
            )
            yield warn("difficulty-of-system-assumed", text)


def ask_earlier_studies(fit: Fit, options: Options) -> Answer:
    """Say what earlier studies, as a prior, do to the estimate."""
    studies = fit.estimate.diagnostics.get("earlier_studies", {"raters": (), "by_weight": ()})
    for one in studies["raters"]:
        names = {"rater": one["rater"], "category": one["category"] or ""}
        yield row("recall_prior", one["prior"], **names)
        yield row("recall_posterior", one["posterior"], **names)
        counts = {"estimate": one["right"], "n_items": one["items"]}
        yield {"quantity": "study_right"} | counts | names
    for one in studies["by_weight"]:
        for name in ESTIMANDS:
            versus = f"study_weight={one['weight']:g}"
            yield row(f"{name}_if_study_weight", one[name], versus=versus)


def ask_dependent_pair(fit: Fit, options: Options) -> Answer:
    """Say what a dependent pair does to the estimate, and the evidence for it."""
    pair = fit.estimate.diagnostics.get("dependent_pair")
    if pair is None:
        return
    names = {"rater": pair["pair"][0], "versus": pair["pair"][1]}
    for when in ("if_dependent", "if_independent"):
        for name in ESTIMANDS:
            yield row(f"{name}_{when}", pair[when][name], **names)
    for ending in ("", "_error"):
        factor = {"estimate": pair[f"log_bayes_factor{ending}"]}
        yield {"quantity": f"log_bayes_factor_dependent{ending}"} | factor | names
    quantities = {"shared_answers_prior": "prior", "shared_answers": "posterior"}
    for one in pair["categories"]:
        for quantity, field in (quantities | {"shared_covariance": "covariance"}).items():
            yield row(quantity, one[field], category=one["category"], **names)
