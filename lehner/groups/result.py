"""GroupEstimates: accuracies and base rates in groups of items, and differences between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lehner.core.arrays import Floats
from lehner.core.estimate import IntervalEstimate, ends
from lehner.core.warning import Warning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupReplicates:
    """Posterior draws or bootstrap replicates, joint for all groups.

    Parameters
    ----------
    system_accuracy, system_accuracy_in_sample : ndarray, shape (n_replicates, n_groups)
    base_rates : ndarray, shape (n_replicates, n_groups, n_categories)
    rater_accuracy : ndarray, shape (n_replicates, n_groups, n_raters)
    """

    system_accuracy: Floats
    system_accuracy_in_sample: Floats
    base_rates: Floats
    rater_accuracy: Floats


@dataclass(frozen=True, kw_only=True)
class GroupDifference:
    """The difference of a system's accuracy between two groups.

    Parameters
    ----------
    groups : tuple of str
        Names of the two groups.
    difference, difference_in_sample : IntervalEstimate
        Accuracy in the first group minus accuracy in the second, expected and in this sample.
    probability_higher : float or None
        Probability, or share of the bootstrap replicates, that the expected accuracy is higher in
        the first group.
    """

    groups: tuple[str, str]
    difference: IntervalEstimate
    difference_in_sample: IntervalEstimate
    probability_higher: float | None


@dataclass(frozen=True, kw_only=True)
class GroupEstimate:
    """What a method estimates for the items of one group.

    Parameters
    ----------
    group : str
        Name of the group.
    n_items : int
        Number of its items.
    n_answered : int
        Number of its items that the system answered.
    system_accuracy : IntervalEstimate
        Expected accuracy on items like these.
    system_accuracy_in_sample : IntervalEstimate
        Proportion of the answered items that the system got right.
    base_rates : mapping
        Base rate of each category, by name.
    rater_accuracy : mapping
        Expected accuracy of each rater, by name.
    """

    group: str
    n_items: int
    n_answered: int
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate
    base_rates: Mapping[str, IntervalEstimate] = field(default_factory=dict)
    rater_accuracy: Mapping[str, IntervalEstimate] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Give the estimates in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `group`, `n_items`, `n_answered`, `system_accuracy`, `system_accuracy_in_sample`,
            `base_rate_intervals`, `rater_accuracy_intervals`.
        """
        return {
            "group": self.group,
            "n_items": self.n_items,
            "n_answered": self.n_answered,
            "system_accuracy": ends(self.system_accuracy),
            "system_accuracy_in_sample": ends(self.system_accuracy_in_sample),
            "base_rate_intervals": {name: ends(one) for name, one in self.base_rates.items()},
            "rater_accuracy_intervals": {
                name: ends(one) for name, one in self.rater_accuracy.items()
            },
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class GroupEstimates:
    """What a method estimates for each group of items.

    Parameters
    ----------
    method : str
        Name of the method by which the numbers were estimated.
    system : str
        Name of the system.
    level : float
        Probability of the intervals.
    groups : tuple of GroupEstimate
        An estimate for each group, in the order of the groups.
    differences : tuple of GroupDifference
        The difference between each two groups.
    notes : tuple of Warning
        What the user should know before using the numbers, one sentence for each point.
    """

    method: str
    system: str
    level: float
    groups: tuple[GroupEstimate, ...]
    differences: tuple[GroupDifference, ...]
    notes: tuple[Warning, ...] = ()

    def __repr__(self) -> str:
        lines = [f"GroupEstimates of {self.system} by {self.method}"]
        lines += [
            f"  {one.group} ({one.n_items})  {one.system_accuracy}, in this sample "
            f"{one.system_accuracy_in_sample}"
            for one in self.groups
        ]
        for difference in self.differences:
            lines.append(f"  {' – '.join(difference.groups)}  {difference.difference}")
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Give the estimates in plain types, ready for JSON.

        Returns
        -------
        dict
            `groups`, a list of the results of `GroupEstimate.to_dict`, and `group_differences`, a
            list of `groups`, `difference`, `difference_in_sample` and `probability_higher`.
        """
        return {
            "groups": [one.to_dict() for one in self.groups],
            "group_differences": [
                {
                    "groups": list(one.groups),
                    "difference": ends(one.difference),
                    "difference_in_sample": ends(one.difference_in_sample),
                    "probability_higher": one.probability_higher,
                }
                for one in self.differences
            ],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Give a row for each group and number, and for each difference.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `system`, `group`, `minus_group`, `n_items`, `quantity`, `label`
            (category or rater), `estimate`, `lower`, `upper`, `level`, `kind`.
        """
        import pandas as pd

        rows = []
        common = {"method": self.method, "system": self.system}
        for one in self.groups:
            of_group = common | {"group": one.group, "minus_group": "", "n_items": one.n_items}
            for quantity in ("system_accuracy", "system_accuracy_in_sample"):
                named = of_group | {"quantity": quantity, "label": ""}
                rows.append(named | vars(getattr(one, quantity)))
            for quantity in ("base_rates", "rater_accuracy"):
                for label, value in getattr(one, quantity).items():
                    rows.append(of_group | {"quantity": quantity, "label": label} | vars(value))
        for two in self.differences:
            group, other = two.groups
            of_pair = common | {"group": group, "minus_group": other, "n_items": None, "label": ""}
            for quantity, value in (
                ("system_accuracy", two.difference),
                ("system_accuracy_in_sample", two.difference_in_sample),
            ):
                rows.append(of_pair | {"quantity": quantity} | vars(value))
        return pd.DataFrame(rows)
