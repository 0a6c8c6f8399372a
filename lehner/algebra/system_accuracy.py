"""Step 4: system accuracy from its answers and the truth probabilities (Eq. 6 and 7).

Eq. 7 divides by K P_g - 1. An item whose ratings make all categories equally probable (two raters
against two, with equal base rates) has P_g = 1/K and tells nothing about the system. In data the
estimated P_g differs from 1/K by sampling error, and Eq. 7 is then one error divided by another.

- "weighted", the default, is the mean of Eq. 7 over items and categories with weights (K p - 1)^2,
  so that a term with a divisor near 0 has a weight near 0.
- "likelihood" maximises the likelihood of the answers. Its error is up to 15% smaller if the
  K-properties are true, and it takes several times as long.
- "paper" sorts items into bins of P_g, computes Eq. 7 in each bin, clips it to [0, 1] and weights
  it by the number of items, even if these have P_g near 1/K. It is therefore not consistent: with
  more items the proportion of such items stays the same, and the error does not go to zero, even if
  all K-properties are true. Clipping makes the error one-sided: the accuracy of a good system is
  underestimated. The estimate also jumps if categories tie for the highest probability, or if P_g
  is at the edge of two bins. Of the .731 that the paper prints for its ten cases, .2 come from two
  items of P_g = .325 = 1/K + .075, for which Eq. 7 gives 2.75, clipped to 1.

"weighted" and "likelihood" depend continuously on the frequencies of votes and answers, so that
they converge in large samples. A rule that drops bins near 1/K would not, because chance would
still decide into which bin an item falls.

Arrays: `truth` (n_samples, n_votes, n_categories), the truth probabilities of items with the same
votes; `answers`, of the same shape, the number of these items for which the system answered each
category. Each function returns (n_samples,), with NaN where all truth probabilities are 1/K.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats

if TYPE_CHECKING:
    import xarray as xr

type Aggregation = Literal["weighted", "likelihood", "paper"]

N_BINS = 10
TIE = 1e-9
FLAT = 1e-12
SETTLED = 1e-15
MOST_STEPS = 100


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
        NaN where P_g is 1/K; may lie outside [0, 1].

    Examples
    --------
    >>> float(system_accuracy(2 / 3, 0.8493, 4).round(3))
    0.771
    """
    top = np.asarray(top_probability, dtype=float)
    slope = n_categories * top - 1
    slope = np.where(np.abs(slope) > 1e-9, slope, np.nan)
    return np.asarray(((n_categories - 1) * np.asarray(agreement) - 1 + top) / slope)


def by_bins(truth: Floats, answers: Floats) -> Floats:
    """Average Eq. 7 over bins (0, .1], …, (.9, 1] of the top probability, as the paper does.

    In each bin it is clipped to [0, 1], and the bins are weighted by their numbers of items.

    Categories that tie for the top share the item: the system's answer counts 1/m if it is one
    of m. Only bins whose mean top probability is 1/K to nine digits are left out.
    """
    bins = _bins(truth, answers)
    used = np.where(np.isnan(bins["accuracy"]), 0.0, bins["n_items"])
    with np.errstate(invalid="ignore"):
        return np.nansum(bins["accuracy"] * used, axis=-1) / used.sum(axis=-1)


def bin_table(truth: Floats, answers: Floats) -> "xr.Dataset":
    """The paper's Table 4 for the first sample: the bins that contain items."""
    import xarray as xr

    bins = {name: values[0] for name, values in _bins(truth, answers).items()}
    edges = np.arange(N_BINS + 1) / N_BINS
    table = {"lower": edges[:-1], "upper": edges[1:]} | bins
    filled = np.flatnonzero(bins["n_items"] > 0)
    return xr.Dataset({name: ("bin", values[filled]) for name, values in table.items()})


def by_weights(truth: Floats, answers: Floats) -> Floats:
    """Solve Eq. 6, written for every item and category, by least squares.

    The solution is the mean of Eq. 7 over items and categories with weights (K p - 1)^2: a truth
    probability p has more weight the farther it is from 1/K.
    """
    k = truth.shape[-1]
    n_items = answers.sum(axis=-1, keepdims=True)
    x = (k * truth - 1) / (k - 1)
    expected = n_items * (1 - truth) / (k - 1)
    numerator = (x * (answers - expected)).sum(axis=(-2, -1))
    denominator = (n_items * x**2).sum(axis=(-2, -1))
    return np.clip(numerator / np.where(denominator > FLAT, denominator, np.nan), 0.0, 1.0)


def by_likelihood(truth: Floats, answers: Floats) -> Floats:
    """Maximise the likelihood of the system's answers given the truth probabilities.

    Each answer of probability p has likelihood p s + (1 - p)(1 - s)/(K - 1), so the
    log-likelihood is concave in s: Newton's method, within a bracket that shrinks.
    """
    k = truth.shape[-1]
    slope = (k * truth - 1) / (k - 1)
    start = (1 - truth) / (k - 1)
    informed = (answers * slope**2).sum(axis=(-2, -1)) > FLAT

    def derivatives(accuracy: Floats) -> tuple[Floats, Floats]:
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(answers > 0, slope / (start + slope * accuracy[:, None, None]), 0.0)
        weighted = answers * ratio
        return weighted.sum(axis=(-2, -1)), (weighted * ratio).sum(axis=(-2, -1))

    low, high = np.zeros(len(truth)), np.ones(len(truth))
    at_high = derivatives(high)[0] >= 0
    done = at_high | (derivatives(low)[0] <= 0) | ~informed
    accuracy = np.where(done, np.where(at_high, high, low), 0.5)
    for _ in range(MOST_STEPS):
        if done.all():
            break
        gradient, curvature = derivatives(accuracy)
        low = np.where(gradient > 0, accuracy, low)
        high = np.where(gradient > 0, high, accuracy)
        with np.errstate(invalid="ignore", divide="ignore"):
            newton = accuracy + gradient / curvature
        moved = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        settled = np.abs(moved - accuracy) < SETTLED
        accuracy = np.where(done, accuracy, moved)
        done |= settled
    return np.where(informed, accuracy, np.nan)


AGGREGATIONS = {"weighted": by_weights, "likelihood": by_likelihood, "paper": by_bins}


def _bins(truth: Floats, answers: Floats) -> dict[str, Floats]:
    """Each bin's numbers, of shape (n_samples, n_bins)."""
    n_samples = len(truth)
    top = truth.max(axis=-1)
    n_items = np.where(np.isnan(top), 0.0, answers.sum(axis=-1))
    tied = truth >= top[..., None] - TIE
    agreeing = (answers * tied).sum(axis=-1) / np.maximum(tied.sum(axis=-1), 1)
    top = np.nan_to_num(top, nan=1.0)
    index = np.ceil(N_BINS * top - TIE).astype(np.int64) - 1
    flat = (index + N_BINS * np.arange(n_samples)[:, None]).T.ravel()

    def total(values: Floats) -> Floats:
        sums = np.bincount(flat, weights=values.T.ravel(), minlength=n_samples * N_BINS)
        return sums.reshape(n_samples, N_BINS)

    n_in_bin = total(n_items)
    with np.errstate(invalid="ignore"):
        mean, agreement = total(n_items * top) / n_in_bin, total(agreeing) / n_in_bin
    return {
        "mean_probability": mean,
        "n_items": n_in_bin,
        "agreement": agreement,
        "accuracy": np.clip(system_accuracy(agreement, mean, truth.shape[-1]), 0.0, 1.0),
    }
