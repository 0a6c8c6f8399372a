"""The accuracy of system and raters in groups of items, after a fit to all of them."""

import xarray as xr
from numpy.typing import ArrayLike

from bayes_models.likelihood.observations import observe
from bayes_models.posterior.fitted_ratings import fitted_ratings
from lehner import GroupEstimates, Ratings
from lehner.core.checks import check_level
from lehner.core.seeds import Seed
from lehner.core.warning import warn
from lehner.groups.membership import count_answers, find_groups
from lehner.groups.summary import summarise_groups

CREDIBLE = "equal-tailed credible"
POOLED_ACCURACY = warn(
    "groups-pooled",
    "base rates and accuracies of groups are partially pooled, so that differences between small "
    "groups are too small; all raters shift alike",
)


def accuracy_by_group(
    tree: xr.DataTree,
    ratings: Ratings,
    groups: ArrayLike,
    *,
    level: float = 0.9,
    seed: Seed = 1,
) -> GroupEstimates:
    """Estimate the accuracy of system and raters in groups of items.

    Nothing is fitted again. Each draw of the fit keeps its confusion matrices, but each group has
    its own base rates, one shift of the raters' log odds of a right answer that is common to all
    raters, and another shift for the system; true categories are drawn again. Base rates and shifts
    are partially pooled: they are shrunk toward those of all items, most in small groups and if
    groups differ little. It is assumed that a group makes all raters better or worse by the same
    shift, and that the proportions of their errors are the same in all groups.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted, with a system.
    groups : array_like, shape (n_rows,)
        The name of each row's group; None, NaN or "" for rows that belong to none.
    level : float
        Probability of the intervals, between 0 and 1.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        The same seed gives the same numbers.

    Returns
    -------
    GroupEstimates
        Accuracies, base rates and differences, each with its interval. A single group has no
        shifts: its accuracies are those of the fit.

    Raises
    ------
    InputError
        If these are not the ratings of the fit, if there is no system, or if it answered no item of
        a group.

    Notes
    -----
    Groups must be defined by what is known before the items are rated, as domains and lengths are.
    For items chosen by their ratings or by the system's answers, see `accuracy_where`.

    In a simulation (`experiments/simulations/item_groups.csv`, `dawid_skene`, 60 data sets; a
    third of the items are in a group in which the system's accuracy is .75 instead of .95) the
    estimated difference is .09 too small with 50 items, .06 with 200 and .02 with 1,000. Its 90%
    intervals contain the true difference in .78, .83 and .80 (± .05) of the data sets; if the
    raters, too, are less accurate in that group, in .88, .88 and .90; and if there is no
    difference, zero in 1.00, 1.00 and .85. The partial pooling and the priors of the confusion
    matrices draw groups toward one another. `lehner.estimate_groups` does not, and has wider
    intervals: use it where groups are small and may differ much.

    Confusion matrices are those of a fit that ignored the groups, and the groups do not change them
    (this is called a cut posterior). If groups differ much and are large, fit them one by one.

    Examples
    --------
    >>> import lehner
    >>> import numpy as np
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=2).with_truth(None)
    >>> tree = fit("pooled", ratings, engine="gibbs", chains=2, checks=False)
    >>> domain = np.where(np.arange(200) < 120, "law", "sport")
    >>> [one.n_items for one in accuracy_by_group(tree, ratings, domain).groups]
    [120, 80]
    """
    level = check_level(level)
    posterior = tree["posterior"].to_dataset()
    patterns = observe(fitted_ratings(tree, ratings))
    membership = find_groups(ratings, groups)
    count_answers(ratings, membership)
    # It needs SciPy, which takes long to load.
    from bayes_models.posterior.group_sampler import sample_groups

    replicates = sample_groups(
        posterior, patterns, ratings.weights, membership.index, len(membership), seed
    )
    return summarise_groups(
        str(tree.attrs["model"]),
        ratings,
        membership,
        replicates,
        level=level,
        kind=CREDIBLE,
        notes=(POOLED_ACCURACY,),
    )
