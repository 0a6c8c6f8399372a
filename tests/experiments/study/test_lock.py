"""The lock of a folder of results: one process at a time, and free when it has ended."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from experiments.study.lock import locked

HOLD = (
    "import sys, pathlib\n"
    "from experiments.study.lock import locked\n"
    "with locked(pathlib.Path(sys.argv[1])) as free:\n"
    "    print(free, flush=True)\n"
    "    sys.stdin.read()\n"
)


def test_the_lock_is_held_by_one_process_and_ends_with_it(tmp_path):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "True\n"
    with locked(path) as free:
        assert not free
    other.kill()
    other.communicate()
    with locked(path) as free:
        assert free


def test_windows_locks_a_byte_of_the_file(tmp_path, monkeypatch):
    """The branch for Windows, with its module stood in for."""
    import importlib

    from experiments.study import lock

    asked = []

    def locking(file, mode, length):
        asked.append((mode, length))
        if len(asked) > 1:
            raise PermissionError(13, "Permission denied")

    path = tmp_path / "lock"
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    with monkeypatch.context() as patched:
        patched.setattr(sys, "platform", "win32")
        on_windows = importlib.reload(lock)
    try:
        with on_windows.locked(path) as first, on_windows.locked(path) as second:
            assert (first, second) == (True, False)
        assert asked == [(2, 1), (2, 1)]
    finally:
        importlib.reload(lock)


@pytest.mark.parametrize("method", [["forkserver", "spawn"], ["spawn"]])
def test_workers_start_by_what_the_system_has(monkeypatch, method):
    import multiprocessing

    from experiments.study.workers import start_method

    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: method)
    assert start_method() == method[0]
