"""Questions that are asked of every method's estimate, and what `estimate` was asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lehner.core.arrays import Floats
from lehner.core.estimate import Estimate
from lehner.data.categories import Label
from lehner.data.ratings import Ratings
from lehner.estimation.methods import Posterior
from lehner.groups.membership import GroupColumn


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """What questions are answered with.

    Parameters
    ----------
    level : float
        Probability of the intervals.
    seed : int
        Of what is drawn for an answer.
    costs : ndarray, shape (n_categories, n_categories), optional
        Cost of each answer (column) when each category (row) is true.
    positive : str or int, optional
        The positive category of two.
    groups, populations : GroupColumn, optional
        To which group, and population, each row belongs.
    slopes : mapping of float to Estimate, optional
        Estimates with the system's slope on difficulty fixed, by slope.
    posteriors : mapping of str to Posterior
        By Bayesian method: what its draws can say.
    """

    level: float = 0.9
    seed: int = 1
    costs: Floats | None = None
    positive: Label | None = None
    groups: GroupColumn | None = None
    populations: GroupColumn | None = None
    slopes: Mapping[float, Estimate] | None = None
    posteriors: Mapping[str, Posterior] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that every method's estimate is asked.

    Parameters
    ----------
    name : str
        By which `MethodResult.answers` has the answer.
    answer : callable
        From ratings with one system, an estimate and `Options` to the answer; None where the method
        has none.
    to_dict : callable
        From the answer, or None, to its fields in JSON.
    """

    name: str
    answer: Callable[[Ratings, Estimate, Options], Any]
    to_dict: Callable[[Any], dict[str, Any]]
