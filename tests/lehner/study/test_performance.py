"""Performance measures against what rsimsum and simhelpers publish; the report of a study."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binomtest, norm

from lehner import Study
from lehner.core.resampling import wilson_interval
from lehner.study.performance import (
    PROPORTIONS,
    compare_methods,
    estimate_proportion,
    measure,
    measure_wide,
)
from lehner.study.report import StudyResults, answer_study, describe_best, describe_outcomes
from tests.rows import draw_for_pages_only
from tests.studies import run_study, write_report

DATA = Path(__file__).parents[2] / "data"

# README of R's rsimsum: data MIsim, true value .5, 95% intervals by the normal distribution.
RSIMSUM = {
    "bias": {"CC": (0.0168, 0.0048), "MI_LOGT": (0.0009, 0.0042), "MI_T": (-0.0012, 0.0043)},
    "relative_bias": {
        "CC": (0.0335, 0.0096),
        "MI_LOGT": (0.0018, 0.0083),
        "MI_T": (-0.0024, 0.0085),
    },
    "empirical_se": {"CC": (0.1511, 0.0034), "MI_LOGT": (0.1320, 0.0030), "MI_T": (0.1344, 0.0030)},
    "mse": {"CC": (0.0231, 0.0011), "MI_LOGT": (0.0174, 0.0009), "MI_T": (0.0181, 0.0009)},
    "model_se": {"CC": (0.1471, 0.0005), "MI_LOGT": (0.1349, 0.0006), "MI_T": (0.1338, 0.0006)},
    "coverage": {"CC": (0.9430, 0.0073), "MI_LOGT": (0.9490, 0.0070), "MI_T": (0.9430, 0.0073)},
    "bias_eliminated_coverage": {
        "CC": (0.9400, 0.0075),
        "MI_LOGT": (0.9490, 0.0070),
        "MI_T": (0.9430, 0.0073),
    },
}

# The same in percent. An early README has Monte Carlo errors of 2.2049, 2.3318 and 2.2690 for the
# first; these are by the formula of Morris et al., which its R/performance.R has now.
RSIMSUM_ERROR = {"CC": (-2.6594, 2.2055), "MI_LOGT": (2.2233, 2.3323), "MI_T": (-0.4412, 2.2695)}

# Article "Simulation Performance Criteria and MCSE" of R's simhelpers: Welch_res, 50 and 70 cases,
# mean difference .5.
SIMHELPERS = {
    ("t-test", "bias"): (-0.00514, 0.00895),
    ("t-test", "mse"): (0.07997, 0.00391),
    ("t-test", "coverage"): (0.972, 0.00522),
    ("t-test", "interval_width"): (1.21412, 0.00276),
    ("Welch t-test", "coverage"): (0.952, 0.00676),
    ("Welch t-test", "interval_width"): (1.09938, 0.00234),
}


@pytest.fixture(scope="module")
def misim():
    half = norm.ppf(0.975)
    result = pd.read_csv(DATA / "rsimsum_misim.csv")
    return result.assign(
        truth=0.5,
        lower=result["estimate"] - half * result["standard_error"],
        upper=result["estimate"] + half * result["standard_error"],
    )


@pytest.fixture(scope="module")
def welch():
    return pd.read_csv(DATA / "simhelpers_welch.csv").assign(truth=0.5)


def test_measures_are_those_of_rsimsum(misim):
    result = measure(misim, by=["method"]).set_index(["measure", "method"])
    for name, by_method in RSIMSUM.items():
        for method, (value, error) in by_method.items():
            ours = result.loc[(name, method)]
            assert ours["n"] == 1000
            assert round(ours["value"], 4) == value, (name, method)
            assert round(ours["standard_error"], 4) == error, (name, method)


def test_the_error_of_model_standard_errors_is_that_of_rsimsum(misim):
    result = measure(misim, by=["method"]).set_index(["measure", "method"])
    for method, expected in RSIMSUM_ERROR.items():
        ours = result.loc[("model_se_relative_error", method), ["value", "standard_error"]]
        assert [round(100 * number, 4) for number in ours] == list(expected), method


def test_relative_bias_divides_each_error_by_its_truth():
    rows = pd.DataFrame({"m": "a", "truth": [0.2, 0.5, 0.8], "estimate": [0.3, 0.5, 0.8]})
    result = measure(rows, by=["m"]).set_index("measure").loc["relative_bias"]
    assert result["value"] == pytest.approx(0.5 / 3)  # the bias over the mean truth is .2 / 3
    assert result["standard_error"] == pytest.approx(np.std([0.5, 0, 0], ddof=1) / np.sqrt(3))
    without = measure(rows.assign(truth=0.0), by=["m"]).set_index("measure")
    assert np.isnan(without.loc["relative_bias", "value"])


@pytest.mark.parametrize(("n_stated", "is_known"), [(15, True), (14, False), (0, False)])
def test_a_model_se_needs_the_standard_errors_of_half_of_the_estimates(n_stated, is_known):
    rows = alike().query("method == 'a'").assign(standard_error=0.1)
    rows.loc[rows["replicate"] >= n_stated, "standard_error"] = np.nan
    result = measure(rows, by=["method"]).set_index("measure")
    for name in ("model_se", "model_se_relative_error"):
        assert result.loc[name, "n"] == n_stated
        assert np.isfinite(result.loc[name, "value"]) == is_known


def test_measures_are_those_of_simhelpers(welch):
    result = measure(welch, by=["method"], level=0.95).set_index(["method", "measure"])
    for key, (value, error) in SIMHELPERS.items():
        assert round(result.loc[key, "value"], 5) == pytest.approx(value, abs=1.01e-5), key
        # Of the mean squared error: simhelpers divides by n, Morris et al. by n - 1.
        assert result.loc[key, "standard_error"] == pytest.approx(error, rel=3e-3, abs=6e-6), key


def test_the_standard_error_of_the_rmse_is_not_the_one_simhelpers_prints(welch):
    """simhelpers prints .00826. It takes the differences of its left-out values, which divide by
    n - 1, from a value that divides by n; that shifts each by rmse / 2n. Ours is what the delta
    method gives."""
    result = measure(welch, by=["method"]).set_index(["method", "measure"])
    rmse, mse = (result.loc[("t-test", name)] for name in ("rmse", "mse"))
    assert round(rmse["value"], 5) == 0.28278
    assert round(rmse["standard_error"], 5) == 0.00694
    delta = mse["standard_error"] / (2 * rmse["value"])
    assert rmse["standard_error"] == pytest.approx(delta, rel=0.01)
    shifted = np.hypot(rmse["standard_error"], rmse["value"] / (2 * np.sqrt(1000)))
    assert round(shifted, 5) == pytest.approx(0.00826, abs=1.5e-5)


@pytest.mark.slow
def test_standard_errors_are_the_spread_of_repeated_studies():
    rng = np.random.default_rng(1)
    n_studies, n = 1500, 80
    studies = []
    for study in range(n_studies):
        truth = rng.uniform(0.4, 0.8, n)
        estimate = truth + 0.02 + 0.1 * rng.normal(size=n)
        half = 0.15 * rng.uniform(0.8, 1.2, n)
        studies.append(
            pd.DataFrame(
                {
                    "study": study,
                    "truth": truth,
                    "estimate": np.where(rng.random(n) < 0.1, np.nan, estimate),
                    "lower": estimate - half,
                    "upper": estimate + half,
                    "standard_error": half / 1.6,
                }
            )
        )
    result = measure(pd.concat(studies), by=["study"])
    for name, group in result.groupby("measure"):
        spread = group["value"].std()
        claimed = np.sqrt((group["standard_error"] ** 2).mean())
        assert claimed == pytest.approx(spread, rel=0.1), name


def test_the_interval_score_rewards_short_intervals_that_hold():
    rows = {"truth": [0.5, 0.5], "estimate": 0.5, "lower": [0.4, 0.52], "upper": [0.6, 0.6]}
    result = measure(pd.DataFrame(rows).assign(m="a"), by=["m"], level=0.9).set_index("measure")
    assert result.loc["interval_score", "value"] == pytest.approx((0.2 + 0.08 + 20 * 0.02) / 2)


def test_rows_without_an_estimate_count_as_failures_only():
    rows = pd.DataFrame({"m": "a", "truth": 0.5, "estimate": [0.4, np.nan, 0.7, np.nan]})
    result = measure(rows, by=["m"]).set_index("measure")
    assert result.loc["failure_rate", ["value", "n"]].tolist() == [0.5, 4]
    assert result.loc["bias", ["value", "n"]].tolist() == [pytest.approx(0.05), 2]
    assert np.isnan(result.loc["coverage", "value"]) and result.loc["coverage", "n"] == 0


def test_one_replicate_tells_nothing_about_bias():
    row = {"m": "a", "truth": 0.5, "estimate": [0.7], "lower": 0.4, "upper": 0.8}
    result = measure(pd.DataFrame(row), by=["m"]).set_index("measure")
    assert result.loc["coverage", "value"] == 1
    unknown = result.loc[["bias", "bias_eliminated_coverage"], ["value", "standard_error"]]
    assert unknown.isna().all(axis=None)


def test_paired_differences_use_the_replicates_that_both_have(misim):
    misim = misim.assign(scenario="s", estimand="b")
    misim.loc[(misim["method"] == "CC") & (misim["replicate"] <= 100), "estimate"] = np.nan
    result = compare_methods(misim).set_index(["method", "other_method", "measure"])
    row = result.loc[("MI_T", "CC", "bias")]
    wide = misim.pivot(index="replicate", columns="method", values="estimate").dropna()
    difference = wide["MI_T"] - wide["CC"]
    assert row["n"] == 900
    assert row["difference"] == pytest.approx(difference.mean())
    assert row["standard_error"] == pytest.approx(difference.std() / 30)


def test_intervals_of_proportions_are_wilsons():
    for yes, n in ((0, 1), (0, 40), (7, 40), (40, 40)):
        expected = binomtest(yes, n).proportion_ci(2 * norm.cdf(1.96) - 1, method="wilson")
        result = wilson_interval(yes / n, n, z=1.96)
        assert result == pytest.approx([expected.low, expected.high], abs=1e-12)


@pytest.mark.parametrize("inside", [True, False])
def test_replicates_that_are_all_alike_leave_an_error(inside):
    n = 40
    result, error = estimate_proportion([inside] * n)
    assert result == inside
    assert error == pytest.approx(beta(n * inside + 0.5, n * (not inside) + 0.5).std())
    assert error < estimate_proportion([not inside] + [inside] * (n - 1))[1]


def alike(n=30):
    """Two methods whose intervals all hold, and another whose do not."""
    rows = {"truth": 0.5, "estimate": 0.5 + 0.01 * np.sin(np.arange(n)), "replicate": np.arange(n)}
    limits = {"a": (0.3, 0.7), "b": (0.2, 0.8), "c": (0.6, 0.7)}
    return pd.concat(
        pd.DataFrame(rows).assign(method=name, lower=low, upper=high, scenario="s", estimand="e")
        for name, (low, high) in limits.items()
    )


def test_no_proportion_is_certain_or_beyond_its_range():
    result = measure(alike(), by=["method"])
    rows = result[result["measure"].isin(PROPORTIONS)]
    assert set(rows["value"]) == {0, 1}
    assert (rows["standard_error"] > 0).all()
    assert (rows["lower"] >= 0).all() and (rows["upper"] <= 1).all()
    assert (rows["upper"] - rows["lower"]).between(0.05, 0.2).all()
    differences = compare_methods(alike()).set_index(["method", "other_method", "measure"])
    for pair, difference in {("b", "a"): 0, ("c", "a"): -1}.items():
        row = differences.loc[(*pair, "coverage")]
        assert row["difference"] == difference
        assert 0.01 < row["standard_error"] < 0.05


def test_intervals_of_means_are_two_standard_errors_wide(misim):
    result = measure(misim, by=["method"]).set_index("measure").loc["bias"]
    half = (result["upper"] - result["lower"]) / 2
    np.testing.assert_allclose(half, 1.96 * result["standard_error"])
    np.testing.assert_allclose((result["upper"] + result["lower"]) / 2, result["value"])


def test_of_one_or_two_data_sets_what_cannot_be_measured_is_missing():
    results = pd.DataFrame({"method": "a", "truth": 0.5, "estimate": [0.4, 0.6]})
    for n in (1, 2):
        table = measure_wide(results[:n], ["method"], ["bias", "rmse", "coverage"])
        assert table["n"].tolist() == [n]
        assert table["bias"].isna().tolist() == [n == 1] and table["rmse"].isna().all()


# The report of a study.


STUDY = """\
name = "small & quick"
aims = "Is 0 < 1?"
seed = 1
replicates = 12
methods = ["majority_agreement", { name = "algebraic", resamples = 40 }]

