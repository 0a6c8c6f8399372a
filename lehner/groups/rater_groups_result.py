"""RaterGroupEstimates: accuracies of groups of raters, and differences between them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lehner.core.estimate import IntervalEstimate, ends
from lehner.core.warning import Warning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class RaterGroupEstimate:
    """The accuracy of one group of raters.

    Parameters
    ----------
    group : str
        Name of the group.
    raters : tuple of str
        Names of its raters.
    n_ratings : int
        Number of their ratings; a rater's repeated ratings of an item are one.
    accuracy : IntervalEstimate
        Probability that a rating by the group is right.
    """

    group: str
    raters: tuple[str, ...]
    n_ratings: int
    accuracy: IntervalEstimate


@dataclass(frozen=True, kw_only=True)
class RaterGroupDifference:
    """The difference in accuracy between two groups of raters.

    Parameters
    ----------
    groups : tuple of str
        Names of the two groups.
    difference : IntervalEstimate
        Accuracy of the first group minus accuracy of the second.
    probability_higher : float or None
        Probability, or share of the bootstrap replicates, that the first is more accurate; None if
        it is undefined in some of them.
    """

    groups: tuple[str, str]
    difference: IntervalEstimate
    probability_higher: float | None


@dataclass(frozen=True, kw_only=True, repr=False)
class RaterGroupEstimates:
    """What a method estimates for each group of raters.

    Parameters
    ----------
    method : str
        Name of the method by which the numbers were estimated.
    level : float
        Probability of the intervals.
    groups : tuple of RaterGroupEstimate
        An estimate for each group, in the order of their names.
    differences : tuple of RaterGroupDifference
        The difference between each two groups.
    notes : tuple of Warning
        What the user should know before using the numbers, one sentence for each point.
    """

    method: str
    level: float
    groups: tuple[RaterGroupEstimate, ...]
    differences: tuple[RaterGroupDifference, ...]
    notes: tuple[Warning, ...] = ()

    def __repr__(self) -> str:
        lines = [f"RaterGroupEstimates by {self.method}"]
        lines += [f"  {one.group} ({len(one.raters)})  {one.accuracy}" for one in self.groups]
        lines += [f"  {' – '.join(one.groups)}  {one.difference}" for one in self.differences]
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Give the estimates in plain types, ready for JSON.

        Returns
        -------
        dict
            `rater_groups`, a list of `group`, `raters`, `n_ratings` and `accuracy`, and
            `rater_group_differences`, a list of `groups`, `difference` and `probability_higher`.
        """
        return {
            "rater_groups": [
                {
                    "group": one.group,
                    "raters": list(one.raters),
                    "n_ratings": one.n_ratings,
                    "accuracy": ends(one.accuracy),
                }
                for one in self.groups
            ],
            "rater_group_differences": [
                {
                    "groups": list(one.groups),
                    "difference": ends(one.difference),
                    "probability_higher": one.probability_higher,
                }
                for one in self.differences
            ],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Give a row for each group and for each difference.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `group`, `minus_group`, `n_raters`, `n_ratings`, `estimate`, `lower`,
            `upper`, `level`, `kind`, `standard_error`, `probability_higher`.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for one in self.groups:
            sizes = {"n_raters": len(one.raters), "n_ratings": one.n_ratings}
            rows.append({"group": one.group, "minus_group": ""} | sizes | vars(one.accuracy))
        for two in self.differences:
            first, second = two.groups
            higher = {"probability_higher": two.probability_higher}
            rows.append({"group": first, "minus_group": second} | vars(two.difference) | higher)
        return pd.DataFrame([{"method": self.method} | row for row in rows])
