"""What the paper prints and simulates: its numbers, in `printed.csv`, and Figures 1 to 14."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from lehner import InputError, Scenario, simulate_estimates
from lehner.core.arrays import Seed, derive_seeds
from lehner.core.estimate import Row

COLUMNS = ("place", "quantity", "printed", "ours", "standard_error", "z", "verdict", "note")
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


PRINTED = pd.read_csv(
    Path(__file__).with_name("printed.csv"), dtype=str, keep_default_na=False
).set_index(["place", "quantity"])


def compare_printed(
    place: str,
    quantity: str,
    ours: float,
    *,
    standard_error: float = 0.0,
    printed_standard_error: float = 0.0,
    tried: str = "",
) -> Row:
    """Give a row of a number of ours, to be put beside the printed one by `judge`.

    Parameters
    ----------
    place, quantity : str
        As `printed.csv` has them.
    ours : float
    standard_error : float
        Monte Carlo standard error of ours; 0 where ours is exact.
    printed_standard_error : float
        That of the printed number, from our spread of runs and the paper's number of them.
    tried : str
        Where it cannot be matched, what we tried; otherwise a remark.

    Returns
    -------
    dict
    """
    errors = {"standard_error": standard_error, "printed_standard_error": printed_standard_error}
    return {"place": place, "quantity": quantity, "ours": float(ours), **errors, "tried": tried}


def judge(rows: Iterable[Row], printed: pd.DataFrame = PRINTED) -> pd.DataFrame:
    """Put the printed numbers beside ours, and say whether they agree.

    Parameters
    ----------
    rows : iterable of dict
        As `compare_printed` gives them.
    printed : pandas.DataFrame
        By place and quantity: `printed`, as text; `at_least`, not empty where the paper claims no
        more than that ours is not below it; and `misprint`, why it is one, or empty.

    Returns
    -------
    pandas.DataFrame
        A row for each number: `place`, `quantity`, `printed`, `ours`, `standard_error`; `z`,
        printed minus ours in standard errors, rounding included, NaN where both are exact;
        `verdict`, whether ours rounds to the printed number, or is within three standard errors;
        `note`; and `digits`, the number of decimals printed.
    """
    table = pd.DataFrame(rows).join(printed, on=["place", "quantity"])
    digits = table["printed"].str.partition(".")[2].str.len()
    number, rounding = table["printed"].astype(float), 10.0**-digits
    errors = table["standard_error"] ** 2 + table["printed_standard_error"] ** 2
    z = (number - table["ours"]) / np.sqrt(errors + rounding**2 / 12)
    far = z.abs().where(table["at_least"] == "", z)
    rounds = (number - table["ours"]).abs() <= rounding / 2 + 1e-9
    near = rounds.where(errors == 0, far <= MOST_STANDARD_ERRORS)
    misprinted = table["misprint"] != ""
    verdict = pd.Series(np.where(near, MATCHES, UNMATCHED)).mask(misprinted, MISPRINT)
    note = table["misprint"].where(misprinted, table["tried"])
    judged = table.assign(
        printed=number, z=z.where(errors > 0), verdict=verdict, note=note, digits=digits
    )
    return judged[[*COLUMNS, "digits"]]


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
        return float(PRINTED.loc[(f"Figure {self.number}", "kappa"), "printed"])

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
