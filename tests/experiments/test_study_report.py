"""The report of a study."""

import re

import numpy as np
import pandas as pd
import pytest

from experiments.study.definition import read_study
from experiments.study.document import Table, to_html, to_markdown
from experiments.study.performance import compare_methods, measure
from experiments.study.report import Findings, _beyond_noise, _plan, write_report
from experiments.study.run import run_study

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
sweep = { system_accuracy = [0.5, 0.7], difficulty = [[-0.2, 0.2]] }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("study")
    (path / "study.toml").write_text(STUDY)
    run_study(path / "study.toml", path / "out")
    write_report(path / "out")
    return path / "out"


def test_all_files_are_there(folder):
    names = {path.name for path in (folder / "report").iterdir()}
    figures = ("bias", "coverage", "estimates", "intervals", "nested_loop", "pairs")
    assert names == {
        "report.html",
        "report.md",
        "performance.csv",
        "differences.csv",
        "system_accuracy.tex",
        "system_accuracy_in_sample.tex",
        *(f"{name}.{kind}" for name in figures for kind in ("pdf", "png")),
    }


def test_the_page_needs_no_other_file_and_escapes_what_users_write(folder):
    page = (folder / "report" / "report.html").read_text()
    assert "<h1>small &amp; quick</h1>" in page and "Is 0 &lt; 1?" in page
    assert len(re.findall(r'src="data:image/png;base64,', page)) == 6
    assert not re.search(r'(src|href)="(?!data:)', page)


def test_it_says_what_was_asked_before_what_came_out(folder):
    text = (folder / "report" / "report.md").read_text()
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings == [
        "Aims",
        "Data-generating mechanisms",
        "Estimands",
        "Methods",
        "Performance measures",
        "What came out",
        "Performance",
    ]
    assert "4 scenarios, 12 samples each, seed 1" in text


def test_a_study_that_was_stopped_is_not_called_complete(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    empty = pd.DataFrame()

    def said(done):
        rows = [
            pd.DataFrame({"scenario": cell, "method": method, "replicate": range(n)})
            for (cell, method), n in done.items()
        ]
        results = pd.concat(rows).assign(versions="lehner")
        blocks = _plan(Findings(read_study(path), results, empty, empty))
        return next(block.text for block in blocks if "scenarios, " in getattr(block, "text", ""))

    cells = [cell.name for cell in read_study(path).cells]
    done = {(cell, method): 12 for cell in cells for method in ("majority_agreement", "algebraic")}
    assert "4 scenarios, 12 samples each" in said(done)
    assert "4 scenarios, 5 to 12 samples each" in said(done | {(cells[1], "algebraic"): 5})
    del done[cells[3], "algebraic"]
    assert "4 scenarios, 0 to 12 samples each" in said(done)
    del done[cells[3], "majority_agreement"]
    assert "4 scenarios, 0 to 12 samples each" in said(done)


def test_the_tables_have_the_numbers_of_the_measures(folder):
    found = pd.read_csv(folder / "report" / "performance.csv")
    one = found[
        (found["scenario"] == "plain")
        & (found["method"] == "algebraic")
        & (found["estimand"] == "system_accuracy")
        & (found["measure"] == "bias")
    ].iloc[0]
    entry = f"{one['value']:.3f} ± {one['standard_error']:.3f}"
    lines = (folder / "report" / "report.md").read_text().splitlines()
    assert any(line.startswith("| plain | algebraic |") and entry in line for line in lines)
    latex = (folder / "report" / "system_accuracy.tex").read_text()
    assert entry.replace("±", r"$\pm$") in latex


def test_only_what_is_beyond_noise_is_called_so(tmp_path):
    path = tmp_path / "study.toml"
    text = STUDY.split('[[scenarios]]\nname = "swept"')[0]
    path.write_text(text.replace("methods = [", 'methods = ["mean_posterior", '))
    study, rng, n = read_study(path), np.random.default_rng(1), 400
    shared = rng.normal(size=n)
    shared -= shared.mean()
    errors = {
        "mean_posterior": 0.1 * shared,
        "majority_agreement": 0.1 * shared + 0.001 * rng.normal(size=n),
        "algebraic": 0.05 + 0.1 * shared,
    }
    results = pd.concat(
        pd.DataFrame(
            {
                "scenario": "plain",
                "method": method,
                "estimand": "system_accuracy",
                "replicate": np.arange(n),
                "truth": 0.5,
                "estimate": 0.5 + error - error.mean() * (method != "algebraic"),
                "lower": np.nan,
                "upper": np.nan,
            }
        )
        for method, error in errors.items()
    )
    found = Findings(study, results, measure(results), compare_methods(results))
    (table,) = (block for block in _beyond_noise(found) if isinstance(block, Table))
    ((scenario, biased, best, tied),) = table.rows
    assert scenario == "plain"
    assert biased.startswith("algebraic +0.05") and "," not in biased
    assert {best, tied} == {"mean_posterior", "majority_agreement"}


def test_cells_are_escaped():
    blocks = [Table(("a|b",), (("<x>",),))]
    assert r"a\|b" in to_markdown("t", blocks)
    assert "<td>&lt;x&gt;</td>" in to_html("t", blocks, {})
