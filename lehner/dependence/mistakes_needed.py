r"""How much mistakes must correlate for the accuracy to be low, and in how many crowds they do.

The least accuracy under caps on the correlations, as in `lehner.dependence.accuracy_bounds`, but in
closed form, and for correlations that are no greater, however negative. It takes no time. If there
are two categories it is sharp, and else at most as high as a linear program finds, so that it
holds. It also holds for raters whose rates of mistakes differ: see there.

For any numbers :math:`\mu` the sum :math:`c - \mu_1 e - \mu_2 s + \mu_3 b` is at least what it is
if each item has the true category that makes it least, :math:`h(\mu)`; with the cap of the raters

.. math:: c \ge \mu_1 e + \mu_2 s - \mu_3 (e^2 + \rho\, e (1 - e)) + h(\mu).

The cap of the system is an upper limit of :math:`c`, so that the greatest :math:`s` at each
:math:`e` is a root of a quadratic equation; the smallest such limit counts. With two categories
:math:`\mu = (1/2, 1/2, 0)` is enough: :math:`h` is then half of how often a rater and the system
differ. In the same way :math:`b - e` has a least value, which limits :math:`e`. And at so many
mistakes of raters the system is wrong on most items, or right, if these are first the items on
which that costs the fewest mistakes.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.checks import check_probability
from lehner.core.number_format import decimal
from lehner.data.ratings import Ratings
from lehner.dependence.accuracy_bounds import ANY
from lehner.dependence.mistakes import ROUNDING, Mistakes, possible_errors, tabulate_mistakes

REAL_CROWDS = Path(__file__).with_name("real_crowds.csv")
"""Made by `python -m experiments.benchmarks.real.shared_mistakes FOLDER`."""
DEAL = "like"
STEPS = 200
GRID = (0, 1 / 3, 0.5, 2 / 3, 1)
MULTIPLIERS = {False: [(0.5, 0.5, 0.0)], True: list(product(GRID, GRID, (0, 0.25, 0.5, 1)))}
"""With two categories, and with more."""
CAPS = np.linspace(0, 1, 101)
STEP = 0.05


@cache
def real_crowds(deal: str = DEAL) -> "np.ndarray":
    """Read where the crowds lie that were measured by their truths.

    Parameters
    ----------
    deal : {"like", "better", "worse"}
        How the systems, who are workers of the crowd, compare with their raters.

    Returns
    -------
    numpy structured array, with a row for each crowd
        `crowd`, its `family`, which shares items or a study, its `domain`, "crowd", "experts" or
        "language models"; means over `systems` of the correlations of two `raters` and of `system`
        and rater, and of the `accuracy`.

    Examples
    --------
    >>> sorted(set(real_crowds()["domain"].tolist()))
    ['crowd', 'experts', 'language models']
    """
    read = np.genfromtxt(REAL_CROWDS, delimiter=",", names=True, dtype=None, encoding="utf-8")
    return read[read["deal"] == deal]


@dataclass(frozen=True, kw_only=True)
class MistakesNeeded:
    """How much mistakes must correlate for the accuracy not to be above some number.

    `str` gives a sentence.

    Parameters
    ----------
    above : float
        The accuracy on the items that have two ratings and an answer of the system.
    correlation : float or None
        What the mistakes of two raters, or of system and rater, must correlate by more than. None
        if the accuracy is above the number however much they do.
    crowds_beyond, n_crowds : int
        Number of the real crowds in which one of the two correlates by more, and of all.
    """

    above: float
    correlation: float | None
    crowds_beyond: int
    n_crowds: int

    def __str__(self) -> str:
        if self.above == 0:
            return (
                "any accuracy on these items is possible if mistakes correlate as they do in half "
                "of the real crowds"
            )
        if self.correlation == 0:
            return (
                f"the accuracy on these items may be {decimal(self.above, 2)} or less even if no "
                "mistakes correlate"
            )
        stated = f"the accuracy on these items is above {decimal(self.above, 2)}"
        if self.correlation is None:
            return f"{stated}, however much mistakes correlate"
        return (
            f"{stated} unless mistakes, of two raters or of the system and a rater, correlate by "
            f"more than {decimal(self.correlation, 2)}, as in {self.crowds_beyond} of "
            f"{self.n_crowds} real crowds"
        )

    @property
    def brief(self) -> str:
        """The sentence in fewer words, of the accuracy."""
        if self.above == 0:
            return "anything if mistakes correlate as in half of the real crowds"
        if self.correlation == 0:
            return f"perhaps {decimal(self.above, 2)} or less even if no mistakes correlate"
        stated = f"above {decimal(self.above, 2)}"
        if self.correlation is None:
            return f"{stated}, however much mistakes correlate"
        return (
            f"{stated} unless mistakes correlate by over {decimal(self.correlation, 2)} "
            f"({self.crowds_beyond} of {self.n_crowds} crowds)"
        )


def mistakes_needed(ratings: Ratings, above: float | None = None) -> MistakesNeeded:
    """Find how much mistakes must correlate for the accuracy not to be above some number.

    No model is assumed, but that ratings are more often right than wrong.

    Parameters
    ----------
    ratings : Ratings
        With a system. Each rating counts as one of another rater.
    above : float, optional
        The accuracy, 0 to 1. By default the highest multiple of .05 that at least half of the real
        crowds do not leave in doubt.

    Returns
    -------
    MistakesNeeded

    Raises
    ------
    InputError
        If no item has two ratings and an answer of the system, or `above` is not from 0 to 1.

    Examples
    --------
    >>> import lehner
    >>> scenario = lehner.Scenario(
    ...     n_categories=2, n_items=300, initial_rater_accuracy=(0.9, 0.9, 0.9)
    ... )
    >>> found = mistakes_needed(lehner.simulate(scenario, seed=1), above=0.8)
    >>> round(found.correlation, 2), found.n_crowds
    (0.44, 31)
    """
    least = least_accuracy(tabulate_mistakes(ratings), CAPS, CAPS)
    crowds = np.maximum(real_crowds()["raters"], real_crowds()["system"])
    if above is None:
        usual = np.interp(np.median(crowds), CAPS, least)
        steps = np.ceil(np.nan_to_num(usual) / STEP - ROUNDING) - 1
        above = round(max(float(steps), 0) * STEP, 2)
    check_probability("above", above)
    possible = np.isfinite(least)
    correlation: float | None = 0.0
    if possible.any() and least[-1] > above:
        correlation = None
    elif possible.any():
        correlation = float(np.interp(above, least[possible][::-1], CAPS[possible][::-1]))
    beyond = 0 if correlation is None else int((crowds > correlation).sum())
    return MistakesNeeded(
        above=above, correlation=correlation, crowds_beyond=beyond, n_crowds=len(crowds)
    )


def least_accuracy(mistakes: Mistakes, raters: ArrayLike, system: ArrayLike) -> Floats:
    """Least accuracy under each pair of caps.

    Parameters
    ----------
    mistakes : Mistakes
    raters, system : array_like
        Caps, 0 to 1, broadcast against each other.

    Returns
    -------
    ndarray
        NaN where no true categories agree with the ratings.
    """
    x, y = (one[..., None] for one in np.broadcast_arrays(raters, system))
    error = possible_errors(mistakes, x[..., 0], STEPS)
    variance = error * (1 - error)
    wrong = _most(mistakes, error, wrong=1)
    for one, two, three in MULTIPLIERS[mistakes.n_categories > 2]:
        values = mistakes.joint - one * mistakes.rater - two * mistakes.system
        least = mistakes.proportions @ mistakes.least(values + three * mistakes.both)
        start = one * error - three * (error**2 + x * variance) + least
        limit = _root(two - error, start, y**2 * variance)
        wrong = np.where(y < ANY, np.minimum(wrong, limit), wrong)
    wrong[wrong < 1 - _most(mistakes, error, wrong=0) - ROUNDING] = np.nan
    most = np.where(np.isnan(wrong), -np.inf, wrong).max(axis=-1)
    return np.where(np.isfinite(most), 1 - most, np.nan)


def _root(slope: Floats, start: Floats, room: Floats) -> Floats:
    """Greatest s from 0 to 1 with start + slope s at most the root of room s (1 - s)."""
    # Not 0, and not of the other sign by rounding.
    slope = np.where(np.abs(slope) < ROUNDING, ROUNDING, slope)
    with np.errstate(invalid="ignore"):
        root = np.sqrt(room * (room - 4 * slope * start - 4 * start**2))
    found = (room - 2 * slope * start + root) / (2 * (slope**2 + room))
    return np.where(slope + start <= 0, 1.0, found)


def _most(mistakes: Mistakes, error: Floats, *, wrong: int) -> Floats:
    """Greatest proportion of items that the system gets wrong, or right, at no more mistakes."""
    fewest = mistakes.least(mistakes.rater)
    cost = mistakes.least(np.where(mistakes.system == wrong, mistakes.rater, np.inf)) - fewest
    order = np.argsort(cost)
    proportions = mistakes.proportions
    paid = np.append(0, np.cumsum((proportions * cost)[order])) + proportions @ fewest
    return np.interp(error, paid, np.append(0, np.cumsum(proportions[order])))
