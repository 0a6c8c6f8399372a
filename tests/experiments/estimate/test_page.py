"""The page of an estimate says what the screen and JSON say, and how it was made."""

import hashlib
import json
import re
import shlex
from html import unescape

import numpy as np
import pandas as pd
import pytest

from lehner.datasets import FOLDER

METHODS = ("--method", "algebraic,majority_agreement,dawid_skene_ml")
HOSTILE = ["<script>alert(1)</script>", "R&D \"x\" 'y'", "שם", "y" * 200]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 120)
    categories = np.array(["</pre><b>bad", "a&b", 'so "so"'])

    def rated(accuracy):
        wrong = rng.random(120) > accuracy
        return categories[(truth + wrong * rng.integers(1, 3, 120)) % 3]

    raters = {name: rated(0.7) for name in HOSTILE}
    known = np.where(np.arange(120) < 25, categories[truth], "")
    return pd.DataFrame({"item": range(120)} | raters | {"<i>sys": rated(0.8), "gold": known})


def cells(page):
    """Rows of all tables as texts and numbers in full."""
    for row in re.findall("<tr>(.*?)</tr>", page, re.DOTALL):
        found = re.findall('<td[^>]*?(?: data-number="([^"]*)")?>(.*?)</td>', row)
        yield [(unescape(text), number and float(number)) for number, text in found]


def test_a_page_has_the_screen_the_numbers_and_its_origin(run, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    argv = ["estimate", file, "--system", "<i>sys", "--truth", "gold", *METHODS]
    code, screen, err = run(*argv, "--report", "new folder/it's.html")
    page = (tmp_path / "new folder" / "it's.html").read_text()
    assert code == 0 and "wrote new folder/it's.html" in err
    screens = [unescape(one) for one in re.findall("<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    assert screens[0] == screen
    assert shlex.split(screens[-1]) == [
        "lehner",
        *map(str, argv),
        "--report",
        "new folder/it's.html",
    ]
    assert hashlib.sha256(file.read_bytes()).hexdigest() in page
    assert "<script>alert" not in page and "<i>" not in page and "<b>bad" not in page
    found = json.loads(run(*argv, "--json")[1])["estimates"]
    shown = list(cells(page))
    for one in found:
        number = one["system_accuracy"]["estimate"]
        assert any(number in [value for _, value in row] for row in shown)
        for warning in one["warnings"]:
            (row,) = (row for row in shown if any(text == warning["text"] for text, _ in row))
            assert one["method"] in row[1][0] and row[-1][0]
    assert "right if" in page and "the majority is right" in page and "lehner 0." in page


def test_the_same_command_writes_the_same_page_also_of_several_systems(run, file, tmp_path):
    argv = ["estimate", file, "--system", "<i>sys", "--system", HOSTILE[3]]
    argv += ["--truth", "gold", *METHODS]
    pages = []
    for _ in range(2):
        assert run(*argv, "--report", tmp_path / "a.html")[0] == 0
        pages.append((tmp_path / "a.html").read_text())
    assert pages[0] == pages[1]
    ids = re.findall(' id="([^"]+)"', pages[0])
    assert pages[0].count("<svg") == 7 and len(set(ids)) == len(ids)
    assert "Ranks and differences" in pages[0]


def test_methods_without_an_estimate_are_on_the_page_and_its_figures(run, tmp_path):
    (tmp_path / "one.csv").write_text("item,r1,r2,sys\n1,a,b,a\n")
    argv = ["estimate", tmp_path / "one.csv", "--system", "sys", "--method", "algebraic"]
    assert run(*argv, "--report", tmp_path / "a.html", "--output", tmp_path / "out")[0] == 1
    page = (tmp_path / "a.html").read_text()
    assert "no more than by chance" in page and "Check the ratings" in page
    assert (tmp_path / "out" / "intervals.png").is_file()


def test_each_file_that_was_read_has_its_fingerprint(run, tmp_path):
    (tmp_path / "mine.py").write_text("""
import lehner

def mine(ratings, *, seed):
    \"\"\"Half of what the majority says.\"\"\"
    return lehner.majority_agreement(ratings)
""")
    argv = ["estimate", "lehner_table2", "--system", "System"]
    argv += ["--method", f"majority_agreement,{tmp_path / 'mine.py'}:mine"]
    assert run(*argv, "--report", tmp_path / "a.html")[0] == 0
    page = (tmp_path / "a.html").read_text()
    for path in (tmp_path / "mine.py", FOLDER / "lehner_table2.csv"):
        row = (path.name, path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        assert "".join(f">{one}</td>" for one in row) in re.sub("<td[^>]*", "", page)
    assert "a function of yours" in page


def test_a_page_that_cannot_be_written_is_one_line(run, file, tmp_path):
    argv = ["estimate", file, "--system", "<i>sys", "--truth", "gold", *METHODS]
    code, _, err = run(*argv, "--report", tmp_path)
    assert code == 2 and f"lehner: {tmp_path}: Is a directory" in err
