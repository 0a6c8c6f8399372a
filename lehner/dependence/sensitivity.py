"""How an estimate would change if raters, and perhaps also the system, shared mistakes."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.algebra.algebraic import ALGEBRAIC_METHODS
from lehner.core.arrays import Floats
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, ends, plain
from lehner.dependence.misleading_items import (
    accuracy_by_confusion,
    accuracy_if_misled,
    interval_if_misled,
)
from lehner.latent_class.models import BY_LIKELIHOOD

if TYPE_CHECKING:
    import xarray as xr

MISLEADING_SHARE = 0.1
ANY_ERRORS = ("pooled", "dawid_skene", "hierarchical_dawid_skene")
"""Models in which the system may have any confusion matrix."""
ANY_ERRORS_OF_TWO = ("class_conditional", "tap")
"""Models in which it may have any if there are two categories."""
CURVE = np.linspace(0, 0.5, 51)
MOST_POSSIBLE = 0.999


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """How shared mistakes would change an estimate.

    Parameters
    ----------
    misleading_share : float
        Proportion of misleading items, 0 to 1.
    system_accuracy, system_accuracy_in_sample : IntervalEstimate
        The estimate and its interval if these items mislead raters and system alike.
    raters_alone, raters_alone_in_sample : IntervalEstimate or None
        The same if these items mislead the raters and not the system. None for proportions of (K -
        1)/K and more, with which the ratings would be uninformative or worse.
    raters_alone_bounds : tuple of float or None
        The least and the greatest expected accuracy that is possible then, whatever wrong category
        a misleading item seems to be of. None for proportions of half and more, and if the numbers
        are not exact.
    raters_alone_exact : bool
        Whether the method lets the system's accuracy and errors differ between categories, so that
        these numbers hold for any base rates. If not they hold for equal base rates, and are
        approximations for others.
    """

    misleading_share: float
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate
    raters_alone: IntervalEstimate | None = None
    raters_alone_in_sample: IntervalEstimate | None = None
    raters_alone_bounds: tuple[float, float] | None = None
    raters_alone_exact: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Result in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `misleading_share`, `estimate`, `lower`, `upper`, `level`, `in_sample`,
            `raters_alone` with the same if the system is not misled, or None. In `raters_alone` are
            also `bounds` and `exact`, as `raters_alone_bounds` and `raters_alone_exact` are.
        """
        as_dict: dict[str, Any] = {"misleading_share": self.misleading_share}
        as_dict |= _ends(self.system_accuracy, self.system_accuracy_in_sample)
        as_dict["raters_alone"] = None
        if self.raters_alone is not None and self.raters_alone_in_sample is not None:
            alone = _ends(self.raters_alone, self.raters_alone_in_sample)
            exact = {"bounds": plain(self.raters_alone_bounds), "exact": self.raters_alone_exact}
            as_dict["raters_alone"] = alone | exact
        return as_dict


def sensitivity(
    estimate: Estimate, n_categories: int, *, misleading_share: float = MISLEADING_SHARE
) -> Sensitivity:
    """Tell how an estimate changes if some items mislead the raters, and perhaps the system.

    Ratings cannot show how many such items there are, so the proportion is assumed. If they mislead
    raters and system alike, an estimated accuracy Y becomes (1 - δ) Y + δ (1 - Y)/(K - 1); if they
    mislead the raters alone, it becomes the X with Y = (1 - δ) X + δ (1 - X)/(K - 1). It is assumed
    that a proportion δ of each category misleads, and that these items seem to be of any other
    category with equal probability: see `lehner.dependence.misleading_items`. The first formula
    is for a system that is as accurate in all categories; where a method estimates its confusion
    matrix, what that adds is added. For raters misled alone Y is taken, by the algebra, from base
    rates and confusion matrix, because the one accuracy of step 4 is then not how often the system
    names the category to which items seem to belong.

    Parameters
    ----------
    estimate : Estimate
        An estimate by any method.
    n_categories : int
        K, 2 or more.
    misleading_share : float
        The proportion δ of items that mislead the raters, 0 to 1.

    Returns
    -------
    Sensitivity
        Estimates and intervals if this proportion of the items misleads everybody, or the raters
        alone.

    Raises
    ------
    InputError
        If an argument is not as above.

    Examples
    --------
    >>> from lehner import estimate_algebraic, load_dataset
    >>> estimate = estimate_algebraic(load_dataset("lehner_table2"), interval=None)
    >>> found = sensitivity(estimate, 4)
    >>> round(estimate.system_accuracy.estimate, 3), round(found.system_accuracy.estimate, 3)
    (0.804, 0.729)
    >>> round(found.raters_alone.estimate, 3)
    0.867
    """
    share, k = misleading_share, n_categories
    stated = [getattr(estimate, name) for name in ESTIMANDS]
    exact = _any_errors(estimate, k)
    more = _more_by_confusion(estimate, share, k)
    moved = [interval_if_misled(interval, share, k, more=more) for interval in stated]
    seeming = [_as_items_seem(estimate, interval) for interval in stated]
    alone: list[IntervalEstimate | None] = [None, None]
    if share * k < k - 1:
        alone = [interval_if_misled(one, share, k, along=0) for one in seeming]
    return Sensitivity(
        misleading_share=share,
        system_accuracy=moved[0],
        system_accuracy_in_sample=moved[1],
        raters_alone=alone[0],
        raters_alone_in_sample=alone[1],
        raters_alone_bounds=_bounds(seeming[0], share, k) if exact else None,
        raters_alone_exact=exact,
    )


