"""What every method gives: an `Estimate`, joint `Draws`, and rows of the table of results."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.errors import InputError, Warning, list_few, make_error, sort_warnings
from lehner.core.lazy import xr
from lehner.core.text import to_decimal, with_interval

# Names, in results, of the two accuracies that a method may estimate.
ESTIMANDS = ("system_accuracy", "system_accuracy_in_sample")
CREDIBLE = "equal-tailed credible"
# Intervals of more numbers than these are computed in parts, to save memory.
NUMBERS_AT_ONCE = 2_000_000
RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")
# The measures of a classifier that each category has.
OF_EACH_CATEGORY = ("recall", "precision", "specificity", "f1", *RATIOS)
# The dimensions of each quantity; others have none. Those of systems, of groups of items, or of
# raters come before them.
DIMS: dict[str, tuple[str, ...]] = {
    "system_accuracy": (),
    "system_accuracy_in_sample": (),
    "n_items": (),
    "n_answered": (),
    "base_rates": ("category",),
    "confusion": ("category", "response"),
    "rater_accuracy": ("rater",),
    "rater_recall": ("rater", "category"),
    "rater_confusion": ("rater", "category", "response"),
    "truth_probabilities": ("item", "category"),
} | dict.fromkeys(OF_EACH_CATEGORY, ("category",))
# The range of each quantity that is not a proportion.
RANGES = dict.fromkeys(RATIOS, (0.0, np.inf)) | {
    "mcc": (-1.0, 1.0),
    "kappa_with_truth": (-1.0, 1.0),
}


@dataclass(frozen=True)
class IntervalEstimate:
    """A number with its interval.

    Parameters
    ----------
    estimate : float or None
        The number: an accuracy or another probability from 0 to 1, a difference or a coefficient
        from -1 to 1, or a cost of any size. None where the data cannot support an estimate; the
        method's warnings or notes say why.
    lower, upper : float or None
        Ends of the interval. None where there is no interval.
    level : float or None
        Probability of the interval, between 0 and 1, as in 0.9.
    kind : str
        How the interval was made, as in "percentile bootstrap" or "equal-tailed credible".
    standard_error : float or None
        Standard deviation of the resamples or posterior draws from which the interval was made,
        without undefined ones; None if there are none, or if most are undefined.
    corrected : bool
        Whether gold labels correct the number, or entered the estimate of it.

    Examples
    --------
    >>> accuracy = IntervalEstimate(0.9, 0.85, 0.94, level=0.9)
    >>> print(accuracy)
    0.900 [0.850, 0.940]
    >>> accuracy.upper
    0.94
    """

    estimate: float | None
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    kind: str = ""
    standard_error: float | None = None
    corrected: bool = False

    def __str__(self) -> str:
        if self.estimate is None and self.lower is not None:
            return f"{to_decimal(self.lower)} to {to_decimal(self.upper)}"
        return with_interval(self.estimate, self.lower, self.upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """Estimates of quantities, and joint posterior draws or bootstrap resamples of them.

    Parameters
    ----------
    point : mapping of str to ndarray
        The estimates by quantity, with the dimensions of `DIMS`; NaN where there is none. A
        dimension before these is that of the systems or groups. `confusion` is the system's.
    drawn : mapping of str to ndarray
        The draws by quantity, with a first dimension of draws, of which the i-th of all quantities
        belong together; NaN where undefined. Empty if the method has no interval.
    coords : mapping of str to sequence
        What the places of each dimension are called.
    kind : str
        How intervals are made.
    posterior : bool
        Whether these are posterior draws, whose mean is the estimate, or bootstrap resamples.
    corrected : bool
        Whether gold labels entered the draws.
    warnings : tuple of Warning
        What the user should know about these numbers.

    Examples
    --------
    >>> rates = {"base_rates": np.array([0.4, 0.6])}
    >>> draws = Draws(point=rates, coords={"category": ["no", "yes"]})
    >>> draws.list_coords("base_rates")
    {'category': ['no', 'yes']}
    """

    point: Mapping[str, Floats]
    drawn: Mapping[str, Floats] = field(default_factory=dict)
    coords: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    posterior: bool = False
    corrected: bool = False
    warnings: tuple[Warning, ...] = ()

    def __post_init__(self) -> None:
        # Last digits of sums depend on the layout in memory, which other processes do not keep.
        for name in ("point", "drawn"):
            arrays = {key: np.asarray(x, order="C") for key, x in getattr(self, name).items()}
            object.__setattr__(self, name, arrays)

    def list_coords(self, quantity: str) -> dict[str, Any]:
        """Name the places of a quantity along each of its dimensions."""
        coords = dict(self.coords)
        if "category" in coords:
            coords.setdefault("response", coords["category"])
        # A measure of one category alone has no such dimension.
        dims = [dim for dim in DIMS.get(quantity, ()) if dim in coords]
        n_before = self.point[quantity].ndim - len(dims)
        before = [dim for dim in ("system", "group", "rater") if dim in coords][:n_before]
        return {dim: coords[dim] for dim in (*before, *dims)}


def join_parts(parts: Iterable[Mapping[str, Floats]], n: int) -> dict[str, Floats]:
    """Join arrays by name, n in all along the first dimension, as they are made: memory."""
    joined: dict[str, Floats] = {}
    start = 0
    for part in parts:
        for name, values in part.items():
            whole = joined.setdefault(name, np.empty((n, *values.shape[1:])))
            whole[start : start + len(values)] = values
        start += len(next(iter(part.values())))
    return joined


@dataclass(frozen=True, kw_only=True, repr=False)
class Estimate:
    """What a method estimates for a system, and for raters, base rates and true categories.

    Parameters
    ----------
    method : str
        Name of the method, as `lehner estimate --method` takes it.
    system : str
        Name of the system.
    system_accuracy : IntervalEstimate
        Expected accuracy: sum over categories of base rate times the probability that the
        system answers that category when it is true. By default there is no estimate.
    system_accuracy_in_sample : IntervalEstimate
        Proportion of these items that the system got right. By default there is no estimate.
    arrays : mapping of str to xarray.DataArray
        Those of `rater_accuracy`, `base_rates`, `confusion` and `truth_probabilities` that the
        method estimates, which the properties of these names return.
    bins : xarray.Dataset, dims (bin,), optional
        The bins of step 4 of the algebra, as in Lehner's (2015) Table 4.
    warnings : tuple of Warning
        What the user should know before using the numbers.
    diagnostics : dict
        Numbers that show how well the method worked.
    draws : xarray.DataTree, optional
        The posterior draws, for methods that have them.
    resamples : Draws, optional
        The parameters in each bootstrap resample, for maximum likelihood with an interval.
    by_raters_alone : bool
        Whether the truth probabilities rest on the raters alone, and not on the system's answers,
        as the algebra's do.
    """

    method: str
    system: str
    system_accuracy: IntervalEstimate = IntervalEstimate(estimate=None)
    system_accuracy_in_sample: IntervalEstimate = IntervalEstimate(estimate=None)
    arrays: "Mapping[str, xr.DataArray]" = field(default_factory=dict)
    bins: "xr.Dataset | None" = None
    warnings: tuple[Warning, ...] = ()
    diagnostics: dict[str, Any] = field(default_factory=dict)
    draws: "xr.DataTree | None" = None
    resamples: Draws | None = None
    by_raters_alone: bool = False

    @classmethod
    def from_values(
        cls,
        accuracy: float | None,
        lower: float | None = None,
        upper: float | None = None,
        *,
        standard_error: float | None = None,
        level: float = 0.9,
    ) -> "Estimate":
        """Make the estimate of a method of one's own from its numbers.

        A study, or `lehner.estimate`, fills in the names of the method and the system.

        Parameters
        ----------
        accuracy : float or None
            The expected accuracy of the system, or what else a study is about. None or NaN where
            the data support no estimate.
        lower, upper : float, optional
            Ends of its interval.
        standard_error : float, optional
            That the method states.
        level : float
            Probability of the interval, between 0 and 1.

        Returns
        -------
        Estimate
            The accuracy on these items is estimated by the same numbers.

        Raises
        ------
        InputError
            If only one end is given, or they are the wrong way round.

        Examples
        --------
        >>> print(Estimate.from_values(0.8, 0.7, 0.9).system_accuracy)
        0.800 [0.700, 0.900]
        """
        numbers = (None if x is None else number(x) for x in (accuracy, lower, upper))
        accuracy, lower, upper = numbers
        if (lower is None) != (upper is None) or (lower or 0) > (upper or 0):
            remedy = "give both ends, the lower one first, or neither"
            raise make_error("the interval of an estimate", (lower, upper), remedy)
        stated = None if lower is None else level
        value = IntervalEstimate(accuracy, lower, upper, stated, standard_error=standard_error)
        return cls(method="", system="", system_accuracy=value, system_accuracy_in_sample=value)

    @classmethod
    def from_draws(
        cls,
        accuracy: ArrayLike,
        *,
        in_sample: ArrayLike | None = None,
        level: float = 0.9,
        **fields: Any,
    ) -> "Estimate":
        """Make the estimate of a method of one's own from its posterior draws.

        Parameters
        ----------
        accuracy : array_like
            Draws of the expected accuracy of the system, or of what else a study is about, as
            `tree.posterior["accuracy"]`, of any shape.
        in_sample : array_like, optional
            Draws of the accuracy on these items. By default the same draws estimate it.
        level : float
            Probability of the interval, between 0 and 1.
        **fields
            As of `from_values`.

        Returns
        -------
        Estimate
            Posterior means and equal-tailed credible intervals.

        Raises
        ------
        InputError
            If some draws are not finite.

        Examples
        --------
        >>> print(Estimate.from_draws([0.7, 0.8, 0.9], level=0.5).system_accuracy)
        0.800 [0.750, 0.850]
        """
        if not np.isfinite(accuracy).all():
            raise InputError("some draws are not finite", "see to the model or its sampler")
        expected = average_draws(accuracy, level)
        sample = expected if in_sample is None else average_draws(in_sample, level)
        names = {"method": "", "system": ""} | fields
        return cls(system_accuracy=expected, system_accuracy_in_sample=sample, **names)

    @property
    def rater_accuracy(self) -> "xr.DataArray | None":
        """Accuracy of each rater, dims (rater,)."""
        return self._named("rater_accuracy")

    @property
    def base_rates(self) -> "xr.DataArray | None":
        """Probability of each true category, dims (category,)."""
        return self._named("base_rates")

    @property
    def confusion(self) -> "xr.DataArray | None":
        """Probability of each response given the true category, (rater, category, response)."""
        return self._named("confusion")

    @property
    def truth_probabilities(self) -> "xr.DataArray | None":
        """Probability that each category is the true one, dims (item, category)."""
        return self._named("truth_probabilities")

    def _named(self, name: str) -> "xr.DataArray | None":
        return self.arrays[name].rename(name) if name in self.arrays else None

    def __repr__(self) -> str:
        lines = [
            f"Estimate of {self.system} by {self.method}",
            f"  system accuracy            {self.system_accuracy}",
            f"  system accuracy in sample  {self.system_accuracy_in_sample}",
        ]
        for name in ("rater_accuracy", "base_rates"):
            if name in self.arrays:
                lines.append(f"  {name.replace('_', ' '):<25}  {write_labelled(self.arrays[name])}")
        return "\n".join([*lines, *(f"  warning: {text}" for text in sort_warnings(self.warnings))])


def average_draws(draws: ArrayLike, level: float) -> IntervalEstimate:
    """Give the mean of draws and their equal-tailed credible interval.

    Parameters
    ----------
    draws : array_like
        Of any shape.
    level : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    IntervalEstimate

    Examples
    --------
    >>> print(average_draws([0.7, 0.8, 0.9], 0.5))
    0.800 [0.750, 0.850]
    """
    values = np.asarray(draws)
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return IntervalEstimate(
        estimate=float(values.mean()),
        lower=float(lower),
        upper=float(upper),
        level=level,
        kind=CREDIBLE,
        standard_error=float(values.std(ddof=1)) if values.size > 1 else None,
    )


def stack_draws(posterior: "xr.Dataset", name: str, *dims: Any) -> Floats:
    """Put the draws of a variable in all chains one after another, shape (n_draws, ...)."""
    values = posterior[name].transpose("chain", "draw", *dims).values
    return np.asarray(values.reshape(-1, *values.shape[2:]))


def write_labelled(values: "xr.DataArray", most: int = 8) -> str:
    """Write numbers after their labels; a dash stands for an unknown number.

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
    >>> write_labelled(xr.DataArray([0.5, np.nan, 0.25], {"rater": ["x", "y", "z"]}), most=2)
    'x 0.500, y –, …'
    """
    labels = values.coords[values.dims[0]].values
    pairs = (f"{label} {to_decimal(v)}" for label, v in zip(labels, values.values, strict=True))
    return list_few(pairs, most)


def number(value: Any) -> float | None:
    """Give a Python float, or None for NaN and infinity.

    Examples
    --------
    >>> number(np.float64(0.5)), number(np.nan)
    (0.5, None)
    """
    return float(value) if np.isfinite(value) else None


def to_plain(value: Any) -> Any:
    """Convert a value, with all that is in it, to types that JSON has, NaN and infinity to None.

    Examples
    --------
    >>> to_plain({"x": np.array([1.0, np.nan]), "n": np.int64(3)})
    {'x': [1.0, None], 'n': 3}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return number(value)
    if is_dataclass(value):
        value = {entry.name: getattr(value, entry.name) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): to_plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


