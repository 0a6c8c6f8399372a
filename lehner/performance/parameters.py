"""What every measure of the system is computed from: base rates and confusion, with replicates."""

from dataclasses import dataclass

from lehner.core.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters:
    """Base rates, the system's confusion matrix and the raters' accuracies.

    Parameters
    ----------
    base_rates : ndarray, shape (..., n_categories)
    confusion : ndarray, shape (..., n_categories, n_categories)
        Probability of each answer (last) given the true category.
    rater_accuracy : ndarray, shape (..., n_raters)
        NaN where the method has none.
    """

    base_rates: Floats
    confusion: Floats
    rater_accuracy: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Replicates:
    """Parameters as estimated, and how they vary.

    Parameters
    ----------
    point : Parameters
        Without leading dimensions.
    drawn : Parameters, optional
        Posterior draws or bootstrap replicates, in one leading dimension; None where a method has
        no interval.
    posterior : bool
        Whether they are draws, whose mean is the estimate, or replicates of an estimate.
    kind : str
        How intervals are made.
    notes : tuple of str
        What the user should know of these numbers, a sentence each.
    """

    point: Parameters
    drawn: Parameters | None = None
    posterior: bool = False
    kind: str = ""
    notes: tuple[str, ...] = ()
