"""What reaches a terminal, a pipe or a full disk: nothing is lost."""

import os
import re
import shlex
import subprocess
import sys

import pytest

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


@pytest.mark.parametrize("file", ["-x.csv", "$(touch ran).csv", "a'b; touch ran.csv", "`ran`.csv"])
def test_a_command_that_an_error_proposes_runs_only_lehner(run, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_text("item,a,b\n1,x,x\n2,y,y\n3,x,y\n")
    code, _, err = run("estimate", f"./{file}" if file[0] == "-" else file, "--method", "algebraic")
    assert code == 2 and "name it with --system, as one of a, b" in err
    proposed = re.search("call `(lehner compare .*)`", err)[1]
    (tmp_path / "lehner").write_text('#!/bin/sh\nprintf "%s\\n" "$@" > called\n')
    (tmp_path / "lehner").chmod(0o755)
    subprocess.run(
        proposed, shell=True, check=True, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    )
    assert (tmp_path / "called").read_text().splitlines()[1].removeprefix("./") == file
    assert not (tmp_path / "ran").exists()
