"""Base rates, confusion matrix, and accuracy and recall of raters, from which measures are made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lehner.core.arrays import Floats
from lehner.core.warning import Warning


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters:
    """Base rates, the system's confusion matrix, and the raters' accuracy and recall.

    Parameters
    ----------
    base_rates : ndarray, shape (..., n_categories)
    confusion : ndarray, shape (..., n_categories, n_categories)
        Probability of each answer (last) given the true category.
    rater_accuracy : ndarray, shape (..., n_raters)
        NaN if the method does not estimate it.
    rater_recall : ndarray, shape (..., n_raters, n_categories), optional
        Probability that a rater answers a category when it is the true one; None if the method
        does not estimate it.
    """

    base_rates: Floats
    confusion: Floats
    rater_accuracy: Floats
    rater_recall: Floats | None = None

    def __post_init__(self) -> None:
        # Last digits of sums depend on the layout in memory, which other processes do not keep.
        for name, values in vars(self).items():
            if values is not None:
                object.__setattr__(self, name, np.asarray(values, order="C"))


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
    """Join records of arrays along their first dimension; None is left out."""
    each = [vars(part) for part in parts]
    names = (name for name, values in each[0].items() if values is not None)
    return type(parts[0])(**{name: np.concatenate([one[name] for one in each]) for name in names})


def collected[T](parts: Iterable[T], n: int) -> T:
    """Join records of arrays, n in all along the first dimension, as they are made: memory."""
    joined: dict[str, Floats] = {}
    start = 0
    for part in parts:
        named = {name: values for name, values in vars(part).items() if values is not None}
        for name, values in named.items():
            joined.setdefault(name, np.empty((n, *values.shape[1:])))[start:][: len(values)] = (
                values
            )
        start += len(next(iter(named.values())))
    return type(part)(**joined)
