"""Where chains start: at the parameters that the raters' votes suggest."""

import numpy as np
from numpy.typing import NDArray

from bayes_models.likelihood import RatingSlots, response_counts


def vote_start(slots: RatingSlots) -> dict[str, NDArray[np.float64]]:
    """Take each pattern's share of votes for its truth and read off the parameters.

    Chains that start here start with the labels the raters use, so that "yes" means yes in all
    of them.

    Parameters
    ----------
    slots : RatingSlots

    Returns
    -------
    dict
        `base_rates`, shape (n_categories,), and `confusion`, shape (n_raters, n_categories,
        n_responses).

    References
    ----------
    Dawid & Skene (1979), Eq. 3.1, which start EM so.
    """
    n_raters, k = len(slots.raters), slots.patterns.ratings.n_categories
    counts = response_counts(slots)
    votes = np.asarray(counts @ np.tile(np.eye(k), (n_raters, 1))) + 1 / k
    share = votes / votes.sum(axis=1, keepdims=True) * slots.counts[:, None]
    confusion = np.asarray(counts.T @ share).reshape(n_raters, k, k).swapaxes(1, 2) + 1.0
    base_rates = share.sum(axis=0) + 1.0
    return {
        "base_rates": base_rates / base_rates.sum(),
        "confusion": confusion / confusion.sum(axis=-1, keepdims=True),
    }
