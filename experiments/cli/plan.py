"""`lehner plan`: how many items a study needs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from experiments.cli.arguments import AsJson, Seed

if TYPE_CHECKING:
    from experiments.planning.plan import Question
    from lehner.planning.nearness import Estimand

DEFAULT_VIOLATIONS = (0.0, 1.0)
MANY_CELLS = 1000


def plan(
    categories: Annotated[int, typer.Option(help="The number of categories.")] = 5,
    raters: Annotated[int, typer.Option(help="The number of raters, the system not included.")] = 3,
    kappa: Annotated[
        float,
        typer.Option(help="How well the raters agree: Brennan and Prediger's kappa."),
    ] = 0.3,
    within: Annotated[
        float, typer.Option(help="How far from the truth the estimate may be.")
    ] = 0.1,
    confidence: Annotated[
        float, typer.Option(help="The probability with which it is to be no farther.")
    ] = 0.9,
    system_accuracy: Annotated[
        float | None,
        typer.Option(
            help="The expected accuracy of the system. Default: each of .1, .3, .5, .7 and .9, and "
            "the mean and the worst of these."
        ),
    ] = None,
    violation: Annotated[
        list[float] | None,
        typer.Option(
            help="How far the K-properties fail: 0 if they hold, 1 as in the paper. The option may "
            "be repeated. Default: 0 and 1."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="The method, as algebraic, algebraic_likelihood or algebraic_paper."),
    ] = "algebraic",
    estimand: Annotated[
        str,
        typer.Option(
            help="The truth that is meant: system_accuracy (expected) or system_accuracy_in_sample."
        ),
    ] = "system_accuracy",
    replicates: Annotated[
        int,
        typer.Option(
            help="How many samples are simulated near the answer. Four times as many halve its "
            "Monte Carlo error."
        ),
    ] = 20_000,
    output: Annotated[
        Path | None,
        typer.Option(
            help="The folder for tables, and for a figure of items needed with 2 to 10 raters."
        ),
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Find how many items a study needs for an estimate near the truth."""
    from experiments.planning.plan import SYSTEM_ACCURACIES, Question, make_plan
    from experiments.planning.plan_report import heading, show, to_json, write
    from lehner.core.checks import check_whole_number
    from lehner.simulation.vote_probabilities import n_vote_cells

    check_whole_number("--replicates", replicates, 1000)
    asked = Question(
        n_categories=categories,
        n_raters=raters,
        kappa=kappa,
        system_accuracies=SYSTEM_ACCURACIES if system_accuracy is None else (system_accuracy,),
        within=within,
        confidence=confidence,
        method=method,
        estimand=cast("Estimand", estimand),
    )
    questions = [
        replace(asked, violation=x) for x in dict.fromkeys(violation or DEFAULT_VIOLATIONS)
    ]
    for question in questions:
        _check(question, seed)
    if output is not None:
        # A folder that cannot be made is told before minutes are spent.
        output.mkdir(parents=True, exist_ok=True)
    if n_vote_cells(categories, raters) > MANY_CELLS:
        print("so many raters and categories take some minutes …", file=sys.stderr, flush=True)
    if not as_json:
        print(heading(asked), flush=True)
    plans = [make_plan(question, replicates=replicates, seed=seed) for question in questions]
    print(to_json(plans) if as_json else show(plans))
    if output is not None:
        print("now with 2 to 10 raters …", file=sys.stderr, flush=True)
        for path in write(plans, output, seed):
            print(f"wrote {path}", file=sys.stderr)
    if all(one.mean.n_items is None for one in plans):
        raise typer.Exit(1)


def _check(question: "Question", seed: int) -> None:
    """Raise an InputError that names the option."""
    from math import nextafter

    from lehner import Scenario
    from lehner.algebra.vote_methods import find_vote_methods
    from lehner.core.checks import check_choice, check_number, check_probability, check_whole_number
    from lehner.core.estimate import ESTIMANDS
    from lehner.planning.sample_size import MOST_PLANNED_CELLS
    from lehner.simulation.vote_probabilities import require_few_votes

    above_0, below_1 = nextafter(0, 1), nextafter(1, 0)
    check_whole_number("--categories", question.n_categories, 2)
    check_whole_number("--raters", question.n_raters, 2)
    check_number("--kappa", question.kappa, 0, below_1, "give a number from 0 to below 1")
    check_number("--within", question.within, above_0, 1, "give a number above 0, at most 1")
    check_number("--confidence", question.confidence, above_0, below_1, "give one between 0 and 1")
    check_probability("--violation", question.violation)
    for accuracy in question.system_accuracies:
        check_probability("--system-accuracy", accuracy)
    check_choice("--estimand", question.estimand, ESTIMANDS)
    find_vote_methods([question.method])
    # Too many raters, and a kappa that no raters have, before hours are spent.
    require_few_votes(
        Scenario(
            n_categories=question.n_categories, initial_rater_accuracy=(0.5,) * question.n_raters
        ),
        MOST_PLANNED_CELLS,
    )
    question.check_possible(seed)
