"""Where tasks are done."""

import subprocess
import sys
import time

import pytest

from experiments.study.workers import do_all, open_workers
from lehner import InputError

distributed = pytest.importorskip("distributed")


def test_a_full_disk_is_not_told_as_a_missing_scheduler():
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        pytest.raises(OSError, match="No space left on device"),
        open_workers(1, cluster.scheduler_address),
    ):
        raise OSError(28, "No space left on device")


def test_a_missing_scheduler_is_told(monkeypatch):
    def refuse(address, timeout):
        raise TimeoutError(f"timed out after {timeout} s")

    monkeypatch.setattr(distributed, "Client", refuse)
    with (
        pytest.raises(InputError, match=r"no .* at tcp://nowhere:1: timed out .*; start"),
        open_workers(1, "tcp://nowhere:1"),
    ):
        pass


@pytest.mark.parametrize("address", ["nonsense", "http://x:1", "tcp://", "/tmp", ""])
def test_what_is_no_address_is_told(address):
    with (
        pytest.raises(InputError, match=r"is not the address of a Dask scheduler: .*; give one"),
        open_workers(1, address),
    ):
        pass


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
def test_a_scheduler_that_is_killed_is_told(caplog):
    """Its client waits for it for 20 seconds or so."""
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as scheduler:
        address = scheduler.stdout.readline().strip()
        with (
            pytest.raises(InputError, match=r"scheduler at tcp://.* ended .* is kept; start them"),
            open_workers(1, address) as workers,
        ):
            for _ in do_all(time.sleep, [0.1] * 1000, workers):
                scheduler.kill()
    assert not caplog.records
