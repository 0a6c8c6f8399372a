"""Standard errors that methods state against those they have, and methods against one another."""

import numpy as np

from lehner.core.arrays import Floats

type Measured = tuple[float, float]

UNKNOWN = (np.nan, np.nan)
FEWEST = 3


def model_se(stated: Floats) -> Measured:
    """Give the root of the mean squared standard error that a method states.

    Parameters
    ----------
    stated : ndarray, shape (n_replicates,)

    Returns
    -------
    value, standard_error : float
        The second is the Monte Carlo error.

    References
    ----------
    Morris, White & Crowther (2019), Table 6: average ModSE.
    """
    if len(stated) < FEWEST:
        return UNKNOWN
    value = float(np.sqrt((stated**2).mean()))
    if value == 0:
        return 0.0, 0.0
    return value, float(np.sqrt((stated**2).var(ddof=1) / (4 * len(stated))) / value)


def relative_error(stated: Floats, error: Floats) -> Measured:
    """Compare the standard error that a method states with that which its estimates have.

    Parameters
    ----------
    stated, error : ndarray, shape (n_replicates,)
        The standard errors, and estimate minus truth.

    Returns
    -------
    value, standard_error : float
        0 where both are the same, -.1 where those stated are a tenth too small.

    References
    ----------
    Morris, White & Crowther (2019), Table 6: relative % error in ModSE, here not in percent.
    """
    n = len(stated)
    if n < FEWEST:
        return UNKNOWN
    mean, spread = float((stated**2).mean()), float(error.std(ddof=1))
    if mean == 0 or spread == 0:
        return UNKNOWN
    ratio = np.sqrt(mean) / spread
    relative = (stated**2).var(ddof=1) / (4 * n * mean**2) + 1 / (2 * (n - 1))
    return float(ratio - 1), float(ratio * np.sqrt(relative))


def relative_precision(error: Floats, reference: Floats) -> Measured:
    """Give by how much a method is more precise than another on the same samples.

    Parameters
    ----------
    error, reference : ndarray, shape (n_replicates,)
        Estimate minus truth by the method, and by the other.

    Returns
    -------
    value, standard_error : float
        The ratio of their variances less 1: .5 where the other needs half as many samples again.

    References
    ----------
    Morris, White & Crowther (2019), Table 6: relative % increase in precision, here not in percent.
    """
    n = len(error)
    if n < FEWEST or error.std() == 0 or reference.std() == 0:
        return UNKNOWN
    ratio = float(reference.var(ddof=1) / error.var(ddof=1))
    correlation = float(np.corrcoef(error, reference)[0, 1])
    return ratio - 1, float(2 * ratio * np.sqrt(max(0.0, 1 - correlation**2) / (n - 1)))
