"""Base rates corrected by the known truths of some items.

The system's confusion matrix is not corrected. A cell of it depends on the known items with one
truth and one answer, of which there are few or none, so that the result would depend on the prior
of the bias.
"""

from typing import TYPE_CHECKING

import numpy as np

from lehner.core.checks import check_level
from lehner.core.errors import InputError
from lehner.core.estimate import labelled
from lehner.data.ratings import Ratings
from lehner.known_truths.partly_known import PartlyKnown, check_probabilities
from lehner.known_truths.recalibration import proportion_posterior

if TYPE_CHECKING:
    import xarray as xr


def correct_base_rates(
    ratings: Ratings, truth_probabilities: "xr.DataArray", *, level: float = 0.9
) -> "xr.Dataset":
    """Correct the proportions of the true categories among these items.

    The probabilities of each category are recalibrated by the known truths, as `correct_by_truth`
    does with the probabilities that the system is right. The shares are the means of the
    recalibrated probabilities, divided by their sum.

    Parameters
    ----------
    ratings : Ratings
        Ratings with the truth of some items, which are a random sample of all.
    truth_probabilities : xarray.DataArray, dims (item, category)
        Probabilities by a method that did not use these truths.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    xarray.Dataset, dims (category,)
        `estimate`, `lower`, `upper`; the intervals are not simultaneous, but for each category
        alone.

    Raises
    ------
    InputError
        If no truth is known, or a probability is not a number from 0 to 1.

    Examples
    --------
    >>> from lehner import Scenario, label_algebraic, simulate
    >>> ratings = simulate(Scenario(n_categories=3, initial_rater_accuracy=(0.7,) * 3), 1)
    >>> ratings = ratings.with_truth(np.where(np.arange(200) < 20, ratings.truth, -1))
    >>> labels = label_algebraic(ratings)
    >>> rates = correct_base_rates(ratings, labels.truth_probabilities)
    >>> float(rates.estimate.sum().round(6))
    1.0
    """
    import xarray as xr

    level = check_level(level)
    truth, counted = ratings.truth, ratings.weights > 0
    if truth is None or not (truth[counted] >= 0).any():
        raise InputError("no truth is known", "give the truth of some items")
    values = np.asarray(truth_probabilities)
    means, ends = [], []
    for k in range(ratings.n_categories):
        items = PartlyKnown(
            probability=check_probabilities(values[:, k], ratings, counted)[counted],
            counts=ratings.weights[counted].astype(float),
            known=truth[counted] >= 0,
            holds=truth[counted] == k,
        )
        posterior = proportion_posterior(items)
        means.append(posterior.mean)
        ends.append(posterior.interval(level))
    lower, upper = np.transpose(ends)
    rates = {"estimate": np.array(means) / np.sum(means), "lower": lower, "upper": upper}
    return xr.Dataset({name: labelled(v, ratings, "category") for name, v in rates.items()})
