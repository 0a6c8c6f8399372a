"""Nearness: how often an estimate of the system's accuracy is near the truth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lehner.algebra.vote_methods import find_vote_methods
from lehner.core.arrays import Floats
from lehner.core.checks import check_choice, check_level, check_number, wrong
from lehner.core.estimate import ESTIMANDS
from lehner.core.seeds import child_seeds
from lehner.simulation.draw import estimate_samples
from lehner.simulation.scenario import Scenario
from lehner.simulation.vote_probabilities import require_few_votes

type Estimand = Literal["system_accuracy", "system_accuracy_in_sample"]

ERROR_ROUNDING = 1e-9
MOST_PLANNED_CELLS = 10_000
"""With more combinations of votes and answer than this, the simulation would take hours."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Nearness:
    """The result of simulations with one number of items.

    Parameters
    ----------
    n_items : int
    proportions : ndarray, shape (n_scenarios,)
        Proportion of the samples in which the estimate is near the truth.
    replicates : int
        Number of samples of each scenario.
    bias : ndarray, shape (n_scenarios,)
        Mean error of the estimates that are defined.
    undefined : ndarray, shape (n_scenarios,)
        Proportion of the samples in which the estimate is undefined.
    """

    n_items: int
    proportions: Floats
    replicates: int
    bias: Floats
    undefined: Floats

    @property
    def samples(self) -> int:
        """Number of samples of all scenarios."""
        return self.replicates * len(self.proportions)

    @property
    def probability(self) -> float:
        """Mean of the proportions."""
        return float(self.proportions.mean())

    @property
    def standard_error(self) -> float:
        """Monte Carlo standard error of the mean."""
        # The error of a proportion of 0 or 1 is not below that of one sample.
        proportions = (self.replicates * self.proportions + 0.5) / (self.replicates + 1)
        return float(
            np.sqrt((proportions * (1 - proportions)).sum() / self.replicates) / len(proportions)
        )


@dataclass(frozen=True, kw_only=True)
class Target:
    """The requirement: which estimate must be how near to which truth, and how often.

    Parameters
    ----------
    scenarios : tuple of Scenario
    within, confidence, method, estimand
        As in `lehner.required_sample_size`.

    Raises
    ------
    InputError
        If one of them is not as there.
    """

    scenarios: tuple[Scenario, ...]
    within: float
    confidence: float
    method: str
    estimand: Estimand

    def __post_init__(self) -> None:
        if not self.scenarios:
            raise wrong("scenarios", self.scenarios, "give one or more")
        remedy = "give a number above 0, at most 1"
        check_number("within", self.within, np.nextafter(0, 1), 1, remedy)
        check_level(self.confidence, "confidence")
        find_vote_methods([self.method])
        check_choice("estimand", self.estimand, ESTIMANDS)
        for scenario in self.scenarios:
            require_few_votes(scenario, MOST_PLANNED_CELLS)

    def simulate(
        self, numbers: Sequence[int], samples: int, seed: np.random.SeedSequence
    ) -> Iterator[Nearness]:
        """Simulate each number of items, with a given total number of samples."""
        replicates = max(1, round(samples / len(self.scenarios)))
        for n_items, child in zip(numbers, child_seeds(seed, len(numbers)), strict=True):
            yield self._simulate(n_items, replicates, child)

    def _simulate(self, n_items: int, replicates: int, seed: np.random.SeedSequence) -> Nearness:
        seeds = child_seeds(seed, len(self.scenarios))
        errors = [
            self._errors(replace(scenario, n_items=n_items), replicates, one)
            for scenario, one in zip(self.scenarios, seeds, strict=True)
        ]
        defined = [error[np.isfinite(error)] for error in errors]
        # An undefined estimate, whose error is NaN, is not near.
        near = [np.abs(error) <= self.within + ERROR_ROUNDING for error in errors]
        return Nearness(
            n_items=n_items,
            proportions=np.array([one.mean() for one in near]),
            replicates=replicates,
            bias=np.array([one.mean() if len(one) else np.nan for one in defined]),
            undefined=np.array([1 - len(one) / replicates for one in defined]),
        )

    def _errors(self, scenario: Scenario, n: int, seed: np.random.SeedSequence) -> Floats:
        in_sample = self.estimand == "system_accuracy_in_sample"
        samples = estimate_samples(scenario, n, [self.method], in_sample=in_sample, seed=seed)
        return np.asarray(samples[self.method] - samples[self.estimand])