def _as_items_seem(estimate: Estimate, interval: IntervalEstimate) -> IntervalEstimate:
    """Move the algebra's estimate, with its interval, to what base rates and recall imply."""
    accuracy = estimate.system_accuracy.estimate
    if estimate.method not in ALGEBRAIC_METHODS or accuracy is None:
        return interval
    if "confusion" not in estimate.arrays:
        return interval
    rates, matrix = _rates_and_confusion(estimate)
    by = float(rates @ np.diagonal(matrix)) - accuracy
    values = (getattr(interval, name) for name in ("estimate", "lower", "upper"))
    middle, lower, upper = (
        None if value is None else min(max(value + by, 0.0), 1.0) for value in values
    )
    return replace(interval, estimate=middle, lower=lower, upper=upper)


def _rates_and_confusion(estimate: Estimate) -> tuple[Floats, Floats]:
    """Base rates and the system's confusion matrix."""
    return estimate.arrays["base_rates"].values, estimate.arrays["confusion"].values[-1]


def _more_by_confusion(estimate: Estimate, share: float, n_categories: int) -> float:
    """How much the confusion matrix adds to the formula that takes all categories to be alike.

    So many items cannot mislead in each category if some category is seldom seen: the share is then
    the greatest that can.
    """
    if not _any_errors(estimate, n_categories) or estimate.system_accuracy.estimate is None:
        return 0.0
    rates, matrix = _rates_and_confusion(estimate)
    share = min(share, MOST_POSSIBLE * (n_categories - 1) * float(rates.min()))
    alike = accuracy_if_misled(rates @ np.diagonal(matrix), share, n_categories)
    return accuracy_by_confusion(rates, matrix, share) - float(alike)


def _bounds(
    seeming: IntervalEstimate, share: float, n_categories: int
) -> tuple[float, float] | None:
    """Accuracy if errors on misleading items are always, or never, what these seem to be."""
    if seeming.estimate is None or share >= 0.5:
        return None
    least, most = (
        float(accuracy_if_misled(seeming.estimate, share, n_categories, 0, hit=hit))
        for hit in (1, 0)
    )
    return least, most if n_categories > 2 else least


def _any_errors(estimate: Estimate, n_categories: int) -> bool:
    """Tell whether a method estimates how often the system gives each answer in each category."""
    if estimate.method in ALGEBRAIC_METHODS:
        return "confusion" in estimate.arrays
    model = estimate.method.removesuffix(BY_LIKELIHOOD)
    return model in ANY_ERRORS or (n_categories == 2 and model in ANY_ERRORS_OF_TWO)


def sensitivity_curve(estimate: IntervalEstimate | Estimate, n_categories: int) -> "xr.Dataset":
    """Compute the estimate for proportions of misleading items from none to half.

    It is assumed that the items mislead raters and system alike, as in `sensitivity`.

    Parameters
    ----------
    estimate : IntervalEstimate or Estimate
        The accuracy with its interval, if it has one; or the estimate by a method, of which the
        expected accuracy is taken, and the confusion matrix if it has one, as in `sensitivity`.
    n_categories : int
        K, 2 or more.

    Returns
    -------
    xarray.Dataset, dims (misleading_share,)
        `estimate`, `lower` and `upper` for each proportion from 0 to .5; NaN if there is none.

    Raises
    ------
    InputError
        If `n_categories` is not a whole number of 2 or more.

    Examples
    --------
    If half of the items mislead everybody, answers in two categories are right by chance.

    >>> accuracy = IntervalEstimate(estimate=0.9, lower=0.85, upper=0.95, level=0.9)
    >>> curve = sensitivity_curve(accuracy, 2)
    >>> shares = [0, 0.1, 0.5]
    >>> curve.estimate.sel(misleading_share=shares, method="nearest").values.round(2).tolist()
    [0.9, 0.82, 0.5]
    """
    import pandas as pd

    if isinstance(estimate, Estimate):
        interval = estimate.system_accuracy
        more = [_more_by_confusion(estimate, share, n_categories) for share in CURVE]
    else:
        interval, more = estimate, [0.0] * len(CURVE)
    moved = [
        ends(interval_if_misled(interval, share, n_categories, more=by))
        for share, by in zip(CURVE, more, strict=True)
    ]
    shares = pd.Index(CURVE, name="misleading_share")
    return pd.DataFrame(moved, shares, dtype=float).to_xarray()


def _ends(expected: IntervalEstimate, in_sample: IntervalEstimate) -> dict[str, Any]:
    of_expected, of_sample = (ends(one) | {"level": one.level} for one in (expected, in_sample))
    return of_expected | {"in_sample": of_sample}
