"""`lehner plan`: how many items a study needs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from experiments.cli.arguments import AsJson, Seed

if TYPE_CHECKING:
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
    from lehner.planning.sample_size import FEWEST_REPLICATES
    from lehner.simulation.vote_probabilities import n_vote_cells

    check_whole_number("replicates", replicates, FEWEST_REPLICATES)
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
        question.check(seed)
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
