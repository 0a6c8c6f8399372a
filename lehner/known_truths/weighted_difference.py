r"""A proportion of items whose truths were found out with known unequal probabilities.

Item i was chosen with probability :math:`\pi_i`, so that its weight is :math:`w_i = 1 / \pi_i`. The
method's probability that it has the property, found without the gold labels, is :math:`f_i`, and
:math:`h_i` is 1 if it has the property and 0 if not. The weighted difference estimator is

.. math:: \hat\theta = \lambda \bar f + \frac{\sum_s w_i (h_i - \lambda f_i)}{\sum_s w_i}

where s are the labelled items. Whatever the method's probabilities are worth, it is right in large
samples, and they only make it more precise. :math:`\lambda`, from 0 to 1, minimises the variance

.. math:: V = \frac{m}{m - 1} \frac{\sum_s w_i (w_i - 1) (e_i - \bar e)^2}{(\sum_s w_i)^2},

where :math:`e_i = h_i - \lambda f_i` has the weighted mean :math:`\bar e`. With equal probabilities
it is PPI++. With λ = 0 it is the mean of Hájek, and among items that all have the same probability,
such as those with one answer of the system, the correction of verification bias by Begg & Greenes.

An interval from V alone is too narrow if few labelled items have the property, or few have not. The
interval is therefore that of a beta distribution of as many items as would have this variance,

.. math::
    n_e = \frac{(\sum_s w_i)^2}{\sum_s w_i (w_i - 1)} \Big/ \frac{m_V v + 2}
    {m_V \hat\theta (1 - \hat\theta) + 2}, \quad
    m_V = \frac{(\sum_s w_i (w_i - 1))^2}{\sum_s w_i^2 (w_i - 1)^2}

where v is the variance of the residuals, weighted as in V. The first factor is the number of items
if residuals did not depend on weights and the method's probabilities were of no use (Kish); the
second says what they make of it, as far as :math:`m_V` items can tell.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lehner.core.arrays import Floats
from lehner.known_truths.partly_known import WEIGHTED, ProportionPosterior

if TYPE_CHECKING:
    from lehner.known_truths.partly_known import PartlyKnown

PRIOR_EVENTS = 2.0
MOST_VALUES = 2000


@dataclass(frozen=True, kw_only=True)
class WeightedDifference:
    """A proportion of items, none of which was sure to be known.

    Parameters
    ----------
    estimate : float
        The proportion, from 0 to 1.
    variance : float
        Its variance, 0 or more, over which items are known.
    slope : float
        λ, from 0 to 1.
    n_effective : float
        Of how many items of a simple random sample the interval has the width.
    """

    estimate: float
    variance: float
    slope: float
    n_effective: float


def weighted_difference(items: "PartlyKnown", *, helped: bool = True) -> WeightedDifference:
    """Estimate a proportion of items, none of which was sure to be known.

    Parameters
    ----------
    items : PartlyKnown
        Each with a `chance` below 1, and one labelled item at least.
    helped : bool
        Whether the method's probabilities help; if not, λ is 0.

    Returns
    -------
    WeightedDifference

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), PPI++, https://arxiv.org/abs/2311.01453; Särndal, Swensson &
    Wretman (1992), Model assisted survey sampling, chapters 5 to 7; Begg & Greenes (1983),
    https://doi.org/10.2307/2530820; Kish (1965), Survey sampling.

    Examples
    --------
    Positives are verified always, or nearly so, and negatives seldom:

    >>> from lehner.known_truths.partly_known import PartlyKnown
    >>> positive = np.arange(100) < 40
    >>> known = positive | (np.arange(100) >= 88)
    >>> items = PartlyKnown(
    ...     probability=np.full(100, 0.5),
    ...     counts=np.ones(100),
    ...     known=known,
    ...     holds=known & (np.arange(100) % 4 == 0) | positive,
    ...     chance=np.where(positive, 0.999, 0.2),
    ... )
    >>> items.n_holding / items.n_known, round(weighted_difference(items).estimate, 2)
    (0.8269230769230769, 0.55)
    """
    assert items.chance is not None
    known, f, m, n = items.known, items.probability, items.n_known, items.n_items
    h = items.holds[known].astype(float)
    odds_against = items.counts * (1 / items.chance - 1)
    weight, added = items.counts[known] / items.chance[known], (odds_against / items.chance)[known]
    correction = m / max(m - 1, 1)

    def centred(values: Floats) -> Floats:
        return np.asarray(values - weight @ values / weight.sum())

    slope = 0.0
    if helped and (own := odds_against @ (f - items.mean) ** 2 * n / max(n - 1, 1)) > 0:
        both = added @ (centred(h) * centred(f[known])) * correction
        slope = float(np.clip(both / own, 0.0, 1.0))
    residual = h - slope * f[known]
    mean = float(weight @ residual / weight.sum())
    estimate = float(np.clip(slope * items.mean + mean, 0.0, 1.0))
    squares = float(added @ centred(residual) ** 2) * correction
    m_v = added.sum() ** 2 / (added**2 / items.counts[known]).sum()
    expected = m_v * estimate * (1 - estimate) + PRIOR_EVENTS
    found = m_v * squares / added.sum() + PRIOR_EVENTS
    return WeightedDifference(
        estimate=estimate,
        variance=float(squares / weight.sum() ** 2),
        slope=slope,
        n_effective=float(weight.sum() ** 2 / added.sum() * expected / found),
    )


def weighted_posterior(items: "PartlyKnown", *, helped: bool = True) -> ProportionPosterior:
    """Give the beta distribution of the weighted difference estimator, as far as it is possible.

    Parameters
    ----------
    items : PartlyKnown
        As in `weighted_difference`.
    helped : bool
        Whether the method's probabilities help.

    Returns
    -------
    ProportionPosterior
        Of the proportions that what is known of these items leaves possible.
    """
    from scipy.special import betainc

    found = weighted_difference(items, helped=helped)
    n, n_unknown = found.n_effective, items.n_items - items.n_known
    number = np.linspace(0, n_unknown, min(n_unknown, MOST_VALUES) + 1)
    values = (items.n_holding + number) / items.n_items
    borders = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [1.0]])
    right, wrong = found.estimate * n + 0.5, (1 - found.estimate) * n + 0.5
    probability = np.diff(betainc(right, wrong, borders))
    return ProportionPosterior(values=values, probability=probability, kind=WEIGHTED)
