"""Whether the draws of a fit can be trusted: convergence, and label switching."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from bayes_models.posterior.draws import group
from lehner.core import lazy
from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import Warning, warn
from lehner.core.lazy import optimize
from lehner.core.text import counted, percent, probability

arviz_stats = lazy.load("arviz_stats.base")

HIGHEST_R_HAT = 1.01
R_HAT_BY_CHANCE = 10
LOWEST_ESS = 400
MOST_CHECKED = 2_000
"""With more numbers than these, cells of confusion matrices are not checked one by one."""
AXES = {"chain_axis": 0, "draw_axis": 1}
TAILS = (0.05, 0.95)
MOST_TIMES_LONGER = 4


def ess(draws: Floats, method: str) -> Floats:
    """Compute effective sample sizes by ArviZ.

    Parameters
    ----------
    draws : ndarray, shape (n_chains, n_draws, ...)
    method : str
        "bulk", "tail" or "mean".

    Returns
    -------
    ndarray, shape (...)
    """
    options = {"prob": TAILS} if method == "tail" else {}
    values = arviz_stats.array_stats.ess(draws, **AXES, method=method, **options)
    return np.asarray(values)


class ConvergenceWarning(UserWarning):
    """The sampler's diagnostics show that the draws cannot be trusted."""


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """What was checked after sampling.

    Parameters
    ----------
    r_hat : float
        Highest rank-normalised split R-hat of the variables checked, about 1 if chains agree.
    ess_bulk, ess_tail : float
        Lowest effective sample size of these variables, in the bulk and in the tails.
    divergences : int
        Number of draws at which a trajectory of NUTS diverged.
    treedepth : int
        Number of draws in which a trajectory was cut off at the greatest depth.
    relabelled : float
        Proportion of draws, 0 to 1, in which the raters would be more accurate on average if the
        true categories were renamed: label switching is possible in these draws.
    tries : int
        How often the model was sampled. If the diagnostics of the first try fail, there is a second
        one, longer and with a higher target acceptance.
    mode_weights : tuple of float
        Weights of the posterior modes that expectation-maximisation found, the highest first, see
        `bayes_models.sampling.start.posterior_modes`. At least half of the chains start at the
        first mode, and one chain at each other mode while chains remain.
    """

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    treedepth: int = 0
    relabelled: float
    tries: int = 1
    mode_weights: tuple[float, ...] = (1.0,)

    @property
    def r_hat_limit(self) -> float:
        """The R-hat up to which chains agree; it is higher if there are few draws."""
        return max(HIGHEST_R_HAT, 1 + R_HAT_BY_CHANCE / max(self.ess_bulk, LOWEST_ESS))

    @property
    def chains_agree(self) -> bool:
        """Whether R-hat is within its limit; false where it is undefined."""
        return self.r_hat <= self.r_hat_limit

    def times_longer(self) -> int:
        """Tell how many times as long a second try should be.

        Returns
        -------
        int
            From 1 to 4: the factor that should bring the effective sample size to 1.5 times its
            limit, and 4 if chains disagree.
        """
        if not self.chains_agree:
            return MOST_TIMES_LONGER
        needed = 1.5 * LOWEST_ESS / max(min(self.ess_bulk, self.ess_tail), 1)
        return min(max(math.ceil(needed), 1), MOST_TIMES_LONGER)

    def failures(self) -> tuple[Warning, ...]:
        """Describe the problems that longer or more careful sampling may solve.

        Returns
        -------
        tuple of Warning
            One for each problem; empty if there is none.
        """
        problems = []
        if not self.chains_agree:
            text = f"chains disagree: R-hat is {self.r_hat:.3f}, above {self.r_hat_limit:.3f}"
            if len(self.mode_weights) > 1:
                weights = ", ".join(probability(weight, 2) for weight in self.mode_weights)
                text += (
                    f"; they started at posterior modes of the weights {weights} (found by EM): "
                    "there is more than one solution, and longer chains may not show how probable "
                    "each is"
                )
            problems.append(warn("not-converged", text))
        if not min(self.ess_bulk, self.ess_tail) >= LOWEST_ESS:
            text = (
                f"too few effective draws: {self.ess_bulk:.0f} in the bulk, {self.ess_tail:.0f} "
                f"in the tails, below {LOWEST_ESS}; "
                "use a model with fewer parameters, or, in Python, sample longer"
            )
            problems.append(warn("too-few-draws", text))
        if self.divergences:
            text = f"{counted(self.divergences, 'draw')} diverged: compare with another model"
            problems.append(warn("divergences", text))
        if self.treedepth:
            text = f"{counted(self.treedepth, 'draw')} reached the greatest tree depth"
            problems.append(warn("tree-depth", text))
        return tuple(problems)

    def warnings(self) -> tuple[Warning, ...]:
        """Describe what is wrong with the draws.

        Returns
        -------
        tuple of Warning
            The failures and, if labels may have switched, one of that; empty if nothing is
            wrong.
        """
        if not self.relabelled > 0.01:
            return self.failures()
        switched = (
            f"in {percent(self.relabelled, 1)} of the draws the raters would be more accurate if "
            "the true categories were renamed: labels may have switched"
        )
        return (*self.failures(), warn("labels-switched", switched))