[[scenarios]]
name = "plain"
n_items = 60

[[scenarios]]
name = "swept"
n_items = 60
sweep = { initial_system_accuracy = [0.5, 0.7], easiness = [[-0.2, 0.2]] }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("study")
    (path / "study.toml").write_text(STUDY)
    run_study(path / "study.toml", path / "out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lehner.report.files.draw_bytes", draw_for_pages_only)
        write_report(path / "out")
    return path / "out"


@pytest.mark.slow
def test_all_files_are_there(folder):
    names = {path.name for path in (folder / "report").iterdir()}
    figures = ("bias", "coverage", "rmse")
    assert names == {
        "report.html",
        "performance.csv",
        "differences.csv",
        "outcomes.csv",
        "system_accuracy.tex",
        "system_accuracy_in_sample.tex",
        *(f"{name}.{kind}" for name in figures for kind in ("pdf", "png")),
    }


def test_the_page_needs_no_other_file_and_escapes_what_users_write(folder):
    page = (folder / "report" / "report.html").read_text()
    assert "<h1>small &amp; quick</h1>" in page and "Is 0 &lt; 1?" in page
    assert page.count('<svg role="img"') == 3
    assert hashlib.sha256((folder / "study.toml").read_bytes()).hexdigest() in page
    assert f"lehner study report {folder}</pre>" in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_the_tables_have_the_numbers_of_the_tabulate(folder):
    result = pd.read_csv(folder / "report" / "performance.csv")
    bias = result[
        (result["scenario"] == "plain")
        & (result["method"] == "algebraic")
        & (result["estimand"] == "system_accuracy")
        & (result["measure"] == "bias")
    ].iloc[0]
    entry = f"{bias['value']:.3f} ± {bias['standard_error']:.3f}"
    page = (folder / "report" / "report.html").read_text()
    rows = re.findall(r"<tr>(.*)</tr>", page)
    assert any(">plain<" in row and ">algebraic<" in row and entry in row for row in rows)
    assert any(re.search(r">\d\.\d+ \[\d\.\d{3}, \d\.\d{3}\]<", row) for row in rows)
    latex = (folder / "report" / "system_accuracy.tex").read_text()
    written = {"±": r"$\pm$", "-": "$-$", "0.": "."}
    for shown, letters in written.items():
        entry = entry.replace(shown, letters)
    assert entry in latex


