"""How many of independent events with different probabilities occur."""

import numpy as np

from lehner.core.arrays import Floats


def poisson_binomial(probability: Floats, counts: Floats) -> Floats:
    """Distribution of how many events occur: the inverse Fourier transform of its characteristic.

    Parameters
    ----------
    probability : ndarray, shape (n_rows,)
        From 0 to 1. Time is proportional to how many different ones there are.
    counts : ndarray, shape (n_rows,)
        How many events have each probability.

    Returns
    -------
    ndarray, shape (n_events + 1,)
        Probability of 0, 1, … events.

    References
    ----------
    Hong (2013), https://doi.org/10.1016/j.csda.2012.10.006

    Examples
    --------
    >>> poisson_binomial(np.array([0.5, 0.1]), np.array([1.0, 1.0])).round(3).tolist()
    [0.45, 0.5, 0.05]
    """
    n = int(counts.sum())
    turn = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1))
    transformed = np.ones(n + 1, dtype=complex)
    levels, level = np.unique(probability, return_inverse=True)
    for one, many in zip(levels, np.bincount(level, counts), strict=True):
        transformed *= (1 - one + one * turn) ** many
    return np.clip(np.fft.ifft(transformed).real, 0.0, 1.0)
