"""From draws to an Estimate, or to modes in which labels switched, if there is none."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bayes_models.posterior.dependent_pair import describe_pair, warn_of_pair
from bayes_models.posterior.diagnostics import relabelled_draws
from bayes_models.posterior.draws import credible_interval, group
from bayes_models.posterior.joint_systems import find_influence
from lehner import Estimate, InputError, IntervalEstimate
from lehner.core.errors import Warning, warn, warnings_from_json
from lehner.core.estimate import ESTIMANDS, plain
from lehner.core.resampling import design_effect, widened, widening
from lehner.core.text import percent
from lehner.data.patterns import Patterns
from lehner.data.ratings import Ratings

# The two limits were chosen on fits of the first `relaxed_k`, in which difficulty could mislead all
# raters, so that labels switched often. Of 48 fits with two categories 15 had no relabelled draw
# and 33 had more than 7%. Without these draws 6 of the 33 estimates changed by .013 at most, and
# these were within .02 of the truth; 27 changed by .034 or more, and these were wrong by .16 on
# average. With five categories and raters of accuracy .3, .4 and .5, 14 of 30 fits had more than 5%
# of relabelled draws, but without them no estimate changed by more than .011.
MOST_RELABELLED = 0.05
MOST_MOVED = 0.02


def label_modes(posterior: xr.Dataset, level: float = 0.9) -> list[dict[str, Any]]:
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
    ...         "base_rates": (("chain", "draw", "category"), np.full((1, 4, 2), 0.5)),
    ...         "confusion": (dims, np.stack([matrix] * 3, axis=2)),
    ...         "system_accuracy": (("chain", "draw"), right),
    ...         "system_accuracy_in_sample": (("chain", "draw"), right),
    ...     }
    ... )
    >>> for mode in label_modes(posterior):
    ...     print(mode["relabelled"], mode["weight"], mode["system_accuracy"])
    False 0.75 0.800 [0.800, 0.800]
    True 0.25 0.200 [0.200, 0.200]
    """
    relabelled = relabelled_draws(posterior)
    modes = []
    for switched, draws in ((False, ~relabelled), (True, relabelled)):
        if draws.any():
            values = {
                name: posterior[name].transpose("chain", "draw").values[draws] for name in ESTIMANDS
            }
            intervals = {name: credible_interval(x, level) for name, x in values.items()}
            modes.append({"relabelled": switched, "weight": float(draws.mean())} | intervals)
    return modes


def _why_no_estimate(modes: list[dict[str, Any]]) -> Warning | None:
    """Why there is no estimate because of these modes; None if there can be one.

    Labels of rare categories may switch without changing the estimate; so may those of two
    categories if the system's accuracy is .5.
    """
    means = [mode["system_accuracy"].estimate for mode in modes]
    mean = float(np.dot([mode["weight"] for mode in modes], means))
    if len(modes) > 1 and abs(mean - means[0]) <= MOST_MOVED:
        return None
    listed = "; ".join(
        f"{mode['system_accuracy']} in the {percent(mode['weight'], 0)} with "
        f"{'other labels' if mode['relabelled'] else 'the labels of the raters'}"
        for mode in modes
    )
    return warn(
        "labels-switched",
        f"no estimate: labels switched in {percent(modes[-1]['weight'], 0)} of the draws, and "
        f"system accuracy is different in these: it is {listed}",
    )


def estimate_from_draws(tree: xr.DataTree, *, level: float = 0.9) -> Estimate:
    """Summarise a fit: posterior means and equal-tailed credible intervals.

    There is no estimate if labels switched in more than 5% of the draws and the system's accuracy
    is different in these draws. A warning then gives the reason, and `diagnostics["modes"]` lists
    the draws with and without switched labels with their weights, see `label_modes`.

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
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> print(estimate_from_draws(tree).system_accuracy_in_sample)
    0.885 [0.860, 0.910]
    >>> float((ratings.truth == ratings.system).mean())
    0.885
    """
    posterior, truth = group(tree, "posterior"), group(tree, "truth")
    if "system_accuracy" not in posterior:
        raise InputError("the fit has no system", "fit ratings with a system")
    diagnostics = {"engine": tree.attrs["engine"], **json.loads(tree.attrs["diagnostics"])}
    estimate = Estimate(
        method=tree.attrs["model"],
        # The system is the last of the raters.
        system=str(posterior["rater"].values[-1]),
        system_accuracy=credible_interval(posterior["system_accuracy"], level),
        system_accuracy_in_sample=credible_interval(posterior["system_accuracy_in_sample"], level),
        warnings=warnings_from_json(tree.attrs["warnings"]),
        diagnostics=diagnostics,
        draws=tree,
    )
    if "design_effects" in tree.attrs:
        estimate = allow_for_clusters(estimate, json.loads(tree.attrs["design_effects"]), level)
        diagnostics = estimate.diagnostics
    if "dependent_pair" in tree.attrs:
        diagnostics |= {"dependent_pair": describe_pair(tree, level)}
        warnings = (*estimate.warnings, *warn_of_pair(tree))
        estimate = replace(estimate, diagnostics=diagnostics, warnings=warnings)
    if diagnostics["relabelled"] > MOST_RELABELLED:
        modes = label_modes(posterior, level)
        why_not = _why_no_estimate(modes)
        if why_not:
            nothing = IntervalEstimate(estimate=None)
            return replace(
                estimate,
                system_accuracy=nothing,
                system_accuracy_in_sample=nothing,
                warnings=(why_not, *estimate.warnings),
                diagnostics=diagnostics | {"modes": plain(modes)},
            )
    means = posterior.mean(("chain", "draw"))
    arrays = {
        "rater_accuracy": means["accuracy"].isel(rater=slice(None, -1)),
        "base_rates": means["base_rates"],
        "confusion": means["confusion"],
        "truth_probabilities": truth["truth_probabilities"],
    }
    return replace(estimate, arrays=arrays)


def design_effects(tree: xr.DataTree, ratings: Ratings, patterns: Patterns) -> dict[str, float]:
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


def allow_for_clusters(estimate: Estimate, effects: dict[str, float], level: float) -> Estimate:
    """Widen the intervals of both accuracies, and warn of what is not widened."""
    expected, in_sample = (
        widened(getattr(estimate, name), widening(effects[name], int(effects["clusters"]), level))
        for name in ESTIMANDS
    )
    text = (
        f"items are clustered, and {estimate.method} takes them for independent: the intervals of "
        f"the accuracies are widened for a design effect of {effects[ESTIMANDS[0]]:.1f}, and other "
        "intervals are not"
    )
    return replace(
        estimate,
        system_accuracy=expected,
        system_accuracy_in_sample=in_sample,
        warnings=(*estimate.warnings, warn("clusters-ignored", text)),
        diagnostics=estimate.diagnostics | {"design_effects": effects},
    )
