"""Several systems on the same items: a comparison of each, their differences and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.estimate.comparison import Comparison
from experiments.estimate.systems_compared import SystemsByMethod, compare_by_method
from experiments.reporting.data_notes import data_notes
from lehner import Estimate, Ratings, SystemDifference, SystemRank
from lehner.core.estimate import plain
from lehner.systems.common_items import n_common_items

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
    common_items : bool
        Whether systems are compared on the items that they have in common.
    """

    name: str
    ratings: Ratings
    comparisons: tuple[Comparison, ...]
    differences: tuple[SystemDifference, ...]
    ranks: tuple[SystemRank, ...]
    systems_rate: bool
    common_items: bool = True

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
            "common_items": self.common_items,
            "n_common_items": n_common_items(self.ratings, self.ratings.systems),
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
            `level`, `probability_better`, `n_common_items` (that both systems answered), `reason`
            (why there is no difference).
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
                        "n_common_items": one.n_common_items,
                        "reason": one.reason if difference.estimate is None else "",
                    }
                )
        return pd.DataFrame(rows)


def compare_estimates(
    name: str,
    comparisons: Sequence[Comparison],
    ratings: Ratings,
    by_method: Sequence[SystemsByMethod],
) -> SystemsComparison:
    """Compare systems by each method.

    Parameters
    ----------
    name : str
    comparisons : sequence of Comparison
        Of each system, by the same methods.
    ratings : Ratings
        With all systems.
    by_method : sequence of SystemsByMethod
        Of each method.

    Returns
    -------
    SystemsComparison
    """
    differences: list[SystemDifference] = []
    ranks: list[SystemRank] = []
    for found in by_method:
        of_pairs, of_all = compare_by_method(found)
        differences += of_pairs
        ranks += of_all
    return SystemsComparison(
        name=name,
        ratings=ratings,
        comparisons=tuple(comparisons),
        differences=tuple(differences),
        ranks=tuple(ranks),
        systems_rate=by_method[0].systems_rate,
        common_items=by_method[0].common_items,
    )