def simulated(tmp_path, estimates, **more):
    """Results of one scenario with these estimates of .5, NaN where there is none."""
    path = tmp_path / "study.toml"
    names = ", ".join(f'"{name}"' for name in estimates)
    head, _ = STUDY.split('[[scenarios]]\nname = "swept"')
    path.write_text(re.sub("methods = .*", f"methods = [{names}]", head))
    results = pd.concat(
        pd.DataFrame(
            {
                "scenario": "plain",
                "method": name,
                "estimand": "system_accuracy",
                "replicate": np.arange(len(values)),
                "truth": 0.5,
                "estimate": values,
                "lower": np.asarray(values) - 0.2,
                "upper": np.asarray(values) + 0.2,
                "status": np.where(np.isnan(values), "undefined", "ok"),
                "reason": "",
            }
        )
        for name, values in estimates.items()
    )
    return StudyResults(study=Study.read(path), table=results)


def test_a_better_method_is_not_called_worse_for_samples_that_the_other_has_no_estimate_for(
    tmp_path,
):
    """The algebra errs by .1 where it has an estimate, the other by .05 there, and by .3 where it
    is hard. Of all its own samples the algebra has the smaller mean squared error."""
    rng, n = np.random.default_rng(1), 200
    hard = np.arange(n) % 4 == 0
    sign = rng.choice([-1, 1], n)
    algebraic = np.where(hard, np.nan, 0.5 + 0.1 * sign)
    better = 0.5 + np.where(hard, 0.3, 0.05) * sign
    result = simulated(tmp_path, {"algebraic": algebraic, "majority_agreement": better})
    mse = result.measures[result.measures["measure"] == "mse"].set_index("method")["value"]
    assert mse["algebraic"] < mse["majority_agreement"]
    ((_, _, best, tied),) = describe_best(result).tables[0].rows
    assert (best, tied) == ("majority_agreement", "none")


