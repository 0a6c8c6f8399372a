"""Modes of a posterior in which labels switched, and when they forbid an estimate."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_models.posterior.diagnostics import relabelled_draws
from lehner import IntervalEstimate
from lehner.core.arrays import Booleans

# The first `relaxed_k`, whose difficulty had a mirror image: of 48 fits of two categories 15 had no
# relabelled draw and 33 more than 7%. Where leaving those out moved the estimate by .013 at most
# (6), it was within .02 of the truth; where it moved it by .034 or more (27), it was off by .16 on
# average. Five categories and raters of .3 .4 .5: 14 of 30 fits had more than 5%, but leaving them
# out moved no estimate by more than .011.
MOST_RELABELLED = 0.05
MOST_MOVED = 0.02


@dataclass(frozen=True, kw_only=True)
class LabelMode:
    """The draws of a posterior that have the same labels.

    Parameters
    ----------
    relabelled : bool
        Whether another order of the categories makes the raters more accurate in these draws.
    weight : float
        Share of the draws, above 0 to 1.
    system_accuracy, system_accuracy_in_sample : IntervalEstimate
        Mean and credible interval in these draws.
    """

    relabelled: bool
    weight: float
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate


def label_modes(posterior: xr.Dataset, level: float = 0.9) -> tuple[LabelMode, ...]:
    """Split a posterior by whether labels switched.

    A likelihood is the same if the true categories are renamed. Labels count as switched in draws
    in which another order of the categories would make the raters more accurate on average.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates`, `confusion`, `system_accuracy` and `system_accuracy_in_sample`, dims
        (chain, draw, …), as in the group `posterior` of a fit of ratings with a system.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    tuple of LabelMode
        First the draws with the labels that raters use, then those with switched ones; what has no
        draws is left out.

    References
    ----------
    Stephens (2000), Dealing with label switching in mixture models, Journal of the Royal
    Statistical Society B 62, 795-809.

    Examples
    --------
    In the last of four draws raters in two categories are right in 20%: the labels have switched.

    >>> right = np.array([[0.8, 0.8, 0.8, 0.2]])
    >>> matrix = np.stack([np.stack([right, 1 - right], -1), np.stack([1 - right, right], -1)], -2)
    >>> dims = ("chain", "draw", "rater", "category", "response")
    >>> posterior = xr.Dataset(
    ...     {
    ...         "base_rates": (("chain", "draw", "category"), np.full((1, 4, 2), 0.5)),
    ...         "confusion": (dims, np.stack([matrix] * 3, axis=2)),
    ...         "system_accuracy": (("chain", "draw"), right),
    ...         "system_accuracy_in_sample": (("chain", "draw"), right),
    ...     }
    ... )
    >>> for mode in label_modes(posterior):
    ...     print(mode.relabelled, mode.weight, mode.system_accuracy)
    False 0.75 0.800 [0.800, 0.800]
    True 0.25 0.200 [0.200, 0.200]
    """
    relabelled = relabelled_draws(posterior)
    return tuple(
        LabelMode(
            relabelled=switched,
            weight=float(chosen.mean()),
            system_accuracy=_interval(posterior["system_accuracy"], chosen, level),
            system_accuracy_in_sample=_interval(
                posterior["system_accuracy_in_sample"], chosen, level
            ),
        )
        for switched, chosen in ((False, ~relabelled), (True, relabelled))
        if chosen.any()
    )


def why_no_estimate(modes: tuple[LabelMode, ...]) -> str:
    """Say why modes forbid an estimate, or give an empty text.

    They do if more than 5% of the draws are relabelled, so that one end of a 90% interval is in
    the other mode, and the estimate would be another by more than .02 without them. Labels of
    rare categories, or of a system that is right in half of the items of two categories, may
    switch without doing harm.

    Parameters
    ----------
    modes : tuple of LabelMode

    Returns
    -------
    str
    """
    switched = sum(mode.weight for mode in modes if mode.relabelled)
    if switched <= MOST_RELABELLED:
        return ""
    listed = "; ".join(
        f"{mode.system_accuracy} in the {mode.weight:.0%} with "
        f"{'other labels' if mode.relabelled else 'the labels of the raters'}"
        for mode in modes
    )
    means = [float(mode.system_accuracy.estimate or 0) for mode in modes]
    mean = float(np.dot([mode.weight for mode in modes], means))
    if len(modes) > 1 and abs(mean - means[0]) <= MOST_MOVED:
        return ""
    return (
        f"no estimate: labels switched in {switched:.0%} of the draws, and system accuracy depends "
        f"on them: it is {listed}"
    )


def _interval(draws: xr.DataArray, chosen: Booleans, level: float) -> IntervalEstimate:
    values = draws.transpose("chain", "draw").values[chosen]
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(
        estimate=float(values.mean()),
        lower=float(lower),
        upper=float(upper),
        level=level,
        kind="equal-tailed credible",
    )
