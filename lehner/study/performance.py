"""How well methods do: each measure with its Monte Carlo standard error.

Errors are estimate minus truth, so that nothing changes if the truth varies between replicates.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.estimate import ESTIMANDS, IntervalEstimate
from lehner.core.lazy import pd
from lehner.core.resampling import wilson_interval

Z = 1.96
type Row = dict[str, Any]
# A value and its Monte Carlo standard error.
type Measured = tuple[float, float]

UNKNOWN = (np.nan, np.nan)
STATED = ("lower", "upper", "standard_error")
BY = ("scenario", "method", "estimand")
# Part of the estimates that must have a standard error of their own for `model_se`.
LEAST_STATED = 0.5
PROPORTIONS = ("coverage", "bias_eliminated_coverage", "power", "failure_rate")


def measure(
    results: "pd.DataFrame",
    by: Sequence[str] = BY,
    level: float = 0.9,
    *,
    null: float | None = None,
) -> "pd.DataFrame":
    """Measure bias, error, coverage and more of methods, each with its Monte Carlo standard error.

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
        standard error of a proportion is above zero also where that is 0 or 1.

        `bias`, `relative_bias` (each error over its truth), `empirical_se`, `mse`, `rmse`,
        `model_se` (of the standard errors that the method states; unknown if it does so for fewer
        than half of its estimates), `model_se_relative_error` (over the empirical one, less 1),
        `coverage`, `bias_eliminated_coverage` (of truth plus bias),
        `power` (the proportion of intervals without the null value), `interval_width`,
        `interval_score` (width plus 2 / (1 - level) times what the truth lies outside) and
        `failure_rate`.

    References
    ----------
    Morris, White & Crowther (2019), https://doi.org/10.1002/sim.8086, Table 6; Joshi &
    Pustejovsky (2022), simhelpers, for `relative_bias` and, by jackknife, `rmse`; Gneiting &
    Raftery (2007), https://doi.org/10.1198/016214506000001437, Eq. 43, for `interval_score`.

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame({"method": "a", "truth": 0.5, "estimate": [0.4, 0.5, 0.6, 0.7]})
    >>> table = measure(results, by=["method"]).set_index("measure")
    >>> table.loc["bias", ["value", "standard_error"]].astype(float).round(4).tolist()
    [0.05, 0.0645]
    """
    results = results.assign(**{name: np.nan for name in STATED if name not in results})
    rows = []
    for key, group in results.groupby(list(by), sort=False):
        for name, value, error, n in _compute_measures(group, level, null):
            rows.append((*key, name, value, error, n))
    measures = pd.DataFrame(rows, columns=[*by, "measure", "value", "standard_error", "n"])
    value, half = measures["value"], Z * measures["standard_error"]
    lower, upper = np.where(
        measures["measure"].isin(PROPORTIONS),
        wilson_interval(value, measures["n"], z=Z),
        (value - half, value + half),
    )
    n = measures.pop("n")
    return measures.assign(lower=lower, upper=upper, n=n)


def measure_wide(
    results: "pd.DataFrame", by: Sequence[str], names: Sequence[str]
) -> "pd.DataFrame":
    """Compute the measures side by side, a row for each combination of the columns of `by`.

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


def measure_rows(
    rows: "pd.DataFrame", measures: Sequence[str] = ("bias", "rmse", "coverage", "interval_width")
) -> "pd.DataFrame":
    """Measure the estimates of an experiment by all other columns but the replicate."""
    # The measures have columns of these names.
    rows = rows.rename(columns={name: f"field {name}" for name in ("measure", "value", "n")})
    own = ("truth", "estimate", "lower", "upper", "replicate", "scenario")
    by = [name for name in rows if name not in own]
    return measure_wide(rows, by, measures).reset_index()


def make_result_row(truth: float, value: IntervalEstimate, **columns: Any) -> Row:
    """Lay out an estimate beside the truth, as `measure` takes it."""
    ends = {"estimate": value.estimate, "lower": value.lower, "upper": value.upper}
    return columns | {"truth": truth} | ends


