"""Deviance: a latent-class model compared with a free probability for each pattern of ratings."""

import numpy as np

from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings
from lehner.latent_class.expectation_maximisation import expect
from lehner.latent_class.maximum import Maximum

LEAST_EXPECTED = 5


def deviance(ratings: Ratings, maximum: Maximum) -> tuple[float | None, int | None, list[Warning]]:
    r"""Compute the deviance of a model.

    .. math:: G^2 = 2 \sum_p n_p \log \frac{n_p}{n \hat f_p}

    Parameters
    ----------
    ratings : Ratings
    maximum : Maximum
        The maximum of the likelihood of these ratings.

    Returns
    -------
    g2 : float or None
        Twice the difference of the log-likelihoods; None unless each rater, and the system if there
        is one, rated each item once.
    degrees_of_freedom : int or None
        The number of patterns minus 1, for each group of items, minus the number of parameters.
    notes : list of Warning

    References
    ----------
    Goodman (1974), https://doi.org/10.1093/biomet/61.2.215
    """
    from scipy.special import xlogy

    table = maximum.table
    reason = _undefined(ratings, maximum)
    if reason:
        return None, None, [warn("deviance-undefined", f"G² is not defined: {reason}")]
    group = np.zeros(len(table.weights), np.int64) if table.groups is None else table.groups
    sizes = np.bincount(group, table.weights)
    log_expected = np.log(sizes[group]) + expect(table, maximum.found)[1]
    terms = xlogy(table.weights, table.weights) - table.weights * log_expected
    g2 = max(0.0, 2 * float(terms.sum()))
    n_patterns = table.n_categories**table.n_raters
    free = table.n_groups * (n_patterns - 1)
    notes = []
    if free < maximum.n_parameters:
        text = (
            f"not identified: {maximum.n_parameters} parameters for {free} free "
            "proportions of patterns, so that other values fit as well"
        )
        notes.append(warn("not-identified", text))
    if sizes.sum() < LEAST_EXPECTED * table.n_groups * n_patterns:
        text = (
            f"G² is not near its chi-square distribution: there are {sizes.sum():.0f} items for "
            f"{table.n_groups * n_patterns:,} patterns"
        )
        notes.append(warn("deviance-distribution", text))
    return g2, free - maximum.n_parameters, notes


def _undefined(ratings: Ratings, maximum: Maximum) -> str:
    """Why there is no saturated model for a comparison, if there is none."""
    table = maximum.table
    if ratings.anonymous:
        return "raters are anonymous"
    if table.truths is not None:
        return "some truths are known"
    if ratings.several_votes:
        return "some raters rated an item more than once"
    n_ratings = table.answers.sum(axis=1)[table.weights > 0]
    return "" if (n_ratings == table.n_raters).all() else "some ratings are missing"
