"""Numbers of the paper that come from its simulations."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from experiments.paper.figure_scenarios import (
    EASINESS,
    FIGURES,
    METHOD,
    PAPER_RUNS,
    PRESETS,
    PaperFigure,
    simulate_figure,
)
from experiments.paper.number import PrintedNumber
from experiments.study.proportions import proportion
from lehner import Scenario, simulate_estimates
from lehner.core.seeds import Seed, child_seeds
from lehner.simulation.parameters import draw_parameters

RUNS = 1000
LARGE_RUN = 5000
PRINTED_RUNS = 10
"""Of 5,000 items: the paper does not say how many are behind the numbers in its text."""

RATER_ACCURACY = {1: 0.60, 8: 0.64}
"""Estimated in Figures, as the text says."""

TABLE_7_DRAWS = 20_000
TABLE_7_DIAGONAL = (0.349, 0.439, 0.377, 0.512, 0.415)
VIOLATION_BIASES: dict[str, tuple[float, dict[str, Any]]] = {
    "rater accuracy .4 .6 .8": (0.024, {"initial_rater_accuracy": (0.4, 0.6, 0.8)}),
    "problem difficulty ±.2": (-0.043, {"easiness": EASINESS, "easiness_affects": "raters"}),
    "error range 100%": (-0.036, {"proportional_error_range": 1.0, "errors_affect": "raters"}),
    "asymmetric dispersion 2": (-0.068, {"asymmetric_dispersion": 2.0, "errors_affect": "raters"}),
}


def figure_numbers(seed: Seed, runs: int = RUNS) -> Iterator[PrintedNumber]:
    """The kappa under each figure, and what the text says of Figures 1 and 8."""
    for figure, child in zip(FIGURES.values(), child_seeds(seed, len(FIGURES)), strict=True):
        samples = simulate_figure(figure, runs, child)
        yield _mean(f"Figure {figure.number}", "kappa", figure.kappa, 3, samples.kappa)
        if figure.number in RATER_ACCURACY:
            place, printed = f"text on Figure {figure.number}", RATER_ACCURACY[figure.number]
            accuracy = samples.rater_accuracy
            yield _mean(place, "estimated rater accuracy", printed, 2, accuracy)
        if figure.number == 8:
            yield from _expected_accuracies(samples)


def _expected_accuracies(samples: xr.Dataset) -> Iterator[PrintedNumber]:
    for preset, printed in ((0.1, 0.133), (0.9, 0.867)):
        accuracy = samples.system_accuracy[samples.preset == preset]
        error = round(float(accuracy.std() / np.sqrt(accuracy.size)), 12)
        quantity = f"expected accuracy preset to {preset:g}"
        ours = float(accuracy.mean())
        yield PrintedNumber("text on Figure 8", quantity, printed, ours, standard_error=error)


def _mean(
    place: str, quantity: str, printed: float, digits: int, values: xr.DataArray
) -> PrintedNumber:
    """Compare with a mean over the paper's 50 runs."""
    defined = values.dropna("run")
    spread = float(defined.std())
    return PrintedNumber(
        place,
        quantity,
        printed,
        float(defined.mean()),
        digits=digits,
        standard_error=spread / np.sqrt(defined.size),
        printed_standard_error=spread / np.sqrt(PAPER_RUNS),
    )


def table_7(seed: Seed) -> PrintedNumber:
    """Spread of the diagonal of Table 7, one random matrix, beside that of ours."""
    spread = diagonal_spread(FIGURES[8].scenario(), seed, TABLE_7_DRAWS)
    printed = float(np.std(TABLE_7_DIAGONAL, ddof=1))
    smaller = np.mean(spread <= printed)
    return PrintedNumber(
        "Table 7",
        "standard deviation of the diagonal",
        round(printed, 3),
        float(spread.mean()),
        standard_error=float(spread.std() / np.sqrt(TABLE_7_DRAWS)),
        printed_standard_error=float(spread.std()),
        tried=f"one random matrix: as small a spread has probability {smaller:.2f}",
    )


