"""Coefficient: one number for the agreement of raters, with its sampling error."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lehner.coefficients.item_votes import ItemVotes
from lehner.coefficients.linearised import STANDS_FOR_0, Linearised, standard_error
from lehner.core.errors import InputError
from lehner.core.estimate import number
from lehner.core.number_format import with_interval
from lehner.core.student_t import t_quantile, t_survival
from lehner.data.options import names_of

PRINTED_NAMES = {
    "bangdiwala_b": "Bangdiwala’s B",
    "brennan_prediger_kappa": "Brennan and Prediger’s κ",
    "cohen_kappa": "Cohen’s κ",
    "conger_kappa": "Conger’s κ",
    "fleiss_kappa": "Fleiss’ κ",
    "goodman_kruskal_lambda": "Goodman and Kruskal’s λ",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2": "Gwet’s AC2",
    "krippendorff_alpha": "Krippendorff’s α",
    "percent_agreement": "percent agreement",
    "scott_pi": "Scott’s π",
}
LOWEST_COEFFICIENTS = {
    "percent_agreement": 0.0,
    "accuracy": 0.0,
    "bangdiwala_b": 0.0,
    "goodman_kruskal_lambda": -np.inf,
}
"""The lowest values of coefficients that are not kappas; that of kappas is −1, less if weighted."""


def printed_name(name: str) -> str:
    """Name of a coefficient as people write it.

    Examples
    --------
    >>> printed_name("krippendorff_alpha"), printed_name("fleiss_kappa[yes]")
    ('Krippendorff’s α', 'Fleiss’ κ [yes]')
    """
    coefficient, bracket, category = name.partition("[")
    printed = PRINTED_NAMES.get(coefficient, coefficient)
    return f"{printed} [{category}" if bracket else printed


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A coefficient of agreement with its sampling error.

    Parameters
    ----------
    name : str
        Name, such as "cohen_kappa" or "fleiss_kappa[category]".
    weights : str
        The agreement weights: a name among `lehner.coefficients.weights.WEIGHTS`, or "given".
    estimate : float or None
        The coefficient, at most 1. None if it is undefined; the note gives the reason.
    chance_agreement : float or None
        The agreement by chance, p_e, for which it is corrected; None if it is not.
    standard_error : float or None
        Standard error over samples of items, for these raters. None if the items do not determine
        it.
    lower, upper : float or None
        Ends of the interval, from a t distribution whose degrees of freedom are the number of items
        minus one, clipped to the coefficient's range. The lower end is not clipped if the estimate
        is below -1, as a weighted coefficient can be.
    p_value : float or None
        Two-sided p-value of the hypothesis that the coefficient is 0, by its standard error and
        Student's t (Gwet 2014); None for proportions.
    note : str
        What the user should know before using the numbers.
    """

    name: str
    weights: str
    estimate: float | None
    chance_agreement: float | None = None
    standard_error: float | None = None
    lower: float | None = None
    upper: float | None = None
    p_value: float | None = None
    note: str = ""

    def __str__(self) -> str:
        return with_interval(self.estimate, self.lower, self.upper)


def choose_coefficients(
    every: Iterable[Coefficient], names: str | Sequence[str] | None
) -> tuple[Coefficient, ...]:
    """Choose coefficients by their names, under each of the weights in the order of the names.

    Parameters
    ----------
    every : iterable of Coefficient
    names : str or sequence of str, optional
        As in `Coefficient.name`, or a word of it that no other has, as "alpha". By default all.

    Returns
    -------
    tuple of Coefficient

    Raises
    ------
    InputError
        If there is no coefficient of one of the names; the error lists those that there are.
    """
    every = tuple(every)
    if names is None:
        return every
    whole = list(dict.fromkeys(one.name for one in every))
    words = [(word, name) for name in whole if "[" not in name for word in name.split("_")]
    number = Counter(word for word, _ in words)
    known = {word: name for word, name in words if number[word] == 1} | {one: one for one in whole}
    chosen = []
    for name in names_of(names):
        if name.lower() not in known and name not in known:
            raise InputError(
                f"there is no coefficient {name!r}", f"choose among {', '.join(whole)}"
            )
        chosen.append(known.get(name) or known[name.lower()])
    weights = dict.fromkeys(one.weights for one in every)
    found = {(one.name, one.weights): one for one in every}
    wanted = ((name, kind) for kind in weights for name in dict.fromkeys(chosen))
    return tuple(found[one] for one in wanted if one in found)


def undefined(name: str, weights: str, note: str) -> Coefficient:
    """Make a coefficient that has no value, with the reason."""
    return Coefficient(name=name, weights=weights, estimate=None, note=note)


def summarise(
    name: str,
    weights: str,
    statistic: Linearised,
    items: ItemVotes,
    level: float,
    note: str = "",
) -> Coefficient:
    """Compute the standard error, interval and p-value of a statistic.

    Parameters
    ----------
    name, weights : str
    statistic : Linearised
    items : ItemVotes
        The items, of which those rated by two raters inform about the agreement.
    level : float
        Probability of the interval.
    note : str

    Returns
    -------
    Coefficient
    """
    estimate = number(statistic.value)
    if estimate is None:
        return undefined(name, weights, "undefined: chance agreement is 1, because nothing varies")
    lowest = LOWEST_COEFFICIENTS.get(name.partition("[")[0], -1.0)
    if abs(estimate - lowest) < STANDS_FOR_0:  # rounding, which would leave the interval unclipped
        estimate = lowest
    coefficient = Coefficient(
        name=name,
        weights=weights,
        estimate=estimate,
        chance_agreement=None if statistic.chance is None else number(statistic.chance),
        note=note,
    )
    error = number(standard_error(statistic, items.weights, items.n_sampled, items.cluster))
    if error is None:
        note = "; ".join(filter(None, (note, _why_no_error(statistic, items))))
        return replace(coefficient, note=note)
    return _with_interval(coefficient, estimate, error, items.n_sampled, level)


def _with_interval(
    coefficient: Coefficient, estimate: float, error: float, n_informative: float, level: float
) -> Coefficient:
    lowest = LOWEST_COEFFICIENTS.get(coefficient.name.partition("[")[0], -1.0)
    half = error * t_quantile((1 + level) / 2, n_informative - 1)
    p_value = 2 * t_survival(abs(estimate) / error, n_informative - 1)
    return replace(
        coefficient,
        standard_error=error,
        # A weighted kappa can be below −1, and its interval is not clipped there.
        lower=estimate - half if estimate < lowest else max(estimate - half, lowest),
        upper=min(estimate + half, 1.0),
        p_value=None if lowest == 0 else p_value,
    )


def _why_no_error(statistic: Linearised, items: ItemVotes) -> str:
    if items.n_sampled < 2:
        what = "items" if items.cluster is None else "clusters"
        return f"no standard error: the number of {what} is unknown or below 2"
    if np.isnan(statistic.influence).any():
        return "no standard error: two classes are equally good for chance"
    return "no standard error: no item differs from the others in its effect"
