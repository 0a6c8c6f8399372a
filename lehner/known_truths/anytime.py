"""Confidence sequences: intervals of a proportion that cover it however often one looks.

An interval that is computed again after each new label, until it is narrow enough or excludes a
number, misses the truth more often than it says. A confidence sequence is a sequence of intervals
that all cover it, together, with the probability that is stated.
"""

import numpy as np

from lehner.core.arrays import Booleans, Floats, Integers
from lehner.core.errors import InputError, compose
from lehner.data.ratings import Ratings

# How many means are tested, and the part of the capital that a bet may lose.
N_MEANS, MOST_BET = 1001, 0.5
# The slope of the control variate is estimated as if so much variation more had been seen, without
# any relation to the labels.
PRIOR_VARIATION = 1.0


def estimate_anytime(values: Floats, control: Floats, level: float) -> Floats:
    """Estimate the mean of all items from labels that were drawn one after another.

    Parameters
    ----------
    values : ndarray of float, shape (n_items,)
        What the labels say of each item, from 0 to 1; NaN without a label. The order of labels is
        that of the items.
    control : ndarray of float, shape (n_items,)
        What a judge says of each item, from 0 to 1. Where it is wrong, the
        interval is wider and no less right.
    level : float
        Probability with which all intervals of the sequence cover the mean.

    Returns
    -------
    ndarray, shape (3,)
        The estimate, NaN without a label, and the ends of the last interval.

    Examples
    --------
    >>> values = np.tile([1.0, 1.0, 0.0, 1.0, np.nan, np.nan], 20)
    >>> estimate_anytime(values, np.full(120, 0.5), 0.9).round(2).tolist()
    [0.75, 0.66, 0.83]
    """
    labelled = ~np.isnan(values)
    if not labelled.any():
        return np.array([np.nan, 0.0, 1.0])
    seen, predicted, mean = values[labelled], control[labelled], float(control.mean())
    ends = confidence_sequence(seen, len(values), predicted, mean, level=level)[-1]
    slope = _find_slopes(np.append(seen, 0.0), np.append(predicted, mean), mean)[-1]
    point = seen.mean() - slope * (predicted.mean() - mean)
    return np.array([np.clip(point, *ends), *ends])


def confidence_sequence(
    values: Floats,
    size: float,
    control: Floats | None = None,
    control_mean: float = 0.5,
    *,
    level: float = 0.9,
) -> Floats:
    r"""Compute the interval of a mean after each label, by betting against each possible mean.

    Whoever bets :math:`\lambda_t (X_t - m_t)` of the capital on each draw gains nothing on average
    if m is the mean of all items, and :math:`m_t` that of those which are left. A mean at which one
    of two gamblers, on more and on less, has made :math:`2 / (1 - \text{level})` of 1 is excluded.

    Parameters
    ----------
    values : ndarray, shape (n_labels,)
        From 0 to 1, in the order in which the items were drawn at random without replacement.
    size : float
        How many items there are; `numpy.inf` if they are drawn with replacement, or without end.
    control : ndarray, shape (n_labels,), optional
        A control variate, from 0 to 1, as a judge's answer: what it says too much or too little of
        the drawn items is subtracted, with a slope that earlier labels give.
    control_mean : float
        Its mean over all items.
    level : float
        Probability with which all intervals cover the mean.

    Returns
    -------
    ndarray, shape (n_labels, 2)

    References
    ----------
    Waudby-Smith & Ramdas (2024), https://doi.org/10.1093/jrsssb/qkad009: the hedged capital process
    of section 4.4 with predictable plug-in bets, and section 5 for draws without replacement;
    Angelopoulos et al. (2023), https://doi.org/10.1126/science.adi6000, for the control variate.

    Examples
    --------
    >>> confidence_sequence(np.tile([1.0, 1.0, 0.0, 1.0], 25), np.inf)[[9, 99]].round(2).tolist()
    [[0.41, 1.0], [0.62, 0.87]]
    """
    drawn = np.arange(len(values))
    control = np.full(len(values), control_mean) if control is None else control
    slope = _find_slopes(values, control, control_mean)
    control_left = control_mean + _sum_before(control_mean - control) / (size - drawn)
    control_left = np.clip(control_left, 0.0, 1.0)  # against rounding
    adjusted = values - slope * (control - control_left)
    # What is left of few items tells more of them, and larger bets are worth it.
    bet = _find_bets(adjusted, level) / np.sqrt(1 - drawn / size)
    means = np.linspace(0.0, 1.0, N_MEANS)[:, None]
    left = means + _sum_before(means - values) / (size - drawn)
    gain = adjusted - left
    # No bet may lose more than its part of the capital, whatever value is drawn.
    most_below = np.maximum(left, 0.0) + slope * (1 - control_left)
    most_above = np.maximum(1 - left, 0.0) + slope * control_left
    with np.errstate(divide="ignore"):
        capital = np.maximum(
            np.log1p(np.minimum(bet, MOST_BET / most_below) * gain).cumsum(axis=1),
            np.log1p(-np.minimum(bet, MOST_BET / most_above) * gain).cumsum(axis=1),
        )
    holding = values.cumsum()
    least, most = holding / size, 1 - (drawn + 1 - holding) / size
    kept = (capital < np.log(2 / (1 - level))) & (means >= least) & (means <= most)
    return _find_ends(kept, means[:, 0], np.clip(holding / (drawn + 1), least, most), least, most)


