"""`lehner plan`: how many items a study needs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from experiments.cli.options import AsJson, Seed

if TYPE_CHECKING:
    from lehner.planning.sample_size import Estimand

DEFAULT_VIOLATIONS = (0.0, 1.0)
MANY_CELLS = 1000


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
    icc: float = 0.0,
    cluster_size: float = 1.0,
    output: Path | None = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Find how many items a study needs for an estimate near the truth.

    For narrow intervals of coefficients of agreement, `lehner agreement PILOT --within P` finds it
    from the ratings of a pilot study.

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
    icc : float
        With --cluster-size: the intraclass correlation of right answers to items of a cluster, as
        lesions of a patient. Items are multiplied by the design effect, 1 + (size - 1) * icc.
    cluster_size : float
        How many items a cluster has.
    output : FOLDER
        The folder for tables, one of them of the items needed with 2 to 10 raters.

    Examples
    --------
    lehner plan --categories 2 --raters 4 --kappa 0.4
    lehner plan --within 0.05 --system-accuracy 0.8 --output plan/
    """
    from experiments.planning.plan import SYSTEM_ACCURACIES, Question, make_plan
    from experiments.planning.plan_report import heading, show, to_json, write
    from lehner.core.errors import check_whole_number
    from lehner.planning.sample_size import FEWEST_REPLICATES
    from lehner.simulation.probabilities import n_vote_cells

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
