"""Crossing: the number of items at which a simulated probability passes a confidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lehner.nearness import Nearness, Target

PILOT = 1250
IN_WINDOW = 5
WIDE, NARROW = 1.5, 1.2
FEWEST = 2


@dataclass(frozen=True)
class Crossing:
    """Where the probability passes the confidence.

    Parameters
    ----------
    n_items : float
    standard_error : float
        Monte Carlo standard error.
    """

    n_items: float
    standard_error: float


def find_crossing(
    target: Target,
    start: float,
    most_items: int,
    samples: int,
    seeds: Sequence[np.random.SeedSequence],
) -> tuple[Crossing | None, list[Nearness]]:
    """Move a wide window until the crossing is inside, then look through a narrow one.

    Parameters
    ----------
    target : Target
    start : float
        Number of items to start from.
    most_items : int
    samples : int
        In the narrow window.
    seeds : sequence of numpy.random.SeedSequence
        One for each move that may be needed, and one for the narrow window.

    Returns
    -------
    crossing : Crossing or None
        None if the probability does not grow through the narrow window.
    simulated : list of Nearness
        The narrow window's last.
    """
    simulated: list[Nearness] = []
    *moves, last = seeds
    for seed in moves:
        window = _window(start, WIDE, most_items)
        new = list(target.simulate(window, PILOT, seed))
        simulated += new
        crossing = regress(new, target.confidence)
        if crossing is None:
            enough = np.mean([one.probability for one in new]) >= target.confidence
            start = window[0] if enough else window[-1]
            continue
        start = float(np.clip(crossing.n_items, window[0], window[-1]))
        if start == crossing.n_items:
            break
    narrow = _window(start, NARROW, most_items)
    new = list(target.simulate(narrow, samples // len(narrow), last))
    return regress(new, target.confidence), simulated + new


def _window(centre: float, factor: float, most_items: int) -> list[int]:
    steps = np.round(centre * np.geomspace(1 / factor, factor, IN_WINDOW))
    return sorted({int(n) for n in np.clip(steps, FEWEST, most_items)})


def regress(simulated: Sequence[Nearness], confidence: float) -> Crossing | None:
    """Regress probits on the square root of the number of items.

    If estimates are normal around the truth with a variance that falls with the number of items,
    the probit of the share on one side of a bound is linear in that root; over a narrow window
    so is that of the share between two.

    Parameters
    ----------
    simulated : sequence of Nearness
    confidence : float

    Returns
    -------
    Crossing or None
        With the standard error of the delta method; None if probits do not rise.
    """
    from scipy.special import ndtri

    if len(simulated) < 2:
        return None
    samples = np.array([one.samples for one in simulated])
    share = np.array([one.probability for one in simulated])
    # Away from 0 and 1, whose probits are infinite.
    probit = ndtri((samples * share + 0.5) / (samples + 1))
    density = np.exp(-(probit**2) / 2) / np.sqrt(2 * np.pi)
    weight = (density / [one.standard_error for one in simulated]) ** 2
    x = np.sqrt([one.n_items for one in simulated])
    mean_x, mean_probit = np.average(x, weights=weight), np.average(probit, weights=weight)
    spread = float(weight @ (x - mean_x) ** 2)
    slope = float(weight @ ((x - mean_x) * (probit - mean_probit))) / spread
    if slope <= 0:
        return None
    step = float(ndtri(confidence) - mean_probit) / slope
    root = max(float(mean_x + step), 0.0)
    error = np.sqrt(1 / weight.sum() + step**2 / spread) / slope
    return Crossing(root**2, float(2 * root * error))
