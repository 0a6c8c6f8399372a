"""SystemPerformance: a system's confusion matrix and measures, each with its interval."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lehner.core.estimate import IntervalEstimate, number, plain
from lehner.core.named_array import NamedArray
from lehner.core.warning import Warning

if TYPE_CHECKING:
    import xarray as xr

BOUNDS = ("estimate", "lower", "upper")
NAMES_IN_JSON = {"base_rates": "base_rate_intervals", "rater_accuracy": "rater_accuracy_intervals"}
"""Names for JSON of quantities whose own names have numbers without intervals there."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SystemPerformance:
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
        undefined. `confusion` (category, response, bound); `recall`, `precision`, `specificity`,
        `f1` and `base_rates` (category, bound); `balanced_accuracy`, `mcc`, `kappa_with_truth` and,
        if costs were given, `expected_cost` (bound), in the unit of the costs and of any size and
        sign; `rater_accuracy` (rater, bound).
    notes : tuple of Warning
        What the user should know before using the numbers, one sentence for each point.
    """

    method: str
    system: str
    level: float | None
    kind: str
    arrays: Mapping[str, NamedArray]
    notes: tuple[Warning, ...] = ()

    def __repr__(self) -> str:
        lines = [f"SystemPerformance of {self.system} by {self.method}"]
        for quantity, places, value in self.rows():
            if quantity not in ("confusion", "base_rates", "rater_accuracy"):
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
        return self._interval(array.values[index])

    def rows(self) -> Iterator[tuple[str, tuple[Any, ...], IntervalEstimate]]:
        """Iterate over all numbers.

        Yields
        ------
        tuple
            The quantity, the names of the indices along its dimensions, and an IntervalEstimate.
        """
        for quantity, array in self.arrays.items():
            for index in np.ndindex(array.values.shape[:-1]):
                places = (array.names[dim][i] for dim, i in zip(array.dims, index, strict=False))
                yield quantity, tuple(places), self._interval(array.values[index])

    def _interval(self, values: Any) -> IntervalEstimate:
        estimate, lower, upper = map(number, values)
        return IntervalEstimate(
            estimate=estimate, lower=lower, upper=upper, level=self.level, kind=self.kind
        )

    def to_xarray(self) -> "xr.Dataset":
        """Give all quantities as a labelled data set.

        Returns
        -------
        xarray.Dataset
            A variable for each of `arrays`; attributes `method`, `system`, `level`, `kind`.
        """
        import xarray as xr

        attributes = {"method": self.method, "system": self.system, "kind": self.kind}
        if self.level is not None:
            attributes["level"] = self.level  # type: ignore[assignment]
        arrays = {name: array.to_xarray(name) for name, array in self.arrays.items()}
        return xr.Dataset(arrays, attrs=attributes)

    def to_dict(self) -> dict[str, Any]:
        """Give all quantities in plain types, ready for JSON.

        Returns
        -------
        dict
            `confusion[truth][answer]`, `recall[category]` and so on, each a dict of `estimate`,
            `lower` and `upper`, None where undefined. The base rates are `base_rate_intervals`,
            the accuracies of raters `rater_accuracy_intervals`, the notes `performance_notes`.
        """
        in_plain: dict[str, Any] = {"performance_notes": plain(self.notes)}
        for quantity, places, value in self.rows():
            inner = in_plain
            *outer, last = (NAMES_IN_JSON.get(quantity, quantity), *map(str, places))
            for place in outer:
                inner = inner.setdefault(place, {})
            inner[last] = {bound: getattr(value, bound) for bound in BOUNDS}
        return in_plain
