"""Other packages as methods of lehner, for `lehner estimate --method` and for studies."""

import numpy as np

from lehner import Estimate, InputError, IntervalEstimate, Ratings

RESAMPLES = 50


def judgepanel(ratings: Ratings, *, level: float, seed: int) -> Estimate:
    """Estimate by the Dawid-Skene model of judgepanel (0.1.0), the system being one of the judges.

    Its intervals are percentiles of fits to resamples of the items.

    Parameters
    ----------
    ratings : Ratings
        With a system.
    level : float
        Probability of the interval.
    seed : int
    """
    from judgepanel import Panel, fit_dawid_skene

    codes = np.column_stack([np.asarray(ratings.system), ratings.codes])
    judges = (ratings.systems[0], *ratings.raters)
    classes = tuple(map(str, ratings.categories))
    n_items = len(codes)
    rng = np.random.default_rng(seed)
    accuracies = []
    for rows in (np.arange(n_items), *rng.integers(0, n_items, (RESAMPLES, n_items))):
        fit = fit_dawid_skene(Panel(codes[rows], tuple(map(str, rows)), judges, classes))
        accuracies.append(float(fit.class_prior @ np.diagonal(fit.confusion[0])))
    lower, upper = np.quantile(accuracies[1:], [(1 - level) / 2, (1 + level) / 2])
    accuracy = IntervalEstimate(estimate=accuracies[0], lower=float(lower), upper=float(upper))
    return _make_estimate("judgepanel", ratings, accuracy)


def truescore(ratings: Ratings, *, level: float) -> Estimate:
    """Estimate by truescore (0.7.4), for which the majority of the raters is the judge.

    The judge says that the system is right where it agrees with the majority; the gold labels of
    some items correct that.

    Parameters
    ----------
    ratings : Ratings
        With a system, and the truth of some items.
    level : float
        Probability of the interval.
    """
    from truescore import ppi_estimate

    if ratings.truth is None:
        raise InputError("truescore needs gold labels", "label some items")
    labelled = np.flatnonzero(ratings.truth >= 0)
    agrees = ratings.count_votes().argmax(axis=1) == ratings.system
    right = np.asarray(ratings.system == ratings.truth)[labelled]
    score = ppi_estimate(agrees.astype(float), right.astype(float), labelled, alpha=1 - level)
    accuracy = IntervalEstimate(estimate=score.point, lower=score.low, upper=score.high)
    return _make_estimate("truescore", ratings, accuracy)


def _make_estimate(method: str, ratings: Ratings, accuracy: IntervalEstimate) -> Estimate:
    return Estimate(
        method=method,
        system=ratings.systems[0],
        system_accuracy=accuracy,
        system_accuracy_in_sample=accuracy,
    )