def diagnose(
    tree: xr.DataTree,
    variables: Collection[str] | None = None,
    *,
    tries: int = 1,
    mode_weights: Sequence[float] = (1.0,),
) -> Diagnostics:
    """Read the diagnostics of a fit.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit with group `posterior`, and `sample_stats` if it was sampled by NUTS.
    variables : collection of str, optional
        Names of the variables that are checked; by default all, but with more than 2,000 numbers
        not the cells of confusion matrices.
    tries : int
        How often the model was sampled, 1 or more; the result repeats it.
    mode_weights : sequence of float
        Weights of the modes at which chains started; the result repeats them.

    Returns
    -------
    Diagnostics
        R-hat, effective sample sizes, divergences and relabelled draws.

    References
    ----------
    Vehtari et al. (2021), https://doi.org/10.1214/20-BA1221

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=1)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> diagnostics = diagnose(tree, ["system_accuracy"])
    >>> diagnostics.chains_agree, diagnostics.failures()
    (True, ())
    """
    posterior = group(tree, "posterior")
    names = [name for name in posterior.data_vars if variables is None or name in variables]
    numbers = sum(posterior[name][0, 0].size for name in names)
    if numbers > MOST_CHECKED:
        # Base rates and accuracies, which these make up, are checked.
        cells = {"category", "response"}
        names = [name for name in names if not cells <= set(posterior[name].dims)]
    scalars = np.concatenate(
        [posterior[name].values.reshape(*posterior[name].shape[:2], -1) for name in names], axis=2
    )
    # Probabilities that a model fixes have no R-hat and need none.
    scalars = scalars[..., np.ptp(scalars, axis=(0, 1)) > 0]
    r_hat = arviz_stats.array_stats.rhat(scalars, **AXES)
    return Diagnostics(
        r_hat=float(np.max(r_hat)),
        ess_bulk=float(ess(scalars, "bulk").min()),
        ess_tail=float(ess(scalars, "tail").min()),
        divergences=_count(tree, "diverging"),
        treedepth=_count(tree, "reached_max_treedepth"),
        relabelled=float(relabelled_draws(posterior).mean()),
        tries=tries,
        mode_weights=tuple(mode_weights),
    )


def _count(tree: xr.DataTree, event: str) -> int:
    return int(tree["sample_stats"][event].sum()) if "sample_stats" in tree else 0


def relabelled_draws(posterior: xr.Dataset) -> Booleans:
    """Find the draws in which raters would be more accurate with categories renamed.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates` and `confusion`; with `system_accuracy` if the last rater is a system.

    Returns
    -------
    ndarray of bool, shape (n_chains, n_draws)
    """
    dims = ("chain", "draw", "rater", "category", "response")
    confusion = posterior["confusion"].transpose(*dims).values
    if "system_accuracy" in posterior:
        # A system may be more often wrong than right.
        confusion = confusion[:, :, :-1]
    base_rates = posterior["base_rates"].transpose("chain", "draw", "category").values
    shares = confusion.sum(axis=2) * base_rates[..., None]
    # Where in each true category the most frequent response is that category, no renaming is
    # better.
    order = np.arange(shares.shape[-1])
    relabelled = (shares.argmax(axis=-2) != order).any(axis=-1)
    for draw in zip(*np.nonzero(relabelled), strict=True):
        best = optimize.linear_sum_assignment(-shares[draw])[1]
        relabelled[draw] = (best != order).any()
    return np.asarray(relabelled)
