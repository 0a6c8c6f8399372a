"""Plans: how many items a study needs, for one accuracy of the system or several."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any

import numpy as np

from lehner import InputError, Scenario, find_sample_size, make_scenario
from lehner.core.arrays import Seed, derive_seeds, fix_seed
from lehner.core.errors import check_number
from lehner.core.estimate import to_plain
from lehner.core.lazy import pd
from lehner.core.table import PrintedTable, TableCell, TableColumn
from lehner.core.text import DASH
from lehner.report.answer import Report, Section
from lehner.simulation.sample_size import Estimand, Target

# These are equally frequent in each of the paper's figures.
SYSTEM_ACCURACIES = (0.1, 0.3, 0.5, 0.7, 0.9)
MEAN = "mean"
SIZE = ("n_items", "standard_error", "lower", "upper", "note")
MOST_RATERS_SHOWN = 4
VIOLATION = (
    "Violation 0: the K-properties hold. 1: raters, items and errors differ as in the paper's "
    "Figures 8-14."
)
TRUTHS = {
    "system_accuracy": "the system's expected accuracy",
    "system_accuracy_in_sample": "the proportion of these items that the system gets right",
}

# A number of items, its error, the ends of its interval, and a remark.
type Size = dict[str, Any]
# Sizes by the accuracy of the system; of several also that of their mean, `MEAN`.
type Sizes = Mapping[str, Size]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What a plan is to answer.

    Parameters
    ----------
    n_categories, n_raters : int
    kappa : float
        To be expected of the raters.
    violation : float
        Of the K-properties, 0 to 1: see `lehner.make_scenario`.
    system_accuracies : tuple of float
        Expected; the probability is averaged over them.
    within, confidence, method, estimand
        As of `lehner.find_sample_size`.
    icc, cluster_size : float
        Intraclass correlation, 0 to 1, of right answers in clusters of this many items, 1 or more.
    """

    n_categories: int = 5
    n_raters: int = 3
    kappa: float = 0.3
    violation: float = 0.0
    system_accuracies: tuple[float, ...] = SYSTEM_ACCURACIES
    within: float = 0.1
    confidence: float = 0.9
    method: str = "algebraic"
    estimand: Estimand = "system_accuracy"
    icc: float = 0.0
    cluster_size: float = 1.0

    @property
    def design_effect(self) -> float:
        """How many times as many items as of independent ones: Kish (1965), section 5.4."""
        return 1 + (self.cluster_size - 1) * self.icc

    @property
    def target(self) -> dict[str, Any]:
        """What the estimate is to reach, as `lehner.find_sample_size` takes it."""
        names = ("within", "confidence", "method", "estimand")
        return {name: getattr(self, name) for name in names}

    def make_scenarios(self, seed: Seed = 1) -> tuple[Scenario, ...]:
        """Make a scenario for each accuracy of the system; refuse what no plan answers.

        Raises
        ------
        InputError
            If an option is wrong, or there are no such raters or systems.
        """
        check_number("icc", self.icc, 0, 1, "give a number from 0 to 1")
        check_number("cluster_size", self.cluster_size, 1, np.inf, "give a number, 1 or more")
        if self.icc > 0 and self.cluster_size == 1:
            problem = f"the intraclass correlation is {self.icc:g}, and a cluster has one item"
            raise InputError(problem, "say how many items a cluster has (--cluster-size)")
        seed = fix_seed(seed)
        raters = {"n_categories": self.n_categories, "n_raters": self.n_raters}

        def make(violation: float, accuracy: float) -> Scenario:
            return make_scenario(
                self.kappa, violation=violation, system_accuracy=accuracy, seed=seed, **raters
            )

        # Too many raters are told before kappa is computed for them.
        Target(scenarios=(make(0.0, 0.5),), **self.target)
        return tuple(make(self.violation, accuracy) for accuracy in self.system_accuracies)


