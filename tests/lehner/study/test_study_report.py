"""The report of a study."""

import hashlib
import re

import numpy as np
import pandas as pd
import pytest

from lehner import Study
from lehner.study.report import StudyResults, answer_study, describe_best, describe_outcomes
from tests.rows import draw_for_pages_only
from tests.studies import run_study, write_report

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