# One number: values of some of `COLUMNS` by name.
type Row = dict[str, Any]

# The columns that say which number it is; each is empty where it does not apply.
KEYS = tuple("system method quantity grouping group rater category response versus weights".split())
NUMBERS = ("estimate", "lower", "upper", "level")
# What the columns of the table of results, and of the rows of JSON, hold: type and meaning.
MEANINGS: dict[str, tuple[str, str]] = tomllib.loads(
    Path(__file__).with_name("columns.toml").read_text(encoding="utf-8")
)
COLUMNS = tuple(MEANINGS)


def row(quantity: str, value: IntervalEstimate, /, **columns: Any) -> Row:
    """Make a row of a number with its interval.

    Parameters
    ----------
    quantity : str
        What the number is, as "recall".
    value : IntervalEstimate
    **columns
        Values of other columns.

    Returns
    -------
    dict
    """
    numbers = {name: getattr(value, name) for name in (*NUMBERS, "kind", "corrected")}
    return {"quantity": quantity} | numbers | columns


def make_rows(
    quantity: str,
    values: Floats,
    names: Mapping[str, Sequence[Any]],
    *,
    level: float | None = None,
    kind: str = "",
    **columns: Any,
) -> list[Row]:
    """Make a row of each number of an array, with its interval.

    Parameters
    ----------
    quantity : str
        What the numbers are.
    values : ndarray, shape (..., 3)
        Estimates and the ends of their intervals, NaN where there are none.
    names : mapping of str to sequence
        For each axis but the last, the column that names its places, and these names.
    level : float, optional
        Probability of the intervals.
    kind : str
        How the intervals were made.
    **columns
        Values of other columns of all rows.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> values = np.array([[0.5, 0.4, 0.6], [np.nan] * 3])
    >>> first, second = make_rows("recall", values, {"category": ["no", "yes"]}, level=0.9)
    >>> first["category"], first["estimate"], first["level"], second["estimate"]
    ('no', 0.5, 0.9, None)
    """
    rows = []
    for index in np.ndindex(values.shape[:-1]):
        labels = {
            name: str(labels[i]) for (name, labels), i in zip(names.items(), index, strict=True)
        }
        numbers = [None if np.isnan(value) else float(value) for value in values[index]]
        part: Row = dict(zip(NUMBERS, numbers, strict=False)) | labels | columns
        if numbers[0] is not None:
            part |= {"level": None if numbers[1] is None else level, "kind": kind}
        rows.append({"quantity": quantity} | part)
    return rows


