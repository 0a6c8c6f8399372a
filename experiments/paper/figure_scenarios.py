"""Figures 1 to 14 of the paper: what was simulated, and the kappa printed under each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from lehner import InputError, Scenario, simulate_estimates
from lehner.core.arrays import Seed, child_seeds

PRESETS = (0.1, 0.3, 0.5, 0.7, 0.9)
PAPER_RUNS = 50
METHOD = "algebraic_paper"
EASINESS = (-0.2, 0.0, 0.2)
"""A third of the items is harder and a third easier by .2."""

VIOLATIONS: dict[str, Any] = {
    "easiness": EASINESS,
    "asymmetric_dispersion": 2.0,
    "proportional_error_range": 1.0,
}


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper: estimated against true system accuracy.

    Parameters
    ----------
    number : int
        Number of the figure, 1 to 14.
    initial_rater_accuracy : tuple of float
        Initial probability that each rater is right.
    n_items : int
        Number of items of each sample.
    kappa : float
        Mean kappa, as printed under the figure.
    violated : bool
        Whether the K-properties are violated, besides by rater accuracy.
    """

    number: int
    initial_rater_accuracy: tuple[float, ...]
    n_items: int
    kappa: float
    violated: bool

    def scenario(self, initial_system_accuracy: float = 0.5) -> Scenario:
        """Give the scenario with one of the preset system accuracies.

        Parameters
        ----------
        initial_system_accuracy : float
            Initial probability that the system is right, 0 to 1; the paper has .1, .3, .5, .7 and
            .9.

        Returns
        -------
        Scenario
            Ready to be simulated.
        """
        return Scenario(
            n_items=self.n_items,
            initial_rater_accuracy=self.initial_rater_accuracy,
            initial_system_accuracy=initial_system_accuracy,
            **(VIOLATIONS if self.violated else {}),
        )


FIGURES = {
    number: PaperFigure(number, raters, n_items, kappa, violated=number > 7)
    for number, raters, n_items, kappa in (
        (1, (0.6, 0.6, 0.6), 5000, 0.251),
        (2, (0.4, 0.4, 0.4), 200, 0.065),
        (3, (0.6, 0.6, 0.6), 200, 0.255),
        (4, (0.8, 0.8, 0.8), 200, 0.562),
        (5, (0.4, 0.4, 0.4), 50, 0.060),
        (6, (0.6, 0.6, 0.6), 50, 0.244),
        (7, (0.8, 0.8, 0.8), 50, 0.546),
        (8, (0.5, 0.6, 0.7), 5000, 0.305),
        (9, (0.3, 0.4, 0.5), 200, 0.142),
        (10, (0.5, 0.6, 0.7), 200, 0.306),
        (11, (0.7, 0.8, 0.9), 200, 0.578),
        (12, (0.3, 0.4, 0.5), 50, 0.144),
        (13, (0.5, 0.6, 0.7), 50, 0.311),
        (14, (0.7, 0.8, 0.9), 50, 0.586),
    )
}


def find_figure(number: int) -> PaperFigure:
    """Look a figure up, or raise an InputError."""
    if number not in FIGURES:
        raise InputError(f"there is no figure {number}", "choose one from 1 to 14")
    return FIGURES[number]


def simulate_figure(figure: PaperFigure, runs: int = PAPER_RUNS, seed: Seed = 1) -> xr.Dataset:
    """Simulate the runs of a figure, equally many at each preset system accuracy.

    Parameters
    ----------
    figure : PaperFigure
        One of `FIGURES`.
    runs : int
        Number of samples, a multiple of 5; the paper has 50.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same runs.

    Returns
    -------
    xarray.Dataset
        Dimension `run`: `preset`, `algebraic_paper` (the estimate), `system_accuracy`
        (expected), `system_accuracy_in_sample`, `kappa` and `rater_accuracy`. The first runs of
        each preset do not depend on `runs`.

    Raises
    ------
    InputError
        If the number of runs is not a multiple of 5, above 0.

    References
    ----------
    Lehner (2015), Figures 1 to 14.

    Examples
    --------
    The paper prints a mean kappa of .305 under Figure 8.

    >>> round(float(simulate_figure(FIGURES[8]).kappa.mean()), 3)
    0.303
    """
    if runs < 1 or runs % len(PRESETS):
        raise InputError(f"there are {runs} runs", f"give a multiple of {len(PRESETS)}")
    parts = []
    for preset, child in zip(PRESETS, child_seeds(seed, len(PRESETS)), strict=True):
        part = simulate_estimates(
            figure.scenario(preset), runs // len(PRESETS), methods=[METHOD], seed=child
        )
        part = part.rename(replicate="run")
        parts.append(part.assign(preset=("run", np.full(part.sizes["run"], preset))))
    return xr.concat(parts, "run").assign_coords(run=np.arange(1, runs + 1))
