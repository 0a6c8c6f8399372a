r"""Two raters, or rater and system, who answer alike more often than the true category explains.

On a share c of the items of a true category the two answers are as alike as the two rows a and b of
the confusion matrices allow; on the others they are independent:

.. math::
    P(i, j) = (1 - c)\, a_i b_j + c\, m_{ij}, \quad
    m_{ij} = 1_{i = j} \min(a_i, b_i)
        + \frac{(a_i - \min(a_i, b_i))(b_j - \min(a_j, b_j))}{1 - \sum_l \min(a_l, b_l)}

m is the maximal coupling, so that each of the two answers as its own row says, whatever c is, and
an answer of one of them alone needs nothing new. With two categories the covariance of the two
answers is c times min(a, b) - ab, its upper bound (Vacek 1985); a uniform c is the prior of
Dendukuri & Joseph (2001). With more categories the two share wrong answers as well as right ones.

The second's rating of an item that the first rated too is counted as by another rater: "the second
where the first answered i", with the probabilities P(j | i). Sums over true categories then need to
know nothing of the pair.

References
----------
Vacek (1985), https://doi.org/10.2307/2530967; Dendukuri & Joseph (2001),
https://doi.org/10.1111/j.0006-341X.2001.00158.x
"""

from dataclasses import replace
from typing import Any

import numpy as np

from lehner import InputError, Patterns
from lehner.data.flat import FlatRatings

LEAST = np.finfo(float).tiny


def split_second(observed: Patterns) -> Patterns:
    """Count the second's ratings by what the first answered, as those of further raters.

    Parameters
    ----------
    observed : Patterns
        With a dependent pair.

    Returns
    -------
    Patterns
        With as many further raters as there are categories.

    Raises
    ------
    InputError
        If one of the two has several ratings of an item.
    """
    assert observed.dependent is not None
    first, second = observed.dependent
    item, rater = observed.flat.item_index, observed.flat.rater_index
    answer = np.full(len(observed.counts), -1)
    for member in (first, second):
        if len(np.unique(item[rater == member])) < (rater == member).sum():
            raise InputError(
                f"{observed.raters[member]!r} has several independent ratings of an item, and is "
                "one of the dependent pair",
                "count one vote for each item and rater, or name another pair",
            )
    answer[item[rater == first]] = observed.flat.category_index[rater == first]
    after = (rater == second) & (answer[item] >= 0)
    n, names = len(observed.raters), map(str, observed.categories)
    flat = FlatRatings(
        item_index=item,
        rater_index=np.where(after, n + answer[item], rater),
        category_index=observed.flat.category_index,
    )
    further = (f"{observed.raters[second]} after {name}" for name in names)
    return replace(observed, flat=flat, raters=(*observed.raters, *further))


def answers_after(first: Any, second: Any, share: Any, n_categories: int) -> Any:
    """Probabilities of the second's answers given the first's.

    Parameters
    ----------
    first, second : ndarray or TensorVariable, shape (..., n_categories, n_responses)
        Confusion matrices of the two.
    share : ndarray or TensorVariable, shape (..., n_categories)
        Of the items of each true category, on which the two answer as alike as they can.

    Returns
    -------
    ndarray or TensorVariable, shape (..., n_responses, n_categories, n_responses)
        By the first's answer, true category and the second's answer.

    Examples
    --------
    >>> rows = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> answers_after(rows, rows, np.array([0.5, 0.0]), 2)[0].round(2).tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    excess = first - second
    of_first, of_second = (abs(excess) + excess) / 2, (abs(excess) - excess) / 2
    alike = np.eye(n_categories) * (first - of_first)[..., :, None]
    left = of_second.sum(axis=-1)[..., None, None] + LEAST
    apart = of_first[..., :, None] * of_second[..., None, :] / left
    coupled = (alike + apart) / (first[..., :, None] + LEAST)
    c = share[..., None, None]
    return ((1 - c) * second[..., None, :] + c * coupled).swapaxes(-3, -2)
