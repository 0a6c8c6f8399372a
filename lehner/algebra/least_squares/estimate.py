"""System accuracy after a least-squares fit to the frequencies of pairs of ratings."""

import numpy as np

from lehner.algebra.least_squares.fit import Form, fit_least_squares
from lehner.algebra.least_squares.pair_model import truth_probabilities
from lehner.algebra.system_accuracy import AGGREGATIONS, Aggregation
from lehner.core.checks import find
from lehner.core.estimate import Estimate, IntervalEstimate, number, require_estimable
from lehner.core.named_array import NamedArray, name_places
from lehner.core.seeds import Seed
from lehner.core.warning import warn
from lehner.data.ratings import Ratings
from lehner.data.votes import collapse_votes


def estimate_least_squares(
    ratings: Ratings,
    form: Form = "one_coin",
    *,
    aggregation: Aggregation = "weighted",
    starts: int = 10,
    seed: Seed = 1,
) -> Estimate:
    """Estimate the accuracy of the system after a fit to the frequencies of pairs of ratings.

    The fit replaces steps 1 and 2 of Lehner's algebra. Truth probabilities follow by Bayes' rule,
    and the accuracy of the system by step 4, which assumes that its errors are equally probable
    whatever the form of the raters' confusion matrix.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    form : {"one_coin", "distance_decay"}
        As in `fit_least_squares`.
    aggregation : {"weighted", "likelihood", "paper"}
        How step 4 combines the items, as in `estimate_algebraic`.
    starts : int
        Number of points at which the fit starts, 1 or more; all but the first are random.
    seed : int, numpy.random.SeedSequence or numpy.random.Generator
        Of the random starts: the same seed gives the same estimate.

    Returns
    -------
    Estimate
        It has no interval.

    Raises
    ------
    InputError
        If there is no system, if there are not two raters, two categories and an item rated by two
        raters, or if form or aggregation are unknown.

    References
    ----------
    Lehner (2014), report, footnote 5; Lehner (2015), Eq. 6 and 7.

    Examples
    --------
    >>> from lehner import load_dataset
    >>> estimate = estimate_least_squares(load_dataset("lehner_table2"))
    >>> round(estimate.system_accuracy.estimate, 3)
    0.78
    """
    step_4 = find("aggregation", aggregation, AGGREGATIONS)
    require_estimable(ratings)
    fit = fit_least_squares(ratings, form, starts=starts, seed=seed)
    collapsed = collapse_votes(ratings)
    answers = collapsed.counts(collapsed.weights[None, :].astype(float))[..., :-1]
    truth = truth_probabilities(
        collapsed.table.votes, fit.base_rates.values, fit.confusion.values[0]
    )
    point = float(step_4(truth[None], answers)[0])
    accuracy = IntervalEstimate(estimate=number(point))
    right = np.diagonal(fit.confusion.values, axis1=1, axis2=2) @ fit.base_rates.values
    notes = fit.notes
    if np.isnan(point) and not notes:
        text = "the truth probabilities tell nothing about the system's answers"
        notes = (warn("answers-undetermined", text),)
    return Estimate(
        system=ratings.systems[0],
        method=f"least_squares_{form}",
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
        arrays={
            "rater_accuracy": name_places(right, ratings, "rater"),
            "base_rates": NamedArray.from_xarray(fit.base_rates),
            "confusion": NamedArray.from_xarray(fit.confusion),
            "truth_probabilities": NamedArray.from_xarray(fit.truth_probabilities),
        },
        warnings=notes,
        diagnostics={"sum_of_squares": fit.sum_of_squares, "rank": fit.rank},
    )
