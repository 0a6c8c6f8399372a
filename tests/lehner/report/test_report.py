"""`--full`, files and the page say what the table of results says, warnings above their numbers."""

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner.core.results import read_value
from lehner.core.text import escape
from lehner.estimation.summary import write_apa
from lehner.estimation.views import view_systems
from lehner.report import estimates
from lehner.report.estimates import answer_estimates, render_all
from lehner.report.tables import REPORT
from lehner.report.terminal import to_options
from tests.rows import as_text, draw_for_pages_only

METHODS = ["learned_prior", "majority_agreement", "algebraic", "dawid_skene_ml"]
CATEGORIES = ["<script>", "\x1b[31mred", "x_y%"]
SYSTEMS = ["=1+1", "gpt_4"]


def make_ratings(n_systems=1, n_truths=25):
    """Ratings by raters of systems and categories with difficult names."""
    scenario = lehner.Scenario(
        n_categories=3, n_items=60, initial_rater_accuracy=(0.5, 0.7, 0.8), missing=0.1
    )
    drawn = [lehner.simulate(scenario, seed) for seed in (3, 4)][:n_systems]
    truth = np.where(np.arange(60) < n_truths, drawn[0].truth, -1)
    return lehner.Ratings(
        drawn[0].codes,
        CATEGORIES,
        raters=["../x", "a|b", "r_1&%"],
        system=np.column_stack([data.system for data in drawn]),
        systems=SYSTEMS[:n_systems],
        truth=truth if n_truths else None,
    )


def estimate(n_systems=1, n_truths=25, methods=METHODS, **options):
    groups = np.resize(["g/1 & co", "-5", "$a_b$"], 60)
    ratings = make_ratings(n_systems, n_truths)
    results = lehner.estimate(ratings, methods, groups=groups, **options)
    return replace(results, name="f.csv")


@pytest.fixture(scope="module")
def results():
    return estimate()


@pytest.fixture(scope="module")
def two():
    return estimate(2, 0, METHODS[:3])


@pytest.mark.parametrize("which", ["results", "two"])
def test_every_interval_on_the_screen_is_a_row_of_the_table(which, request):
    results = request.getfixturevalue(which)
    text = "\n".join(
        line
        for line in as_text(render_all(view_systems(results), 100)).splitlines()
        if "few" not in line
    )
    shown = set(re.findall(r"[-+−]?\d*\.\d+ \[[^\]]*\.\d+, [^\]]*\.\d+\]", text))
    values = [read_value(row) for row in results.table.to_dict("records")]
    written = {f"{value}".replace("*", "") for value in values if value.lower is not None}
    written |= {write_apa(value).split(", ")[0] for value in values}
    numbers = {
        tuple(round(x, digits) for x in (estimate.estimate, estimate.lower, estimate.upper))
        for estimate in values
        for digits in (2, 3)
        if estimate.lower is not None and estimate.estimate is not None
    }
    assert len(shown) > 60
    for text in shown:
        result = tuple(float(x.replace("−", "-")) for x in re.findall(r"[-+−]?\d*\.\d+", text))
        assert any(np.allclose(result, other, atol=1e-9) for other in numbers), text


def test_what_a_method_gave_and_what_truths_correct_both_stand_there(results):
    text = as_text(render_all(view_systems(results), 100))
    for corrected, heading in ((True, "with the gold labels"), (False, "if errors")):
        rows = results.table[results.table["corrected"] == corrected]
        rows = rows[(rows["method"] == "algebraic") & (rows["grouping"] == "")]
        (row,) = rows[rows["quantity"] == "system_accuracy"].to_dict("records")
        below = text[text.index(heading) :]
        assert str(read_value(row)) in below[below.index("algebraic") :].splitlines()[0]


def test_files_are_the_table_and_the_views(two, tmp_path, monkeypatch):
    monkeypatch.setattr("lehner.report.files.draw_bytes", draw_for_pages_only)
    paths = list(answer_estimates(two).write(tmp_path / "out"))
    assert all(path.is_file() for path in paths)
    table = pd.read_csv(tmp_path / "out" / "results.csv", keep_default_na=False)
    assert len(table) == len(two.table) and list(table) == list(two.table)
    assert {path.parent.name for path in paths} == {"out", "1_%3D1%2B1", "2_gpt_4"}
    latex = (tmp_path / "out" / "2_gpt_4" / "raters.tex").read_text()
    assert r"r\_1\&\%" in latex and r"\x1b" not in latex.replace(r"\textbackslash{}x1b", "")


def test_the_page_opens_with_the_answer(results, tmp_path):
    data = tmp_path / "f.csv"
    data.write_text("a,b\n")
    text = answer_estimates(results).write_page("lehner estimate f.csv", [data])
    body = text[text.index("<h1>") :]
    sentence = results.sentence()
    first = re.search(r"<p>(.*?)</p>", body)[1]
    assert (
        re.sub("&[^;]*;", "", first)[:40] == re.sub("[=&<>]", "", sentence)[:40] or "=1+1" in first
    )
    places = ("<svg", "Warnings</h2>", "<table", "Accuracy by each method</h2>", "How this page")
    assert sorted(places, key=body.index) == list(places)
    for warning in results.warnings:
        assert body.count(html.escape(escape(to_options(warning.text)), quote=False)) <= 1
    assert "lehner estimate f.csv" in body and "<script>alert" not in body


@pytest.mark.slow
def test_the_same_command_writes_the_same_page(run, tmp_path):
    arguments = ("estimate", "lehner_table2", "--method", "algebraic", "--report")
    for name in ("a", "b"):
        code, _, err = run(*arguments, tmp_path / name / "page.html")
        assert code == 0 and "wrote" in err
    first, other = ((tmp_path / name / "page.html").read_text() for name in ("a", "b"))
    assert first.replace("/a/page", "/b/page") == other
    assert "SHA-256" in first


def test_every_section_has_its_texts_and_no_text_is_left_over():
    parts = (estimates.SYSTEMS, *estimates.OF_SYSTEM, estimates.PROPORTIONS)
    parts += (estimates.PROPORTIONS_ALIKE, estimates.RATERS_COMPARED, estimates.FAVOURS)
    assert {part.name for part in parts} == set(REPORT["section"])
    folder = Path(estimates.__file__).parent
    source = "".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    for name in (*REPORT["columns"], *REPORT["forest"], *REPORT["text"]):
        assert f'"{name}"' in source, name


@pytest.mark.parametrize("which", ["results", "two"])
def test_python_says_what_the_command_says(which, request):
    results = request.getfixturevalue(which)
    answer = answer_estimates(results)
    assert results.sentence().splitlines() == answer.list_sentences()
    shown, table = as_text(answer.screen(100)).splitlines(), results.summary()
    assert len(table) > 1
    for name, (first, *_) in zip(table.index, table.to_numpy().tolist(), strict=True):
        assert any(line.startswith(f"{name} ") and first in line for line in shown)
