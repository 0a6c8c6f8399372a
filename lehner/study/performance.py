"""How well methods do: each measure with its Monte Carlo standard error.

Errors are estimate minus truth, so that nothing changes if the truth varies between replicates.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lehner.core.arrays import Floats
from lehner.core.estimate import ESTIMANDS, IntervalEstimate, Row
from lehner.core.lazy import pd
from lehner.core.resampling import wilson_interval

Z = 1.96
# A value and its Monte Carlo standard error.
type Measured = tuple[float, float]

UNKNOWN = (np.nan, np.nan)
STATED = ("lower", "upper", "standard_error")
BY = ("scenario", "method", "estimand")
# Part of the estimates that must have a standard error of their own for `model_se`.
LEAST_STATED = 0.5
PROPORTIONS = ("coverage", "bias_eliminated_coverage", "failure_rate")
MEANS = ["bias", "relative_bias", "mse", "interval_width", "interval_score"]
# Means of each replicate's numbers, which differences of methods are of.
COMPARED = ["bias", "mse", "coverage", "interval_width"]
MEASURES = (
    *("bias", "relative_bias", "empirical_se", "mse", "rmse", "model_se"),
    *("model_se_relative_error", "coverage", "bias_eliminated_coverage"),
    *("interval_width", "interval_score", "failure_rate", "seconds"),
)


def measure(results: "pd.DataFrame", by: Sequence[str] = BY, level: float = 0.9) -> "pd.DataFrame":
    """Measure bias, error, coverage and more of methods, each with its Monte Carlo standard error.

    Parameters
    ----------
    results : pandas.DataFrame
        As `StudyResults.table`: with columns `truth`, `estimate`, `lower`, `upper` and
        `standard_error`, and those to group by. Rows without an estimate count as failures and in
        nothing else.
    by : sequence of str
        Columns whose combinations are measured one by one.
    level : float
        Probability of the intervals in the results, between 0 and 1.

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
        `interval_width`,
        `interval_score` (width plus 2 / (1 - level) times what the truth lies outside),
        `failure_rate` and, if the results have them, `seconds` that an estimate takes.

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
    value, error, n = _measure_groups(results, by, level)
    lower, upper = value - Z * error, value + Z * error
    names = [name for name in PROPORTIONS if name in value]
    lower[names], upper[names] = wilson_interval(value[names], n[names], z=Z)
    tables = {"value": value, "standard_error": error, "lower": lower, "upper": upper, "n": n}
    columns = {name: table.stack(future_stack=True) for name, table in tables.items()}
    return pd.DataFrame(columns).reset_index()


def measure_wide(
    results: "pd.DataFrame",
    by: Sequence[str],
    names: Sequence[str] = (),
    *,
    suffix: str = "_se",
    level: float = 0.9,
) -> "pd.DataFrame":
    """Compute the measures side by side, a row for each combination of the columns of `by`.

    Parameters
    ----------
    results, level
        As of `measure`.
    by : sequence of str
        Columns whose combinations are measured one by one.
    names : sequence of str
        Of the measures; by default all.
    suffix : str
        Of the names of standard errors.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: `n`, the replicates that the first measure rests on, and each measure
        with its Monte Carlo standard error after it; NaN where there are too few replicates.
    """
    value, error, n = _measure_groups(results, by, level)
    names = names or list(value)
    columns = {"n": n[names[0]]}
    for name in names:
        columns |= {name: value[name], f"{name}{suffix}": error[name]}
    return pd.DataFrame(columns)


def measure_rows(
    rows: "pd.DataFrame", measures: Sequence[str] = ("bias", "rmse", "coverage", "interval_width")
) -> "pd.DataFrame":
    """Measure the estimates of an experiment by all other columns but the replicate."""
    # The measures have columns of these names.
    rows = rows.rename(columns={name: f"field {name}" for name in ("measure", "value", "n")})
    result_columns = ("truth", "estimate", "lower", "upper", "replicate", "scenario")
    by = [name for name in rows if name not in result_columns]
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
    # The expected accuracy comes first in the order of the alphabet, too.
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
    rows, results = [], results.reset_index(drop=True)
    moments = _list_moments(results, [results[name] for name in (*by, "method")])[COMPARED]
    for key, group in results.groupby(list(by), sort=False):
        quantities = {
            method: moments.loc[rows_of.index].set_index(rows_of["replicate"])
            for method, rows_of in group.groupby("method", sort=False)
        }
        for (other, reference), (method, compared) in combinations(quantities.items(), 2):
            for name, differences in (compared - reference).items():
                values = differences.dropna().to_numpy()
                mean = estimate_mean_difference(values, yes_or_no=name == "coverage")
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
    p = float(values.mean()) if len(values) else np.nan
    return p, float(_find_error(p, len(values)))


