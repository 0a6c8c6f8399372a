"""Coefficient: one number for the agreement of raters, with its sampling error."""

from dataclasses import dataclass

import numpy as np

from lehner.coefficients.landis_koch import landis_koch_label, landis_koch_probability
from lehner.coefficients.linearised import STANDS_FOR_0, Linearised, standard_error
from lehner.core.arrays import Floats
from lehner.core.estimate import number

LOWEST = {"percent_agreement": 0.0, "accuracy": 0.0, "goodman_kruskal_lambda": -np.inf}
"""The lowest value of coefficients that are not kappas; theirs is −1, less if weighted."""


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient of agreement with its sampling error.

    Parameters
    ----------
    name : str
        As in "cohen_kappa" or "fleiss_kappa[category]".
    weights : str
        The agreement weights: "identity", "linear", "quadratic", "ordinal", "interval", "ratio"
        or "given".
    estimate : float or None
        The coefficient, at most 1. None where it is undefined; the note says why.
    standard_error : float or None
        Standard error over samples of items, for these raters. None where the items do not
        determine it.
    lower, upper : float or None
        Ends of the interval, from a t distribution with the number of items less one degrees of
        freedom, cut to the coefficient's range. The lower end is not cut if the estimate is below
        -1, which weighted coefficients can be.
    p_value : float or None
        Two-sided, of the hypothesis that the coefficient is 0; None for proportions.
    interpretation : str or None
        The label that Landis & Koch (1977) give the estimate, for chance-corrected coefficients.
    probability : float or None
        Probability that the true coefficient has this label (Gwet 2014, section 6.4).
    note : str
        What the user should know before using the numbers.
    """

    name: str
    weights: str
    estimate: float | None
    standard_error: float | None = None
    lower: float | None = None
    upper: float | None = None
    p_value: float | None = None
    interpretation: str | None = None
    probability: float | None = None
    note: str = ""

    @property
    def label(self) -> str:
        """The label of Landis & Koch with its probability, as text."""
        if self.interpretation is None:
            return ""
        known = "" if self.probability is None else f", {self.probability:.0%}"
        return f"({self.interpretation}{known})"

    def __str__(self) -> str:
        if self.estimate is None:
            return "–"
        if self.lower is None or self.upper is None:
            return f"{self.estimate:.3f}"
        return f"{self.estimate:.3f} [{self.lower:.3f}, {self.upper:.3f}]"


def undefined(name: str, weights: str, note: str) -> Coefficient:
    """Make a coefficient that has no value, with the reason."""
    return Coefficient(name=name, weights=weights, estimate=None, note=note)


def summarise(
    name: str,
    weights: str,
    statistic: Linearised,
    items: Floats,
    n_informative: float,
    level: float,
    note: str = "",
) -> Coefficient:
    """Give a statistic its standard error, interval, p-value and label.

    Parameters
    ----------
    name, weights : str
    statistic : Linearised
    items : ndarray of float, shape (n_rows,)
        How many items each row stands for.
    n_informative : float
        How many items bear on it.
    level : float
        Probability of the interval.
    note : str

    Returns
    -------
    Coefficient
    """
    estimate = number(statistic.value)
    if estimate is None:
        return undefined(name, weights, "undefined: chance agreement is 1, nothing varies")
    if abs(estimate) < STANDS_FOR_0:  # rounding, which would make "poor" of "slight"
        estimate = 0.0
    lowest = LOWEST.get(name.partition("[")[0], -1.0)
    label = landis_koch_label(estimate) if lowest == -1 else None
    error = number(standard_error(statistic, items, n_informative))
    if error is None:
        note = "; ".join(filter(None, (note, _why_no_error(statistic, n_informative))))
        return Coefficient(
            name=name, weights=weights, estimate=estimate, interpretation=label, note=note
        )
    from scipy.special import stdtr, stdtrit

    half = error * float(stdtrit(n_informative - 1, (1 + level) / 2))
    # A weighted kappa can be below −1: its interval is not cut there.
    lower = estimate - half if estimate < lowest else max(estimate - half, lowest)
    p_value = 2 * float(stdtr(n_informative - 1, -abs(estimate) / error))
    return Coefficient(
        name=name,
        weights=weights,
        estimate=estimate,
        standard_error=error,
        lower=lower,
        upper=min(estimate + half, 1.0),
        p_value=None if lowest == 0 else p_value,
        interpretation=label,
        probability=None if label is None else landis_koch_probability(estimate, error)[label],
        note=note,
    )


def _why_no_error(statistic: Linearised, n_informative: float) -> str:
    if n_informative < 2:
        return "no standard error: number of items unknown or below 2"
    if np.isnan(statistic.influence).any():
        return "no standard error: two classes are equally good for chance"
    return "no standard error: no item differs from the others in its effect"