def diagonal_spread(scenario: Scenario, seed: Seed, draws: int) -> np.ndarray:
    """Draw matrices as in Table 7, each with its own base rates, and give their diagonals' sd."""
    rater = replace(
        scenario, initial_rater_accuracy=(0.6, 0.6), easiness=(-0.2,), easiness_probabilities=None
    )
    drawn = draw_parameters(rater, draws, np.random.default_rng(seed))
    return np.diagonal(drawn.confusion[:, 0, 0], axis1=1, axis2=2).std(axis=1, ddof=1)


def violation_biases(seed: Seed, runs: int = 20 * RUNS) -> Iterator[PrintedNumber]:
    """Bias of each violation alone, the system at .9 being left as it is."""
    for (name, (printed, changes)), child in zip(
        VIOLATION_BIASES.items(), child_seeds(seed, len(VIOLATION_BIASES)), strict=True
    ):
        bias, standard_error, spread = _violation_bias(changes, child, runs)
        affected = {name: "both" for name in changes if name.endswith(("affects", "affect"))}
        system_too = _violation_bias(changes | affected, child, runs)[0]
        yield PrintedNumber(
            "text on Figure 8",
            f"bias by {name} alone",
            printed,
            bias,
            standard_error=standard_error,
            printed_standard_error=spread / np.sqrt(PRINTED_RUNS),
            tried=f"takes the printed number for a mean of {PRINTED_RUNS} runs of {LARGE_RUN:,} "
            f"items, the paper does not say; {system_too:+.3f} if the system is affected too",
        )


def _violation_bias(changes: dict[str, Any], seed: Seed, runs: int) -> tuple[float, float, float]:
    """Mean error of the algebra, its standard error and the spread of the runs."""
    scenario = Scenario(n_items=LARGE_RUN, initial_system_accuracy=0.9, **changes)
    samples = simulate_estimates(scenario, runs, methods=[METHOD], in_sample=False, seed=seed)
    error = (samples[METHOD] - samples.system_accuracy).dropna("replicate").values
    return float(error.mean()), float(error.std() / np.sqrt(len(error))), float(error.std())


def sample_size_claims(seed: Seed, runs: int = 20 * RUNS) -> Iterator[PrintedNumber]:
    """Proportion of estimates within .1 of the truth, on which the discussion recommends."""
    for number, n_items, kappa in ((10, 200, ".3"), (11, 100, ".55")):
        figure = replace(FIGURES[number], n_items=n_items)
        samples = simulate_figure(figure, runs, seed)
        within = _near(samples, "system_accuracy")
        near, error = proportion(within)
        by_preset = ", ".join(f"{within[samples.preset.values == p].mean():.2f}" for p in PRESETS)
        in_sample = float(_near(samples, "system_accuracy_in_sample").mean())
        yield PrintedNumber(
            "discussion",
            f"share within .1 of the truth, {n_items} items, kappa {kappa}",
            0.9,
            near,
            digits=2,
            standard_error=error,
            at_least=True,
            tried=f"by preset accuracy {by_preset}; of the share right in the sample "
            f"{in_sample:.2f}; with the K-properties "
            f"{_near_with_k_properties(figure, seed, runs):.2f}",
        )


def _near(samples: xr.Dataset, estimand: str) -> np.ndarray:
    return np.asarray(np.abs(samples[METHOD] - samples[estimand]) <= 0.1)


def _near_with_k_properties(figure: PaperFigure, seed: Seed, runs: int) -> float:
    mean = (float(np.mean(figure.initial_rater_accuracy)),) * 3
    plain = replace(figure, initial_rater_accuracy=mean, violated=False)
    return float(_near(simulate_figure(plain, runs, seed), "system_accuracy").mean())


def low_accuracy_claim(seed: Seed, runs: int = 20 * RUNS) -> PrintedNumber:
    """Compare "around .6" where the system is at .9 and the raters around .4."""
    ours, of_fewer = (
        simulate_estimates(
            FIGURES[number].scenario(0.9), runs, methods=[METHOD], in_sample=False, seed=seed
        )[METHOD].dropna("replicate")
        for number in (9, 12)
    )
    return PrintedNumber(
        "discussion",
        "estimate at system accuracy .9, raters .3 .4 .5",
        0.6,
        float(ours.mean()),
        digits=1,
        standard_error=float(ours.std() / np.sqrt(ours.size)),
        tried=f"with 200 items; {float(of_fewer.mean()):.3f} with 50",
    )