@pytest.mark.parametrize("measure", ["bias", "rmse", "coverage"])
def test_n_stands_beside_what_does_not_rest_on_all_samples(tmp_path, measure):
    """Also where a sample has an estimate and no interval."""
    rng, n = np.random.default_rng(1), 40
    estimates = 0.7 + 0.1 * rng.normal(size=n)
    estimates[:9] = np.nan
    result = simulated(tmp_path, {"algebraic": estimates, "majority_agreement": rng.random(n)})
    result.table["versions"] = ""
    rows = result.table["method"] == "algebraic"
    result.table.loc[rows & (result.table["replicate"] < 15), ["lower", "upper"]] = np.nan
    shown = "n 25" if measure == "coverage" else "n 31"
    figure = result.plot(measure)
    assert [text.get_text() for text in figure.axes[0].texts] == [shown]
    assert "n stands where not all samples" in figure.get_label()
    assert re.fullmatch(r"algebraic \+0\.\d+ \(n 31\)", describe_best(result).tables[0].rows[0][1])
    tables = [table for section in answer_study(result).sections for table in section.tables]
    head, *cells = next(cells for t in tables if measure in (cells := t.write_cells())[0])
    by_method = {row[1]: row[head.index(measure)] for row in cells}
    assert by_method["algebraic"].endswith(f"({shown})")
    assert "n" not in by_method["majority_agreement"]


