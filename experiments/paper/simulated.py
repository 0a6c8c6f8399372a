"""Numbers of the paper that come from its simulations."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from experiments.paper.figure_scenarios import (
    EASINESS,
    FIGURES,
    METHOD,
    PAPER_RUNS,
    PRESETS,
    simulate_figure,
)
from experiments.paper.number import PrintedNumber
from experiments.study.performance import proportion
from lehner import Scenario, simulate_estimates
from lehner.core.arrays import Seed, child_seeds
from lehner.simulation.scenario import draw_parameters

RUNS = 1000
LARGE_RUN = 5000
PRINTED_RUNS = 10
"""Of 5,000 items: the paper does not say how many are behind the numbers in its text."""

RATER_ACCURACY = {1: 0.60, 8: 0.64}
"""Estimated in Figures, as the text says."""

TABLE_7_DRAWS = 20_000
TABLE_7_SPREAD = float(np.std([0.349, 0.439, 0.377, 0.512, 0.415], ddof=1))
"""Of its diagonal."""

VIOLATION_BIASES: dict[str, tuple[float, dict[str, Any]]] = {
    "rater accuracy .4 .6 .8": (0.024, {"initial_rater_accuracy": (0.4, 0.6, 0.8)}),
    "problem difficulty ±.2": (-0.043, {"easiness": EASINESS, "easiness_affects": "raters"}),
    "error range 100%": (-0.036, {"proportional_error_range": 1.0, "errors_affect": "raters"}),
    "asymmetric dispersion 2": (-0.068, {"asymmetric_dispersion": 2.0, "errors_affect": "raters"}),
}


def mean_number(
    place: str,
    quantity: str,
    printed: float,
    values: ArrayLike,
    *,
    printed_runs: float = PAPER_RUNS,
    **more: Any,
) -> PrintedNumber:
    """Compare a mean over some runs of the paper with the mean of ours that are defined."""
    runs = np.asarray(values, dtype=float)
    defined = runs[~np.isnan(runs)]
    spread = float(defined.std())
    return PrintedNumber(
        place,
        quantity,
        printed,
        float(defined.mean()),
        standard_error=float(spread / np.sqrt(len(defined))),
        printed_standard_error=float(spread / np.sqrt(printed_runs)),
        **more,
    )


def figure_numbers(seed: Seed, runs: int = RUNS) -> Iterator[PrintedNumber]:
    """The kappa under each figure, and what the text says of Figures 1 and 8."""
    for figure, child in zip(FIGURES.values(), child_seeds(seed, len(FIGURES)), strict=True):
        samples = simulate_figure(figure, runs, child)
        yield mean_number(f"Figure {figure.number}", "kappa", figure.kappa, samples.kappa)
        if figure.number in RATER_ACCURACY:
            place, printed = f"text on Figure {figure.number}", RATER_ACCURACY[figure.number]
            accuracy = samples.rater_accuracy
            yield mean_number(place, "estimated rater accuracy", printed, accuracy, digits=2)
        if figure.number == 8:
            for preset, printed in ((0.1, 0.133), (0.9, 0.867)):
                quantity = f"expected accuracy preset to {preset:g}"
                accuracy = samples.system_accuracy[samples.preset == preset]
                compared = mean_number(
                    "text on Figure 8", quantity, printed, accuracy, printed_runs=np.inf
                )
                # It is the same in all runs but for rounding.
                yield replace(compared, standard_error=round(compared.standard_error, 12))


def table_7(seed: Seed) -> PrintedNumber:
    """Spread of the diagonal of Table 7, one random matrix, beside that of ours."""
    spread = diagonal_spread(FIGURES[8].scenario(), seed, TABLE_7_DRAWS)
    smaller = np.mean(spread <= TABLE_7_SPREAD)
    return mean_number(
        "Table 7",
        "standard deviation of the diagonal",
        round(TABLE_7_SPREAD, 3),
        spread,
        printed_runs=1,
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
        affected = {name: "both" for name in changes if name.endswith(("affects", "affect"))}
        system_too = np.nanmean(violation_errors(changes | affected, child, runs))
        yield mean_number(
            "text on Figure 8",
            f"bias by {name} alone",
            printed,
            violation_errors(changes, child, runs),
            printed_runs=PRINTED_RUNS,
            tried=f"takes the printed number for a mean of {PRINTED_RUNS} runs of {LARGE_RUN:,} "
            f"items, the paper does not say; {system_too:+.3f} if the system is affected too",
        )


def violation_errors(changes: dict[str, Any], seed: Seed, runs: int) -> np.ndarray:
    """Errors of the algebra for a system at .9 in samples of 5,000 items."""
    scenario = Scenario(n_items=LARGE_RUN, initial_system_accuracy=0.9, **changes)
    samples = simulate_estimates(scenario, runs, methods=[METHOD], in_sample=False, seed=seed)
    return np.asarray(samples[METHOD] - samples.system_accuracy)


def sample_size_claims(seed: Seed, runs: int = 20 * RUNS) -> Iterator[PrintedNumber]:
    """Proportion of estimates within .1 of the truth, on which the discussion recommends."""
    for number, n_items, kappa in ((10, 200, ".3"), (11, 100, ".55")):
        figure = replace(FIGURES[number], n_items=n_items)
        samples = simulate_figure(figure, runs, seed)
        mean = (float(np.mean(figure.initial_rater_accuracy)),) * 3
        plain = replace(figure, initial_rater_accuracy=mean, violated=False)
        within = _near(samples, "system_accuracy")
        near, error = proportion(within)
        by_preset = ", ".join(f"{within[samples.preset.values == p].mean():.2f}" for p in PRESETS)
        in_sample = _near(samples, "system_accuracy_in_sample").mean()
        k_properties = _near(simulate_figure(plain, runs, seed), "system_accuracy").mean()
        yield PrintedNumber(
            "discussion",
            f"share within .1 of the truth, {n_items} items, kappa {kappa}",
            0.9,
            near,
            digits=2,
            standard_error=error,
            at_least=True,
            tried=f"by preset accuracy {by_preset}; of the share right in the sample "
            f"{in_sample:.2f}; with the K-properties {k_properties:.2f}",
        )


def _near(samples: xr.Dataset, estimand: str) -> np.ndarray:
    return np.asarray(np.abs(samples[METHOD] - samples[estimand]) <= 0.1)


def low_accuracy_claim(seed: Seed, runs: int = 20 * RUNS) -> PrintedNumber:
    """Compare "around .6" where the system is at .9 and the raters around .4."""
    ours, of_fewer = (
        simulate_estimates(
            FIGURES[number].scenario(0.9), runs, methods=[METHOD], in_sample=False, seed=seed
        )[METHOD]
        for number in (9, 12)
    )
    return mean_number(
        "discussion",
        "estimate at system accuracy .9, raters .3 .4 .5",
        0.6,
        ours,
        digits=1,
        printed_runs=np.inf,
        tried=f"with 200 items; {float(of_fewer.mean()):.3f} with 50",
    )
