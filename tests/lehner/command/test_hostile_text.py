"""Text of data never becomes code, markup or a command, wherever it stands."""

import csv
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from lehner import read_ratings
from lehner.report.files import to_csv

# As messages name options, which each medium writes in its own way.
LIKE_OPTIONS = "rating='good' truth=… fold_case=True --x"
# Markup and control characters of terminals.
CODES = "[red]x[/red]\x1b[31m\x1b]0;\x07\x08\x7f\x9b2J\u202e[/]"
# Quotes, Python, a shell, templates, HTML, LaTeX, math of figures.
CODE = (
    "\"'`) == 1 or __import__('os').system('touch ran') or ('` $(touch ran) `touch ran`; touch ran "
    "# {{7*7}} {% raw %} {options} {0} %s <img src=x onerror=ran()></style></script><script>ran()"
    "</script> \\input{ran} \\write18{touch ran} $\\frac{ "
)
BODY = f"{CODES}{CODE}{LIKE_OPTIONS}"
PLACES = ("item", "ann", "bo", "cy", "gpt", "gold", "site", "ward", "score")
# How a formula of a spreadsheet, an option and the name of a file elsewhere begin.
STARTS = ("=", "+", "-", "@", "--", "../", "-1+", "=cmd|", "")
COLUMNS = {place: f"{start}{place} {BODY}" for place, start in zip(PLACES, STARTS, strict=True)}
GOOD, BAD = f"=good {BODY}", f"-bad {BODY}"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
RUNS = re.compile(r"(?![-+]?\d*\.?\d*(e[-+]?\d+)?$)[=+@-].", re.DOTALL)
FULL = ["--method", "majority_agreement,algebraic,learned_prior", "--full"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file in which each name is hostile, and its own name, too."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=60)
    labels = np.array([BAD, GOOD], dtype=object)
    table = {COLUMNS["item"]: [f"@{i} {BODY}" for i in range(60)]}
    for place in ("ann", "bo", "cy", "gpt"):
        table[COLUMNS[place]] = labels[np.where(rng.random(60) < 0.8, truth, 1 - truth)]
    table[COLUMNS["gold"]] = np.where(np.arange(60) < 25, labels[truth], None)
    for place, n_groups in (("site", 2), ("ward", 15)):
        table[COLUMNS[place]] = [f"+{place} {i % n_groups} {BODY}" for i in range(60)]
    table[COLUMNS["score"]] = rng.random(60).round(3)
    name = f"-{BODY.replace('/', '')[:200]}.csv"
    path = tmp_path_factory.mktemp("hostile") / name
    path.write_text(pd.DataFrame(table).to_csv(index=False))
    return path


def write_names(*places):
    text = ",".join('"' + COLUMNS[place].replace('"', '""') + '"' for place in places)
    return text


def options(*roles):
    columns = {
        "raters": ["--raters", write_names("ann", "bo", "cy")],
        "judge": ["--raters", write_names("ann")],
        "system": [f"--system={write_names('gpt')}"],
        "truth": [f"--truth={COLUMNS['gold']}"],
        "cluster": [f"--cluster={COLUMNS['ward']}"],
        "group": [f"--group={write_names('site')}"],
        "good": ["--good", '"' + GOOD.replace('"', '""') + '"'],
    }
    item = [f"--item={write_names('item')}"]
    return [*item, *(word for role in roles for word in columns[role])]


COMMANDS = {
    "agreement": ["agreement", *options("raters", "cluster")],
    "estimate": ["estimate", *options("raters", "system", "truth", "cluster", "group"), *FULL],
    "check": ["check", *options("raters", "system"), "--replicates", "199"],
    "bounds": ["bounds", *options("raters", "system")],
    "compare": ["compare", *options("raters", "group", "good"), "--method", "dawid_skene_ml"],
    "judge": ["compare", *options("judge", "truth", "group", "good")],
    "label": ["label", *options("raters", "truth"), "--method", "majority"],
    "ask": ["ask", *options("raters", "system"), "--n", "5", "--output=to_label.csv"],
    "doctor": ["doctor", *options("raters", "truth")],
}
FAST = ("agreement", "estimate", "label", "doctor")
RUN = ("how far raters agree", "the category of each item")
SHOW_NAMES = ("agreement", "estimate")
WRITES = ("agreement", "estimate", "check", "compare", "judge")


def list_texts(value):
    """List the texts in what JSON holds."""
    if isinstance(value, dict):
        return [text for key, entry in value.items() for text in (key, *list_texts(entry))]
    if isinstance(value, list):
        return [text for entry in value for text in list_texts(entry)]
    return [value] if isinstance(value, str) else []


class Page(HTMLParser):
    """Collects what a browser could run."""

    def __init__(self):
        super().__init__()
        self.runs, self.tag, self.text = [], "", ""

    def handle_starttag(self, tag, attrs):
        self.tag = tag
        self.runs += [name for name, _ in attrs if name.startswith("on")]
        self.runs += [value for name, value in attrs if name in ("src", "href") and value == "x"]

    def handle_data(self, data):
        self.runs += [data] if self.tag == "script" and "ran()" in data else []
        self.text += data


@pytest.mark.parametrize(
    "name", [x if x in FAST else pytest.param(x, marks=pytest.mark.slow) for x in COMMANDS]
)
def test_hostile_text_is_text_in_every_medium(run, file, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    arguments = [COMMANDS[name][0], file, *COMMANDS[name][1:]]
    code, out, err = run(*arguments)
    assert code in (0, 1), err
    shown = out if name not in ("label", "ask") else ""  # which print a CSV into a pipe
    assert not CONTROL.search(shown + err)
    assert r"[red]x[/red]\x1b[31m" in shown or name not in SHOW_NAMES
    (tmp_path / "to_label.csv").unlink(missing_ok=True)  # which the command would not replace
    code, out, err = run(*arguments, "--json")
    texts = list_texts(json.loads(out))
    # The name of the file, in which there is no slash, is all that `bounds` says.
    assert any(CODES.replace("/", "") in text.replace("/", "") for text in texts)
    assert name == "doctor" or not any(re.search("--rating|--truth", text) for text in texts)
    if name in ("agreement", "estimate"):
        assert {GOOD, BAD} == {*json.loads(out)["data"]["categories"]}
    if name in WRITES:
        code, _, err = run(*arguments, "--output", "out", "--report", "page.html")
        assert code in (0, 1), err
        page = Page()
        page.feed((tmp_path / "page.html").read_text())
        assert not page.runs and "--rating" not in page.text
        assert LIKE_OPTIONS in page.text
    for path in tmp_path.rglob("*.tex"):
        text = path.read_text()
        assert "\\input" not in text and "\\write" not in text and "\x1b" not in text
        assert not re.search(r"(?<!\\)[$%#]", re.sub(r"\$([<>-]|\\[a-z]+)\$", "", text))
    for path in tmp_path.rglob("*.csv"):
        with path.open(newline="") as lines:
            cells = [cell for row in csv.reader(lines) for cell in row]
        assert not any(RUNS.match(cell) or "--rating" in cell for cell in cells)
    assert not list(tmp_path.rglob("ran")) and not list(tmp_path.parent.glob("ran"))
    written = {path.name for path in tmp_path.iterdir()}
    assert written <= {"out", "page.html", "p.svg", "to_label.csv"}


def test_a_command_that_is_proposed_runs_lehner_only(run, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("doctor", file, "--json", *options("truth", "system"))
    assert code == 0, err
    asked = json.loads(out)["questions"]
    commands = {x["question"]: x["command"] for x in asked if not x["missing"]}
    assert len(commands) > 2
    stub = tmp_path / "bin" / "lehner"
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nprintf "%s\\0" "$@" >> "$CALLED"\n')
    stub.chmod(0o755)
    for what, line in commands.items():
        called = tmp_path / "called"
        path = {"PATH": f"{stub.parent}:/usr/bin:/bin", "CALLED": str(called)}
        subprocess.run(["bash", "-c", line], env=path, check=True, cwd=tmp_path)
        arguments = called.read_text().split("\0")[:-1]
        assert ["lehner", *arguments] == shlex.split(line)
        called.unlink()
        assert what not in RUN or run(*arguments)[0] == 0
    assert not (tmp_path / "ran").exists()


def test_names_that_a_spreadsheet_would_run_are_read_back_unchanged(tmp_path):
    names = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "--x", "-1", "+", "＝1", "1e-17", "a"]
    table = pd.DataFrame(
        {"item": names, "=Ann": [*names[1:], names[0]], "@Bo": names, "-Cy": names[::-1]}
    )
    text = to_csv(table)
    assert not any(RUNS.match(cell) for row in csv.reader(text.splitlines()) for cell in row)
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    ratings, expected = read_ratings(path, item="item"), read_ratings(table, item="item")
    assert list(ratings.items) == list(expected.items) == names
    assert ratings.raters == expected.raters == ("=Ann", "@Bo", "-Cy")
    assert ratings.categories == expected.categories
    assert (ratings.codes == expected.codes).all()


@pytest.mark.parametrize(
    "words", [["estimate", "--raters", CODES], ["estimate", BODY], ["ask", f"--{BODY}"], [BODY]]
)
def test_what_is_typed_is_shown_in_one_line(run, file, words):
    words = words if BODY in words[-1] else [*words, file]
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and not CONTROL.search(err[:-1])
    assert r"[red]x[/red]\x1b[31m\x1b]0;" in err


def on_a_terminal(arguments):
    """Run the command on a terminal, and give what it wrote there."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lehner", *map(str, arguments)],
        stdout=its,
        stderr=its,
        stdin=subprocess.DEVNULL,
    )
    os.close(its)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the command has ended
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0
    return written.decode()


def test_labels_are_escaped_on_a_terminal_and_as_they_are_in_a_pipe(run, file):
    arguments = ["label", file, *COMMANDS["label"][1:]]
    shown = on_a_terminal(arguments).replace("\r\n", "\n")
    assert not CONTROL.search(shown) and r"@0 [red]x[/red]\x1b[31m" in shown
    items = pd.read_csv(io.StringIO(run(*arguments)[1])).iloc[:, 0]
    assert items.tolist() == [f" @{i} {BODY}" for i in range(60)]


@pytest.mark.slow
def test_a_terminal_obeys_the_command_s_own_styles_only(file):
    written = on_a_terminal(["estimate", file, *COMMANDS["estimate"][1:]])
    assert "\x1b[1m" in written and "\x1b[33m" in written
    assert r"\x1b[31m" in written and "\x1b[31m" not in written