def test_fits_that_did_not_converge_or_failed_are_counted(tmp_path):
    off = np.where(np.arange(40) < 5, 0.9, np.linspace(0.45, 0.55, 40))
    result = simulated(tmp_path, {"one_coin": off, "majority_agreement": np.full(40, 0.5)})
    fits = result.table["method"] == "one_coin"
    replicate = result.table["replicate"]
    result.table.loc[fits & (replicate < 5), "status"] = "unconverged"
    result.table.loc[fits & (replicate == 5), ["status", "reason"]] = ["failed", "no | number"]
    result.table.loc[fits & (replicate == 5), ["estimate", "lower", "upper"]] = np.nan
    counts, reasons = describe_outcomes(result).tables
    assert counts.write_cells() == [
        ["scenario", "method", "samples", "undefined", "failed", "unconverged"],
        ["plain", "one_coin", "40", "0", "1", "5"],
    ]
    assert reasons.write_cells()[1:] == [["one_coin", "no | number", "1"]]


def test_only_what_is_beyond_noise_is_called_so(tmp_path):
    rng, n = np.random.default_rng(1), 400
    shared = rng.normal(size=n)
    shared -= shared.mean()
    other = 0.1 * shared + 0.001 * rng.normal(size=n)
    estimates = {
        "algebraic_paper": 0.5 + 0.1 * shared,
        "majority_agreement": 0.5 + other - other.mean(),
        "algebraic": 0.55 + 0.1 * shared,
    }
    result = simulated(tmp_path, estimates)
    ((scenario, biased, best, tied),) = describe_best(result).tables[0].rows
    assert scenario == "plain"
    assert biased.startswith("algebraic +0.05") and "," not in biased
    assert {best, tied} == {"algebraic_paper", "majority_agreement"}
