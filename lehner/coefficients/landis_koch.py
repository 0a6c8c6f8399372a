"""The labels of Landis & Koch (1977), and their probabilities."""

from itertools import pairwise
from math import inf
from statistics import NormalDist

from lehner.core.arrays import TINY

LABELS = ("poor", "slight", "fair", "moderate", "substantial", "almost perfect")
ENDS = (-1.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def landis_koch_label(coefficient: float) -> str:
    """Name the strength of agreement.

    Parameters
    ----------
    coefficient : float
        A chance-corrected coefficient.

    Returns
    -------
    str
        Above .8 almost perfect, .6 substantial, .4 moderate, .2 fair, from 0 slight, else poor.

    References
    ----------
    Landis & Koch (1977), Biometrics 33(1), 159-174, p. 165.

    Examples
    --------
    >>> landis_koch_label(0.61), landis_koch_label(0.6), landis_koch_label(-0.01)
    ('substantial', 'moderate', 'poor')
    """
    if coefficient < 0:
        return "poor"
    return next(
        name for name, end in zip(LABELS[1:], ENDS[2:], strict=True) if coefficient <= end + 1e-12
    )


def landis_koch_probability(coefficient: float, standard_error: float) -> dict[str, float]:
    """Compute the probability of each label for the true coefficient.

    The true coefficient is assumed to be normal around the estimate, truncated to [-1, 1] (Gwet
    2014, section 6.4). If the estimate is below -1, as a weighted coefficient can be, it is
    truncated only at 1.

    Parameters
    ----------
    coefficient : float
        The estimate.
    standard_error : float
        Above 0.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> round(landis_koch_probability(0.61, 0.05)["substantial"], 3)
    0.579
    """
    normal = NormalDist(coefficient, standard_error)
    lowest = ENDS[0] if coefficient >= ENDS[0] else -inf
    below = [normal.cdf(end) for end in (lowest, *ENDS[1:])]
    within = max(below[-1] - below[0], TINY)
    return {
        name: (upper - lower) / within
        for name, (lower, upper) in zip(LABELS, pairwise(below), strict=True)
    }
