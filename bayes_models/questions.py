"""Questions that only Bayesian models answer, which `lehner.estimate` asks of their fits."""

from bayes_models import read_k_properties
from bayes_models.posterior.bayes_factors import describe_pair
from lehner.core.errors import warn
from lehner.core.estimate import Row, row
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


QUESTIONS: dict[str, Question] = {
    "k_properties": ask_k_properties,
    "earlier_studies": ask_earlier_studies,
    "dependent_pair": ask_dependent_pair,
}