def tabulate_draws(draws: Draws, quantity: str, *, level: float, **columns: Any) -> list[Row]:
    """Make a row of each number of a quantity, with the interval of its draws, if there are any.

    Parameters
    ----------
    draws : Draws
        With this quantity.
    quantity : str
    level : float
        Probability of the intervals.
    **columns
        Values of other columns of all rows, which come before those that the draws have.

    Returns
    -------
    list of dict
    """
    point = draws.point[quantity]
    values = np.stack([point, *np.full((2, *point.shape), np.nan)], axis=-1)
    if quantity in draws.drawn:
        limits = RANGES.get(quantity, (0.0, 1.0))
        values = summarise_draws(draws.drawn[quantity], point, level, limits)
    columns = {"kind": draws.kind, "corrected": draws.corrected, **columns}
    return make_rows(quantity, values, draws.list_coords(quantity), level=level, **columns)


def summarise_draws(
    drawn: Floats, estimate: ArrayLike, level: float, limits: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """Put the equal-tailed interval of draws beside each estimate.

    Undefined draws count as the least value at the lower end, and as the greatest at the upper end.
    If an estimate is beyond all draws, its interval reaches to it.

    Parameters
    ----------
    drawn : ndarray, shape (n_draws, ...)
        Posterior draws or bootstrap replicates, NaN where undefined.
    estimate : array_like, shape (...)
        NaN where there is none, which then has no interval.
    level : float
        Probability of the interval, between 0 and 1.
    limits : tuple of float
        The least and the greatest value that the quantity can have. If the greatest is infinite,
        draws may be infinite, too, and ends are not interpolated between draws.

    Returns
    -------
    ndarray, shape (..., 3)
        Estimate, lower and upper end.

    Examples
    --------
    >>> summarise_draws(np.array([0.1, 0.2, 0.3, np.nan]), 0.2, 0.5).round(3).tolist()
    [0.2, 0.075, 0.475]
    """
    estimate = np.asarray(estimate, dtype=float)
    if drawn.size > NUMBERS_AT_ONCE and estimate.ndim:
        parts = zip(np.moveaxis(drawn, 1, 0), estimate, strict=True)
        return np.array([summarise_draws(*part, level, limits) for part in parts])
    undefined = np.isnan(drawn)
    method: Literal["inverted_cdf", "linear"]
    method = "inverted_cdf" if np.isinf(limits[1]) else "linear"
    tails = [(1 - level) / 2, (1 + level) / 2]
    if undefined.any():
        ends = [
            np.quantile(np.where(undefined, value, drawn), tail, axis=0, method=method)
            for value, tail in zip(limits, tails, strict=True)
        ]
    else:
        ends = list(np.quantile(drawn, tails, axis=0, method=method))
    lower, upper = np.fmin(ends[0], estimate), np.fmax(ends[1], estimate)
    defined = ~np.isnan(estimate)
    return np.stack(
        [estimate, *(np.where(defined, end, np.nan) for end in (lower, upper))], axis=-1
    )


def uses_truths(estimate: Estimate) -> bool:
    """Tell whether gold labels entered the fit of a model."""
    kept = estimate.diagnostics if estimate.draws is None else estimate.draws.attrs
    return bool(kept.get("known_truths", 0))