def find_sizes(
    question: PlanOptions,
    scenarios: Sequence[Scenario],
    *,
    replicates: int = 20_000,
    seed: Seed = 1,
) -> Sizes:
    """Find the numbers of items for each scenario, and for their mean.

    Parameters
    ----------
    question : PlanOptions
    scenarios : sequence of Scenario
        One for each accuracy of the system.
    replicates : int
        Samples for the mean over the accuracies of the system; a quarter for each of them.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    dict of str to dict
        `n_items`, `standard_error`, `lower` and `upper`, None where there are none, and `note`.
    """
    mean_seed, *seeds = derive_seeds(seed, 1 + len(scenarios))
    names = [f"{accuracy:g}" for accuracy in question.system_accuracies]
    mean = _find_size(question, scenarios, replicates, mean_seed)
    if len(scenarios) == 1:
        return {names[0]: mean}
    few = max(1000, replicates // 4)
    named = zip(names, scenarios, seeds, strict=True)
    return {MEAN: mean} | {
        name: _find_size(question, [scenario], few, child) for name, scenario, child in named
    }


def _find_size(
    question: PlanOptions, scenarios: Sequence[Scenario], n: int, seed: np.random.SeedSequence
) -> Size:
    results = find_sample_size(
        scenarios, replicates=n, seed=seed, design_effect=question.design_effect, **question.target
    )
    (size,) = to_plain(results.select(quantity="n_items").to_dict("records"))
    error = results.value("standard_error").estimate
    n_items, lower, upper = (
        None if size[name] is None else int(size[name]) for name in ("estimate", "lower", "upper")
    )
    note = "; ".join(map(str, results.warnings))
    return dict(zip(SIZE, (n_items, error, lower, upper, note), strict=True))


def answer_plan(
    questions: Sequence[PlanOptions],
    *,
    replicates: int = 20_000,
    seed: Seed = 1,
    announce: Callable[[str], object] = lambda text: None,
) -> Report:
    """Answer questions that differ in the violation.

    Parameters
    ----------
    questions : sequence of PlanOptions
    replicates, seed
        As of `find_sizes`.
    announce : callable
        Told what is asked, before minutes are spent and after it is known that it can be answered.

    Returns
    -------
    Report
    """
    scenarios = [question.make_scenarios(seed) for question in questions]
    heading = _write_heading(questions[0])
    announce("\n".join(heading))
    all_sizes = [
        find_sizes(question, of_question, replicates=replicates, seed=seed)
        for question, of_question in zip(questions, scenarios, strict=True)
    ]
    accuracies = [of_question[0].initial_rater_accuracy for of_question in scenarios]
    plans, rows = [], []
    for question, raters, sizes in zip(questions, accuracies, all_sizes, strict=True):
        records = [{"system_accuracy": name, **size} for name, size in sizes.items()]
        plans.append(to_plain(question) | {"rater_accuracy": [*raters], "rows": to_plain(records)})
        of_question = {"n_raters": question.n_raters, "violation": question.violation}
        rows += [of_question | record for record in records]
    whole = dict.fromkeys(("n_items", "lower", "upper"), "Int64")
    table = _make_table(questions, accuracies, all_sizes)
    return Report(
        title="Plan of a study",
        content={"plans": plans},
        heading=[],
        sentences=[" ".join(heading), *_write_answers(questions, all_sizes)],
        sections=[Section(name="plan", title="Items needed", tables=[table])],
        frames={"plan": pd.DataFrame(rows).astype(whole)},
        failed=all(plan["rows"][0]["n_items"] is None for plan in plans),
    )


def _write_heading(question: PlanOptions) -> list[str]:
    """Say what is asked, whatever the violation."""
    lines = [
        f"{question.n_categories} categories, {question.n_raters} raters who agree with kappa "
        f"{question.kappa:g}; method {question.method}.",
        f"Items needed to be within {question.within:g} of {TRUTHS[question.estimand]} with "
        f"probability {question.confidence:g}, ± Monte Carlo standard error:",
    ]
    if question.design_effect != 1:
        lines.append(
            f"(items are in clusters of {question.cluster_size:g} with an intraclass correlation "
            f"of {question.icc:g}: {question.design_effect:.3g} times as many as of independent "
            "items)"
        )
    return lines


def _make_table(
    questions: Sequence[PlanOptions],
    accuracies: Sequence[Sequence[float]],
    all_sizes: Sequence[Sizes],
) -> PrintedTable:
    """Give the items needed with each accuracy of the system, a column for each question."""
    titles = [f"violation {question.violation:g}" for question in questions]
    rows: list[tuple[TableCell, ...]] = [("rater accuracy", *map(_describe_raters, accuracies))]
    for name in all_sizes[0]:
        if name != MEAN:
            rows.append(
                (f"system accuracy {name}", *(_write_size(sizes[name]) for sizes in all_sizes))
            )
    if MEAN in all_sizes[0]:
        rows.append(("on average over these", *(_write_size(sizes[MEAN]) for sizes in all_sizes)))
        rows.append(("worst of these", *(_write_size(_find_worst(sizes)) for sizes in all_sizes)))
    notes = [
        f"{title.capitalize()}, {name}: {size['note']}."
        for title, sizes in zip(titles, all_sizes, strict=True)
        for name, size in sizes.items()
        if size["note"]
    ]
    columns = [TableColumn("", ""), *(TableColumn(title, title, write_items) for title in titles)]
    return PrintedTable(columns=columns, rows=rows, notes=[*notes, VIOLATION])


def _find_worst(sizes: Sizes) -> Size:
    """Find the number of items for the accuracy of the system that needs most."""
    of_accuracies = [size for name, size in sizes.items() if name != MEAN]
    return max(of_accuracies, key=lambda size: size["n_items"] or inf)


def _write_answers(questions: Sequence[PlanOptions], all_sizes: Sequence[Sizes]) -> Iterator[str]:
    """Say how many items are needed for each question, of several systems for their mean."""
    for question, sizes in zip(questions, all_sizes, strict=True):
        size = next(iter(sizes.values()))
        needed = f"{write_items(*_write_size(size))} items" if size["n_items"] else size["note"]
        yield f"{question.n_raters} raters, violation {question.violation:g}: {needed}."


def _describe_raters(accuracy: Sequence[float]) -> str:
    if min(accuracy) == max(accuracy):
        return f"{accuracy[0]:.2f}"
    shown = accuracy if len(accuracy) <= MOST_RATERS_SHOWN else (accuracy[0], accuracy[-1])
    return (" " if shown is accuracy else " … ").join(f"{x:.2f}" for x in shown)


def _write_size(size: Size) -> tuple[float, float]:
    return (size["n_items"], size["standard_error"]) if size["n_items"] else (nan, nan)


def write_items(n_items: float, error: float) -> str:
    """Write a number of items with its standard error; a dash for NaN."""
    if isnan(n_items) or isnan(error):
        return DASH
    return f"{n_items:,.0f} ± {error:.{0 if error >= 1 else 1}f}"
