"""The help of the command, its version, and the pointers to it in errors."""

import re

import pytest

from bayes_models.methods import ANSWERED_BY
from lehner.command.options import to_sentence
from lehner.estimation.methods import list_methods

COMMANDS = (
    *"datasets doctor agreement check estimate compare gate bounds ask label".split(),
    "study",
    "train-prior",
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
    options = {"earlier_studies": "--earlier-studies"}
    for name, option in options.items():
        text = shown.partition(option)[2].partition(" --")[0]
        named = [method for method in list_methods() if re.search(rf"\b{method}\b", text)]
        assert sorted(named) == sorted(ANSWERED_BY[name])


def test_learned_prior_says_whether_it_was_trained_on_the_data(run, tmp_path):
    (tmp_path / "mine.csv").write_text("item,a,b,gpt\n1,x,x,x\n2,y,y,y\n3,x,y,x\n4,y,x,x\n")
    for data, said in (("llmbar", True), (tmp_path / "mine.csv", False)):
        named = () if said else ("--system", "gpt")
        code, out, err = run("estimate", data, *named, "--method", "learned_prior")
        assert code == 0, err
        assert ("(this one among them)" in " ".join(out.split())) == said
