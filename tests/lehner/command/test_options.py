"""Options in messages, in the help and on the terminal, and those that several commands share."""

import ast
import csv
import html
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bayes_models
import lehner
from lehner import InputError
from lehner.command.main import app, main
from lehner.command.options import split_names, to_sentence
from lehner.estimation.methods import list_methods

OPTION = re.compile(r"(^|[\s(`])--[a-z]")
# Folders of the command, which do not compute.
SHOW = ("command", "report", "study")


def strings(path):
    """Give all texts of a file but docstrings, of f-strings the fixed parts."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [n for n in nodes if isinstance(n, ast.Constant) and type(n.value) is str]
    return [node.value for node in texts if id(node) not in documentation]


def test_the_libraries_name_no_option_of_the_command_but_in_remedies():
    folders = [Path(package.__path__[0]) for package in (lehner, bayes_models)]
    files = [p for folder in folders for p in folder.rglob("*.py") if p.parent.name not in SHOW]
    assert len(files) > 60
    assert [(p.name, text) for p in files for text in strings(p) if OPTION.search(text)] == []


def test_every_command_checks_its_outputs(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("item,ana,bo,cy\n" + "".join(f"{i},yes,no,yes\n" for i in range(9)))
    outputs = {"label": "--output", "estimate": "--report", "agreement": "--output"}
    for command, option in outputs.items():
        result = CliRunner().invoke(app, [command, str(path), option, str(path)])
        assert isinstance(result.exception, lehner.InputError), command
    assert path.read_text().startswith("item,ana")


def test_an_error_in_a_function_of_ones_own_is_one_line(tmp_path, capfd, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text("def broken(ratings, *, seed):\n    return {}['no']\n")
    words = ["lehner", "estimate", "lehner_table2", "--system", "System"]
    monkeypatch.setattr("sys.argv", [*words, "--method", f"algebraic,{file}:broken"])
    with pytest.raises(SystemExit):
        main()
    said = capfd.readouterr().err.strip()
    assert said.startswith(f"lehner: {file}, line 2: KeyError: 'no'") and "\n" not in said


def test_groups_may_be_the_clusters(tmp_path):
    path = tmp_path / "f.csv"
    answers = ["yes,yes,yes,no", "no,no,yes,no", "no,no,no,no", "yes,no,yes,yes", "yes,yes,no,yes"]
    rows = [f"{i},{'ABC'[i % 3]},{answers[i % 5]}" for i in range(60)]
    path.write_text("\n".join(["item,site,ana,bo,cy,gpt", *rows]))
    words = ["estimate", str(path), "--system", "gpt", "--method", "algebraic"]
    result = CliRunner().invoke(app, [*words, "--cluster", "site", "--group", "site"])
    assert not isinstance(result.exception, lehner.InputError)


@pytest.mark.parametrize(
    "command",
    [
        "check lehner_table2 --replicates 199",
        pytest.param(
            "bounds lehner_table2 --system System --correlation 0.2", marks=pytest.mark.slow
        ),
        "agreement lehner_table2 --coefficients alpha,ac1",
        "compare caries --method majority",
    ],
)
def test_a_page_opens_with_the_answer_that_sentence_prints(run, tmp_path, command):
    page = tmp_path / "page.html"
    code, said, _ = run(*command.split(), "--sentence", "--report", page)
    assert code == 0 and said.strip()
    read = html.unescape(page.read_text(encoding="utf-8"))
    first = read.index(f"<p>{said.splitlines()[0]}</p>")
    assert first < read.index("<table") and "How this page was made" in read


ODD = 'item,"a\nb",c,gpt\n1,x,x,x\n2,y,y,y\n3,x,y,x\n'


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(ODD)
    return path


@pytest.mark.parametrize(
    "option", ["--raters", "--system", "--categories", "--missing", "--method"]
)
@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "c,\na"])
def test_a_line_break_in_names_is_told_in_one_line(run, odd, option, text):
    code, out, err = run("estimate", odd, "--method", "algebraic", option, text)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert "separate names by commas" in err


def test_a_name_with_a_line_break_is_quoted(run, odd):
    names = ("--raters", '"a\nb",c', "--system", "gpt", "--method", "algebraic")
    code, out, err = run("estimate", odd, *names, "--json")
    assert code == 0, err
    assert json.loads(out)["data"]["raters"] == ["a\nb", "c"]


@pytest.mark.parametrize("text", ['"Smith, J",Bo', '"say ""x""",Bo', '"a\nb", Bo '])
def test_names_in_quotes_hold_what_separates_names(text):
    first, second = split_names([text])
    assert second == "Bo" and first in ("Smith, J", 'say "x"', "a\nb")