def _sum_before(values: Floats) -> Floats:
    """Sum along the last axis what comes before each value."""
    return np.asarray(values.cumsum(axis=-1) - values)


def _find_slopes(values: Floats, control: Floats, mean: float) -> Floats:
    """Regress values on the control variate, by those before each."""
    n_before = np.arange(len(values))
    of_values = (0.5 + _sum_before(values)) / (1 + n_before)
    together = _sum_before((values - of_values) * (control - mean))
    return np.clip(together / (PRIOR_VARIATION + _sum_before((control - mean) ** 2)), 0.0, 1.0)


def _find_bets(values: Floats, level: float) -> Floats:
    """Find how much to bet on each value, by the variance of those before it."""
    count = 1 + np.arange(len(values))
    mean = (0.5 + values.cumsum()) / (1 + count)
    variance = (0.25 + _sum_before((values - mean) ** 2)) / count
    return np.sqrt(2 * np.log(2 / (1 - level)) / (variance * count * np.log1p(count)))


def _find_ends(
    kept: Booleans, means: Floats, middle: Floats, least: Floats, most: Floats
) -> Floats:
    """Find between which means of a grid those lie that are not excluded, after each label."""
    step = means[1] - means[0]
    lower, upper = means[kept.argmax(axis=0)] - step, 1 - means[kept[::-1].argmax(axis=0)] + step
    some = kept.any(axis=0)
    lower, upper = np.where(some, lower, middle), np.where(some, upper, middle)
    return np.column_stack([np.maximum(lower, least), np.minimum(upper, most)])


def require_sequence(ratings: Ratings) -> None:
    """Raise an InputError unless gold labels may have been drawn one by one, with equal chances."""
    if ratings.cluster is not None or ratings.truth_probability is not None:
        problem = "a confidence sequence needs labels that were drawn one by one with equal chances"
        remedy = compose("leave out {anytime} or {until}, or {cluster} and {truth_probability}")
        raise InputError(problem, remedy)


def list_items(ratings: Ratings, inside: Booleans) -> Integers:
    """List the row of each item, where a row may stand for several."""
    return np.repeat(np.arange(ratings.n_rows), ratings.weights * inside)


def share_votes(ratings: Ratings) -> Floats:
    """Give the part of the raters who chose each category; without raters all are alike."""
    votes = ratings.count_votes()
    total = votes.sum(axis=1, keepdims=True)
    return np.where(total > 0, votes / np.maximum(total, 1), 1 / ratings.n_categories)
