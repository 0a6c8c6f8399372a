"""The lock of a folder of results: one process at a time, and free when it has ended."""

import subprocess
import sys

import pytest

from experiments.study.definition import find_study, read_study
from experiments.study.run import open_folder
from lehner import InputError

HOLD = (
    "import sys\n"
    "from experiments.study.definition import find_study, read_study\n"
    "from experiments.study.run import open_folder\n"
    "with open_folder(sys.argv[1], read_study('quick'), find_study('quick')):\n"
    "    print(True, flush=True)\n"
    "    sys.stdin.read()\n"
)


def test_the_lock_is_held_by_one_process_and_ends_with_it(tmp_path):
    quick = (tmp_path, read_study("quick"), find_study("quick"))
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "True\n"
    with pytest.raises(InputError, match="another process"), open_folder(*quick):
        pass
    other.kill()
    other.communicate()
    for _ in range(2):
        with open_folder(*quick) as folder:
            assert (folder / "cells").is_dir()
