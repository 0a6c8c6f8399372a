"""Base rates, confusion matrix and rater accuracies, from which measures are computed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.warning import Warning


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters:
    """Base rates, the system's confusion matrix and the raters' accuracies.

    Parameters
    ----------
    base_rates : ndarray, shape (..., n_categories)
    confusion : ndarray, shape (..., n_categories, n_categories)
        Probability of each answer (last) given the true category.
    rater_accuracy : ndarray, shape (..., n_raters)
        NaN if the method does not estimate it.
    """

    base_rates: Floats
    confusion: Floats
    rater_accuracy: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Replicates:
    """Estimated parameters, and draws or replicates of them.

    Parameters
    ----------
    point : Parameters
        The estimated parameters, without leading dimensions.
    drawn : Parameters, optional
        Posterior draws or bootstrap replicates, in one leading dimension; None if the method has no
        interval.
    posterior : bool
        Whether `drawn` are posterior draws, whose mean is the estimate, or bootstrap replicates.
    kind : str
        How intervals are made.
    notes : tuple of Warning
        What the user should know about these numbers.
    """

    point: Parameters
    drawn: Parameters | None = None
    posterior: bool = False
    kind: str = ""
    notes: tuple[Warning, ...] = ()


def joined[T](parts: Sequence[T]) -> T:
    """Join records of arrays along their first dimension."""
    each = [vars(part) for part in parts]
    return type(parts[0])(**{name: np.concatenate([one[name] for one in each]) for name in each[0]})
