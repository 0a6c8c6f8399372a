r"""How an estimate changes if some items mislead the raters, and perhaps also the system.

No method detects errors that everybody makes: if raters and system take an item for one of
another category, their ratings are those of an item of that category. The accuracy is therefore
given as a function of what the ratings cannot show: the proportion :math:`\delta` of the items that
mislead the raters together, who respond to a wrong category as they respond to a true one, and the
proportion :math:`\lambda` of these on which the system goes along and is misled as they are. On the
others it responds to the true category.

A method that knows nothing of this takes the category :math:`S` that an item seems to have for the
true one :math:`T`. What it estimates is :math:`J_{sa} = P(S = s, \text{answer} = a)`, of which the
accuracy :math:`Y` is the trace, and :math:`p_s = P(S = s)`. Let a proportion :math:`\delta` of each
category mislead, and seem to be of any other category with equal probability
:math:`h = 1/(K - 1)`. Let the true base rates be :math:`\pi`, and :math:`C_{ra}` the probability
that the system answers :math:`a` where it responds to category :math:`r`. Then

.. math::

    p_s &= (1 - \delta)\, \pi_s + \delta h\, (1 - \pi_s) \\
    J_{sa} &= \big[(1 - \delta)\, \pi_s + \delta \lambda h\, (1 - \pi_s)\big]\, C_{sa}
            + \delta (1 - \lambda) h \sum_{t \ne s} \pi_t C_{ta} \\
    X &= (1 - \delta \lambda) \sum_t \pi_t C_{tt}
            + \delta \lambda h \sum_t \pi_t \sum_{s \ne t} C_{st}.

The first line gives :math:`\pi`, the second is a linear equation for :math:`C`, and the third the
accuracy. This is exact for any number of categories, any base rates and any confusion matrix of the
system: :func:`adjust_by_confusion`. If the system is as accurate in all categories, with equally
probable errors, or if :math:`\lambda = 0`, the accuracy :math:`A` where it responds to the true
category is all that counts, whatever the base rates:

.. math::

    Y &= (1 - \delta (1 - \lambda))\, A + \delta (1 - \lambda)\, h\, (1 - A) \\
    X &= (1 - \delta \lambda)\, A + \delta \lambda\, h\, (1 - A),

which :func:`adjust_accuracy` solves. If everybody is misled, :math:`\lambda = 1`, that is
:math:`X = Y - \delta (K Y - 1)/(K - 1)`. If only the raters are, :math:`\lambda = 0`, a system that
knows better seems wrong where it is right. If misleading items do not seem to be of all other
categories equally, :math:`h`, the probability that an error is the one other category that counts,
lies between 0 and 1, and with :math:`\lambda = 0` the two values of :math:`X` for these are bounds:
without further assumptions there are no narrower.

:math:`Y` is how often the system names the category to which an item seems to belong, in the mean
over all items. If base rates are unequal this is not the same in all categories: an item that
seems to be of a rare category is more often misleading. Methods that give the system one accuracy
for all categories therefore do not estimate it. For the algebra it is taken from base rates and
confusion matrix in place of step 4, see `lehner.algebra.steps`.

The formulas are the same for the expected accuracy and the accuracy in the sample.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, check_probability, check_whole_number
from lehner.core.estimate import ESTIMANDS, Estimate, IntervalEstimate, Row, number, row
from lehner.core.results import Results, tabulate
from lehner.latent_class.models import BY_LIKELIHOOD, MODELS


def adjust_accuracy(
    accuracy: ArrayLike,
    share: ArrayLike,
    n_categories: int,
    along: ArrayLike = 1.0,
    *,
    hit: float | None = None,
) -> Floats:
    """Compute a system's accuracy if some items mislead the raters, and some of them the system.

    It is exact if the system is as accurate in all categories with equally probable errors, or if
    it is not misled. Else `adjust_by_confusion` is.

    Parameters
    ----------
    accuracy : array_like
        Y, how often the system names the category to which an item seems to belong, 0 to 1.
    share : array_like
        δ, the proportion of items that mislead the raters, 0 to 1.
    n_categories : int
        K, 2 or more.
    along : array_like
        λ, the proportion of these on which the system goes along, 0 to 1; δ (1 - λ) is less than
        (K - 1)/K, at which the ratings would be uninformative.
    hit : float, optional
        h, the probability that an error on a misleading item is the one other category that
        counts; by default 1/(K - 1), as if all were equally probable.

    Returns
    -------
    ndarray
        X; as for the nearest possible Y if no accuracy from 0 to 1 could give this one.

    Raises
    ------
    InputError
        If the ratings would be uninformative, or `n_categories` is not a whole number of 2 or more.

    Examples
    --------
    >>> adjust_accuracy(0.9, [0, 0.1, 0.2], 2).round(3).tolist()
    [0.9, 0.82, 0.74]
    >>> adjust_accuracy(0.82, 0.1, 2, along=[0, 0.5, 1]).round(3).tolist()
    [0.9, 0.82, 0.756]
    """
    check_whole_number("n_categories", n_categories, 2)
    other = 1 / (n_categories - 1) if hit is None else hit
    delta, lam = np.asarray(share, dtype=float), np.asarray(along, dtype=float)
    alone, together = delta * (1 - lam), delta * lam
    if (alone * (1 + other) >= 1).any():
        problem = f"{alone.max():g} of the items mislead the raters alone"
        raise InputError(problem, f"give less than {1 / (1 + other):.3g}")
    responding = (np.asarray(accuracy) - alone * other) / (1 - alone * (1 + other))
    responding = np.clip(responding, 0, 1)
    return np.asarray((1 - together) * responding + together * other * (1 - responding))


def adjust_by_confusion(
    base_rates: ArrayLike, confusion: ArrayLike, share: float, along: float = 1.0
) -> float:
    """Compute the accuracy of a system if some items mislead the raters, from its confusion matrix.

    It is exact for any base rates and matrix if misleading items are the same proportion of each
    category, and seem to be of any other with equal probability.

    Parameters
    ----------
    base_rates : array_like, shape (n_categories,)
        As a method estimates them that knows nothing of misleading items, with the sum 1.
    confusion : array_like, shape (n_categories, n_categories)
        Probability of each answer of the system, in columns, by the category that an item seems to
        have, in rows; as such a method estimates it.
    share : float
        δ, the proportion of items that mislead the raters, 0 or more and less than (K - 1)/K.
    along : float
        λ, the proportion of these on which the system goes along, 0 to 1.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(adjust_by_confusion([0.7, 0.3], [[0.9, 0.1], [0.4, 0.6]], 0.1, along=0.5), 3)
    0.822
    """
    seeming, matrix = np.asarray(base_rates, dtype=float), np.asarray(confusion, dtype=float)
    other = 1 / (len(seeming) - 1)
    rates = (seeming - share * other) / (1 - share * (1 + other))
    alone = share * (1 - along) * other
    from_true = np.tile(alone * rates, (len(rates), 1))
    same = (1 - share) * rates + share * along * other * (1 - rates)
    np.fill_diagonal(from_true, same)
    # A category that no item seems to have says nothing of the system.
    response = np.linalg.pinv(from_true) @ (seeming[:, None] * matrix)
    right = np.diagonal(response)
    misled = share * along * other * (response.sum(axis=0) - right)
    return float(np.clip(rates @ ((1 - share * along) * right + misled), 0, 1))


MISLEADING_SHARE = 0.1
# Up to how many categories models whose matrices have this form allow any matrix.
ANY_ERRORS = {"full": np.inf, "category_accuracy": 2, "knowledge": 2}
MOST_POSSIBLE = 0.999


def analyse_sensitivity(
    estimate: Estimate, n_categories: int, *, misleading_share: float = MISLEADING_SHARE
) -> Results:
    """Tell how an estimate changes if some items mislead the raters, and perhaps the system.

    Ratings cannot show how many such items there are, so the proportion is assumed. If they mislead
    raters and system alike, an estimated accuracy Y becomes (1 - δ) Y + δ (1 - Y)/(K - 1); if they
    mislead the raters alone, it becomes the X with Y = (1 - δ) X + δ (1 - X)/(K - 1). It is assumed
    that a proportion δ of each category misleads, and that these items seem to be of any other
    category with equal probability: see `lehner.dependence.sensitivity`. The first formula
    is for a system that is as accurate in all categories; where a method estimates its confusion
    matrix, what that adds is added. For raters misled alone Y is taken, by the algebra, from base
    rates and confusion matrix, because the one accuracy of step 4 is then not how often the system
    names the category to which items seem to belong.

    Parameters
    ----------
    estimate : Estimate
        An estimate by any method.
    n_categories : int
        K, 2 or more.
    misleading_share : float
        The proportion δ of items that mislead the raters, 0 to 1.

    Returns
    -------
    Results
        The estimate and its interval, of the expected accuracy and of the accuracy in the sample,
        if this proportion of the items misleads everybody (`system_accuracy_if_all_misled` and
        `system_accuracy_in_sample_if_all_misled`), or the raters and not the system
        (`system_accuracy_if_raters_misled` and `system_accuracy_in_sample_if_raters_misled`, which
        are missing for proportions of (K - 1)/K and more, with which the ratings would be
        uninformative or worse); and the least and the greatest expected accuracy that is possible
        then, whatever wrong category a misleading item seems to be of
        (`system_accuracy_if_raters_misled_bounds`). These are missing for proportions of half and
        more, and if the method does not let the system's accuracy and errors differ between
        categories: the numbers above then hold for equal base rates, and are approximations for
        others.

    Raises
    ------
    InputError
        If an argument is not as above.

    Examples
    --------
    >>> from lehner import estimate_algebraic, load_dataset
    >>> estimate = estimate_algebraic(load_dataset("lehner_table2"), interval=None)
    >>> round(estimate.system_accuracy.estimate, 3)
    0.804
    >>> if_misled = analyse_sensitivity(estimate, 4).table.set_index("quantity")["estimate"]
    >>> float(if_misled["system_accuracy_if_all_misled"].round(3))
    0.729
    >>> float(if_misled["system_accuracy_if_raters_misled"].round(3))
    0.867
    """
    rows = list_sensitivity(estimate, n_categories, misleading_share)
    keys = {"system": estimate.system, "method": estimate.method}
    return Results(ratings=None, table=tabulate(value | keys for value in rows))


def list_sensitivity(
    estimate: Estimate, n_categories: int, misleading_share: float = MISLEADING_SHARE
) -> list[Row]:
    """List the rows of `analyse_sensitivity`."""
    share, k = check_probability("misleading_share", misleading_share), n_categories
    more, shift, system = 0.0, 0.0, _estimate_system(estimate, k)
    if system is not None:
        rates, matrix = system
        implied = float(rates @ np.diagonal(matrix))
        # So many items cannot mislead in each category if some category is seldom seen.
        possible = min(share, MOST_POSSIBLE * (k - 1) * float(rates.min()))
        more = adjust_by_confusion(rates, matrix, possible)
        more -= float(adjust_accuracy(implied, possible, k))
        if estimate.by_raters_alone:
            shift = implied - float(estimate.system_accuracy.estimate or 0.0)
    stated = [getattr(estimate, name) for name in ESTIMANDS]
    moved = [_move(value, lambda y: adjust_accuracy(y, share, k) + more) for value in stated]
    seeming = [_move(value, lambda y: y + shift) for value in stated]
    assumed = {"versus": f"misleading_share={share:g}"}
    names = [f"{name}_if_all_misled" for name in ESTIMANDS]
    rows = [row(name, value, **assumed) for name, value in zip(names, moved, strict=True)]
    if share * k < k - 1:
        alone = [_move(y, lambda y: adjust_accuracy(y, share, k, along=0)) for y in seeming]
        names = [f"{name}_if_raters_misled" for name in ESTIMANDS]
        rows += [row(name, value, **assumed) for name, value in zip(names, alone, strict=True)]
    if system is not None and share < 0.5:
        # With two categories every error on a misleading item is the category it seems to be of.
        hits, y = (1.0, 0.0 if k > 2 else 1.0), seeming[0].estimate or 0.0
        least, most = (float(adjust_accuracy(y, share, k, along=0, hit=hit)) for hit in hits)
        bounds = {"quantity": "system_accuracy_if_raters_misled_bounds", "lower": least}
        rows.append(bounds | {"upper": most} | assumed)
    return rows


def _move(interval: IntervalEstimate, function: Callable[[Floats], Floats]) -> IntervalEstimate:
    """Move an estimate and its ends, within 0 and 1; None stays None."""
    moved = function(np.array([interval.lower, interval.estimate, interval.upper], dtype=float))
    # Where most items mislead, a higher accuracy becomes a lower one.
    within = np.clip(moved[::-1] if moved[0] > moved[2] else moved, 0, 1)
    lower, estimate, upper = map(number, within)
    return replace(interval, estimate=estimate, lower=lower, upper=upper)


def _estimate_system(estimate: Estimate, n_categories: int) -> tuple[Floats, Floats] | None:
    """Compute the base rates, and the system's confusion matrix if the method can estimate any."""
    row = MODELS.get(estimate.method.removesuffix(BY_LIKELIHOOD))
    most = ANY_ERRORS.get("" if row is None else row.form, 1)
    if estimate.system_accuracy.estimate is None or "confusion" not in estimate.arrays:
        return None
    if not estimate.by_raters_alone and n_categories > most:
        return None
    return estimate.arrays["base_rates"].values, estimate.arrays["confusion"].values[-1]
