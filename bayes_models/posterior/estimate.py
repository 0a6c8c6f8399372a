"""From draws to an Estimate: whether the draws can be trusted, and what they say.

Draws are checked for convergence and for label switching. Where labels switched and it matters,
there are modes in place of an estimate.
"""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.posterior.contrasts import find_influence
from bayes_models.posterior.draws import AXES, arviz_stats, compute_ess, read_group
from lehner import Estimate, InputError, IntervalEstimate
from lehner.core.arrays import Booleans, Floats
from lehner.core.errors import Warning, read_warnings, warn
from lehner.core.estimate import ESTIMANDS, average_draws, to_plain
from lehner.core.lazy import optimize, special, stats
from lehner.core.resampling import design_effect, find_widening, widen
from lehner.core.text import format_p, pluralise, to_percent
from lehner.data.counts import Patterns
from lehner.data.ratings import Ratings

HIGHEST_R_HAT = 1.01
R_HAT_BY_CHANCE = 10
LOWEST_ESS = 400
# With more recalls than these they are not checked, but the accuracies that they make up.
MOST_RECALLS = 1_000
MOST_TIMES_LONGER = 4
# The two limits were chosen on fits of the first `relaxed_k`, in which difficulty could mislead all
# raters, so that labels switched often. Of 48 fits with two categories 15 had no relabelled draw
# and 33 had more than 7%. Without these draws 6 of the 33 estimates changed by .013 at most, and
# these were within .02 of the truth; 27 changed by .034 or more, and these were wrong by .16 on
# average. With five categories and raters of accuracy .3, .4 and .5, 14 of 30 fits had more than 5%
# of relabelled draws, but without them no estimate changed by more than .011.
MOST_RELABELLED = 0.05
MOST_MOVED = 0.02


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
        `bayes_models.sampling.start.find_modes`. At least half of the chains start at the
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

    def find_times_longer(self) -> int:
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

    def list_failures(self) -> tuple[Warning, ...]:
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
                weights = ", ".join(format_p(weight, 2) for weight in self.mode_weights)
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
            text = f"{pluralise(self.divergences, 'draw')} diverged: compare with another model"
            problems.append(warn("divergences", text))
        if self.treedepth:
            text = f"{pluralise(self.treedepth, 'draw')} reached the greatest tree depth"
            problems.append(warn("tree-depth", text))
        return tuple(problems)

    def list_warnings(self) -> tuple[Warning, ...]:
        """Describe what is wrong with the draws.

        Returns
        -------
        tuple of Warning
            The failures and, if labels may have switched, one of that; empty if nothing is
            wrong.
        """
        if not self.relabelled > 0.01:
            return self.list_failures()
        switched = (
            f"in {to_percent(self.relabelled, 1)} of the draws the raters would be more accurate "
            "if the true categories were renamed: labels may have switched"
        )
        return (*self.list_failures(), warn("labels-switched", switched))


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
        Names of the variables that are checked, by default all; of confusion matrices the recalls,
        unless there are more than 1,000.
    tries : int
        How often the model was sampled, 1 or more; the result repeats it.
    mode_weights : sequence of float
        Weights of the modes at which chains started; the result repeats them.

    Returns
    -------
    Diagnostics
        R-hat, effective sample sizes, divergences and relabelled draws.

    Raises
    ------
    InputError
        If the tree has no such group.

    References
    ----------
    Vehtari et al. (2021), https://doi.org/10.1214/20-BA1221

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=1).with_truth(None)
    >>> tree = fit("dawid_skene", ratings, engine="gibbs", chains=2, checks=False)
    >>> diagnostics = diagnose(tree, ["system_accuracy"])
    >>> diagnostics.chains_agree, diagnostics.list_failures()
    (True, ())
    """
    posterior = read_group(tree, "posterior")
    parts = []
    for name in posterior if variables is None else variables:
        draws = posterior[name].transpose("chain", "draw", ...)
        values = draws.values
        if "response" in draws.dims:
            # An error that hardly occurs has few effective draws, and decides nothing.
            matrices = draws.transpose(..., "category", "response").values
            values = np.diagonal(matrices, axis1=-2, axis2=-1)
            if values[0, 0].size > MOST_RECALLS:
                continue
        parts.append(values.reshape(*values.shape[:2], -1))
    scalars = np.concatenate(parts, axis=2)
    return diagnose_draws(
        scalars,
        tree,
        relabelled=float(detect_relabelled(posterior).mean()),
        tries=tries,
        mode_weights=tuple(mode_weights),
    )


def diagnose_draws(
    scalars: Floats, tree: xr.DataTree, *, relabelled: float = 0.0, **of_fit: Any
) -> Diagnostics:
    """Diagnose draws of numbers, shape (n_chains, n_draws, n), and what the sampler says of them.

    Parameters
    ----------
    scalars : ndarray
    tree : xarray.DataTree
        With group `sample_stats` if it was sampled by NUTS.
    relabelled : float
        Proportion of draws in which labels may have switched.
    **of_fit
        Other fields of `Diagnostics`.
    """
    # Probabilities that a model fixes have no R-hat and need none.
    scalars = scalars[..., np.ptp(scalars, axis=(0, 1)) > 0]
    scores = score_ranks(scalars)
    r_hat = arviz_stats.array_stats.rhat(scores, **AXES, method="identity")
    return Diagnostics(
        # One chain agrees with nothing.
        r_hat=float(r_hat.max()) if len(scalars) > 1 else math.nan,
        ess_bulk=float(compute_ess(scores[..., : scalars.shape[2]], "identity").min()),
        ess_tail=float(compute_ess(scalars, "tail").min()),
        divergences=_count(tree, "diverging"),
        treedepth=_count(tree, "reached_max_treedepth"),
        relabelled=relabelled,
        **of_fit,
    )


def score_ranks(scalars: Floats) -> Floats:
    """Give normal scores of the ranks of draws, of which R-hat and bulk ESS are computed.

    All numbers are ranked at once, which ArviZ does one by one.

    Parameters
    ----------
    scalars : ndarray, shape (n_chains, n_draws, n)

    Returns
    -------
    ndarray, shape (2 * n_chains, n_draws // 2, 2 * n)
        Chains are split into halves. The scores of the numbers come first, then those of their
        distances from the median.

    References
    ----------
    Vehtari et al. (2021), https://doi.org/10.1214/20-BA1221, section 4.

    Examples
    --------
    >>> score_ranks(np.array([[[5.0], [9.0], [6.0], [8.0]]])).round(2)[..., 0]
    array([[-1.05,  1.05],
           [-0.3 ,  0.3 ]])
    """
    half = scalars.shape[1] // 2
    split = np.concatenate([scalars[:, :half], scalars[:, -half:]])
    distance = np.abs(split - np.median(split, axis=(0, 1)))
    both = np.concatenate([split, distance], axis=2)
    draws = both.reshape(-1, both.shape[2])
    scores = special.ndtri((stats.rankdata(draws, axis=0) - 0.375) / (len(draws) + 0.25))
    return np.asarray(scores.reshape(both.shape))


def _count(tree: xr.DataTree, event: str) -> int:
    return int(tree["sample_stats"][event].sum()) if "sample_stats" in tree else 0


def detect_relabelled(posterior: xr.Dataset) -> Booleans:
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
    base_rates = posterior["base_rates"].transpose("chain", "draw", ...).values
    shares = confusion.sum(axis=2) * base_rates[..., None]
    # Where in each true category the most frequent response is that category, no renaming is
    # better.
    order = np.arange(shares.shape[-1])
    relabelled = (shares.argmax(axis=-2) != order).any(axis=-1)
    for draw in zip(*np.nonzero(relabelled), strict=True):
        best = optimize.linear_sum_assignment(-shares[draw])[1]
        relabelled[draw] = (best != order).any()
    return np.asarray(relabelled)


def find_label_modes(posterior: xr.Dataset, level: float = 0.9) -> list[dict[str, Any]]:
    """Split a posterior by whether labels switched.

    The likelihood does not change if the true categories are renamed. Labels count as switched in a
    draw if the raters would be more accurate on average with the true categories renamed.

    Parameters
    ----------
    posterior : xarray.Dataset
        With `base_rates`, `confusion`, `system_accuracy` and `system_accuracy_in_sample`, dims
        (chain, draw, …), as in the group `posterior` of a fit of ratings with a system.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    list of dict
        First the draws with the labels that raters use, then those with switched labels; either is
        left out if there are no such draws. Each has `relabelled` (whether the raters would be more
        accurate in these draws if the true categories were renamed), `weight` (proportion of the
        draws), and the intervals `system_accuracy` and `system_accuracy_in_sample`.

    References
    ----------
    Stephens (2000), Dealing with label switching in mixture models, Journal of the Royal
    Statistical Society B 62, 795-809.

    Examples
    --------
    In the last of four draws the raters' accuracy is .2 in both categories: labels have switched.

    >>> right = np.array([[0.8, 0.8, 0.8, 0.2]])
    >>> matrix = np.stack([np.stack([right, 1 - right], -1), np.stack([1 - right, right], -1)], -2)
    >>> dims = ("chain", "draw", "rater", "category", "response")
    >>> posterior = xr.Dataset(
    ...     {
    ...         "base_rates": (("chain", "draw", "true_category"), np.full((1, 4, 2), 0.5)),
    ...         "confusion": (dims, np.stack([matrix] * 3, axis=2)),
    ...         "system_accuracy": (("chain", "draw"), right),
    ...         "system_accuracy_in_sample": (("chain", "draw"), right),
    ...     }
    ... )
    >>> for mode in find_label_modes(posterior):
    ...     print(mode["relabelled"], mode["weight"], mode["system_accuracy"])
    False 0.75 0.800 [0.800, 0.800]
    True 0.25 0.200 [0.200, 0.200]
    """
    relabelled = detect_relabelled(posterior)
    modes = []
    for switched, draws in ((False, ~relabelled), (True, relabelled)):
        if draws.any():
            values = {
                name: posterior[name].transpose("chain", "draw").values[draws] for name in ESTIMANDS
            }
            intervals = {name: average_draws(x, level) for name, x in values.items()}
            modes.append({"relabelled": switched, "weight": float(draws.mean())} | intervals)
    return modes


def _explain_no_estimate(modes: list[dict[str, Any]]) -> Warning | None:
    """Say why there is no estimate because of these modes; None if there can be one.

    Labels of rare categories may switch without changing the estimate; so may those of two
    categories if the system's accuracy is .5.
    """
    means = [mode["system_accuracy"].estimate for mode in modes]
    mean = float(np.dot([mode["weight"] for mode in modes], means))
    if len(modes) > 1 and abs(mean - means[0]) <= MOST_MOVED:
        return None
    listed = "; ".join(
        f"{mode['system_accuracy']} in the {to_percent(mode['weight'], 0)} with "
        f"{'other labels' if mode['relabelled'] else 'the labels of the raters'}"
        for mode in modes
    )
    return warn(
        "labels-switched",
        f"no estimate: labels switched in {to_percent(modes[-1]['weight'], 0)} of the draws, and "
        f"system accuracy is different in these: it is {listed}",
    )


def estimate_from_draws(tree: xr.DataTree, *, level: float = 0.9) -> Estimate:
    """Summarise a fit: posterior means and equal-tailed credible intervals.

    There is no estimate if labels switched in more than 5% of the draws and the system's accuracy
    is different in these draws. A warning then gives the reason, and `diagnostics["modes"]` lists
    the draws with and without switched labels with their weights, see `find_label_modes`.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`, of ratings with a system.
    level : float
        Probability of the intervals, between 0 and 1.

    Returns
    -------
    Estimate
        The estimate, with the fit in `draws`.

    Raises
    ------
    InputError
        If the ratings had no system.

    Examples
    --------
    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=2)
    >>> unlabelled = ratings.with_truth(None)
    >>> tree = fit("dawid_skene", unlabelled, engine="gibbs", chains=2, checks=False)
    >>> print(estimate_from_draws(tree).system_accuracy_in_sample)
    0.884 [0.860, 0.910]
    >>> float((ratings.truth == ratings.system).mean())
    0.885
    >>> estimate_from_draws(tree).base_rates.dims
    ('category',)
    """
    posterior, truth = read_group(tree, "posterior"), read_group(tree, "truth")
    if "system_accuracy" not in posterior:
        raise InputError("the fit has no system", "fit ratings with a system")
    estimate = Estimate(
        method=tree.attrs["model"],
        # The system is the last of the raters.
        system=str(posterior["rater"].values[-1]),
        system_accuracy=average_draws(posterior["system_accuracy"], level),
        system_accuracy_in_sample=average_draws(posterior["system_accuracy_in_sample"], level),
        warnings=read_warnings(tree.attrs["warnings"]),
        diagnostics={"engine": tree.attrs["engine"], **json.loads(tree.attrs["diagnostics"])},
        draws=tree,
    )
    if "design_effects" in tree.attrs:
        estimate = widen_for_clusters(estimate, json.loads(tree.attrs["design_effects"]), level)
    if estimate.diagnostics["relabelled"] > MOST_RELABELLED:
        modes = find_label_modes(posterior, level)
        why_not = _explain_no_estimate(modes)
        if why_not:
            nothing: Any = dict.fromkeys(ESTIMANDS, IntervalEstimate(estimate=None))
            return replace(
                estimate,
                **nothing,
                warnings=(why_not, *estimate.warnings),
                diagnostics=estimate.diagnostics | {"modes": to_plain(modes)},
            )
    means = posterior.mean(("chain", "draw"))
    arrays = {
        "rater_accuracy": means["accuracy"].isel(rater=slice(None, -1)),
        "base_rates": means["base_rates"].rename(true_category="category"),
        "confusion": means["confusion"],
        "truth_probabilities": truth["truth_probabilities"],
    }
    return replace(estimate, arrays=arrays)


def find_design_effects(
    tree: xr.DataTree, ratings: Ratings, patterns: Patterns
) -> dict[str, float]:
    """Compute the design effect of both accuracies, and count the clusters.

    References
    ----------
    Giordano & Broderick (2023), The Bayesian infinitesimal jackknife for variance,
    https://arxiv.org/abs/2305.06466, for the influence; Kish (1965), Survey Sampling, section 8.2.
    """
    influence = find_influence(tree["posterior"].to_dataset(), patterns)
    of_rows = (influence.of_rows, influence.of_rows_in_sample)
    effects = {
        name: design_effect(values, ratings.weights.astype(float), ratings.cluster)
        for name, values in zip(ESTIMANDS, of_rows, strict=True)
    }
    return effects | {"clusters": ratings.n_clusters}


def widen_for_clusters(estimate: Estimate, effects: dict[str, float], level: float) -> Estimate:
    """Widen the intervals of both accuracies, and warn of what is not widened."""
    n_clusters = int(effects["clusters"])
    intervals: Any = {
        name: widen(getattr(estimate, name), find_widening(effects[name], n_clusters, level))
        for name in ESTIMANDS
    }
    text = (
        f"items are clustered, and {estimate.method} takes them for independent: the intervals of "
        f"the accuracies are widened for a design effect of {effects[ESTIMANDS[0]]:.1f}, and other "
        "intervals are not"
    )
    return replace(
        estimate,
        **intervals,
        warnings=(*estimate.warnings, warn("clusters-ignored", text)),
        diagnostics=estimate.diagnostics | {"design_effects": effects},
    )
