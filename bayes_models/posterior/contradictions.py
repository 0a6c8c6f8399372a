"""Known truths that entered a fit although the ratings make them improbable."""

import numpy as np
import xarray as xr

from bayes_models.likelihood.observations import observe
from bayes_models.posterior.truth import log_joint, states_by_population
from lehner import Ratings
from lehner.core.class_posterior import class_posterior
from lehner.core.warning import Warning, warn
from lehner.core.wording import counted, first_few

IMPROBABLE = 0.05
SUSPICIOUS_TAIL = 0.05
MOST_NAMED = 8
MOST_DRAWS = 200


def contradictions(tree: xr.DataTree, ratings: Ratings) -> tuple[Warning, ...]:
    """Name the known truths that are improbable given the ratings of their items.

    The probability of an item's known truth is computed from the item's ratings and the parameters
    of the fit. The item's known truth is not used for that; but the parameters were fitted with all
    known truths, its own among them.

    Parameters
    ----------
    tree : xarray.DataTree
        A fit, as returned by `fit`.
    ratings : Ratings
        The ratings that were fitted.

    Returns
    -------
    tuple of Warning
        One, if more known truths have probabilities below .05 than the fit predicts, by
        more than chance explains. Empty otherwise, and if no known truth entered the fit.

    Raises
    ------
    InputError
        If the ratings cannot be fitted (see `observe`).

    Examples
    --------
    Thirty truths are known, of which the first six are wrong.

    >>> import lehner
    >>> from bayes_models import fit
    >>> scenario = lehner.Scenario(n_categories=3, initial_rater_accuracy=(0.8,) * 3)
    >>> ratings = lehner.simulate(scenario, seed=1)
    >>> known = np.where(np.arange(200) < 30, ratings.truth, -1)
    >>> known[:6] = (known[:6] + 1) % 3
    >>> some = ratings.with_truth(known)
    >>> tree = fit("pooled", some, engine="gibbs", chains=2, checks=False)
    >>> [str(one).split(":")[0] for one in contradictions(tree, some)]
    ['the known truths of 4 items contradict the fit']
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
    contradicted = improbable[np.arange(len(truth)), truth] > 0
    expected, n = float(improbable.sum()), int(contradicted.sum())
    from scipy.special import pdtrc

    if n == 0 or pdtrc(n - 1, expected) > SUSPICIOUS_TAIL:
        return ()
    named = first_few(ratings.items[known][contradicted], MOST_NAMED)
    text = (
        f"the known truths of {counted(n, 'item')} contradict the fit: given their ratings "
        f"these truths have probabilities below {IMPROBABLE:g}, and the fit predicts "
        f"{expected:.1f} such items (items {named}); an estimate without them, corrected by them, "
        "relies less on the model (correct_by_truth; lehner.estimate with truths_in_model=False)"
    )
    return (warn("truths-contradict", text),)


def _by_ratings_alone(tree: xr.DataTree, ratings: Ratings) -> np.ndarray:
    """Probability of each category for each item, without using its known truth."""
    patterns = observe(ratings.with_truth(None))
    rates, confusion = states_by_population(tree["posterior"].to_dataset())
    draws = np.unique(np.linspace(0, len(rates) - 1, MOST_DRAWS).astype(int))
    probability, _ = class_posterior(log_joint(patterns, rates[draws], confusion[draws]))
    return np.asarray(probability.mean(axis=0)[patterns.inverse])
