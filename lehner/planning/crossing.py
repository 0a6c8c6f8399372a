"""Crossing: the number of items at which a simulated probability reaches a required confidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lehner.planning.nearness import Nearness, Target

IN_WINDOW = 5
WIDE, NARROW = 1.5, 1.2
WIDE_SAMPLES = 500
FEWEST_ITEMS = 2


@dataclass(frozen=True)
class Crossing:
    """The number of items at which the probability reaches the required confidence.

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
    """Move a wide window until it contains the crossing, then simulate a narrow one, too.

    Parameters
    ----------
    target : Target
    start : float
        Number of items at which the search starts.
    most_items : int
    samples : int
        Number of samples in the narrow window; the wide window shows how fast the probability
        grows.
    seeds : sequence of numpy.random.SeedSequence
        One for each move that may be needed, and one for the narrow window.

    Returns
    -------
    crossing : Crossing or None
        None if the probability does not increase over the windows.
    simulated : list of Nearness
        What was simulated, the narrow window last.
    """
    simulated: list[Nearness] = []
    wide: list[Nearness] = []
    *moves, last = seeds
    for seed in moves:
        window = _window(start, WIDE, most_items)
        wide = list(target.simulate(window, WIDE_SAMPLES, seed))
        simulated += wide
        crossing = regress(wide, target.confidence)
        if crossing is None:
            enough = np.mean([one.probability for one in wide]) >= target.confidence
            start = window[0] if enough else window[-1]
            continue
        start = float(np.clip(crossing.n_items, window[0], window[-1]))
        if start == crossing.n_items:
            break
    window = _window(start, NARROW, most_items)
    narrow = list(target.simulate(window, samples // len(window), last))
    return regress(narrow, target.confidence, wide), simulated + narrow


def _window(centre: float, factor: float, most_items: int) -> list[int]:
    steps = np.round(centre * np.geomspace(1 / factor, factor, IN_WINDOW))
    return sorted({int(n) for n in np.clip(steps, FEWEST_ITEMS, most_items)})


def regress(
    near: Sequence[Nearness], confidence: float, slope_from: Sequence[Nearness] = ()
) -> Crossing | None:
    """Regress probits on the square root of the number of items.

    If estimates are normal around the truth with a variance inversely proportional to the number of
    items, the probit of the proportion on one side of a bound is linear in this root. Over a narrow
    window the probit of the proportion between two bounds is nearly so.

    Parameters
    ----------
    near : sequence of Nearness
        The points through which the line is fitted.
    confidence : float
    slope_from : sequence of Nearness
        Further points that are used for the slope of the line, but not for its height.

    Returns
    -------
    Crossing or None
        The crossing with its standard error by the delta method; None if probits do not increase.
    """
    from scipy.special import ndtri

    spread = product = 0.0
    for group in filter(len, (slope_from, near)):  # the last one has the level
        samples, proportion, error = np.array(
            [(one.samples, one.probability, one.standard_error) for one in group]
        ).T
        # Proportions are kept away from 0 and 1, whose probits are infinite.
        probit = ndtri((samples * proportion + 0.5) / (samples + 1))
        density = np.exp(-(probit**2) / 2) / np.sqrt(2 * np.pi)
        weight = (density / error) ** 2
        x = np.sqrt([one.n_items for one in group])
        mean_x, mean_probit = np.average(x, weights=weight), np.average(probit, weights=weight)
        spread += float(weight @ (x - mean_x) ** 2)
        product += float(weight @ ((x - mean_x) * (probit - mean_probit)))
    slope = product / spread if spread > 0 else 0.0
    if slope <= 0:
        return None
    step = float(ndtri(confidence) - mean_probit) / slope
    root = max(float(mean_x) + step, 0.0)
    standard_error = np.sqrt(1 / weight.sum() + step**2 / spread) / slope
    return Crossing(root**2, float(2 * root * standard_error))
