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
    """Draws that have the same labels.

    Parameters
    ----------
    relabelled : bool
        Whether another order of the categories makes the raters more accurate.
    weight : float
        Share of the draws.
    system_accuracy, system_accuracy_in_sample : IntervalEstimate
        In these draws.
    """

    relabelled: bool
    weight: float
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate


def label_modes(posterior: xr.Dataset, level: float = 0.9) -> tuple[LabelMode, ...]:
    """Split a posterior by whether labels switched.

    Parameters
    ----------
    posterior : xarray.Dataset
        Of ratings with a system.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    tuple of LabelMode
        The one with the raters' labels first; without draws, it is left out.
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
