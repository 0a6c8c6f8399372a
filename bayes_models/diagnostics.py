"""Is the fit to be trusted? Convergence, and whether the labels stayed put."""

import math
from dataclasses import dataclass
from typing import Any

import arviz as az
import numpy as np
import xarray as xr
from scipy.optimize import linear_sum_assignment

HIGHEST_R_HAT = 1.01
LOWEST_ESS = 400


class ConvergenceWarning(UserWarning):
    """The sampler's diagnostics say that the draws are not to be trusted."""


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """What was checked after sampling.

    Parameters
    ----------
    r_hat : float
        Highest rank-normalised split R-hat of all variables.
    ess_bulk, ess_tail : float
        Lowest effective sample size of all variables.
    divergences : int
    relabelled : float
        Share of draws in which another order of the categories makes the raters more accurate
        on average: draws in which labels may have switched.
    """

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    relabelled: float

    def warnings(self) -> tuple[str, ...]:
        """Say what failed, each in one line; nothing if all is well.

        Returns
        -------
        tuple of str
        """
        found = []
        if not self.r_hat <= HIGHEST_R_HAT:
            found.append(f"chains disagree: R-hat is {self.r_hat:.3f}, above {HIGHEST_R_HAT}")
        if not min(self.ess_bulk, self.ess_tail) >= LOWEST_ESS:
            found.append(
                f"too few effective draws: {self.ess_bulk:.0f} in the bulk, {self.ess_tail:.0f} "
                f"in the tails, below {LOWEST_ESS}; sample longer"
            )
        if self.divergences:
            found.append(f"{self.divergences} draws diverged: raise target_accept")
        if self.relabelled > 0.01:
            found.append(
                f"in {self.relabelled:.1%} of the draws another order of the categories makes the "
                "raters more accurate: labels may have switched"
            )
        return tuple(found)


def diagnose(tree: xr.DataTree) -> Diagnostics:
    """Read the diagnostics of a fit.

    Parameters
    ----------
    tree : xarray.DataTree
        With groups `posterior` and `sample_stats`.

    Returns
    -------
    Diagnostics

    References
    ----------
    Vehtari et al. (2021), https://doi.org/10.1214/20-BA1221
    """
    posterior = tree["posterior"].to_dataset()
    return Diagnostics(
        r_hat=_extreme(az.rhat(posterior), max),
        ess_bulk=_extreme(az.ess(posterior, method="bulk"), min),
        ess_tail=_extreme(az.ess(posterior, method="tail"), min),
        divergences=int(tree["sample_stats"]["diverging"].sum()),
        relabelled=relabelled_share(posterior),
    )


def relabelled_share(posterior: xr.Dataset) -> float:
    """Find the share of draws in which another order of the categories fits the raters better.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates` and `confusion`.

    Returns
    -------
    float
        Between 0 and 1.
    """
    joint = posterior["confusion"].mean("rater") * posterior["base_rates"]
    draws = joint.stack(sample=("chain", "draw")).transpose("sample", "category", "response").values
    order = np.arange(draws.shape[1])
    better = [(linear_sum_assignment(-draw)[1] != order).any() for draw in draws]
    return float(np.mean(better))


def _extreme(values: Any, pick: Any) -> float:
    numbers = [float(pick(v.values.ravel(), default=math.nan)) for v in values.data_vars.values()]
    return math.nan if any(map(math.isnan, numbers)) else pick(numbers)
