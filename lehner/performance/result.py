"""Results: the measures of a system, and of its raters, each with its interval."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.estimate import IntervalEstimate, NamedArray, plain
from lehner.core.warning import Warning
from lehner.performance.measures import RATIOS
from lehner.performance.positive import NAMES, PositiveCategory

if TYPE_CHECKING:
    import xarray as xr

BOUNDS = ("estimate", "lower", "upper")
NOT_SHOWN = ("confusion", "base_rates", "rater_accuracy", *RATIOS)
NAMES_IN_JSON = {"base_rates": "base_rate_intervals", "rater_accuracy": "rater_accuracy_intervals"}
"""Names for JSON of quantities whose own names have numbers without intervals there."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Performance:
    """Measures by one method, each with its interval.

    Parameters
    ----------
    method : str
        Name of the method by which the numbers were estimated.
    system : str
        Name of the system.
    level : float or None
        Probability of the intervals; None if there are none.
    kind : str
        How the intervals were made.
    arrays : mapping of str to NamedArray
        Arrays by quantity. Their last dimension is `bound`: estimate, lower and upper end, NaN if
        undefined. A likelihood ratio, or the upper end of its interval, may be infinite.
    positive : PositiveCategory, optional
        The positive category, if there are two.
    notes : tuple of Warning
        What the user should know before using the numbers, one sentence for each point.
    """

    method: str
    system: str
    level: float | None
    kind: str
    arrays: Mapping[str, NamedArray]
    positive: PositiveCategory | None = None
    notes: tuple[Warning, ...] = ()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} of {self.system} by {self.method}"]
        for quantity, places, value in self.rows():
            if quantity not in NOT_SHOWN:
                lines.append(f"  {' '.join([quantity, *map(str, places)]):<30}  {value}")
        return "\n".join([*lines, *(f"  note: {text}" for text in self.notes)])

    def value(self, quantity: str, *places: Any) -> IntervalEstimate:
        """Give one number with its interval.

        Parameters
        ----------
        quantity : str
            Name of the quantity, such as "recall".
        *places
            Names of its indices along its dimensions, such as the category.

        Returns
        -------
        IntervalEstimate
        """
        array = self.arrays[quantity]
        names = (list(array.names[dim]) for dim in array.dims)
        index = tuple(found.index(place) for found, place in zip(names, places, strict=False))
        return self._at(quantity, places, array.values[index])

    def diagnostic_accuracy(self, *places: Any) -> dict[str, IntervalEstimate]:
        """Give the measures of a test that is positive or negative, as medicine calls them.

        Parameters
        ----------
        *places
            The name of the rater, in results of raters.

        Returns
        -------
        dict of str to IntervalEstimate
            `sensitivity`, `specificity`, `positive_predictive_value`, `negative_predictive_value`,
            `positive_likelihood_ratio` and `negative_likelihood_ratio`; empty unless there are two
            categories.
        """
        if self.positive is None or "recall" not in self.arrays:
            return {}
        category = {True: self.positive.name, False: self.positive.negative}
        return {
            name: self.value(quantity, *places, category[of_positive])
            for name, (quantity, of_positive) in NAMES.items()
        }

    def rows(self) -> Iterator[tuple[str, tuple[Any, ...], IntervalEstimate]]:
        """Iterate over all numbers.

        Yields
        ------
        tuple
            The quantity, the names of the indices along its dimensions, and an IntervalEstimate.
        """
        for quantity, array in self.arrays.items():
            for index in np.ndindex(array.values.shape[:-1]):
                names = (array.names[dim][i] for dim, i in zip(array.dims, index, strict=False))
                places = tuple(names)
                yield quantity, places, self._at(quantity, places, array.values[index])

    def _at(self, quantity: str, places: tuple[Any, ...], values: Any) -> IntervalEstimate:
        estimate, lower, upper = (None if np.isnan(one) else float(one) for one in values)
        return IntervalEstimate(
            estimate=estimate, lower=lower, upper=upper, level=self.level, kind=self.kind
        )

    def to_xarray(self) -> "xr.Dataset":
        """Give all quantities as a labelled data set.

        Returns
        -------
        xarray.Dataset
            A variable for each of `arrays`; attributes `method`, `system`, `level`, `kind` and,
            with two categories, `positive`.
        """
        import xarray as xr

        attributes: dict[str, Any] = {"method": self.method, "system": self.system}
        attributes["kind"] = self.kind
        if self.level is not None:
            attributes["level"] = self.level
        arrays = {name: array.to_xarray(name) for name, array in self.arrays.items()}
        if self.positive is not None:
            attributes["positive"] = self.positive.name
        return xr.Dataset(arrays, attrs=attributes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RaterPerformance(Performance):
    """The raters' performance, by one method, and who is less accurate.

    Parameters
    ----------
    method : str
        Name of the method by which the numbers were estimated.
    system : str
        Name of the system.
    level : float or None
        Probability of the intervals; None if there are none.
    kind : str
        How the intervals were made.
    arrays : mapping of str to NamedArray
        Arrays by quantity. Their last dimension is `bound`: estimate, lower and upper end, NaN if
        undefined. A likelihood ratio, or the upper end of its interval, may be infinite.
        `accuracy` (rater, bound) and, if the method estimates it, `recall` (rater, category,
        bound); with two categories also `precision`, `specificity`, `positive_likelihood_ratio` and
        `negative_likelihood_ratio` (rater, category, bound).
    positive : PositiveCategory, optional
        The positive category, if there are two.
    notes : tuple of Warning
        What the user should know before using the numbers, one sentence for each point.
    probability_lower : NamedArray, optional
        Probability that the accuracy of the rater is lower than that of the other rater: the
        proportion of draws (for a bootstrap, of resamples) in which it is; ties count half. Dims
        (rater, other_rater), NaN on the diagonal. None without draws, if the method takes all
        raters for equally accurate, or with more than 50 raters.
    probability_lowest : NamedArray, optional
        Probability that the accuracy is lower than that of every other rater, dims (rater,). In
        draws in which several are lowest they share it equally.
    """

    probability_lower: NamedArray | None = None
    probability_lowest: NamedArray | None = None

    def to_xarray(self) -> "xr.Dataset":
        """Give all quantities as a labelled data set.

        Returns
        -------
        xarray.Dataset
            A variable for each of `arrays`, `probability_lower` (rater, other_rater) and
            `probability_lowest` (rater,); attributes as in `SystemPerformance.to_xarray`.
        """
        found = super().to_xarray()
        for name in ("probability_lower", "probability_lowest"):
            array = getattr(self, name)
            if array is not None:
                found[name] = array.to_xarray(name)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give all quantities in plain types, ready for JSON.

        Returns
        -------
        dict
            `raters` has for each rater `accuracy`, `recall[category]`, with two categories
            `diagnostic_accuracy`, `probability_lower[other rater]` and `probability_lowest`, None
            where undefined or infinite; `rater_notes` says why.
        """
        return {
            "raters": {name: self._one(name) for name in self.names},
            "rater_notes": plain(self.notes),
        }

    @property
    def names(self) -> list[str]:
        """Names of the raters."""
        return list(self.arrays["accuracy"].names["rater"])

    def recall(self, rater: str) -> dict[str, IntervalEstimate]:
        """Give how often a rater recognises each category.

        Parameters
        ----------
        rater : str
            Name of the rater.

        Returns
        -------
        dict of str to IntervalEstimate
            By the name of the category; empty if the method does not estimate it.
        """
        if "recall" not in self.arrays:
            return {}
        categories = self.arrays["recall"].names["category"]
        return {str(name): self.value("recall", rater, name) for name in categories}

    def lowest(self, rater: str) -> float | None:
        """Give the probability that a rater is less accurate than every other one, if there is one.

        Parameters
        ----------
        rater : str
            Name of the rater.

        Returns
        -------
        float or None
        """
        if self.probability_lowest is None:
            return None
        return float(self.probability_lowest.values[self.names.index(rater)])

    def less_accurate(self, rater: str) -> dict[str, float]:
        """Give the probability that a rater is less accurate than each other one.

        Parameters
        ----------
        rater : str
            Name of the rater.

        Returns
        -------
        dict of str to float
            By the name of the other rater; empty without `probability_lower`.
        """
        if self.probability_lower is None:
            return {}
        row = self.probability_lower.values[self.names.index(rater)]
        return {name: float(p) for name, p in zip(self.names, row, strict=True) if name != rater}

    def _one(self, rater: str) -> dict[str, Any]:
        found = {
            "accuracy": self.value("accuracy", rater),
            "recall": self.recall(rater) or None,
            "diagnostic_accuracy": self.diagnostic_accuracy(rater) or None,
            "probability_lower": self.less_accurate(rater) or None,
            "probability_lowest": self.lowest(rater),
        }
        return dict(plain(found, brief=True))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SystemPerformance(Performance):
    """A system's performance in detail, by one method.

    Parameters
    ----------
    method : str
        Name of the method by which the numbers were estimated.
    system : str
        Name of the system.
    level : float or None
        Probability of the intervals; None if there are none.
    kind : str
        How the intervals were made.
    arrays : mapping of str to NamedArray
        Arrays by quantity. Their last dimension is `bound`: estimate, lower and upper end, NaN if
        undefined. A likelihood ratio, or the upper end of its interval, may be infinite.
        `confusion` (category, response, bound); `recall`, `precision`, `specificity`,
        `positive_likelihood_ratio`, `negative_likelihood_ratio`, `f1` and `base_rates` (category,
        bound); `balanced_accuracy`, `mcc`, `kappa_with_truth` and, if costs were given,
        `expected_cost` (bound), in the unit of the costs and of any size and sign;
        `rater_accuracy` (rater, bound).
    positive : PositiveCategory, optional
        The positive category, if there are two.
    notes : tuple of Warning
        What the user should know before using the numbers, one sentence for each point.
    raters : RaterPerformance, optional
        The raters' performance by the same method; None if it says nothing of them.
    corrected : mapping of tuple to IntervalEstimate
        Those numbers that known truths correct, by quantity and categories.
    """

    raters: RaterPerformance | None = None
    corrected: Mapping[tuple[str, ...], IntervalEstimate] = field(default_factory=dict)

    def _at(self, quantity: str, places: tuple[Any, ...], values: Any) -> IntervalEstimate:
        return self.corrected.get((quantity, *map(str, places))) or super()._at(
            quantity, places, values
        )

    def to_dict(self) -> dict[str, Any]:
        """Give all quantities in plain types, ready for JSON.

        Returns
        -------
        dict
            `confusion[truth][answer]`, `recall[category]` and so on, each a dict of `estimate`,
            `lower` and `upper`, None where undefined or infinite, and `corrected`, whether known
            truths correct it. The base rates are `base_rate_intervals`, the accuracies of raters
            `rater_accuracy_intervals`, the notes `performance_notes`. `positive` says which
            category is positive, and `diagnostic_accuracy` has sensitivity and so on; both are None
            unless there are two. The raters are as in `RaterPerformance.to_dict`.
        """
        in_plain: dict[str, Any] = {"performance_notes": plain(self.notes)}
        in_plain["positive"] = plain(self.positive)
        in_plain["diagnostic_accuracy"] = plain(self.diagnostic_accuracy(), brief=True) or None
        for quantity, places, value in self.rows():
            inner = in_plain
            *outer, last = (NAMES_IN_JSON.get(quantity, quantity), *map(str, places))
            for place in outer:
                inner = inner.setdefault(place, {})
            inner[last] = plain(value, brief=True)
        return in_plain | ({} if self.raters is None else self.raters.to_dict())
