"""What reaches a terminal, a pipe or a full disk: names are shown, and nothing is lost."""

import html
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest

COMMAND = [sys.executable, "-m", "experiments"]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
HOSTILE = {
    "\x1b[31mred\x1b[0m": r"\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "a\x08\x7fb": r"a\x08\x7fb",
    "c1 \x9b2J": r"c1 \x9b2J",
    "right\u202eleft": r"right\u202eleft",
    "[red]x[/red]": "[red]x[/red]",
    "[/]": "[/]",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ratings in which names of raters, categories, items, groups and systems are hostile."""
    folder = tmp_path_factory.mktemp("terminal")
    names = list(HOSTILE)
    categories = [names[0], names[6]]
    rows = [
        [f"{names[1]} {i}", *(categories[(i * k) % 7 > 2] for k in (1, 2, 3, 3))] for i in range(40)
    ]
    table = pd.DataFrame(rows, columns=["item", names[2], names[3], names[4], names[5]])
    table["group\x1b[1m"] = [names[i % 2] for i in range(40)]
    table.to_csv(folder / "hostile.csv", index=False)
    truths = table[["item"]].assign(truth=[categories[i % 2] for i in range(40)])
    truths[:12].to_csv(folder / "truths\x1b.csv", index=False)
    return folder


def commands(folder):
    names = list(HOSTILE)
    data = folder / "hostile.csv"
    of = [data, "--system", names[5], "--item", "item"]
    raters = ["--raters", ",".join(names[2:5])]
    quick = ["--method", "majority_agreement,algebraic,dawid_skene_ml"]
    full = ["--full"]
    two = ["estimate", *full, data, "--system", names[5], "--system", names[4]]
    two += ["--raters", ",".join(names[2:4]), *quick]
    return {
        "estimate": ["estimate", *full, *of, *raters, *quick],
        "groups": ["estimate", *full, *of, *raters, *quick, "--by", "group\x1b[1m"],
        "truths": ["estimate", *full, *of, *raters, *quick, "--truth", folder / "truths\x1b.csv"],
        "systems": two,
        "agreement": ["agreement", *of, *raters],
        "check": ["check", *of, *raters, "--replicates", "199"],
        "label": ["label", *of, *raters, "--method", "majority", "--json"],
        "no such rater": ["estimate", *of, "--raters", "\x1b[2J"],
        "no such file": ["estimate", "\x1b[2J\u202e.csv"],
        "no such option": ["estimate", "--\x1b[2J"],
        "no such command": ["\x1b[2J"],
    }


NAMES = [
    *"estimate,groups,truths,systems,agreement,check,label".split(","),
    *"no such rater,no such file,no such option,no such command".split(","),
]


@pytest.mark.parametrize("name", NAMES)
def test_control_characters_in_names_are_shown(run, folder, name):
    code, out, err = run(*commands(folder)[name])
    assert not CONTROL.search(out) and not CONTROL.search(err)
    if name.startswith("no such"):
        assert code == 2 and r"\x1b[2J" in err and err.count("\n") == 1
        return
    assert code in (0, 1), err
    seen = (out + err).replace(r"\u00", r"\x")
    named = [escaped in seen for escaped in (r"\x1b[31mred\x1b[0m", r"c1 \x9b2J")]
    assert any(named) if name == "check" else all(named)
    if name == "estimate":
        assert re.search(r"\s\[/\]\s", out)
    if name in ("estimate", "systems"):
        assert "[red]x[/red]" in out


LIKE_OPTIONS = [
    ("rating='good'", "rating='bad'"),
    (r"rating='it\'s'", 'truth="gold"'),
    ("truth=…", "fold_case=True"),
    ("--x", "{options}"),
    ("{} %s", "where={value}"),
]


@pytest.mark.parametrize("labels", LIKE_OPTIONS)
def test_data_that_look_like_options_are_written_as_they_are(run, tmp_path, labels):
    data, out = tmp_path / "like.csv", tmp_path / "out"
    names = ["raters=…", "sets=True", "truth='x'"]
    errs = [[i % k == 0 for k in (5, 7, 8, 9)] for i in range(40)]
    rows = [[f"item={labels[0]} {i}", *(labels[x ^ i % 2] for x in errs[i])] for i in range(40)]
    pd.DataFrame(rows, columns=["item", *names, "gpt"]).to_csv(data, index=False)
    of = [data, "--system", "gpt", "--method", "majority_agreement,algebraic"]
    code, shown, err = run("estimate", *of, "--full")
    assert code == 0, err
    assert all(text in shown for text in (*labels, *names))
    assert run("estimate", *of, "--json", "--output", out, "--report", out / "page.html")[0] == 0
    content = json.loads(run("estimate", *of, "--json")[1])
    assert content["data"]["raters"] == names
    assert {row["category"] for row in content["rows"]} - {""} == {*labels}
    table = pd.read_csv(out / "results.csv", keep_default_na=False)
    assert {*table["category"]} - {""} == {*labels} and {*names} <= {*table["rater"]}
    page = html.unescape((out / "page.html").read_text())
    assert all(text in page for text in (*labels, *names))
    content = json.loads(run("agreement", *of[:3], "--json")[1])
    assert content["data"]["categories"] == sorted(labels)
    items = json.loads(run("label", *of[:3], "--method", "majority", "--json")[1])["labels"]
    assert items[3]["item"] == rows[3][0] and {x["most_probable"] for x in items} == {*labels}


def on_a_terminal(arguments):
    """Run the command on a terminal, and give what it wrote there."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=its, stderr=its, stdin=subprocess.DEVNULL
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


def test_labels_are_escaped_on_a_terminal_and_as_they_are_in_a_pipe(run, folder):
    arguments = [*commands(folder)["label"][:-1]]
    shown = on_a_terminal(arguments).replace("\r\n", "\n")
    assert not CONTROL.search(shown)
    assert r"\x1b]0;title\x07 0" in shown
    items = pd.read_csv(io.StringIO(run(*arguments)[1]))["item"]
    assert items.tolist() == [f"\x1b]0;title\x07 {i}" for i in range(40)]


@pytest.mark.slow
def test_a_terminal_obeys_the_command_s_own_styles_only(folder):
    written = on_a_terminal(commands(folder)["estimate"])
    assert "\x1b[1m" in written and "\x1b[33m" in written
    assert r"\x1b[31mred\x1b[0m" in written and "\x1b[31mred" not in written


def shell(line, *arguments, **options):
    quoted = " ".join(map(shlex.quote, [*COMMAND, *map(str, arguments)]))
    return subprocess.run(
        ["bash", "-c", line.format(quoted)], capture_output=True, text=True, check=False, **options
    )


SMALL = {
    "estimate": ["estimate", "lehner_table2", "--method", "majority_agreement,algebraic"],
    "json": ["agreement", "lehner_table2", "--json"],
    "label": ["label", "lehner_table2", "--method", "majority"],
    "help": ["--help"],
}


NO_STREAM = pytest.param("{} 2>&- >/dev/full", "json", marks=pytest.mark.slow)


# Each of these starts a process, which takes seconds.
@pytest.mark.parametrize(
    ("line", "name"),
    [("{} >&-", "help"), NO_STREAM, ("{} > /dev/full", "json")],
)
def test_what_cannot_be_printed_is_said(line, name):
    done = shell(line, *SMALL[name])
    assert done.returncode == 2 and done.stdout == ""
    if "2>&-" in line:
        assert done.stderr == ""
    else:
        said = done.stderr.splitlines()[-1]
        assert said.startswith("lehner: standard output")
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.slow
def test_files_are_written_where_the_output_fails(tmp_path):
    done = shell("{} > /dev/full", *SMALL["estimate"], "--output", tmp_path / "out")
    assert done.returncode == 2 and (tmp_path / "out" / "results.csv").is_file()
    done = shell("{} >&-", *SMALL["label"], "--output", tmp_path / "again.csv")
    assert done.returncode == 2 and "nothing was done" in done.stderr


@pytest.mark.slow
def test_a_reader_who_has_enough_ends_the_command_in_silence(tmp_path):
    done = shell("set -o pipefail; {} | true", *SMALL["estimate"], "--output", tmp_path / "out")
    assert done.returncode == 141
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr
    assert (tmp_path / "out" / "results.csv").is_file()
