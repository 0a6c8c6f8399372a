"""`lehner plan`: how many items a study needs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from experiments.cli.arguments import AsJson, Seed

if TYPE_CHECKING:
    from lehner.planning.sample_size import Estimand
    from lehner.simulation.scenario import BaseRates

DEFAULT_VIOLATIONS = (0.0, 1.0)
MANY_CELLS = 1000
USUAL = (None, "algebraic", "system_accuracy")
"""What options that are of the system's accuracy alone are by default."""


def plan(
    categories: int = 5,
    raters: int = 3,
    kappa: float = 0.3,
    within: float = 0.1,
    confidence: float = 0.9,
    system_accuracy: float | None = None,
    violation: list[float] | None = None,
    method: str = "algebraic",
    estimand: str = "system_accuracy",
    replicates: int = 20_000,
    coefficients: list[str] | None = None,
    weights: list[str] | None = None,
    base_rates: list[str] | None = None,
    icc: float = 0.0,
    cluster_size: float = 1.0,
    output: Path | None = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Find how many items a study needs for an estimate near the truth.

    With --coefficients: for narrow intervals of coefficients of agreement. After a pilot study,
    `lehner agreement PILOT --within P` finds it from the pilot's ratings.

    Parameters
    ----------
    categories : int
        The number of categories.
    raters : int
        The number of raters, the system not included.
    kappa : float
        How well the raters agree: Brennan and Prediger's kappa.
    within : float
        How far from the truth the estimate may be.
    confidence : float
        The probability with which it is to be no farther.
    system_accuracy : float
        The expected accuracy of the system. Default: each of .1, .3, .5, .7 and .9, and the mean
        and the worst of these.
    violation : list of float
        How far the K-properties fail: 0 if they hold, 1 as in the paper. The option may be
        repeated. Default: 0 and 1.
    method : str
        The method, as algebraic, algebraic_likelihood or algebraic_paper.
    estimand : str
        The truth that is meant: system_accuracy (expected) or system_accuracy_in_sample.
    replicates : int
        How many samples are simulated near the answer. Four times as many halve its Monte Carlo
        error.
    coefficients : NAMES
        Coefficients of agreement, as alpha,ac1, in place of the system's accuracy: their intervals
        of probability --confidence are to reach no farther than --within to either side.
    weights : NAMES
        With --coefficients: weights of disagreements, as in `lehner agreement`. Default: identity.
    base_rates : NUMBERS
        With --coefficients: how often each category occurs, separated by commas. Default: equally
        often.
    icc : float
        With --cluster-size: the intraclass correlation of right answers to items of a cluster, as
        lesions of a patient. Items are multiplied by the design effect, 1 + (size - 1) * icc.
    cluster_size : float
        How many items a cluster has.
    output : FOLDER
        The folder for tables, one of them of the items needed with 2 to 10 raters.
    """
    from experiments.cli.load import refuse
    from experiments.planning.coefficient_plan import coefficient_answers, show_coefficients
    from experiments.planning.plan import SYSTEM_ACCURACIES, Question, make_plan
    from experiments.planning.plan_report import heading, show, to_json, write
    from experiments.reporting.files import write_text
    from experiments.reporting.terminal import json_text
    from lehner.core.errors import check_whole_number
    from lehner.core.estimate import plain
    from lehner.planning.sample_size import FEWEST_REPLICATES
    from lehner.simulation.probabilities import n_vote_cells

    if coefficients:
        of_system = {"system_accuracy": system_accuracy, "method": method, "estimand": estimand}
        refuse("--coefficients takes no", *(k for k, x in of_system.items() if x not in USUAL))
    else:
        of_coefficients = {"weights": weights, "base_rates": base_rates}
        refuse("only --coefficients take", *(k for k, x in of_coefficients.items() if x))
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
        icc=icc,
        cluster_size=cluster_size,
    )
    questions = [
        replace(asked, violation=x) for x in dict.fromkeys(violation or DEFAULT_VIOLATIONS)
    ]
    if coefficients:
        options = {"coefficients": coefficients, "weights": weights or ["identity"]}
        answers = coefficient_answers(questions, _numbers(base_rates), seed, **options)
        text = json_text({"answers": plain(answers)})
        print(text if as_json else show_coefficients(asked, answers))
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            path = write_text(text + "\n", output / "coefficients.json")
            print(f"wrote {path}", file=sys.stderr)
        if all(one["note"] for one in answers):
            raise typer.Exit(1)
        return
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


def _numbers(texts: list[str] | None) -> "BaseRates":
    from lehner import InputError

    try:
        return tuple(map(float, texts)) if texts else "equal"
    except ValueError:
        given = ",".join(texts or ())
        raise InputError(f"--base-rates is {given}", "give numbers, as in 0.7,0.2,0.1") from None
