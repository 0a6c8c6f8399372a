"""Files are on the disk before they have their name, and an error names them."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lehner import InputError
from lehner.report.files import check_outputs, write_atomically, write_text

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
    file = tmp_path / "all.csv"
    code, _, err = run("study", "export", tmp_path / "out", "--output", file)
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
        ({"--output": new, "--raters-output": new}, {}),
        ({"--report": new}, {"--output": new}),
        ({"--report": folder}, {}),
        ({}, {"--output": ratings}),
        ({}, {"--output": ratings / "below"}),
    ]
    for files, folders in refused:
        with pytest.raises(InputError):
            check_outputs(files, folders, [ratings])
    check_outputs({"--report": new / "page.html"}, {"--output": folder}, [ratings])
    check_outputs({"--output": Path("/dev/stdout")}, {}, [ratings])
    check_outputs({"--report": new}, {}, [Path("the name of a column, " * 20)])
