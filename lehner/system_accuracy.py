"""Step 4: system accuracy from its answers and the truth probabilities (Eq. 6 and 7).

Over all items: by bins as in the paper, by least squares, or by maximum likelihood.

Arrays: `truth` (n_resamples, n_cells, n_categories), `weights` (n_resamples, n_cells), `system`
(n_cells,) with -1 where the system gave no answer. Each function gives (n_resamples,), NaN where
the truth probabilities say nothing.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import xarray as xr

type Floats = NDArray[np.float64]
type Aggregation = Literal["bins", "weighted", "likelihood"]

N_BINS = 10
TIE = 1e-9
FLAT = 1e-12


def system_accuracy(agreement: ArrayLike, top_probability: ArrayLike, n_categories: int) -> Floats:
    r"""Step 4: the accuracy of the system from its agreement with the most probable category.

    .. math:: P_a = P_g P_s + (1 - P_g) \frac{1 - P_s}{K - 1} \tag{6}
    .. math:: P_s = \frac{(K - 1) P_a - 1 + P_g}{K P_g - 1} \tag{7}

    Parameters
    ----------
    agreement : array_like
        P_a, how often the system answers the most probable category.
    top_probability : array_like
        P_g, the probability of that category.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    ndarray
        NaN where P_g is 1/K and says nothing; may lie outside [0, 1].

    Examples
    --------
    >>> float(system_accuracy(2 / 3, 0.8493, 4).round(3))
    0.771
    """
    top = np.asarray(top_probability, dtype=float)
    slope = n_categories * top - 1
    slope = np.where(np.abs(slope) > 1e-9, slope, np.nan)
    return np.asarray(((n_categories - 1) * np.asarray(agreement) - 1 + top) / slope)


def by_bins(truth: Floats, system: NDArray[np.int64], weights: Floats) -> Floats:
    """Average Eq. 7 over bins (0, .1], …, (.9, 1] of the top probability, clipped to [0, 1].

    Categories that tie for the top share the item: the system's answer counts 1/m if it is one
    of m. Bins whose mean top probability is 1/K say nothing and are left out.
    """
    bins = _bins(truth, system, weights)
    used = np.where(np.isnan(bins["accuracy"]), 0.0, bins["n_items"])
    with np.errstate(invalid="ignore"):
        return np.nansum(bins["accuracy"] * used, axis=0) / used.sum(axis=0)


def bin_table(truth: Floats, system: NDArray[np.int64], weights: Floats) -> "xr.Dataset":
    """Give the paper's Table 4 for the first resample: the bins that hold items."""
    import xarray as xr

    bins = {name: values[:, 0] for name, values in _bins(truth, system, weights).items()}
    edges = np.arange(N_BINS + 1) / N_BINS
    table = {"lower": edges[:-1], "upper": edges[1:]} | bins
    filled = np.flatnonzero(bins["n_items"] > 0)
    return xr.Dataset({name: ("bin", values[filled]) for name, values in table.items()})


def by_least_squares(truth: Floats, system: NDArray[np.int64], weights: Floats) -> Floats:
    """Solve Eq. 6, written for every item and category, by least squares.

    The solution is the mean of Eq. 7 over items and categories with weights (K p - 1)^2: the
    more the truth probability p says, the more it counts.
    """
    answered = system >= 0
    truth, weights, system = truth[:, answered], weights[:, answered], system[answered]
    k = truth.shape[-1]
    x = (k * truth - 1) / (k - 1)
    answer = np.take_along_axis(x, system[None, :, None], axis=-1)[..., 0]
    numerator = (weights * (answer - (x * (1 - truth)).sum(axis=-1) / (k - 1))).sum(axis=-1)
    denominator = (weights * (x**2).sum(axis=-1)).sum(axis=-1)
    return np.clip(numerator / np.where(denominator > FLAT, denominator, np.nan), 0.0, 1.0)


def by_likelihood(truth: Floats, system: NDArray[np.int64], weights: Floats) -> Floats:
    """Maximise the likelihood of the system's answers given the truth probabilities.

    Each answer of probability p has likelihood p s + (1 - p)(1 - s)/(K - 1), so the
    log-likelihood is concave in s and its slope is bisected.
    """
    answered = system >= 0
    truth, weights, system = truth[:, answered], weights[:, answered], system[answered]
    k = truth.shape[-1]
    p = np.take_along_axis(truth, system[None, :, None], axis=-1)[..., 0]
    slope = (k * p - 1) / (k - 1)
    start = (1 - p) / (k - 1)
    low, high = np.zeros(len(weights)), np.ones(len(weights))
    for _ in range(53):
        middle = (low + high) / 2
        rising = (weights * slope / (start + slope * middle[:, None])).sum(axis=-1) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    informed = (weights * slope**2).sum(axis=-1) > FLAT
    return np.where(informed, (low + high) / 2, np.nan)


AGGREGATIONS = {"bins": by_bins, "weighted": by_least_squares, "likelihood": by_likelihood}


def _bins(
    truth: Floats, system: NDArray[np.int64], weights: Floats
) -> dict[str, NDArray[np.float64]]:
    """Give each bin's numbers, of shape (n_bins, n_resamples)."""
    answered = system >= 0
    truth, weights, system = truth[:, answered], weights[:, answered], system[answered]
    top = truth.max(axis=-1)
    tied = truth >= top[..., None] - TIE
    shared = np.maximum(tied.sum(axis=-1), 1)
    agrees = np.take_along_axis(tied, system[None, :, None], axis=-1)[..., 0] / shared
    index = np.ceil(N_BINS * np.nan_to_num(top) - TIE) - 1
    inside = [np.where(index == b, weights, 0.0) for b in range(N_BINS)]
    n_items = np.stack([w.sum(axis=-1) for w in inside])
    with np.errstate(invalid="ignore"):
        mean = np.stack([(w * top).sum(axis=-1) for w in inside]) / n_items
        agreement = np.stack([(w * agrees).sum(axis=-1) for w in inside]) / n_items
    accuracy = np.clip(system_accuracy(agreement, mean, truth.shape[-1]), 0.0, 1.0)
    return {
        "mean_probability": mean,
        "n_items": n_items,
        "agreement": agreement,
        "accuracy": accuracy,
    }
