"""Proportions: how frequent categories are in groups of items, and which group has most of one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lehner.core.estimate import IntervalEstimate, plain
from lehner.core.warning import Warning, by_severity
from lehner.data.ratings import Ratings
from lehner.groups.result import GroupDifference

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class GroupProportions:
    """What a method says of the items of one group.

    Parameters
    ----------
    group : str
        Name of the group.
    n_items, n_known : int
        Number of its items, and of those with a known truth.
    n_known_of : mapping of str to int
        How many of these are of each category, or of the good ones.
    proportions : mapping of str to IntervalEstimate
        Proportion of items like these that are of each category, or of the good ones.
    rank : int, optional
        Rank by the proportion of good items, 1 for the highest; None without an estimate, and if
        there is one group or no category is called good.
    rank_interval : tuple of int, optional
        Ends of the interval of the rank.
    probability_best : float, optional
        Probability that no other group has a higher proportion; groups that tie share it.
    """

    group: str
    n_items: int
    n_known: int
    n_known_of: Mapping[str, int]
    proportions: Mapping[str, IntervalEstimate]
    rank: int | None = None
    rank_interval: tuple[int | None, int | None] | None = None
    probability_best: float | None = None


@dataclass(frozen=True, kw_only=True)
class MethodProportions:
    """What a method says of each group, and of the raters.

    Parameters
    ----------
    method : str
        Name of the method.
    corrected : bool
        Whether proportions are corrected by known truths.
    groups : tuple of GroupProportions
        In the order of the groups.
    differences : tuple of GroupDifference
        The difference in the proportion of good items between each two groups, the one with the
        higher proportion by the first method first.
    rater_accuracy : mapping of str to IntervalEstimate
        Expected accuracy of each rater on all items; empty if the method does not estimate it.
    warnings : tuple of Warning
        What the user should know before using the numbers.
    """

    method: str
    corrected: bool
    groups: tuple[GroupProportions, ...]
    differences: tuple[GroupDifference, ...] = ()
    rater_accuracy: Mapping[str, IntervalEstimate] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over its numbers as rows of a table.

        Yields
        ------
        dict
            A value for each column.
        """
        for one in self.groups:
            for label, value in one.proportions.items():
                names = {"quantity": "proportion", "label": label, "group": one.group}
                best = {"rank": one.rank, "probability_best": one.probability_best}
                yield names | vars(value) | {"n_items": one.n_items} | best
        for difference in self.differences:
            yield {"quantity": "difference"} | next(difference.rows())
        for rater, value in self.rater_accuracy.items():
            yield {"quantity": "rater_accuracy", "label": rater} | vars(value)


@dataclass(frozen=True, kw_only=True, repr=False)
class Proportions:
    """Proportions of categories in groups of items by each method.

    Parameters
    ----------
    name : str
        Name of the data.
    ratings : Ratings
        With a population for each group.
    grouped_by : str
        The column of the groups; empty if all items are one group.
    good : str
        The good categories, joined by " or "; empty if none was called so.
    level : float
        Probability of the intervals.
    results : tuple of MethodProportions
        What each method says, in the order they were asked for.
    warnings : tuple of Warning
        What the user should know of the data, whatever the method.
    """

    name: str
    ratings: Ratings
    grouped_by: str
    good: str
    level: float
    results: tuple[MethodProportions, ...]
    warnings: tuple[Warning, ...] = ()

    def __repr__(self) -> str:
        shown = self.to_frame()[["method", "quantity", "label", "group", "estimate"]].fillna("")
        warnings = [*self.warnings, *(w for result in self.results for w in result.warnings)]
        lines = [f"Proportions in {self.name}", shown.to_string(index=False)]
        return "\n".join([*lines, *(f"warning: {one}" for one in by_severity(warnings))])

    def name_of(self, group: str, label: str) -> str:
        """Name the proportion of a category in a group by what tells it from others here.

        Parameters
        ----------
        group : str
            Name of the group.
        label : str
            The category, or the good ones.

        Returns
        -------
        str
        """
        if self.good:
            return group
        return f"{group}: {label}" if self.grouped_by else label

    def to_dict(self) -> dict[str, Any]:
        """Write it in plain types, ready for JSON.

        Returns
        -------
        dict
            The fields but `ratings` by name; `results` is a list with a dict for each method.
        """
        own = {name: value for name, value in vars(self).items() if name != "ratings"}
        return dict(plain(own, brief=True))

    def to_frame(self) -> "pd.DataFrame":
        """Make a table with a row for each number.

        Returns
        -------
        pandas.DataFrame
            Columns `method`, `corrected` (by known truths), `quantity` (proportion, difference or
            rater_accuracy), `label` (category or rater), `group`, `minus_group`, and those of an
            `IntervalEstimate`; `n_items`, `rank`, `probability_best` and `probability_higher`
            where there are such.
        """
        import pandas as pd

        rows = [
            {"method": one.method, "corrected": one.corrected} | row
            for one in self.results
            for row in one.rows()
        ]
        return pd.DataFrame(rows)
