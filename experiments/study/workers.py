"""Where tasks are done: in this process, in worker processes, or on a Dask cluster."""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import connection
from typing import TYPE_CHECKING

from experiments.study.stopping import hold_interrupts
from lehner import InputError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

IN_HAND = 4
SECONDS_TO_LEAVE = 0.7
"""How long to wait for the workers when the work is stopped."""
SECONDS_TO_SEND = 0.5
"""How long a worker that is to leave may take to send what it has finished."""

_may_leave = threading.Lock()
"""Locked in a worker process except while it does a task.

A result that was sent in part would keep the process that reads it waiting.
"""


@dataclass(frozen=True)
class Workers:
    """What does the work: this process if there is no executor.

    Parameters
    ----------
    executor : concurrent.futures.Executor or None
    number : int
        How many tasks are done at once.
    """

    executor: Executor | None
    number: int


@contextmanager
def open_workers(
    workers: int, dask: str | None = None, modules: Sequence[str] = ()
) -> Iterator[Workers]:
    """Start what does the work.

    Parameters
    ----------
    workers : int
        Number of processes; 1 is this one.
    dask : str, optional
        Address of a Dask scheduler, or "local".
    modules : sequence of str
        What worker processes need: imported once, not by each.

    Yields
    ------
    Workers
    """
    if dask is not None:
        with _open_cluster(workers, dask) as opened:
            yield opened
    elif workers == 1:
        yield Workers(None, 1)
    else:
        with _open_processes(workers, modules) as executor:
            yield Workers(executor, workers)


def do_all[Task, Result](
    work: Callable[[Task], Result], tasks: Iterable[Task], workers: Workers
) -> Iterator[Result]:
    """Do tasks and give their results as they come, a few tasks in hand at any time."""
    executor = workers.executor
    if executor is None:
        yield from map(work, tasks)
        return
    remaining = iter(tasks)
    waiting: set[Future[Result]] = set()
    while True:
        for task in islice(remaining, IN_HAND * workers.number - len(waiting)):
            waiting.add(executor.submit(work, task))
        if not waiting:
            return
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                yield future.result()
            except BrokenProcessPool:
                raise InputError(
                    "a worker process died; what was finished is kept",
                    "run again to go on (in a script, under if __name__ == '__main__')",
                ) from None


def start_method() -> str:
    """Name the way in which worker processes start: Windows has no server to fork them from."""
    return "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


class _Processes(ProcessPoolExecutor):
    """Worker processes that are started when they are needed, by `submit`."""

    def submit[**Parameters, Result](
        self,
        work: Callable[Parameters, Result],
        /,
        *args: Parameters.args,
        **options: Parameters.kwargs,
    ) -> Future[Result]:
        with hold_interrupts():
            return super().submit(_end_at_will, work, *args, **options)


@contextmanager
def _open_processes(workers: int, modules: Sequence[str]) -> Iterator[Executor]:
    # Sums must not depend on how many threads a worker has; set before it loads NumPy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    context = multiprocessing.get_context(start_method())
    if start_method() == "forkserver":
        context.set_forkserver_preload(list(modules))
    with hold_interrupts():
        open_while_needed, needed = context.Pipe(duplex=False)
        executor = _Processes(workers, context, _leave_with_parent, (open_while_needed,))
    try:
        yield executor
    except BaseException:
        # What workers have in hand is lost, and need not be waited for.
        needed.close()
        # Some processes may not be able to leave at once.
        close = partial(executor.shutdown, cancel_futures=True)
        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        closing.join(SECONDS_TO_LEAVE)
        raise
    executor.shutdown()


def _leave_with_parent(open_while_needed: connection.Connection) -> None:
    """See to it that a worker does not outlive a process that was killed or interrupted."""
    # Ctrl-C reaches workers too; were they to die of it, that would look like a failure of theirs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        # The executor ends the others by this signal when a worker has died.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    _may_leave.acquire()
    parent = multiprocessing.parent_process()
    assert parent is not None

    def leave() -> None:
        connection.wait([parent.sentinel, open_while_needed])
        _may_leave.acquire(timeout=SECONDS_TO_SEND)
        os._exit(1)

    threading.Thread(target=leave, daemon=True).start()


def _end_at_will[**Parameters, Result](
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Do a task in a worker process, which may be ended while it does it."""
    _may_leave.release()
    try:
        return work(*args, **options)
    finally:
        _may_leave.acquire()


@contextmanager
def _open_cluster(workers: int, address: str) -> Iterator[Workers]:
    try:
        from distributed import CancelledError, KilledWorker, LocalCluster
        from distributed.comm import CommClosedError
    except ImportError:
        raise InputError("a cluster needs Dask", "pip install 'lehner[cluster]'") from None
    local = None
    if address == "local":
        local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        with _connect(local or address) as client:
            number = sum(client.nthreads().values())
            yield Workers(client.get_executor(pure=False), max(number, workers))
    except (futures.CancelledError, CancelledError, KilledWorker, CommClosedError) as error:
        raise InputError(
            f"the Dask scheduler at {address} or its workers ended ({type(error).__name__}); what "
            "was finished is kept",
            "start them, and run again to go on",
        ) from None
    finally:
        if local is not None:
            local.close()


def _connect(address: "str | LocalCluster") -> "Client":
    from distributed import Client
    from distributed.comm import get_address_host_port

    # What it logs is raised, too.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        # A client that fails for its address may hang when it is deleted, so it is not made.
        if isinstance(address, str) and not address.startswith("inproc:"):
            get_address_host_port(address)
    except ValueError as error:
        raise InputError(
            f"{address!r} is not the address of a Dask scheduler: {error}",
            "give one such as tcp://host:8786, or local",
        ) from None
    try:
        return Client(address, timeout=20)
    except (OSError, TimeoutError, TypeError) as error:
        raise InputError(
            f"there is no Dask scheduler that can be used at {address}: {error}", "start it"
        ) from None