def _find_error(p: ArrayLike, n: ArrayLike) -> Floats:
    """Find the standard error of proportions, by `estimate_proportion`."""
    p, n = np.asarray(p, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_prior = np.sqrt((n * p + 0.5) * (n * (1 - p) + 0.5) / (n + 1) ** 2 / (n + 2))
        return np.where((p > 0) & (p < 1), np.sqrt(p * (1 - p) / n), by_prior)


def estimate_mean_difference(differences: Floats, *, yes_or_no: bool) -> Measured:
    """Compute the mean of differences between two results, and its standard error.

    Parameters
    ----------
    differences : ndarray
    yes_or_no : bool
        Whether results are 0 or 1. If all differences are alike, the error is then the standard
        deviation that the mean has under Jeffreys' prior for 1, 0 and -1.

    Returns
    -------
    mean, standard_error : float
        NaN for fewer than two differences.
    """
    n = len(differences)
    if n < 2:
        return UNKNOWN
    mean = float(differences.mean())
    if not yes_or_no or differences.min() < differences.max():
        return mean, float(differences.std(ddof=1) / np.sqrt(n))
    p = (np.array([(differences == x).sum() for x in (-1, 0, 1)]) + 0.5) / (n + 1.5)
    return mean, float(np.sqrt((p[0] + p[2] - (p[2] - p[0]) ** 2) / (n + 2.5)))


def _measure_groups(
    results: "pd.DataFrame", by: Sequence[str], level: float = 0.9
) -> tuple["pd.DataFrame", "pd.DataFrame", "pd.DataFrame"]:
    """Compute measures, their standard errors and the numbers of replicates, by group."""
    keys = [results[name] for name in by]
    groups = _list_moments(results, keys, level).groupby(keys, sort=False)
    n, value, error = groups.count(), groups.mean(), groups.sem()
    n_errors, n_stated = n["bias"], n["stated"]
    value[MEANS] = value[MEANS].where(n[MEANS] > 1)
    for name in PROPORTIONS:
        error[name] = _find_error(value[name], n[name])
    value["empirical_se"] = np.sqrt(n_errors) * error["bias"]
    error["empirical_se"] = value["empirical_se"] / np.sqrt(2 * (n_errors - 1).clip(lower=0))
    value["rmse"] = np.sqrt(value["mse"]).where(n_errors > 2)
    # The jackknife, as simhelpers does it.
    error["rmse"] = (n_errors - 1) * error["left_out"].where(n_errors > 2)
    enough = (n_stated > 2) & (n_stated >= LEAST_STATED * n_errors)
    stated, spread = value["stated"].where(enough), np.sqrt(n_stated) * error["error_of_stated"]
    relative = error["stated"] / (2 * stated.where(stated > 0))
    value["model_se"] = np.sqrt(stated)
    error["model_se"] = value["model_se"] * relative.where(stated > 0, 0.0)
    ratio = np.sqrt(stated.where(stated > 0)) / spread.where(spread > 0)
    value["model_se_relative_error"] = ratio - 1
    error["model_se_relative_error"] = ratio * np.sqrt(relative**2 + 0.5 / (n_stated - 1))
    n = n.assign(
        **dict.fromkeys(("relative_bias", "empirical_se", "rmse"), n_errors),
        **dict.fromkeys(("model_se", "model_se_relative_error"), n_stated),
        bias_eliminated_coverage=n["coverage"],
    )
    names = [name for name in MEASURES if name != "seconds" or name in results]
    value, error, n = (table[names].rename_axis("measure", axis=1) for table in (value, error, n))
    return value, error, n


def _list_moments(
    results: "pd.DataFrame", keys: "list[pd.Series]", level: float = 0.9
) -> "pd.DataFrame":
    """List the quantities of each row from whose moments the measures are computed."""

    def transform(values: "pd.Series", how: str) -> "pd.Series":
        return values.groupby(keys, sort=False).transform(how)

    numbers = results.reindex(columns=["truth", "estimate", *STATED, "seconds"]).astype(float)
    seconds = numbers.pop("seconds")
    estimated = numbers["estimate"].notna()
    numbers = numbers.replace([np.inf, -np.inf], np.nan).where(estimated)
    truth, stated = numbers["truth"], numbers["standard_error"]
    error = numbers["estimate"] - truth
    inside = numbers["lower"].notna() & numbers["upper"].notna()
    lower, upper = numbers["lower"] - truth, numbers["upper"] - truth
    n, bias = transform(error, "count"), transform(error, "mean")
    outside, width = lower.clip(lower=0) + (-upper).clip(lower=0), upper - lower
    left_out = (transform(error**2, "sum") - error**2) / (n - 1)
    quantities = {
        "bias": error,
        "relative_bias": error / truth.where(transform(truth.abs(), "min") > 0),
        "mse": error**2,
        "left_out": np.sqrt(left_out.clip(lower=0)),
        "stated": stated**2,
        "error_of_stated": error.where(stated.notna()),
        "coverage": ((lower <= 0) & (upper >= 0)).where(inside),
        "bias_eliminated_coverage": ((lower <= bias) & (upper >= bias)).where(inside & (n > 1)),
        "interval_width": width,
        "interval_score": width + 2 / (1 - level) * outside,
        "failure_rate": ~estimated,
        "seconds": seconds,
    }
    return pd.DataFrame(quantities).astype(float)
