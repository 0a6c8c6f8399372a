"""What a question is asked of, and what `estimate` was asked for.

A question is a function `ask(fit, options)` that yields rows of the table of results, and warnings.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lehner.contrasts.membership import GroupColumn
from lehner.core.arrays import Floats
from lehner.core.estimate import Estimate
from lehner.core.rows import Row
from lehner.core.warning import Warning
from lehner.data.ratings import Ratings
from lehner.estimation.methods import Method
from lehner.performance.positive import PositiveCategory

RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """What results are asked for.

    Parameters
    ----------
    name : str
        Name of the data, for titles.
    level : float
        Probability of the intervals.
    seed : int
        The same seed gives the same numbers.
    resamples : int
        Of the items, where a method has none of its own.
    costs : ndarray, shape (n_categories, n_categories), optional
        Cost of each answer (column) when each category (row) is true.
    positive : PositiveCategory, optional
        The positive category of two.
    groups, populations : GroupColumn, optional
        To which group, and population, each row belongs.
    systems_rate : bool
        Whether the other systems serve as raters of each system.
    common_items : bool
        Whether systems are compared on the items that they have in common.
    """

    name: str = "ratings"
    level: float = 0.9
    seed: int = 1
    resamples: int = RESAMPLES
    costs: Floats | None = None
    positive: PositiveCategory | None = None
    groups: GroupColumn | None = None
    populations: GroupColumn | None = None
    systems_rate: bool = False
    common_items: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What one method gave for one system.

    Parameters
    ----------
    ratings : Ratings
        With this system only, and with known truths.
    estimate : Estimate
    method : Method
        What the method can give.
    at_slopes : mapping of float to Estimate
        Estimates with the system's slope on difficulty fixed, by slope.
    """

    ratings: Ratings
    estimate: Estimate
    method: Method
    at_slopes: Mapping[float, Estimate] = field(default_factory=dict)


type Answer = Iterable[Row | Warning]
type Question = Callable[[Fit, Options], Answer]
