"""`lehner doctor` lists columns and proposes roles; each command that it prints runs."""

import gzip
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FAST = {
    "estimate": ("--method", "majority_agreement,algebraic"),
    "compare": ("--method", "majority"),
}
N = 60


def column(rng, truth, accuracy, labels=("no", "yes")):
    right = rng.random(N) < accuracy
    return np.array(labels)[np.where(right, truth, 1 - truth)]


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=N)
    raters = {name: column(rng, truth, 0.85) for name in ("Ann", "Bo Smith", "O'Hara, J")}
    expert = np.where(np.arange(N) < 4, column(rng, truth, 1), "")
    return pd.DataFrame({"case nr": np.arange(N) + 700, **raters}).assign(
        AI=column(rng, truth, 0.9),
        expert=expert,
        site=rng.choice(["north", "south"], N),
        age=rng.integers(20, 90, N),
        remark=[f"text {i}" for i in range(N)],
    )


def asked(run, *arguments):
    code, out, err = run("doctor", "--json", *arguments)
    assert code == 0, err
    result = json.loads(out)
    asked = [(bool(x["missing"]), x) for x in result["questions"]]
    result["commands"] = {x["question"]: x["command"] for lacks, x in asked if not lacks}
    return result | {"lacks": {x["missing"]: x["command"] for lacks, x in asked if lacks}}


def run_all(run, proposed, *, names=(), extra=FAST):
    """Run the commands that are printed, or those named; those for what is lacking, too."""
    printed = filter(None, (*proposed["commands"].values(), *proposed["lacks"].values()))
    commands = [shlex.split(command) for command in printed]
    for words in commands:
        assert words[0] == "lehner"
        if not names or words[1] in names:
            code, _, err = run(*words[1:], *extra.get(words[1], ()))
            assert code == 0, (words, err)
    return [words[1] for words in commands]


