"""An interrupt finds no process half started, and no result half sent."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from experiments.study.stopping import INTERRUPTS, hold_interrupts
from experiments.study.workers import open_workers


@pytest.mark.parametrize("number", INTERRUPTS)
def test_an_interrupt_waits_for_the_end_of_the_block(number):
    done = []
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), hold_interrupts():
            os.kill(os.getpid(), number)
            time.sleep(0.1)
            done.append(1)
        assert done and signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_an_interrupt_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with hold_interrupts():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_error_ends_the_block_as_well():
    before = [signal.getsignal(number) for number in INTERRUPTS]
    with pytest.raises(ZeroDivisionError), hold_interrupts():
        _ = 1 / 0
    assert [signal.getsignal(number) for number in INTERRUPTS] == before
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & set(INTERRUPTS)


def test_other_threads_have_no_signals_to_hold():
    errors = []

    def hold():
        try:
            with hold_interrupts():
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert not errors


def test_a_process_that_is_started_meanwhile_is_not_interrupted():
    with hold_interrupts():
        process = subprocess.Popen(
            [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"],
            stderr=subprocess.DEVNULL,
        )
    assert process.wait(60) == 0


class SlowToSend:
    """A result that a worker takes some time to send, and says when it has begun to."""

    def __init__(self, path):
        self.path = path

    def __getstate__(self):
        Path(self.path).touch()
        time.sleep(0.3)
        return self.__dict__


def interrupted(work, begun):
    """The future of a task, interrupted when it says that it has begun."""
    with pytest.raises(KeyboardInterrupt), open_workers(2) as workers:
        future = workers.executor.submit(work, str(begun))
        while not begun.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt
    return future


def test_a_worker_that_is_to_leave_sends_what_it_has_finished(tmp_path):
    future = interrupted(SlowToSend, tmp_path / "begun")
    assert future.result(0).path == str(tmp_path / "begun")


def wait_long(path):
    Path(path).touch()
    time.sleep(600)


def test_a_worker_leaves_amid_a_task(tmp_path):
    future = interrupted(wait_long, tmp_path / "begun")
    assert future.done() and future.exception(0) is not None


def test_a_worker_that_the_executor_ends_ends():
    """It ends the others by SIGTERM when one has died, and waits for them."""
    with open_workers(2) as workers:
        # The executor looks for processes that it has started when it is given the next task.
        tasks = [(time.sleep, 600), (os._exit, 1), (time.sleep, 600)]
        futures = [workers.executor.submit(*task) for task in tasks]
        assert all(future.exception(60) is not None for future in futures)


@pytest.mark.parametrize("method", [["forkserver", "spawn"], ["spawn"]])
def test_workers_start_by_what_the_system_has(monkeypatch, method):
    import multiprocessing

    from experiments.study.workers import start_method

    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: method)
    assert start_method() == method[0]
