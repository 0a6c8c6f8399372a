"""Where tasks are done."""

import pytest

from experiments.study.workers import open_workers
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
