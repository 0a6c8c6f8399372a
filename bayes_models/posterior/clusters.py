"""Clustered items in a model that takes them for independent: the design effect of its accuracies.

The influence of an item on a posterior mean is the covariance of the draws with the item's log
likelihood. The sum of its squares is the variance of the posterior mean over samples of items; the
squares of sums within clusters give that over samples of clusters. The ratio is the design effect.
"""

from dataclasses import replace

import xarray as xr

from bayes_models.posterior.joint_systems import find_influence
from lehner import Estimate
from lehner.core.estimate import ESTIMANDS
from lehner.core.resampling import design_effect, widened, widening
from lehner.core.warning import warn
from lehner.data.patterns import Patterns
from lehner.data.ratings import Ratings


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