def test_names_that_never_end_are_refused():
    limit = csv.field_size_limit(100)
    try:
        with pytest.raises(InputError, match="separate names by commas"):
            split_names(['"' + "x" * 200 + '"'])
    finally:
        csv.field_size_limit(limit)


COMMANDS = (
    *"datasets doctor agreement check estimate compare gate bounds ask label".split(),
    "study",
)


def entries_of(out, title):
    """Give the names in a panel of the help, and all that it says."""
    lines = out.partition(f"─ {title} ")[2].partition("╰")[0].splitlines()[1:]
    names = [line.split()[1] for line in lines if line.startswith("│ ") and line[2] != " "]
    return names, " ".join(" ".join(line.strip("│ ") for line in lines).split())


def test_commands_stand_in_the_order_of_work_each_with_a_full_sentence(run):
    _, out, _ = run("--help")
    titles = ("Your ratings", "Research")
    assert [out.index(title) for title in titles] == sorted(out.index(title) for title in titles)
    named = [name for title in titles for name in entries_of(out, title)[0]]
    assert sorted(named) == sorted(COMMANDS) and named[:10] == list(COMMANDS[:10])
    assert "sizes and sources." in " ".join(out.replace("│", "").split())


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_examples_that_begin_with_its_name(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    if command != "study":
        _, shown = entries_of(out, "Examples")
        assert shown.startswith(f"lehner {command}")
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_help_of_estimate_lists_every_method_with_its_summary(run):
    names, said = entries_of(run("estimate", "--help")[1], "Methods")
    assert names == list(list_methods())
    for name, method in list_methods().items():
        assert f"{name} {to_sentence(method.summary)}" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["estimat"], "Did you mean 'estimate'? (see `lehner --help`)"),
        (["estimate", "f.csv", "--colour"], "(see `lehner estimate --help`)"),
        (["estimate", "f.csv", "--level", "7"], "(see `lehner estimate --help`)"),
        (["study", "run"], "(see `lehner study run --help`)"),
    ],
)
def test_an_error_names_the_help_of_the_command_that_was_called(run, arguments, said):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.endswith(f"{said}\n") and err.count("\n") == 1


def test_the_help_names_the_methods_that_take_what_only_some_methods_take(run):
    _, shown = entries_of(run("estimate", "--help")[1], "What is assumed")
    text = shown.partition("--earlier-studies")[2].partition(" --")[0]
    named = [method for method in list_methods() if re.search(rf"\b{method}\b", text)]
    assert named == ["dawid_skene"]


def test_learned_prior_says_whether_it_was_trained_on_the_data(run, tmp_path):
    (tmp_path / "mine.csv").write_text("item,a,b,gpt\n1,x,x,x\n2,y,y,y\n3,x,y,x\n4,y,x,x\n")
    for data, said in (("llmbar", True), (tmp_path / "mine.csv", False)):
        named = () if said else ("--system", "gpt")
        code, out, err = run("estimate", data, *named, "--method", "learned_prior")
        assert code == 0, err
        assert ("(this one among them)" in " ".join(out.split())) == said


COMMAND = [sys.executable, "-m", "lehner"]


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
    ("line", "name"), [("{} >&-", "help"), NO_STREAM, ("{} > /dev/full", "json")]
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
