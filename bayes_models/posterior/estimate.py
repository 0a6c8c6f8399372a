"""From draws to an Estimate."""

import json

import xarray as xr

from bayes_models.posterior.draws import credible_interval
from bayes_models.posterior.label_modes import (
    MOST_RELABELLED,
    LabelMode,
    label_modes,
    why_no_estimate,
)
from lehner import Estimate, InputError, IntervalEstimate
from lehner.core.estimate import plain
from lehner.core.named_array import NamedArray
from lehner.core.warning import Warning, warnings_from_json


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
    posterior = tree["posterior"].to_dataset()
    if "system_accuracy" not in posterior:
        raise InputError("the fit has no system", "fit ratings with a system")
    diagnostics = json.loads(tree.attrs["diagnostics"])
    if diagnostics["relabelled"] > MOST_RELABELLED:
        modes = label_modes(posterior, level)
        why_not = why_no_estimate(modes)
        if why_not:
            return _no_estimate(tree, modes, why_not)
    means = posterior.mean(("chain", "draw"))
    arrays = {
        # The system is the last of the raters.
        "rater_accuracy": means["accuracy"].isel(rater=slice(None, -1)),
        "base_rates": means["base_rates"],
        "confusion": means["confusion"],
        "truth_probabilities": tree["truth"].to_dataset()["truth_probabilities"],
    }
    return Estimate(
        method=tree.attrs["model"],
        system=str(tree["posterior"].to_dataset()["rater"].values[-1]),
        system_accuracy=credible_interval(posterior["system_accuracy"], level),
        system_accuracy_in_sample=credible_interval(posterior["system_accuracy_in_sample"], level),
        arrays={name: NamedArray.from_xarray(array) for name, array in arrays.items()},
        warnings=warnings_from_json(tree.attrs["warnings"]),
        diagnostics=diagnostics,
        draws=tree,
    )


def _no_estimate(tree: xr.DataTree, modes: tuple[LabelMode, ...], why_not: Warning) -> Estimate:
    """An estimate with modes instead of means, which would mix different labels."""
    nothing = IntervalEstimate(estimate=None)
    return Estimate(
        method=tree.attrs["model"],
        system=str(tree["posterior"].to_dataset()["rater"].values[-1]),
        system_accuracy=nothing,
        system_accuracy_in_sample=nothing,
        warnings=(why_not, *warnings_from_json(tree.attrs["warnings"])),
        diagnostics=json.loads(tree.attrs["diagnostics"]) | {"modes": plain(modes)},
        draws=tree,
    )
