"""What mistakes shared by raters, and by the system with them or not, would do to an estimate."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, plain
from lehner.shared_mistakes.misleading_items import accuracy_if_raters_misled, interval_if_misled
from lehner.shared_mistakes.prior import SharedMistakes
from lehner.shared_mistakes.widened_interval import widen_interval

if TYPE_CHECKING:
    import xarray as xr

MISLEADING_SHARE = 0.1
CURVE = np.linspace(0, 0.5, 51)


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """What shared mistakes would do to an estimate.

    Parameters
    ----------
    misleading_share : float
        Share of misleading items.
    system_accuracy, system_accuracy_in_sample : IntervalEstimate
        What the estimate and its interval become if these mislead raters and system alike.
    raters_alone, raters_alone_in_sample : IntervalEstimate or None
        What they become if these mislead the raters and not the system; None where the raters
        would say nothing, from a share of (K - 1)/K.
    shared_mistakes : float, tuple of float or None
        The share, or the two numbers of its Beta prior, for which intervals were widened.
    widened, widened_in_sample : IntervalEstimate or None
        Estimate and upper end as they are, and the lower end with these shared mistakes.
    """

    misleading_share: float
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate
    raters_alone: IntervalEstimate | None = None
    raters_alone_in_sample: IntervalEstimate | None = None
    shared_mistakes: SharedMistakes | None = None
    widened: IntervalEstimate | None = None
    widened_in_sample: IntervalEstimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `misleading_share`, `estimate`, `lower`, `upper`, `level`, `in_sample`,
            `raters_alone` with the same if the system is not misled, or None, and
            `shared_mistakes`, with the same of the widened interval, or None.
        """
        found: dict[str, Any] = {"misleading_share": self.misleading_share}
        found |= _ends(self.system_accuracy, self.system_accuracy_in_sample)
        found["raters_alone"] = None
        if self.raters_alone is not None and self.raters_alone_in_sample is not None:
            found["raters_alone"] = _ends(self.raters_alone, self.raters_alone_in_sample)
        if self.widened is None or self.widened_in_sample is None:
            return found | {"shared_mistakes": None}
        widened = {"misleading_share": plain(self.shared_mistakes)}
        return found | {
            "shared_mistakes": widened | _ends(self.widened, self.widened_in_sample),
        }


def sensitivity(
    estimate: Estimate,
    n_categories: int,
    *,
    misleading_share: float = MISLEADING_SHARE,
    shared_mistakes: SharedMistakes | None = None,
) -> Sensitivity:
    """Say what mistakes shared by raters, and by the system or not, would do to an estimate.

    Parameters
    ----------
    estimate : Estimate
        Of any method. If it has draws, they are used.
    n_categories : int
        K, 2 or more.
    misleading_share : float
        Share of items that mislead the raters, 0 to 1.
    shared_mistakes : float or tuple of float, optional
        For the widened interval: the same share, or the two numbers of its Beta prior.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> from lehner import estimate_algebraic, load_dataset
    >>> estimate = estimate_algebraic(load_dataset("lehner_table2"), interval=None)
    >>> found = sensitivity(estimate, 4)
    >>> round(estimate.system_accuracy.estimate, 3), round(found.system_accuracy.estimate, 3)
    (0.804, 0.73)
    >>> round(found.raters_alone.estimate, 3)
    0.889
    """
    moved, alone, widened = [], [], []
    for name in ESTIMANDS:
        interval = getattr(estimate, name)
        moved.append(interval_if_misled(interval, misleading_share, n_categories))
        if misleading_share * n_categories < n_categories - 1:
            alone.append(
                interval_if_misled(
                    interval, misleading_share, n_categories, accuracy_if_raters_misled
                )
            )
        if shared_mistakes is not None:
            draws = (
                None if estimate.draws is None else np.asarray(estimate.draws["posterior"][name])
            )
            widened.append(widen_interval(interval, shared_mistakes, n_categories, draws=draws))
    return Sensitivity(
        misleading_share=misleading_share,
        system_accuracy=moved[0],
        system_accuracy_in_sample=moved[1],
        raters_alone=alone[0] if alone else None,
        raters_alone_in_sample=alone[1] if alone else None,
        shared_mistakes=shared_mistakes,
        widened=widened[0] if widened else None,
        widened_in_sample=widened[1] if widened else None,
    )


def sensitivity_curve(interval: IntervalEstimate, n_categories: int) -> "xr.Dataset":
    """Give estimate and interval for shares of misleading items from none to half.

    Parameters
    ----------
    interval : IntervalEstimate
    n_categories : int
        K, 2 or more.

    Returns
    -------
    xarray.Dataset, dims (misleading_share,)
        `estimate`, `lower` and `upper`; NaN where there is none.
    """
    import xarray as xr

    moved = [interval_if_misled(interval, share, n_categories) for share in CURVE]
    return xr.Dataset(
        {
            name: (
                "misleading_share",
                np.array([getattr(one, name) for one in moved], dtype=float),
            )
            for name in ("estimate", "lower", "upper")
        },
        {"misleading_share": CURVE},
    )


def _ends(expected: IntervalEstimate, in_sample: IntervalEstimate) -> dict[str, Any]:
    names = ("estimate", "lower", "upper", "level")
    return {name: plain(getattr(expected, name)) for name in names} | {
        "in_sample": {name: plain(getattr(in_sample, name)) for name in names}
    }
