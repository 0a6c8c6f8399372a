"""What a question is asked of, and what `estimate` was asked for.

A question is a function that yields rows of the table of results, and warnings. Most are asked of
each fit, `ask(fit, options)`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

from lehner.contrasts.groups import GroupColumn
from lehner.core.estimate import Estimate, Replicates, uses_truths
from lehner.core.rows import Row
from lehner.core.warning import Warning
from lehner.data.ratings import Ratings
from lehner.estimation.methods import Method
from lehner.latent_class.pattern_table import known_truths
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
    positive : PositiveCategory, optional
        The positive category of two.
    groups, populations : GroupColumn, optional
        To which group, and population, each row belongs.
    systems_rate : bool
        Whether the other systems serve as raters of each system.
    """

    name: str = "ratings"
    level: float = 0.9
    seed: int = 1
    resamples: int = RESAMPLES
    positive: PositiveCategory | None = None
    groups: GroupColumn | None = None
    populations: GroupColumn | None = None
    systems_rate: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """What one method gave for one system.

    Parameters
    ----------
    ratings : Ratings
        With this system only, and with gold labels.
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

    @cached_property
    def replicates(self) -> Callable[..., Replicates | None]:
        """From `resamples` and `seed` to the parameters that measures follow from, made once."""
        return cache(partial(self.method.replicates, self.ratings, self.estimate))

    def can_be_corrected(self) -> bool:
        """Tell whether some truths, not all, are known that the method has not seen."""
        ratings, estimate = self.ratings, self.estimate
        if ratings.truth is None or ratings.system is None or not known_truths(ratings):
            return False
        known = (ratings.system >= 0) & (ratings.truth >= 0) & (ratings.weights > 0)
        probable = "truth_probabilities" in estimate.arrays
        estimated = estimate.system_accuracy.estimate is not None
        return bool(known.any()) and probable and estimated and not uses_truths(estimate)


type Answer = Iterable[Row | Warning]
type Question = Callable[[Fit, Options], Answer]
