"""What the paper prints and simulates: its numbers, in `printed.csv`, and Figures 1 to 14."""

import csv
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from lehner import InputError, Scenario, simulate_estimates
from lehner.core.arrays import Seed, derive_seeds

MATCHES, MISPRINT, UNMATCHED = "matches", "misprint", "cannot be matched"
MOST_STANDARD_ERRORS = 3.0
PRESETS = (0.1, 0.3, 0.5, 0.7, 0.9)
PAPER_RUNS = 50
METHOD = "algebraic_paper"
# A third of the items is harder and a third easier by .2.
EASINESS = (-0.2, 0.0, 0.2)

VIOLATIONS: dict[str, Any] = {
    "easiness": EASINESS,
    "asymmetric_dispersion": 2.0,
    "proportional_error_range": 1.0,
}


@dataclass(frozen=True)
class PrintedNumber:
    """A number of the paper, ours, and whether they agree.

    Parameters
    ----------
    place : str
        Where it stands.
    quantity : str
    printed : float
    ours : float
    digits : int
        Decimals printed.
    standard_error : float
        Monte Carlo standard error of ours; 0 where ours is exact.
    printed_standard_error : float
        That of the printed number, from our spread of runs and the paper's number of them.
    at_least : bool
        Whether the paper claims no more than that ours is not below the printed number.
    misprint : str
        Why the printed number is a misprint; empty if it is none.
    tried : str
        Where it cannot be matched, what we tried; otherwise a remark.
    """

    place: str
    quantity: str
    printed: float
    ours: float
    _: KW_ONLY
    digits: int = 3
    standard_error: float = 0.0
    printed_standard_error: float = 0.0
    at_least: bool = False
    misprint: str = ""
    tried: str = ""

    @property
    def z(self) -> float | None:
        """Printed minus ours in standard errors, rounding included; None if both are exact."""
        if self.standard_error == self.printed_standard_error == 0:
            return None
        return (self.printed - self.ours) / self.difference_error

    @property
    def difference_error(self) -> float:
        """Standard error of printed minus ours, rounding included."""
        rounding = 10.0**-self.digits / np.sqrt(12)
        errors = (self.standard_error, self.printed_standard_error, rounding)
        return float(np.sqrt(np.square(errors).sum()))

    @property
    def verdict(self) -> str:
        """Whether ours, rounded, is the printed number, or within three standard errors."""
        if self.misprint:
            return MISPRINT
        if self.z is not None:
            far = self.z if self.at_least else abs(self.z)
            return MATCHES if far <= MOST_STANDARD_ERRORS else UNMATCHED
        rounding = 0.5 * 10.0**-self.digits + 1e-9
        return MATCHES if abs(self.printed - self.ours) <= rounding else UNMATCHED

    @property
    def note(self) -> str:
        """The argument for a misprint, or what was tried."""
        return self.misprint or self.tried


def _read_printed() -> dict[tuple[str, str], dict[str, str]]:
    with Path(__file__).with_name("printed.csv").open(encoding="utf-8", newline="") as file:
        return {(row["place"], row["quantity"]): row for row in csv.DictReader(file)}


# Rows of the table by place and quantity.
PRINTED = _read_printed()


def compare(place: str, quantity: str, ours: float, **more: Any) -> PrintedNumber:
    """Put a number beside the one that is printed; `more` is as of `PrintedNumber`."""
    row = PRINTED[place, quantity]
    return PrintedNumber(
        place,
        quantity,
        float(row["printed"]),
        float(ours),
        digits=len(row["printed"].partition(".")[2]),
        at_least=bool(row["at_least"]),
        misprint=row["misprint"],
        **more,
    )


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
    violated : bool
        Whether the K-properties are violated, besides by rater accuracy.
    """

    number: int
    initial_rater_accuracy: tuple[float, ...]
    n_items: int
    violated: bool

    @property
    def kappa(self) -> float:
        """Mean kappa, as printed under the figure."""
        return float(PRINTED[f"Figure {self.number}", "kappa"]["printed"])

    def make_scenario(self, initial_system_accuracy: float = 0.5) -> Scenario:
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
    number: PaperFigure(number, raters, n_items, violated=number > 7)
    for number, raters, n_items in (
        (1, (0.6, 0.6, 0.6), 5000),
        (2, (0.4, 0.4, 0.4), 200),
        (3, (0.6, 0.6, 0.6), 200),
        (4, (0.8, 0.8, 0.8), 200),
        (5, (0.4, 0.4, 0.4), 50),
        (6, (0.6, 0.6, 0.6), 50),
        (7, (0.8, 0.8, 0.8), 50),
        (8, (0.5, 0.6, 0.7), 5000),
        (9, (0.3, 0.4, 0.5), 200),
        (10, (0.5, 0.6, 0.7), 200),
        (11, (0.7, 0.8, 0.9), 200),
        (12, (0.3, 0.4, 0.5), 50),
        (13, (0.5, 0.6, 0.7), 50),
        (14, (0.7, 0.8, 0.9), 50),
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
    for preset, child in zip(PRESETS, derive_seeds(seed, len(PRESETS)), strict=True):
        part = simulate_estimates(
            figure.make_scenario(preset), runs // len(PRESETS), methods=[METHOD], seed=child
        )
        part = part.rename(replicate="run")
        parts.append(part.assign(preset=("run", np.full(part.sizes["run"], preset))))
    return xr.concat(parts, "run").assign_coords(run=np.arange(1, runs + 1))
