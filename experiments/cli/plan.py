"""The command `lehner plan`."""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, cast

import typer

from experiments.cli.emit import emit
from experiments.cli.options import Output, Seed

if TYPE_CHECKING:
    from lehner.planning.sample_size import Estimand


def plan(
    categories: int = 5,
    raters: list[int] | None = None,
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
    seed: Seed = 1,
    *,
    output: Output,
) -> None:
    """Find how many items a study needs for an estimate near the truth.

    Parameters
    ----------
    categories : N
        The number of categories.
    raters : N
        The number of raters, the system not included. The option may be repeated. Default: 3.
    kappa : KAPPA
        How well the raters agree: Brennan and Prediger's kappa.
    within : P
        How far from the truth the estimate may be.
    confidence : P
        The probability with which it is to be no farther.
    system_accuracy : P
        The expected accuracy of the system. Default: each of .1, .3, .5, .7 and .9, and the mean
        and the worst of these.
    violation : NUMBER
        How far the K-properties fail: 0 if they hold, 1 as in the paper. The option may be
        repeated. Default: 0 and 1.
    method : NAME
        The method, as algebraic, algebraic_likelihood or algebraic_paper.
    estimand : NAME
        The truth that is meant: system_accuracy (expected) or system_accuracy_in_sample.
    replicates : N
        How many samples are simulated near the answer. Four times as many halve its Monte Carlo
        error.
    icc : P
        With --cluster-size: the intraclass correlation of right answers to items of a cluster, as
        lesions of a patient. Items are multiplied by the design effect, 1 + (size - 1) * icc.
    cluster_size : N
        How many items a cluster has.

    Examples
    --------
    lehner plan --categories 2 --raters 4 --kappa 0.4
    lehner plan --within 0.05 --system-accuracy 0.8 --output plan/
    """
    from experiments.planning.plan import SYSTEM_ACCURACIES, Question, answer_plan
    from lehner.core.errors import check_whole_number
    from lehner.planning.sample_size import FEWEST_REPLICATES

    check_whole_number("replicates", replicates, FEWEST_REPLICATES)
    question = Question(
        n_categories=categories,
        kappa=kappa,
        system_accuracies=SYSTEM_ACCURACIES if system_accuracy is None else (system_accuracy,),
        within=within,
        confidence=confidence,
        method=method,
        estimand=cast("Estimand", estimand),
        icc=icc,
        cluster_size=cluster_size,
    )
    several = dict.fromkeys(product(raters or [3], violation or [0.0, 1.0]))
    questions = [replace(question, n_raters=n, violation=size) for n, size in several]
    quiet = output.as_json or output.sentence
    announce = (lambda text: None) if quiet else partial(print, flush=True)
    answer = answer_plan(questions, replicates=replicates, seed=seed, announce=announce)
    emit(answer, output)
    if all(row["n_items"] is None for one in answer.to_dict()["plans"] for row in one["rows"][:1]):
        raise typer.Exit(1)
