"""Estimate: what every method says about the system, the raters and the items."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.errors import InputError
from lehner.ratings import Ratings

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class IntervalEstimate:
    """A number between 0 and 1 with its interval.

    Parameters
    ----------
    estimate : float or None
        None where the data cannot support an estimate; the method's warnings say why.
    lower, upper : float or None
        Ends of the interval, None where there is none.
    level : float or None
        Probability of the interval.
    kind : str
        How it was made, as in "percentile bootstrap" or "equal-tailed credible".
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    kind: str = ""

    def __str__(self) -> str:
        if self.estimate is None:
            return "–"
        if self.lower is None or self.upper is None:
            return f"{self.estimate:.3f}"
        return f"{self.estimate:.3f} [{self.lower:.3f}, {self.upper:.3f}]"


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimate:
    """What a method says.

    Parameters
    ----------
    method : str
    system_accuracy : IntervalEstimate
        Expected accuracy: sum over categories of base rate times the probability that the
        system answers that category when it is true.
    system_accuracy_in_sample : IntervalEstimate
        Proportion of these items that the system got right.
    rater_accuracy : xarray.DataArray, dims (rater,), optional
    base_rates : xarray.DataArray, dims (category,), optional
    confusion : xarray.DataArray, dims (rater, category, response), optional
        Probability of each response given the true category.
    truth_probabilities : xarray.DataArray, dims (item, category), optional
        Probability that each category is the true one.
    bins : xarray.Dataset, dims (bin,), optional
        The algebra's Table 4.
    warnings : tuple of str
        What the user should know before using the numbers.
    diagnostics : dict
        Numbers that tell how well the method did its work.
    draws : xarray.DataTree, optional
        The posterior, for methods that have one.
    """

    method: str
    system_accuracy: IntervalEstimate
    system_accuracy_in_sample: IntervalEstimate
    rater_accuracy: "xr.DataArray | None" = None
    base_rates: "xr.DataArray | None" = None
    confusion: "xr.DataArray | None" = None
    truth_probabilities: "xr.DataArray | None" = None
    bins: "xr.Dataset | None" = None
    warnings: tuple[str, ...] = ()
    diagnostics: dict[str, Any] = field(default_factory=dict)
    draws: "xr.DataTree | None" = None

    def __repr__(self) -> str:
        lines = [
            f"Estimate by {self.method}",
            f"  system accuracy            {self.system_accuracy}",
            f"  system accuracy in sample  {self.system_accuracy_in_sample}",
        ]
        for name in ("rater_accuracy", "base_rates"):
            values = getattr(self, name)
            if values is not None:
                shown = listed(values, most=values.size)
                lines.append(f"  {name.replace('_', ' '):<25}  {shown}")
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.warnings)])

    def to_dict(self) -> dict[str, Any]:
        """Give the estimate in plain types, NaN as None, ready for JSON.

        Returns
        -------
        dict
            Keys `method`, `system_accuracy`, `system_accuracy_in_sample`, `rater_accuracy`,
            `base_rates`, `warnings`, `diagnostics`.
        """
        names = ("method", "system_accuracy", "system_accuracy_in_sample")
        return (
            {name: plain(getattr(self, name)) for name in names}
            | {name: _named(getattr(self, name)) for name in ("rater_accuracy", "base_rates")}
            | {name: plain(getattr(self, name)) for name in ("warnings", "diagnostics")}
        )


def _named(values: "xr.DataArray | None") -> dict[str, float | None]:
    if values is None:
        return {}
    labels = values.coords[values.dims[0]].values
    return {str(label): number(v) for label, v in zip(labels, values.values, strict=True)}


def listed(values: "xr.DataArray", most: int = 8) -> str:
    """Write numbers after their labels, unknown ones as a dash.

    Parameters
    ----------
    values : xarray.DataArray, of one dimension
    most : int
        How many to write.

    Returns
    -------
    str

    Examples
    --------
    >>> import xarray as xr
    >>> listed(xr.DataArray([0.5, np.nan, 0.25], {"rater": ["x", "y", "z"]}), most=2)
    'x 0.500, y –, …'
    """
    labels = values.coords[values.dims[0]].values[:most]
    numbers = [number(value) for value in values.values[:most]]
    shown = ["–" if value is None else f"{value:.3f}" for value in numbers]
    pairs = [f"{label} {text}" for label, text in zip(labels, shown, strict=True)]
    return ", ".join(pairs) + ", …" * (values.size > most)


def number(value: Any) -> float | None:
    """Give a Python float, or None for NaN and infinity.

    Examples
    --------
    >>> number(np.float64(0.5)), number(np.nan)
    (0.5, None)
    """
    return float(value) if np.isfinite(value) else None


def plain(value: Any) -> Any:
    """Give a value in the types JSON has, NaN as None.

    Parameters
    ----------
    value : dataclass, mapping, sequence, array, number, text or None

    Returns
    -------
    dict, list, float, int, bool, str or None

    Examples
    --------
    >>> plain({"x": np.array([1.0, np.nan]), "n": np.int64(3)})
    {'x': [1.0, None], 'n': 3}
    """
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return number(value) if isinstance(value, float) else value


def labelled(values: ArrayLike, ratings: Ratings, *dims: str) -> "xr.DataArray":
    """Label an array with the names of items, raters and categories.

    Parameters
    ----------
    values : array_like
    ratings : Ratings
    *dims : {"item", "rater", "category", "response"}

    Returns
    -------
    xarray.DataArray
    """
    import xarray as xr

    names = {
        "item": ratings.items,
        "rater": list(ratings.raters),
        "category": list(ratings.categories),
        "response": list(ratings.categories),
    }
    return xr.DataArray(np.asarray(values), dims=dims, coords={d: names[d] for d in dims})


def require_estimable(ratings: Ratings) -> None:
    """Raise an InputError unless the ratings can say anything about a system's accuracy.

    Parameters
    ----------
    ratings : Ratings

    Raises
    ------
    InputError
        No system, no answer of the system, or what `require_pairs` refuses.
    """
    if ratings.system is None:
        raise InputError(
            "no column or rater is the system",
            f"name it with --system, as one of {', '.join(ratings.raters)}",
        )
    if not ((ratings.system >= 0) & (ratings.weights > 0)).any():
        raise InputError("the system answered no item", "give its answers")
    require_pairs(ratings)


def require_pairs(ratings: Ratings) -> None:
    """Raise an InputError unless the ratings can say anything about the raters' accuracy.

    Parameters
    ----------
    ratings : Ratings

    Raises
    ------
    InputError
        Fewer than two raters, fewer than two categories, or no item rated by two raters.
    """
    if ratings.n_raters < 2:
        system = "" if ratings.system is None else " besides the system"
        raise InputError(f"there is {ratings.n_raters} rater{system}", "give two or more raters")
    if ratings.n_categories < 2:
        raise InputError(
            f"the only category is {', '.join(map(str, ratings.categories)) or 'missing'}",
            "name all categories, used or not, with --categories",
        )
    item, rater = ratings.flat.item_index, ratings.flat.rater_index
    paired = (item[1:] == item[:-1]) & (rater[1:] != rater[:-1])
    if not ratings.weights[item[1:][paired]].any():
        raise InputError(
            "no item was rated by two raters", "give two or more ratings for some items"
        )