def select_main_estimand(table: "pd.DataFrame") -> "pd.DataFrame":
    """Select rows of the expected accuracy or, where it is not known, of that in the sample.

    Parameters
    ----------
    table : pandas.DataFrame
        Results, measures or differences of a study.
    """
    column = next(name for name in ("truth", "value", "difference") if name in table)
    of_bias = table["measure"] == "bias" if "measure" in table else True
    defined = table[table[column].notna() & of_bias]
    # In the order of the alphabet, too, it comes first.
    main = defined.groupby("scenario")["estimand"].min().to_dict()
    wanted = [main.get(scenario, ESTIMANDS[0]) for scenario in table["scenario"]]
    return table[table["estimand"] == wanted]


def describe_main_estimand(table: "pd.DataFrame") -> str:
    """Describe what rows that `select_main_estimand` gives are of."""
    if (table["estimand"] == ESTIMANDS[0]).all():
        return "expected accuracy of the system"
    return "accuracy of the system in the sample, where its expected accuracy is not known"


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
        `measure` ("bias", "mse", "coverage" or "interval_width"), `difference` (of `method` from
        `other_method`), `standard_error` (Monte Carlo, for the samples that both have) and `n`.

    References
    ----------
    Morris, White & Crowther (2019), https://doi.org/10.1002/sim.8086, section 5.2.

    Examples
    --------
    On the same four samples one method is always .1 higher than the other.

    >>> import pandas as pd
    >>> low = pd.DataFrame(
    ...     {"method": "a", "replicate": range(4), "truth": 0.5, "estimate": [0.4, 0.5, 0.6, 0.7]}
    ... )
    >>> high = low.assign(method="b", estimate=low["estimate"] + 0.1)
    >>> results = pd.concat([low, high]).assign(lower=0.0, upper=1.0, scenario="s")
    >>> table = compare_methods(results, by=["scenario"]).set_index("measure")
    >>> table.loc["bias", ["difference", "standard_error"]].astype(float).round(6).tolist()
    [0.1, 0.0]
    """
    rows = []
    for key, group in results.groupby(list(by), sort=False):
        quantities = {
            method: _list_quantities(rows_of.set_index("replicate"))
            for method, rows_of in group.groupby("method", sort=False)
        }
        for (other, reference), (method, own) in combinations(quantities.items(), 2):
            for name, differences in (own - reference).items():
                values = differences.dropna().to_numpy()
                yes_or_no = name == "coverage" and len(values) > 1
                mean = estimate_mean_difference(values) if yes_or_no else _measure_mean(values)
                rows.append((*key, method, other, name, *mean, len(values)))
    names = [*by, "method", "other_method", "measure", "difference", "standard_error", "n"]
    return pd.DataFrame(rows, columns=names)


def estimate_proportion(happened: ArrayLike) -> Measured:
    """Compute the proportion of results that are true, and its standard error.

    Parameters
    ----------
    happened : array_like of bool

    Returns
    -------
    proportion, standard_error : float
        The usual error, √(p(1 - p)/n), unless all are alike: n replicates do not show that the
        others would be so too, and the error is the standard deviation that p has under Jeffreys'
        prior. NaN if there are none.

    Examples
    --------
    >>> [round(x, 3) for x in estimate_proportion([True] * 9 + [False])]
    [0.9, 0.095]
    >>> [round(x, 3) for x in estimate_proportion([True] * 10)]
    [1.0, 0.06]
    """
    values = np.asarray(happened, dtype=bool)
    n = len(values)
    if n == 0:
        return UNKNOWN
    p = float(values.mean())
    if 0 < p < 1:
        return p, float(np.sqrt(p * (1 - p) / n))
    yes, no = n * p + 0.5, n * (1 - p) + 0.5
    return p, float(np.sqrt(yes * no / (n + 1) ** 2 / (n + 2)))


def estimate_mean_difference(differences: ArrayLike) -> tuple[float, float]:
    """Compute the mean of differences between two yes-or-no results, and its standard error.

    Parameters
    ----------
    differences : array_like of float
        1, 0 or -1, two or more.

    Returns
    -------
    mean, standard_error : float
        If all are alike, the error is the standard deviation that the mean has under Jeffreys'
        prior for the three.
    """
    values = np.asarray(differences, dtype=float)
    n, mean = len(values), float(values.mean())
    if values.min() < values.max():
        return mean, float(values.std(ddof=1) / np.sqrt(n))
    p = (np.array([(values == x).sum() for x in (-1, 0, 1)]) + 0.5) / (n + 1.5)
    return mean, float(np.sqrt((p[0] + p[2] - (p[2] - p[0]) ** 2) / (n + 2.5)))


def _compute_measures(
    group: "pd.DataFrame", level: float, null: float | None
) -> list[tuple[str, float, float, int]]:
    estimated = group["estimate"].notna().to_numpy()
    columns = group.loc[estimated, ["truth", "estimate", *STATED]].to_numpy(float).T
    truth, estimate, lower, upper, stated = columns
    error, lower, upper = estimate - truth, lower - truth, upper - truth
    inside = np.isfinite(lower) & np.isfinite(upper)
    lower, upper, away = lower[inside], upper[inside], (null or 0) - truth[inside]
    has_error = np.isfinite(stated)
    n_stated = int(has_error.sum())
    # Those that a few samples have are not the standard errors of the method.
    has_error &= n_stated >= LEAST_STATED * len(error)
    stated, error_of_stated = stated[has_error], error[has_error]
    bias, width = _measure_mean(error), upper - lower
    outside = np.maximum(lower, 0) + np.maximum(-upper, 0)
    about_bias = UNKNOWN
    if len(error) > 1:
        about_bias = estimate_proportion((lower <= bias[0]) & (upper >= bias[0]))
    measured: dict[str, tuple[Measured, int]] = {
        "bias": (bias, len(error)),
        "relative_bias": (_measure_mean(error / truth) if truth.all() else UNKNOWN, len(error)),
        "empirical_se": (_measure_empirical_se(error), len(error)),
        "mse": (_measure_mean(error**2), len(error)),
        "rmse": (_measure_rmse(error), len(error)),
        "model_se": (_measure_model_se(stated), n_stated),
        "model_se_relative_error": (_measure_relative_error(stated, error_of_stated), n_stated),
        "coverage": (estimate_proportion((lower <= 0) & (upper >= 0)), len(lower)),
        "bias_eliminated_coverage": (about_bias, len(lower)),
        "power": (estimate_proportion((lower > away) | (upper < away)), len(lower)),
        "interval_width": (_measure_mean(width), len(lower)),
        "interval_score": (_measure_mean(width + 2 / (1 - level) * outside), len(lower)),
        "failure_rate": (estimate_proportion(~estimated), len(group)),
    }
    if null is None:
        del measured["power"]
    return [(name, *value, n) for name, (value, n) in measured.items()]


def _list_quantities(results: "pd.DataFrame") -> "pd.DataFrame":
    """List the quantities of each replicate whose means are compared."""
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


def _measure_mean(values: Floats) -> Measured:
    if len(values) < 2:
        return UNKNOWN
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _measure_empirical_se(error: Floats) -> Measured:
    if len(error) < 2:
        return UNKNOWN
    spread = float(error.std(ddof=1))
    return spread, spread / float(np.sqrt(2 * (len(error) - 1)))


def _measure_rmse(error: Floats) -> Measured:
    """Compute the root mean squared error; its standard error by jackknife, as simhelpers does."""
    n, squared = len(error), error**2
    if n < 3:
        return UNKNOWN
    left_out = np.sqrt((squared.sum() - squared) / (n - 1))
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return float(np.sqrt(squared.mean())), float(jackknife)


def _measure_model_se(stated: Floats) -> Measured:
    """Compute the root of the mean squared standard error that a method states."""
    if len(stated) < 3:
        return UNKNOWN
    value = float(np.sqrt((stated**2).mean()))
    if value == 0:
        return 0.0, 0.0
    return value, float(np.sqrt((stated**2).var(ddof=1) / (4 * len(stated))) / value)


def _measure_relative_error(stated: Floats, error: Floats) -> Measured:
    """Model SE over empirical SE less 1: -.1 where those stated are a tenth too small."""
    n = len(stated)
    if n < 3:
        return UNKNOWN
    mean, spread = float((stated**2).mean()), float(error.std(ddof=1))
    if mean == 0 or spread == 0:
        return UNKNOWN
    ratio = np.sqrt(mean) / spread
    relative = (stated**2).var(ddof=1) / (4 * n * mean**2) + 1 / (2 * (n - 1))
    return float(ratio - 1), float(ratio * np.sqrt(relative))
