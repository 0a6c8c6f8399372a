"""Simulated settings in which methods are compared, by name.

The K-properties hold in Figures 3 and 6 of the paper and in the settings with two categories; they
fail in Figures 9 to 14 and in the processes that no method was made for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from experiments.benchmarks.processes import PROCESSES, Process
from experiments.paper.figure_scenarios import FIGURES, PRESETS
from lehner import Ratings, Scenario, simulate, true_parameters

FIGURES_COMPARED = (10, 9, 3, 11, 13, 12, 14, 6)

type Draw = Callable[[float, np.random.SeedSequence], tuple[Ratings, float]]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A way to simulate ratings.

    Parameters
    ----------
    name : str
    group : {"paper", "two categories", "other processes"}
    system_accuracies : tuple of float
        What the system's accuracy is set to, one after another.
    draw : callable
        From an accuracy and a seed to ratings with truths and the system's expected accuracy.
    """

    name: str
    group: str
    system_accuracies: tuple[float, ...]
    draw: Draw


def _of_figure(number: int, accuracy: float, seed: np.random.SeedSequence) -> tuple[Ratings, float]:
    return _simulate(FIGURES[number].scenario(accuracy), seed)


def _of_two_categories(
    rater_accuracy: float,
    n_items: int,
    base_rate: float,
    accuracy: float,
    seed: np.random.SeedSequence,
) -> tuple[Ratings, float]:
    scenario = Scenario(
        n_categories=2,
        n_items=n_items,
        initial_rater_accuracy=(rater_accuracy,) * 3,
        initial_system_accuracy=accuracy,
        base_rates=(base_rate, 1 - base_rate),
    )
    return _simulate(scenario, seed)


def _of_process(
    process: Process, accuracy: float, seed: np.random.SeedSequence
) -> tuple[Ratings, float]:
    return process(accuracy, np.random.default_rng(seed))


def _simulate(scenario: Scenario, seed: np.random.SeedSequence) -> tuple[Ratings, float]:
    return simulate(scenario, seed), float(true_parameters(scenario, seed).system_accuracy)


def _settings() -> list[Setting]:
    settings = [
        Setting(
            name=f"figure {number}",
            group="paper",
            system_accuracies=PRESETS,
            draw=partial(_of_figure, number),
        )
        for number in FIGURES_COMPARED
    ]
    settings += [
        Setting(
            name=f"raters {raters}, {n_items} items, base rate {base_rate}",
            group="two categories",
            system_accuracies=(0.5, 0.9),
            draw=partial(_of_two_categories, raters, n_items, base_rate),
        )
        for raters, n_items, base_rate in product((0.7, 0.8), (100, 200), (0.5, 0.2))
    ]
    settings += [
        Setting(
            name=name,
            group="other processes",
            system_accuracies=(0.3, 0.6, 0.9),
            draw=partial(_of_process, process),
        )
        for name, process in PROCESSES.items()
    ]
    return settings


SETTINGS = {setting.name: setting for setting in _settings()}
GROUPS = ("paper", "two categories", "other processes")
