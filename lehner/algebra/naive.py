"""Two naive measures: agreement with the majority, and the mean truth probability."""

import numpy as np

from lehner.algebra.algebraic import estimate_algebraic
from lehner.algebra.vote_methods import majority_proportion, mean_truth_probability
from lehner.core.arrays import Floats
from lehner.core.estimate import Estimate, IntervalEstimate, number, require_estimable
from lehner.core.warning import Warning, warn
from lehner.data.ratings import Ratings


def majority_agreement(ratings: Ratings) -> Estimate:
    """Take the majority of the raters for the truth and report the system's agreement with it.

    Categories that tie for the majority share the item: the system's answer counts 1/m if it
    is one of m. Items without ratings or without an answer of the system are left out.

    Parameters
    ----------
    ratings : Ratings
        With a system.

    Returns
    -------
    Estimate
        It has no interval, because the method assumes that the majority is never wrong.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters.

    References
    ----------
    Lehner (2015) compares the algebra with it.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> majority_agreement(load_dataset("lehner_table2")).system_accuracy.estimate
    0.5
    """
    require_estimable(ratings)
    share = float(majority_proportion(ratings.votes(), _answers(ratings)))
    reason = warn("too-few-ratings", "no item has both ratings and an answer")
    return _point("majority_agreement", ratings, share, *([reason] if np.isnan(share) else []))


def mean_posterior(ratings: Ratings) -> Estimate:
    """Average the algebra's truth probability of the system's answers.

    It underestimates the accuracy of a system better than the raters (Lehner 2015, after
    Table 4): the system's answer is evidence too.

    Parameters
    ----------
    ratings : Ratings
        With a system.

    Returns
    -------
    Estimate
        It has no interval.

    Raises
    ------
    InputError
        If there is no system, or if there are not two raters, two categories and an item rated by
        two raters.

    References
    ----------
    Lehner (2015), Table 3 for the truth probabilities.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> round(mean_posterior(load_dataset("lehner_table2")).system_accuracy.estimate, 3)
    0.466
    """
    algebra = estimate_algebraic(ratings, interval=None)
    truth = algebra.arrays["truth_probabilities"]
    point = float(mean_truth_probability(truth.values, _answers(ratings)))
    reasons = algebra.warnings if np.isnan(point) else ()
    return _point("mean_posterior", ratings, point, *reasons)


def _answers(ratings: Ratings) -> Floats:
    """Count the items of each row by the system's answer."""
    system = np.asarray(ratings.system)
    return (system[:, None] == np.arange(ratings.n_categories)) * ratings.weights[:, None]


def _point(method: str, ratings: Ratings, value: float, *warnings: Warning) -> Estimate:
    accuracy = IntervalEstimate(estimate=number(value))
    return Estimate(
        method=method,
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        warnings=warnings,
    )
