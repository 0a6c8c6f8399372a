"""Readings of what the paper leaves open, each scored on all numbers that depend on it.

Open are the distribution of base rates, step 5, whether raters and levels of difficulty share
their random errors, and, for the biases in the text, whether the system is affected too.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import gaussian_kde

from experiments.paper.figure_scenarios import FIGURES
from experiments.paper.number import PrintedNumber
from experiments.paper.simulated import (
    PRINTED_RUNS,
    RATER_ACCURACY,
    TABLE_7_SPREAD,
    VIOLATION_BIASES,
    diagonal_spread,
    mean_number,
    violation_errors,
)
from lehner import Scenario, simulate_estimates
from lehner.core.seeds import Seed, child_seeds
from lehner.simulation.parameters import draw_parameters, expected_system_accuracy

READINGS: dict[str, dict[str, Any]] = {
    "as in this package": {},
    "step 5: errors scaled": {"normalization": "scaled_errors"},
    "step 5: rows divided by their sums": {"normalization": "rows"},
    "base rates: normalised uniform": {"base_rates": "uniform"},
    "base rates: equal": {"base_rates": "equal"},
    "errors shared by levels of difficulty": {"common_errors": "levels"},
    "errors shared by all raters": {"common_errors": "raters"},
    "biases: system affected too": {"easiness_affects": "both", "errors_affect": "both"},
}
VIOLATED_FIGURES = tuple(number for number, figure in FIGURES.items() if figure.violated)


def score_readings(seed: Seed = 1, runs: int = 2000) -> pd.DataFrame:
    """Score each reading on all numbers together.

    A reading is a way to understand what the paper leaves open. The numbers are the kappas of
    Figures 8 to 14, the mean rater accuracy of Figure 8, the four biases of single violations and
    the spread of Table 7's diagonal, which are taken to be independent of one another; and the
    expected accuracies .133 and .867, which a reading gives or does not.

    Parameters
    ----------
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        All readings are simulated with the same seeds.
    runs : int
        Number of samples for each number, a multiple of 5.

    Returns
    -------
    pandas.DataFrame
        A row for each reading: `kappa_mean_squared_z`, `rater_accuracy_z`, `bias_mean_squared_z`,
        `table_7_tail` (probability of so small a spread), `expected_accuracies`, and
        `log_likelihood` of all but these, less that of the first row.

    Examples
    --------
    >>> len(score_readings(runs=20))
    8
    """
    rows = {name: _score(changes, seed, runs) for name, changes in READINGS.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table["log_likelihood"] -= table["log_likelihood"].iloc[0]
    return table.rename_axis("reading").reset_index()


def _score(changes: dict[str, Any], seed: Seed, runs: int) -> dict[str, Any]:
    figure_seed, bias_seed, matrix_seed = child_seeds(seed, 3)
    numbers = [*_figures(changes, figure_seed, runs), *_biases(changes, bias_seed, runs)]
    z = {
        quantity: np.array([number.z for number in numbers if number.quantity == quantity])
        for quantity in ("kappa", "rater_accuracy", "bias")
    }
    table_7 = diagonal_spread(_scenario(8, changes), matrix_seed, 10 * runs)
    likelihoods = [
        -((number.z or 0) ** 2) / 2 - np.log(number.difference_error) for number in numbers
    ]
    likelihoods.append(np.log(gaussian_kde(table_7)(TABLE_7_SPREAD)[0]))
    return {
        "kappa_mean_squared_z": float((z["kappa"] ** 2).mean()),
        "rater_accuracy_z": float(z["rater_accuracy"][0]),
        "bias_mean_squared_z": float((z["bias"] ** 2).mean()),
        "table_7_tail": float(np.mean(table_7 <= TABLE_7_SPREAD)),
        "expected_accuracies": _expected(changes, matrix_seed, runs),
        "log_likelihood": float(sum(likelihoods)),
    }


def _scenario(number: int, changes: dict[str, Any]) -> Scenario:
    affects = {"easiness_affects", "errors_affect"}
    return replace(
        FIGURES[number].scenario(),
        **{name: value for name, value in changes.items() if name not in affects},
    )


def _figures(changes: dict[str, Any], seed: Seed, runs: int) -> Iterator[PrintedNumber]:
    for number, child in zip(
        VIOLATED_FIGURES, child_seeds(seed, len(VIOLATED_FIGURES)), strict=True
    ):
        samples = simulate_estimates(_scenario(number, changes), runs, in_sample=False, seed=child)
        yield mean_number("", "kappa", FIGURES[number].kappa, samples.kappa)
        if number == 8:
            printed, accuracy = RATER_ACCURACY[number], samples.rater_accuracy
            yield mean_number("", "rater_accuracy", printed, accuracy, digits=2)


def _biases(changes: dict[str, Any], seed: Seed, runs: int) -> Iterator[PrintedNumber]:
    seeds = child_seeds(seed, len(VIOLATION_BIASES))
    for (printed, violation), child in zip(VIOLATION_BIASES.values(), seeds, strict=True):
        errors = violation_errors(violation | changes, child, runs)
        yield mean_number("", "bias", printed, errors, printed_runs=PRINTED_RUNS)


def _expected(changes: dict[str, Any], seed: Seed, runs: int) -> str:
    expected = []
    for preset in (0.1, 0.9):
        scenario = replace(_scenario(8, changes), initial_system_accuracy=preset)
        drawn = draw_parameters(scenario, runs, np.random.default_rng(seed))
        expected.append(f"{expected_system_accuracy(scenario, drawn).mean():.3f}")
    return " ".join(expected)
