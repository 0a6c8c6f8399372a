"""Work over processes and Dask."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lehner import InputError
from lehner.study.parallel import do_all


def die(task):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_one_error():
    with pytest.raises(
        InputError, match=r"a worker process died \(\w+\); what was finished is kept"
    ):
        list(do_all(die, [1, 2], 2))


def test_a_worker_whose_process_was_killed_before_it_asked_ends():
    code = "import time, lehner.study.parallel as p; p._start_worker(2**30); time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGTERM


RUN = """
import time
from lehner.study.parallel import do_all
list(do_all(time.sleep, [0.1] * 3000, 2))
"""


def list_session(session):
    """List the processes of a session that are not finished."""
    states = (
        path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat")
    )
    return [state for state in states if int(state[3]) == session and state[0] != "Z"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")
@pytest.mark.parametrize("seconds", [0, 0.2, 0.5, 1])
def test_workers_end_whenever_their_process_is_killed(seconds):
    with subprocess.Popen([sys.executable, "-c", RUN], start_new_session=True) as process:
        try:
            while len(list_session(process.pid)) == 1:
                time.sleep(0.01)
            time.sleep(seconds)
            process.kill()
            process.wait()
            deadline = time.monotonic() + 30
            while list_session(process.pid) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not list_session(process.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["nonsense", "http://x:1", "tcp://", "/tmp", ""])
def test_what_is_no_address_is_one_error(address):
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match=r"no Dask scheduler that can be used at .*; start it and"):
        list(do_all(abs, [1], dask=address))


SCHEDULER = """
import time
import distributed
if __name__ == "__main__":
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
        host="127.0.0.1", protocol="tcp",
    )
    print(cluster.scheduler_address, flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_one_error(caplog):
    """Its client waits for it for 20 seconds or so."""
    pytest.importorskip("distributed")
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as scheduler:
        address = scheduler.stdout.readline().strip()
        with pytest.raises(
            InputError, match=r"(a worker process died|workers ended).*; what was finished"
        ):
            for _ in do_all(time.sleep, [0.1] * 1000, dask=address):
                scheduler.kill()
    assert not caplog.records