def test_roles_are_proposed_and_each_command_runs(run, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("my table.csv", index=False)
    result = asked(run, "my table.csv")
    options = ["--system", "AI", "--truth", "expert"]
    listed = {column["column"]: column for column in result["columns"]}
    assert listed["age"]["kind"] == "whole numbers" and listed["age"]["role"] == ""
    assert listed["AI"]["role"] == "system" and listed["site"]["n_values"] == 2
    command = shlex.split(result["commands"]["the accuracy of AI"])
    assert command == [
        *("lehner", "estimate", "my table.csv", *options),
        *("--raters", 'Ann,Bo Smith,"O\'Hara, J"'),
    ]
    assert result["commands"]["the accuracy of AI by site"].endswith("--group site")
    (lack,) = result["lacks"]
    assert lack.startswith("10 or more gold labels (there are 4); 20 of random items give ±0.17 ")
    names = ["agreement", "label", "estimate", "estimate", "ask"]
    assert run_all(run, result) == names


def as_long(table):
    names = ["Ann", "Bo Smith", "O'Hara, J", "AI"]
    return table.melt(["case nr", "site"], names, "annotator", "answer").rename(
        columns={"case nr": "item"}
    )


def people(long):
    return long[long["annotator"] != "AI"]


FILES = {
    "long.jsonl": (lambda t: as_long(t).to_json(orient="records", lines=True), [], 4),
    "system.csv": (lambda t: as_long(t).to_csv(index=False), ["--system", "AI"], 4),
    "raters.csv": (lambda t: t.to_csv(index=False), ["--raters", "Ann,Bo Smith"], 3),
    "two.csv": (lambda t: t[["Ann", "Bo Smith", "AI"]].to_csv(index=False), [], 3),
    "systems.csv": (lambda t: t.to_csv(index=False), ["--system", "AI,Ann"], 2),
    "options.csv": (
        lambda t: t.replace({"no": "-1", "yes": "1"}).to_csv(index=False),
        ["--categories=-1,0,1", "--ordered", "--missing=text 0"],
        4,
    ),
    "-x.csv": (lambda t: t.to_csv(index=False), [], 4),
    "one.csv": (lambda t: t[["case nr", "Ann"]].to_csv(index=False), [], 0),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.filterwarnings("ignore::lehner.DataWarning")
def test_commands_run_on_files_of_every_kind(run, table, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, options, n_commands = FILES[name]
    (tmp_path / name).write_text(text(table))
    result = asked(run, *options, "--", name)
    assert len(result["commands"]) == n_commands
    # All read the file alike.
    run_all(run, result, names=("agreement", "estimate"))
    if name == "one.csv":
        assert "there is 1 rater" in next(iter(result["lacks"]))


def test_logs_and_bundled_data(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(run_all(run, asked(run, "lehner_table2"), names=("agreement",))) == 4
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=N)
    for model in ("one", "two", "three"):
        answers = column(rng, truth, 0.8, labels=("0", "1"))
        lines = [
            json.dumps({"doc_id": i, "target": str(t), "filtered_resps": [a], "filter": "none"})
            for i, (t, a) in enumerate(zip(truth, answers, strict=True))
        ]
        file = tmp_path / "logs" / model / "samples_t_2026-01-01T00-00-00.jsonl.gz"
        file.parent.mkdir(parents=True)
        file.write_bytes(gzip.compress("\n".join(lines).encode()))
    result = asked(run, "logs")
    assert next(iter(result["lacks"])).startswith("a system to evaluate: name the column or rater")
    assert run_all(run, result) == ["agreement", "label", "compare"]


def test_groups_without_a_system_are_compared(run, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = {"no": "bad, or worse", "yes": "Good"}
    people(as_long(table)).replace(labels).to_csv("t.csv", index=False)
    result = asked(run, "t.csv")
    assert result["commands"]["which site has more Good"].endswith(" --group site --good Good")
    assert "the accuracy of" not in " ".join(result["commands"])
    people(as_long(table)).replace({"yes": "x, y"}).to_csv("t.csv", index=False)
    assert "--good '\"x, y\"'" in asked(run, "t.csv")["commands"]["which site has more x, y"]
    run_all(run, asked(run, "t.csv"), names=("compare",))


def test_what_cannot_be_read_ends_in_one_line(run, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("item,Ann,Bo\n1,yes,no\n2,Yes,no\n3,no,no\n4,yes,yes\n")
    assert asked(run, file)["proposed"] == {"labels": ["Yes=yes"]}
    file.write_text("item,Ann,Bo\n1,yes,no\n1,no,no\n3,no,no\n4,yes,yes\n")
    code, out, err = run("doctor", file)
    assert code == 2 and err.count("\n") == 1 and "item '1' occurs a second time" in err
    assert out.splitlines()[1].split() == ["item", "3", "whole", "numbers", "1,", "3,", "4", "-"]
    code, _, err = run("doctor", tmp_path / "none.csv")
    assert code == 2 and "there is no such file" in err


DATA = Path(__file__).parents[3] / "docs" / "data"


def test_one_judge_and_some_labels_are_no_two_raters(run):
    """These are the commands of the README and of the page about one judge."""
    result = asked(run, DATA / "judged.csv")
    said = [command.split("judged.csv ")[1] for command in result["commands"].values()]
    options = "--truth human --raters judge"
    assert said == [
        f"{options} --group prompt_version --good pass",
        f"{options} --good pass",
        "--system judge --truth human",
    ]
    assert run_all(run, result, extra={}) == ["compare", "compare", "estimate"]


def test_raters_with_the_names_of_systems_may_be_systems(run):
    result = asked(run, DATA / "tickets.csv")
    command = result["commands"]["the accuracy of gpt and bert, if they are systems"]
    assert command.endswith("--system gpt,bert --truth gold --raters ana,ben,cai,dee")


def test_a_judge_beside_a_person_may_be_a_system(run, tmp_path):
    rows = "".join(f"q{i},pass,{'fail' if i % 5 == 0 else 'pass'}\n" for i in range(40))
    (tmp_path / "e.csv").write_text(f"item,judge_verdict,human_verdict\n{rows}")
    result = asked(run, tmp_path / "e.csv")
    said = "the accuracy of judge_verdict, if it is a system and human_verdict gives gold labels"
    command = result["commands"][said]
    assert command.endswith("--system judge_verdict --truth human_verdict")
    run_all(run, result, names=("estimate",), extra={})


@pytest.mark.slow
def test_the_printed_estimate_runs_as_it_is(run, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("t.csv", index=False)
    run_all(run, asked(run, "t.csv"), extra={})
