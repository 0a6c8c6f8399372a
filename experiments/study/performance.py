"""How well methods do: each measure with its Monte Carlo standard error.

Errors are estimate minus truth, so that nothing changes if the truth varies between replicates.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.study.precision import Measured, model_se, relative_error, relative_precision
from experiments.study.proportions import Z, mean_difference, share
from lehner.core.arrays import Floats
from lehner.core.wilson import wilson_interval

if TYPE_CHECKING:
    import pandas as pd

STATED = ("lower", "upper", "standard_error")
BY = ("scenario", "method", "estimand")
PROPORTIONS = ("coverage", "bias_eliminated_coverage", "power", "failure_rate")


def measure(
    results: "pd.DataFrame",
    by: Sequence[str] = BY,
    level: float = 0.9,
    *,
    null: float | None = None,
) -> "pd.DataFrame":
    """Measure how well methods do: bias, error, coverage and more, each with its Monte Carlo error.

    Parameters
    ----------
    results : pandas.DataFrame
        As `read_results` gives them: with columns `truth`, `estimate`, `lower`, `upper` and
        `standard_error`, and those to group by. Rows without an estimate count as failures and in
        nothing else.
    by : sequence of str
        Columns whose combinations are measured one by one.
    level : float
        Probability of the intervals in the results, between 0 and 1.
    null : float, optional
        The value that a method rejects if it lies outside its interval, for `power`.

    Returns
    -------
    pandas.DataFrame
        A row for each combination and measure: the columns of `by`, `measure`, `value`,
        `standard_error` (Monte Carlo), `lower` and `upper` (95% Monte Carlo interval: Wilson's of
        proportions, else 1.96 standard errors) and `n`, the number of replicates it rests on. The
        standard error of a proportion is above zero also where that is 0 or 1, see `share`.

        `bias`, `relative_bias` (each error over its truth), `empirical_se`, `mse`, `rmse`,
        `model_se` (of the standard errors that the method states), `model_se_relative_error` (over
        the empirical one, less 1), `coverage`, `bias_eliminated_coverage` (of truth plus bias),
        `power` (the share of intervals without the null value), `interval_width`, `interval_score`
        (width plus 2 / (1 - level) times what the truth lies outside) and `failure_rate`.

    References
    ----------
    Morris, White & Crowther (2019), https://doi.org/10.1002/sim.8086, Table 6; Joshi &
    Pustejovsky (2022), simhelpers, for `relative_bias` and, by jackknife, `rmse`; Gneiting &
    Raftery (2007), https://doi.org/10.1198/016214506000001437, Eq. 43, for `interval_score`.

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame({"method": "a", "truth": 0.5, "estimate": [0.4, 0.5, 0.6, 0.7]})
    >>> found = measure(results, by=["method"]).set_index("measure")
    >>> found.loc["bias", ["value", "standard_error"]].astype(float).round(4).tolist()
    [0.05, 0.0645]
    """
    import pandas as pd

    results = results.assign(**{name: np.nan for name in STATED if name not in results})
    rows = []
    for key, group in results.groupby(list(by), sort=False):
        for name, value, error, n in _measures(group, level, null):
            rows.append((*key, name, value, error, n))
    measures = pd.DataFrame(rows, columns=[*by, "measure", "value", "standard_error", "n"])
    return _add_intervals(measures)


def measure_wide(
    results: "pd.DataFrame", by: Sequence[str], names: Sequence[str]
) -> "pd.DataFrame":
    """Give some of the measures side by side, a row for each combination of the columns of `by`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: `n`, the replicates that the first measure rests on, and each measure
        with its Monte Carlo standard error in `…_se`; NaN where there are too few replicates.
    """
    measured = measure(results, by)
    measured = measured[measured["measure"].isin(names)]
    wide = measured.pivot_table(
        index=list(by), columns="measure", values=["value", "standard_error"], sort=False
    )
    wide.columns = [name if kind == "value" else f"{name}_se" for kind, name in wide.columns]
    n = measured[measured["measure"] == names[0]].set_index(list(by))["n"]
    columns = [f"{name}{end}" for name in names for end in ("", "_se")]
    # Rows and columns in which everything is missing are not in the pivot table.
    return wide.reindex(index=n.index, columns=["n", *columns]).assign(n=n)


def _add_intervals(measures: "pd.DataFrame") -> "pd.DataFrame":
    """Add the 95% Monte Carlo intervals, `lower` and `upper`, to measures."""
    value, half = measures["value"], Z * measures["standard_error"]
    low, high = wilson_interval(value, measures["n"], z=Z)
    proportion = measures["measure"].isin(PROPORTIONS)
    place = measures.columns.get_loc("n")
    measures = measures.copy()
    measures.insert(place, "lower", np.where(proportion, low, value - half))
    measures.insert(place + 1, "upper", np.where(proportion, high, value + half))
    return measures


def compare_methods(
    results: "pd.DataFrame", by: Sequence[str] = ("scenario", "estimand")
) -> "pd.DataFrame":
    """Compare methods in pairs, on the replicates in which both have an estimate.

    Parameters
    ----------
    results : pandas.DataFrame
        As of `measure`, with columns `method` and `replicate`.
    by : sequence of str
        Columns whose combinations are compared one by one.

    Returns
    -------
    pandas.DataFrame
        A row for each combination, pair and measure: the columns of `by`, `method`, `other_method`,
        `measure` ("bias", "mse", "coverage", "interval_width" or "relative_precision"),
        `difference` (of `method` from `other_method`; of precision the gain over it, as a share),
        `standard_error` (Monte Carlo, for the samples that both have) and `n`.

    References
    ----------
    Morris, White & Crowther (2019), https://doi.org/10.1002/sim.8086, section 5.2, for samples that
    methods share, and Table 6 for relative precision.

    Examples
    --------
    On the same four samples one method is always .1 higher than the other.

    >>> import pandas as pd
    >>> one = pd.DataFrame(
    ...     {"method": "a", "replicate": range(4), "truth": 0.5, "estimate": [0.4, 0.5, 0.6, 0.7]}
    ... )
    >>> two = one.assign(method="b", estimate=one["estimate"] + 0.1)
    >>> results = pd.concat([one, two]).assign(lower=0.0, upper=1.0, scenario="s")
    >>> found = compare_methods(results, by=["scenario"]).set_index("measure")
    >>> found.loc["bias", ["difference", "standard_error"]].astype(float).round(6).tolist()
    [0.1, 0.0]
    """
    import pandas as pd

    rows = []
    for key, group in results.groupby(list(by), sort=False):
        methods = list(dict.fromkeys(group["method"]))
        quantities = {
            method: _quantities(one.set_index("replicate"))
            for method, one in group.groupby("method", sort=False)
        }
        for i, other in enumerate(methods):
            for method in methods[i + 1 :]:
                paired = quantities[method] - quantities[other]
                for name in paired:
                    values = paired[name].dropna().to_numpy()
                    mean = _difference(values) if name == "coverage" else _mean(values)
                    rows.append((*key, method, other, name, *mean, len(values)))
                both = quantities[method]["bias"].to_frame("a").join(quantities[other]["bias"])
                first, second = both.dropna().to_numpy().T
                gain = relative_precision(first, second)
                rows.append((*key, method, other, "relative_precision", *gain, len(first)))
    names = [*by, "method", "other_method", "measure", "difference", "standard_error", "n"]
    return pd.DataFrame(rows, columns=names)


def _measures(
    group: "pd.DataFrame", level: float, null: float | None
) -> list[tuple[str, float, float, int]]:
    estimated = group["estimate"].notna().to_numpy()
    truth = group["truth"].to_numpy(float)[estimated]
    error = group["estimate"].to_numpy(float)[estimated] - truth
    lower = group["lower"].to_numpy(float)[estimated] - truth
    upper = group["upper"].to_numpy(float)[estimated] - truth
    has_interval = np.isfinite(lower) & np.isfinite(upper)
    lower, upper = lower[has_interval], upper[has_interval]
    stated = group["standard_error"].to_numpy(float)[estimated]
    has_error = np.isfinite(stated)
    n, n_intervals, n_stated = len(error), len(lower), int(has_error.sum())
    bias = _mean(error)
    width = upper - lower
    about_bias = (lower <= bias[0]) & (upper >= bias[0])
    outside = np.maximum(lower, 0) + np.maximum(-upper, 0)
    of_points = {
        "bias": bias,
        "relative_bias": _mean(error / truth) if truth.all() else (np.nan, np.nan),
        "empirical_se": _spread(error),
        "mse": _mean(error**2),
        "rmse": _rmse(error),
    }
    of_errors = {
        "model_se": model_se(stated[has_error]),
        "model_se_relative_error": relative_error(stated[has_error], error[has_error]),
    }
    of_intervals = {
        "coverage": _share((lower <= 0) & (upper >= 0)),
        "bias_eliminated_coverage": _share(about_bias) if n > 1 else (np.nan, np.nan),
        **_power(null, lower, upper, truth[has_interval]),
        "interval_width": _mean(width),
        "interval_score": _mean(width + 2 / (1 - level) * outside),
    }
    return [
        *((name, *value, n) for name, value in of_points.items()),
        *((name, *value, n_stated) for name, value in of_errors.items()),
        *((name, *value, n_intervals) for name, value in of_intervals.items()),
        ("failure_rate", *_share(~estimated), len(group)),
    ]


def _power(null: float | None, lower: Floats, upper: Floats, truth: Floats) -> dict[str, Measured]:
    """Give the share of the intervals about the truth that do not contain the null value."""
    if null is None:
        return {}
    outside = (lower > null - truth) | (upper < null - truth)
    return {"power": _share(outside.astype(float))}


def _quantities(results: "pd.DataFrame") -> "pd.DataFrame":
    """Give for each replicate what the means of are compared."""
    import pandas as pd

    error = results["estimate"] - results["truth"]
    inside = (results["lower"] <= results["truth"]) & (results["truth"] <= results["upper"])
    return pd.DataFrame(
        {
            "bias": error,
            "mse": error**2,
            "coverage": inside.astype(float).where(results["lower"].notna()),
            "interval_width": results["upper"] - results["lower"],
        }
    )


def _needs(n: int) -> Callable[[Callable[[Floats], Measured]], Callable[[Floats], Measured]]:
    """Say nothing where there are fewer than n values."""

    def decorate(function: Callable[[Floats], Measured]) -> Callable[[Floats], Measured]:
        return lambda values: function(values) if len(values) >= n else (np.nan, np.nan)

    return decorate


@_needs(2)
def _mean(values: Floats) -> Measured:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@_needs(2)
def _difference(values: Floats) -> Measured:
    return mean_difference(values)


@_needs(1)
def _share(happened: Floats) -> Measured:
    return share(happened)


@_needs(2)
def _spread(error: Floats) -> Measured:
    spread = float(error.std(ddof=1))
    return spread, spread / float(np.sqrt(2 * (len(error) - 1)))


@_needs(3)
def _rmse(error: Floats) -> Measured:
    """Root mean squared error; its standard error by jackknife, as simhelpers does."""
    n, squared = len(error), error**2
    left_out = np.sqrt((squared.sum() - squared) / (n - 1))
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return float(np.sqrt(squared.mean())), float(jackknife)
