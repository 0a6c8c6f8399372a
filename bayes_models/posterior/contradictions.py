"""Known truths that entered a fit although the ratings speak against them."""

import numpy as np
import xarray as xr
from scipy.special import pdtrc

from bayes_models.likelihood.observations import observe
from bayes_models.posterior.truth import log_joint, states
from lehner import Ratings
from lehner.core.class_posterior import class_posterior
from lehner.core.wording import counted, first_few

IMPROBABLE = 0.05
ALARM = 0.05
MOST_NAMED = 8
MOST_DRAWS = 200


def contradictions(tree: xr.DataTree, ratings: Ratings) -> tuple[str, ...]:
    """Say which known truths a fit holds improbable by the ratings of their items.

    The parameters are those of the fit, to which the truths belong; only the item's own truth is
    set aside.

    Parameters
    ----------
    tree : xarray.DataTree
        As `fit` gives it.
    ratings : Ratings
        The data it is of.

    Returns
    -------
    tuple of str
        Empty if no known truth entered, or no more of them are improbable than chance explains.
    """
    if ratings.truth is None or not tree.attrs["known_truths"]:
        return ()
    known = ratings.truth >= 0
    if ratings.system is not None:
        known &= ratings.system >= 0
    if not known.any():
        return ()
    probability = _by_ratings_alone(tree, ratings.take(known))
    improbable = np.where(probability < IMPROBABLE, probability, 0.0)
    truth = ratings.truth[known]
    found = improbable[np.arange(len(truth)), truth] > 0
    expected, n = float(improbable.sum()), int(found.sum())
    if n == 0 or pdtrc(n - 1, expected) > ALARM:
        return ()
    named = first_few(ratings.items[known][found], MOST_NAMED)
    return (
        f"the known truths of {counted(n, 'item')} contradict it: by the ratings they have "
        f"probabilities below {IMPROBABLE:g}, as the fit expects of {expected:.1f} "
        f"(items {named}); without --truths-in-model its estimate is "
        "corrected by the known truths instead",
    )


def _by_ratings_alone(tree: xr.DataTree, ratings: Ratings) -> np.ndarray:
    """Give the probability of each category for each item, its truth set aside."""
    observed = observe(ratings.with_truth(None))
    rates, confusion = states(tree["posterior"].to_dataset())
    draws = np.unique(np.linspace(0, len(rates) - 1, MOST_DRAWS).astype(int))
    probability, _ = class_posterior(log_joint(observed, rates[draws], confusion[draws]))
    return np.asarray(probability.mean(axis=0)[observed.patterns.inverse])
