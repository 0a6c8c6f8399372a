"""Options: of the library's arguments in its messages, and those that several commands share."""

import ast
import html
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bayes_models
import lehner
from lehner.command.main import app, main

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
