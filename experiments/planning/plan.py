"""Plans: how many items a study needs, for one accuracy of the system or several."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner import InputError, Scenario, required_sample_size, scenario_with_kappa
from lehner.core.errors import check_number
from lehner.core.estimate import plain
from lehner.core.seeds import Seed, child_seeds, fixed_seed
from lehner.planning.kappa import check_possible_kappa, initial_accuracy, levels_of_difficulty
from lehner.planning.sample_size import MOST_PLANNED_CELLS, Estimand, SampleSize, Target
from lehner.simulation.probabilities import n_vote_cells

if TYPE_CHECKING:
    import pandas as pd

SYSTEM_ACCURACIES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Of the paper's figures, in each of which these are equally frequent."""

NUMBERS_OF_RATERS = tuple(range(2, 11))
SIDE_REPLICATES = 5000
SIZE = ("n_items", "standard_error", "lower", "upper", "note")
WHOLE = ("n_items", "lower", "upper")


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a plan is to answer.

    Parameters
    ----------
    n_categories, n_raters : int
    kappa : float
        To be expected of the raters.
    violation : float
        Of the K-properties, 0 to 1: see `lehner.scenario_with_kappa`.
    system_accuracies : tuple of float
        Expected; the probability is averaged over them.
    within, confidence, method, estimand
        As of `lehner.required_sample_size`.
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
    def raters(self) -> dict[str, Any]:
        """Who rates, as `lehner.scenario_with_kappa` takes it."""
        return {name: getattr(self, name) for name in ("n_categories", "n_raters", "violation")}

    @property
    def required(self) -> dict[str, Any]:
        """What the estimate is to reach, as `lehner.required_sample_size` takes it."""
        names = ("within", "confidence", "method", "estimand")
        return {name: getattr(self, name) for name in names}

    def check(self, seed: Seed = 1) -> None:
        """Refuse what no plan answers, and accuracies that the violation makes impossible."""
        check_number("icc", self.icc, 0, 1, "give a number from 0 to 1")
        check_number("cluster_size", self.cluster_size, 1, np.inf, "give a number, 1 or more")
        if self.icc > 0 and self.cluster_size == 1:
            raise InputError(
                f"the intraclass correlation is {self.icc:g}, and a cluster has one item",
                "say how many items a cluster has (--cluster-size)",
            )
        # Too many raters are told before kappa is computed for them.
        Target(scenarios=replace(self, violation=0.0).scenarios(seed), **self.required)
        check_possible_kappa(self.kappa, seed=seed, **self.raters)
        for accuracy in self.system_accuracies:
            initial_accuracy(accuracy, levels_of_difficulty(self.violation))

    def scenarios(self, seed: Seed = 1) -> tuple[Scenario, ...]:
        """Make a scenario for each accuracy of the system, see `scenario_with_kappa`."""
        raters = scenario_with_kappa(self.kappa, seed=seed, **self.raters)
        return tuple(
            replace(raters, initial_system_accuracy=initial_accuracy(accuracy, raters.easiness))
            for accuracy in self.system_accuracies
        )

    def answer(
        self, scenarios: Sequence[Scenario], replicates: int, seed: np.random.SeedSequence
    ) -> SampleSize:
        """Find the number of items for some of the scenarios."""
        size = required_sample_size(scenarios, replicates=replicates, seed=seed, **self.required)
        effect = self.design_effect
        if effect == 1 or size.n_items is None:
            return size
        n_items, lower, upper = (ceil(getattr(size, name) * effect) for name in WHOLE)
        error = (size.standard_error or 0.0) * effect
        return replace(size, n_items=n_items, standard_error=error, lower=lower, upper=upper)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The answer to a question.

    Parameters
    ----------
    question : Question
    rater_accuracy : tuple of float
        Initial accuracies of the raters who agree as asked.
    mean : SampleSize
        Items at which the probability, averaged over the accuracies of the system, is enough.
    by_accuracy : dict
        Items at which it is enough for each of them, if there are several.
    """

    question: Question
    rater_accuracy: tuple[float, ...]
    mean: SampleSize
    by_accuracy: dict[float, SampleSize] = field(default_factory=dict)

    @property
    def worst(self) -> tuple[float, SampleSize] | None:
        """The accuracy of the system that needs most items, and how many."""
        if not self.by_accuracy:
            return None
        return max(self.by_accuracy.items(), key=lambda item: item[1].n_items or np.inf)

    def to_dict(self) -> dict[str, Any]:
        """Plan in plain types, ready for JSON."""
        worst = self.worst
        return {
            **plain(self.question),
            "rater_accuracy": list(self.rater_accuracy),
            **plain_size(self.mean),
            "worst": worst and {"system_accuracy": worst[0], **plain_size(worst[1])},
            "by_system_accuracy": [
                {"system_accuracy": accuracy, **plain_size(size)}
                for accuracy, size in self.by_accuracy.items()
            ],
        }


def make_plan(question: Question, *, replicates: int = 20_000, seed: Seed = 1) -> Plan:
    """Answer a question.

    Parameters
    ----------
    question : Question
    replicates : int
        Samples for the mean over the accuracies of the system; a quarter for each of them.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator

    Returns
    -------
    Plan
    """
    scenarios = question.scenarios(fixed_seed(seed))
    return plan_scenarios(question, scenarios, replicates=replicates, seed=seed)


def plan_scenarios(
    question: Question, scenarios: Sequence[Scenario], *, replicates: int, seed: Seed
) -> Plan:
    """Answer a question with other scenarios than its own; see `make_plan`."""
    mean_seed, *seeds = child_seeds(seed, 1 + len(scenarios))
    several = zip(question.system_accuracies, scenarios, seeds, strict=True)
    return Plan(
        question=question,
        rater_accuracy=scenarios[0].initial_rater_accuracy,
        mean=question.answer(scenarios, replicates, mean_seed),
        by_accuracy={
            accuracy: question.answer([scenario], max(1000, replicates // 4), one)
            for accuracy, scenario, one in several
            if len(scenarios) > 1
        },
    )


def curves(plans: Sequence[Plan]) -> "pd.DataFrame":
    """Probability over numbers of items, a row for each violation and number."""
    import pandas as pd

    numbers = ["probability", "standard_error"]
    parts = {plan.question.violation: plan.mean.curve[numbers].to_dataframe() for plan in plans}
    table = pd.concat(parts, names=["violation"]).reset_index()[["violation", "n_items", *numbers]]
    table["n_items"] = np.ceil(table["n_items"] * plans[0].question.design_effect).astype(int)
    return table


def trade_off(question: Question, violations: Sequence[float], seed: int = 1) -> "pd.DataFrame":
    """Find the number of items for two to ten raters.

    Parameters
    ----------
    question : Question
        Its number of raters and violation play no part.
    violations : sequence of float
    seed : int

    Returns
    -------
    pandas.DataFrame
        Columns `violation`, `n_raters`, `n_items`, `standard_error`, `lower`, `upper` and `note`;
        without numbers of raters that would take too long.
    """
    import pandas as pd

    # The same for each violation, and not those of the plan.
    seeds = child_seeds(np.random.SeedSequence(seed, spawn_key=(1,)), len(NUMBERS_OF_RATERS))
    rows = []
    for violation in violations:
        for n_raters, one in zip(NUMBERS_OF_RATERS, seeds, strict=True):
            if n_vote_cells(question.n_categories, n_raters) > MOST_PLANNED_CELLS:
                continue
            asked = replace(question, n_raters=n_raters, violation=violation)
            try:
                size = plain_size(asked.answer(asked.scenarios(seed), SIDE_REPLICATES, one))
            except InputError as error:
                # So many raters cannot have this kappa.
                size = dict.fromkeys(SIZE) | {"note": str(error)}
            rows.append({"violation": violation, "n_raters": n_raters, **size})
    columns = ["violation", "n_raters", *SIZE]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(WHOLE, "Int64"))


def plain_size(size: SampleSize) -> dict[str, Any]:
    """What is said in a row of a table, in plain types."""
    return {name: plain(getattr(size, name)) for name in SIZE}
