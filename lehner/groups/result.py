"""GroupEstimates: accuracies in groups of items, or of groups of raters, and differences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lehner.core.arrays import Floats
from lehner.core.estimate import ESTIMANDS, IntervalEstimate, plain
from lehner.core.warning import Warning
from lehner.performance.result import NAMES_IN_JSON

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
    difference_in_sample : IntervalEstimate, optional
        For groups of items, the difference in this sample.
    probability_higher : float or None
        Probability, or proportion of the bootstrap replicates, that the accuracy is higher in the
        first group; None if it is undefined in some of them.
    """

    groups: tuple[str, str]
    difference: IntervalEstimate
    difference_in_sample: IntervalEstimate | None = None
    probability_higher: float | None

    def to_dict(self) -> dict[str, Any]:
        """Write the difference in plain types, ready for JSON.

        Returns
        -------
        dict
            Keys `groups`, `difference`, `probability_higher` and, for groups of items,
            `difference_in_sample`.
        """
        found: dict[str, Any] = plain(self, brief=True)
        if self.difference_in_sample is None:
            del found["difference_in_sample"]
        return found

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over its numbers as rows of a table.

        Yields
        ------
        dict
            A value for each column.
        """
        names = {"group": self.groups[0], "minus_group": self.groups[1]}
        if self.difference_in_sample is None:
            yield names | vars(self.difference) | {"probability_higher": self.probability_higher}
            return
        both = (self.difference, self.difference_in_sample)
        for quantity, value in zip(ESTIMANDS, both, strict=True):
            yield names | {"n_items": None, "quantity": quantity, "label": ""} | vars(value)


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
        found = plain(self, brief=True)
        return {NAMES_IN_JSON.get(name, name): value for name, value in found.items()}

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
        return dict(plain(self, brief=True))

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

        system = {} if self.system is None else {"system": self.system}
        rows = [row for group in self.groups for row in group.rows()]
        rows += [row for difference in self.differences for row in difference.rows()]
        return pd.DataFrame([{"method": self.method} | system | row for row in rows])
