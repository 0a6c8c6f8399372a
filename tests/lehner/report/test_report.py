"""`--full`, files and the page say what the table of results says, warnings above their numbers."""

import errno
import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lehner
from lehner import InputError
from lehner.core.estimate import MEANINGS
from lehner.core.results import read_value
from lehner.core.text import escape, to_options
from lehner.estimation.summary import write_apa
from lehner.estimation.views import view_systems
from lehner.report import estimates
from lehner.report.estimates import answer_estimates, render_all
from lehner.report.files import check_outputs, write_atomically, write_text
from lehner.report.tables import REPORT
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


TICKETS = "docs/data/tickets.csv"
RATERS = ("--raters", "ana,ben,cai,dee")
QUICK = ("--method", "majority_agreement,algebraic")


@pytest.fixture
def rows(run):
    """Run a command with --json; give its rows, and a function that chooses some."""

    def call(*arguments):
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        table = pd.DataFrame(json.loads(out)["rows"])

        def pick(quantity, **columns):
            wanted = {"grouping": "", "rater": "", "versus": "", "corrected": False} | columns
            result = table[table["quantity"] == quantity]
            for name, value in wanted.items():
                if value is not ...:
                    result = result[result[name] == value]
            return result

        return pick

    return call


def test_numbers_are_cut_where_the_user_says(rows, run, tmp_path):
    table = pd.read_csv(TICKETS).assign(length=np.arange(250))
    table.to_csv(tmp_path / "long.csv", index=False)
    options = (tmp_path / "long.csv", *RATERS, "--system", "gpt", "--method", "algebraic")
    pick = rows("estimate", *options, "--group", "length:100,65.5")
    sizes = pick("system_accuracy", grouping="group").set_index("group")["n_items"].to_dict()
    assert sizes == {"1: below 65.5": 66, "2: 65.5 to below 100": 34, "3: 100 or more": 150}
    _, out, _ = run("estimate", *options, "--group", "length", "--full")
    assert "length was cut at its quantiles into 4 groups" in out
    _, out, _ = run("estimate", *options[:-1], "majority_agreement", "--group", "length", "--full")
    assert "Groups of items" not in out


@pytest.mark.parametrize("system_is", ["like", "better", "unknown"])
def test_learned_prior_is_that_of_the_library_and_the_sentence_says_it(run, rows, system_is):
    options = (TICKETS, *RATERS, "--system", "gpt", "--system-is", system_is, "--level", "0.8")
    ratings = lehner.read_ratings(TICKETS, system="gpt", raters=RATERS[1].split(","))
    value = lehner.estimate_learned_prior(ratings, system_is=system_is, level=0.8)
    expected = value.system_accuracy_in_sample
    row = rows("estimate", *options, "--method", "learned_prior")("system_accuracy_in_sample")
    numbers = row[["estimate", "lower", "upper"]].to_numpy()[0]
    assert numbers == pytest.approx([expected.estimate, expected.lower, expected.upper])
    _, out, _ = run("estimate", *options, "--method", "algebraic,learned_prior", "--sentence")
    assert write_apa(expected) in out and "80% CI" in out and out.count("\n") == 1


def test_the_columns_of_json_are_those_of_its_page_with_their_types(run):
    _, out, _ = run("estimate", TICKETS, "--system", "gpt", *RATERS, *QUICK, "--json")
    kinds = {"text": str, "number or null": (int, float, type(None)), "true or false": bool}
    for row in json.loads(out)["rows"]:
        assert list(row) == list(MEANINGS)
        for name, (kind, meaning) in MEANINGS.items():
            assert isinstance(row[name], kinds[kind]), name
            assert meaning.endswith(".")


LIMITED = """
import resource, signal, sys
from pathlib import Path
import pandas as pd
from lehner.report.files import write_csv
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_csv(pd.DataFrame({"a": range(10_000)}), Path(sys.argv[1]))
except OSError as error:
    print(error.filename, error.strerror, sep="\\n")
"""


def test_a_file_is_flushed_before_it_is_renamed_and_its_folder_after(tmp_path, monkeypatch):
    done, flush, rename = [], os.fsync, os.replace

    def noted_flush(descriptor):
        done.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        flush(descriptor)

    def noted_rename(source, target):
        done.append("renamed")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", noted_flush)
    monkeypatch.setattr(os, "replace", noted_rename)
    write_text("text", tmp_path / "a.txt")
    assert done == ["a.txt", "renamed", tmp_path.name]


def full(path):
    path.write_text("some")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_names_the_file_and_leaves_the_one_that_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")
    with pytest.raises(OSError, match="No space left on device") as text:
        write_atomically(path, full)
    assert text.value.filename == str(path) and text.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == [path] and path.read_text() == "before"


def test_a_limit_of_the_system_names_the_file_of_a_table(tmp_path):
    path = tmp_path / "a.csv"
    run = subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, path], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == [str(path), "File too large"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_or_device_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
    assert write_text("text", path) == path
    assert reader.communicate(timeout=60)[0] == b"text"
    assert path.is_fifo()


def test_a_full_disk_is_told_in_one_line_with_the_file_and_a_way_out(tmp_path, run, monkeypatch):
    from tests.studies import run_study

    study = 'name = "a"\nseed = 1\nreplicates = 2\nmethods = ["majority_agreement"]\n'
    (tmp_path / "a.toml").write_text(f'{study}[[scenarios]]\nname = "b"\n')
    run_study(tmp_path / "a.toml", tmp_path / "out")
    monkeypatch.setattr("pathlib.Path.write_bytes", lambda path, content: full(path))
    file = tmp_path / "out" / "report" / "report.html"
    code, _, err = run("study", "report", tmp_path / "out")
    assert code == 2
    assert err == (
        f"lehner: {file}: No space left on device; make room on this disk, and run again\n"
    )


def test_outputs_are_checked_before_anything_is_computed(tmp_path):
    ratings, folder = tmp_path / "f.csv", tmp_path / "folder"
    ratings.write_text("item,ana,bo\n")
    folder.mkdir()
    linked = tmp_path / "link.csv"
    linked.symlink_to(ratings)
    new = tmp_path / "new"
    refused = [
        ({"--output": ratings}, {}),
        ({"--report": linked}, {}),
        ({"--output": new, "--report": new}, {}),
        ({"--report": new}, {"--output": new}),
        ({"--report": folder}, {}),
        ({}, {"--output": ratings}),
        ({}, {"--output": ratings / "below"}),
    ]
    for files, folders in refused:
        with pytest.raises(InputError):
            check_outputs(files | folders, folders, [ratings])
    check_outputs({"--report": new / "page.html", "--output": folder}, ["--output"], [ratings])
    check_outputs({"--output": Path("/dev/stdout")}, [], [ratings])
    check_outputs({"--report": new}, [], [Path("the name of a column, " * 20)])
