"""Several systems on the same items: a comparison of each, their differences and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.estimate.comparison import Comparison
from experiments.reporting.data_notes import data_notes
from lehner import (
    Estimate,
    IntervalEstimate,
    JointDraws,
    Ratings,
    SystemDifference,
    SystemRank,
    bootstrap_systems,
    compare_systems,
    rank_systems,
)
from lehner.core.estimate import plain
from lehner.systems.bootstrap import bootstrap_methods

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class SystemsComparison:
    """Estimates of several systems by several methods.

    Parameters
    ----------
    name : str
        Of the data.
    ratings : Ratings
        With all systems.
    comparisons : tuple of Comparison
        Of each system.
    differences : tuple of SystemDifference
        Of each two systems by each method.
    ranks : tuple of SystemRank
        Of each system by each method with intervals.
    systems_rate : bool
        Whether the other systems served as raters of each system.
    """

    name: str
    ratings: Ratings
    comparisons: tuple[Comparison, ...]
    differences: tuple[SystemDifference, ...]
    ranks: tuple[SystemRank, ...]
    systems_rate: bool

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All estimates, system by system."""
        return tuple(one for comparison in self.comparisons for one in comparison.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Give everything in plain types, ready for JSON."""
        each = [comparison.to_dict() for comparison in self.comparisons]
        systems = [
            {"system": system, "known_truth": one["data"]["known_truth"]}
            | {name: one[name] for name in ("disagreements", "predictions", "dials", "dependence")}
            for system, one in zip(self.ratings.systems, each, strict=True)
        ]
        data = each[0]["data"] | {
            "systems": list(self.ratings.systems),
            "systems_rate": self.systems_rate,
            "raters": list(self.ratings.raters),
            "n_raters": self.ratings.n_raters,
            "n_ratings": self.ratings.n_ratings,
            "notes": data_notes(self.ratings),
        }
        del data["known_truth"]
        return {
            "data": data,
            "agreement": each[0]["agreement"],
            "estimates": [estimate for one in each for estimate in one["estimates"]],
            "comparisons": plain(self.differences),
            "ranks": plain(self.ranks),
            "systems": systems,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Give a row per system, method and quantity, as `Comparison.to_frame` has them."""
        import pandas as pd

        frames = [comparison.to_frame() for comparison in self.comparisons]
        return pd.concat(frames, ignore_index=True)

    def differences_frame(self) -> "pd.DataFrame":
        """Give a row per method and pair of systems.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `first`, `second`, `quantity`, `difference`, `lower`, `upper`,
            `level`, `probability_better`.
        """
        import pandas as pd

        rows = []
        for one in self.differences:
            quantities = {
                "system_accuracy": (one.difference, one.probability_better),
                "system_accuracy_in_sample": (
                    one.difference_in_sample,
                    one.probability_better_in_sample,
                ),
            }
            for quantity, (difference, better) in quantities.items():
                rows.append(
                    {
                        "method": one.method,
                        "first": one.systems[0],
                        "second": one.systems[1],
                        "quantity": quantity,
                        "difference": difference.estimate,
                        "lower": difference.lower,
                        "upper": difference.upper,
                        "level": difference.level,
                        "probability_better": better,
                    }
                )
        return pd.DataFrame(rows)


def compare_estimates(
    name: str,
    ratings: Ratings,
    comparisons: Sequence[Comparison],
    *,
    level: float,
    seed: int,
    systems_rate: bool,
) -> SystemsComparison:
    """Compare systems by each method.

    Parameters
    ----------
    name : str
    ratings : Ratings
        With all systems.
    comparisons : sequence of Comparison
        Of each system, by the same methods.
    level : float
    seed : int
    systems_rate : bool

    Returns
    -------
    SystemsComparison
    """
    differences: list[SystemDifference] = []
    ranks: list[SystemRank] = []
    for of_method in zip(*(one.estimates for one in comparisons), strict=True):
        points = {
            one.system: (one.system_accuracy, one.system_accuracy_in_sample) for one in of_method
        }
        draws = _joint_draws(ratings, of_method, seed, systems_rate=systems_rate)
        if draws is None:
            differences += _without_draws(of_method)
            continue
        differences += compare_systems(points, draws, level=level)
        accuracies = {system: both[0].estimate for system, both in points.items()}
        ranks += rank_systems(accuracies, draws, level=level)
    return SystemsComparison(
        name=name,
        ratings=ratings,
        comparisons=tuple(comparisons),
        differences=tuple(differences),
        ranks=tuple(ranks),
        systems_rate=systems_rate,
    )


def _joint_draws(
    ratings: Ratings, estimates: Sequence[Estimate], seed: int, *, systems_rate: bool
) -> JointDraws | None:
    method = estimates[0].method
    if method in bootstrap_methods():
        return bootstrap_systems(method, ratings, systems_rate=systems_rate, seed=seed)
    trees = {one.system: one.draws for one in estimates if one.draws is not None}
    if len(trees) < len(estimates):
        return None
    from bayes_models import joint_draws

    return joint_draws(trees, ratings, systems_rate=systems_rate, seed=seed)


def _without_draws(estimates: Sequence[Estimate]) -> list[SystemDifference]:
    """Give differences of methods that have no joint draws, without intervals."""

    def difference(first: IntervalEstimate, second: IntervalEstimate) -> IntervalEstimate:
        if first.estimate is None or second.estimate is None:
            return IntervalEstimate(estimate=None)
        return IntervalEstimate(estimate=first.estimate - second.estimate)

    return [
        SystemDifference(
            method=first.method,
            systems=(first.system, second.system),
            difference=difference(first.system_accuracy, second.system_accuracy),
            probability_better=None,
            difference_in_sample=difference(
                first.system_accuracy_in_sample, second.system_accuracy_in_sample
            ),
            probability_better_in_sample=None,
        )
        for place, first in enumerate(estimates)
        for second in estimates[place + 1 :]
    ]
