"""GroupEstimates: accuracies in groups of items, or of groups of raters, and differences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lehner.core.arrays import Floats
from lehner.core.estimate import ESTIMANDS, IntervalEstimate, ends
from lehner.core.warning import Warning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupReplicates:
    """Posterior draws or bootstrap replicates, joint for all groups of items.

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
    """The difference in accuracy between two groups.

    Parameters
    ----------
    groups : tuple of str
        Names of the two groups.
    difference : IntervalEstimate
        Accuracy in, or of, the first group minus that of the second.
    probability_higher : float or None
        Probability, or proportion of the bootstrap replicates, that the accuracy is higher in the
        first group; None if it is undefined in some of them.
    difference_in_sample : IntervalEstimate, optional
        For groups of items, the difference in this sample.
    """

    groups: tuple[str, str]
    difference: IntervalEstimate
    probability_higher: float | None
    difference_in_sample: IntervalEstimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Write the difference in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `groups`, `difference`, `probability_higher` and, for groups of items,
            `difference_in_sample`.
        """
        in_sample = self.difference_in_sample
        return (
            {"groups": list(self.groups), "difference": ends(self.difference)}
            | ({} if in_sample is None else {"difference_in_sample": ends(in_sample)})
            | {"probability_higher": self.probability_higher}
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over its numbers as rows of a table.

        Yields
        ------
        dict
            A value for each column.
        """
        group, other = self.groups
        names = {"group": group, "minus_group": other}
        if self.difference_in_sample is None:
            higher = {"probability_higher": self.probability_higher}
            yield names | vars(self.difference) | higher
            return
        of_pair = names | {"n_items": None, "label": ""}
        both = (self.difference, self.difference_in_sample)
        for quantity, value in zip(ESTIMANDS, both, strict=True):
            yield of_pair | {"quantity": quantity} | vars(value)


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

    def __str__(self) -> str:
        in_sample = self.system_accuracy_in_sample
        return f"{self.group} ({self.n_items})  {self.system_accuracy}, in this sample {in_sample}"

    def to_dict(self) -> dict[str, Any]:
        """Write the estimates in plain types, ready for JSON.

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

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over its numbers as rows of a table.

        Yields
        ------
        dict
            A value for each column.
        """
        names = {"group": self.group, "minus_group": "", "n_items": self.n_items}
        for quantity in ESTIMANDS:
            yield names | {"quantity": quantity, "label": ""} | vars(getattr(self, quantity))
        for quantity in ("base_rates", "rater_accuracy"):
            for label, value in getattr(self, quantity).items():
                yield names | {"quantity": quantity, "label": label} | vars(value)


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

    def __str__(self) -> str:
        return f"{self.group} ({len(self.raters)})  {self.accuracy}"

    def to_dict(self) -> dict[str, Any]:
        """Write the estimate in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `group`, `raters`, `n_ratings`, `accuracy`.
        """
        return {
            "group": self.group,
            "raters": list(self.raters),
            "n_ratings": self.n_ratings,
            "accuracy": ends(self.accuracy),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over its one number as a row of a table.

        Yields
        ------
        dict
            A value for each column.
        """
        sizes = {"n_raters": len(self.raters), "n_ratings": self.n_ratings}
        yield {"group": self.group, "minus_group": ""} | sizes | vars(self.accuracy)


@dataclass(frozen=True, kw_only=True, repr=False)
class GroupEstimates[Group: (GroupEstimate, RaterGroupEstimate)]:
    """What a method estimates for each group of items, or of raters.

    Parameters
    ----------
    method : str
        Name of the method by which the numbers were estimated.
    level : float
        Probability of the intervals.
    groups : tuple of GroupEstimate, or of RaterGroupEstimate
        An estimate for each group, in the order of the groups.
    differences : tuple of GroupDifference
        The difference between each two groups.
    notes : tuple of Warning
        What the user should know before using the numbers.
    system : str, optional
        Name of the system; None for groups of raters.
    """

    method: str
    level: float
    groups: tuple[Group, ...]
    differences: tuple[GroupDifference, ...]
    notes: tuple[Warning, ...] = ()
    system: str | None = None

    def __repr__(self) -> str:
        lines = [
            f"GroupEstimates of {self.system or 'raters'} by {self.method}",
            *(f"  {one}" for one in self.groups),
            *(f"  {' – '.join(one.groups)}  {one.difference}" for one in self.differences),
            *(f"  note: {text}" for text in self.notes),
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Write the estimates in plain types, ready for JSON.

        Returns
        -------
        dict
            `groups` and `group_differences`, lists with a dict for each; for groups of raters
            `rater_groups` and `rater_group_differences`.
        """
        of = "rater_" if self.system is None else ""
        return {
            f"{of}groups": [one.to_dict() for one in self.groups],
            f"{of}group_differences": [one.to_dict() for one in self.differences],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Make a table with a row for each group and number, and for each difference.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `system`, `group`, `minus_group`, `n_items`, `quantity`, `label`
            (category or rater), `estimate`, `lower`, `upper`, `level`, `kind`, `standard_error`;
            for groups of raters without `system`, `n_items`, `quantity` and `label`, but with
            `n_raters`, `n_ratings` and `probability_higher`.
        """
        import pandas as pd

        names = {"method": self.method}
        if self.system is not None:
            names["system"] = self.system
        rows = [names | row for group in self.groups for row in group.rows()]
        rows += [names | row for difference in self.differences for row in difference.rows()]
        return pd.DataFrame(rows)
