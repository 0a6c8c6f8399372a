"""Pieces of work over this process, over processes of this computer (loky) or a Dask cluster."""

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import resource_tracker
from typing import Any

import joblib
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.backend import resource_tracker as loky_tracker

from lehner.core.errors import InputError, LostWorkerError, check_whole_number

KEPT = "what was finished is kept"


def do_all[Task, Result](
    work: Callable[[Task], Result], tasks: Iterable[Task], workers: int = 1, dask: Any = None
) -> Generator[Result]:
    """Do tasks, and give each result as soon as it is there, in any order.

    Parameters
    ----------
    work : callable
        From a task to its result.
    tasks : iterable
    workers : int
        Number of processes at work, 1 or more; 1 is this one.
    dask : str or distributed.Client, optional
        A client, the address of a Dask scheduler, or "local".

    Yields
    ------
    object

    Raises
    ------
    InputError
        If a worker died, or there is no such scheduler.

    Examples
    --------
    >>> list(do_all(round, [1.2, 2.9]))
    [1, 3]
    """
    check_whole_number("workers", workers, 1)
    every, done = list(tasks), 0
    with _note_interrupts() as interrupts:
        if dask is None:
            results = _do_by_processes(work, every, workers)
        else:
            results = _do_on_cluster(work, every, dask, workers)
        try:
            for result in results:
                if interrupts:
                    raise KeyboardInterrupt
                done += 1
                yield result
            if done < len(every):
                raise LostWorkerError(f"workers ended; {KEPT}", "start them, and run again")
        except BaseException as error:
            results.close()
            if interrupts and not isinstance(error, GeneratorExit):
                raise KeyboardInterrupt from None
            if _is_lost_worker(error):
                problem = f"a worker process died ({type(error).__name__}); {KEPT}"
                remedy = "see to memory, or take fewer workers, and run again to go on"
                raise LostWorkerError(problem, remedy) from None
            raise


@contextmanager
def _note_interrupts() -> Iterator[list[int]]:
    """Note the signals that interrupt: what comes after one is no result.

    An interrupt raises `KeyboardInterrupt` wherever the process is, also inside compiled code and
    destructors, where others catch it and go on, or take it for a failure of the data.
    """
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            # A signal that is ignored, or has another use, keeps it.
            if signal.getsignal(number) is signal.default_int_handler:
                before[number] = signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _block_interrupts_of_new_processes() -> Iterator[None]:
    """Put off Ctrl-C until the end of a block; processes that start in it never see it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # A tracker that starts lets Ctrl-C through again.
    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_lost_worker(error: BaseException) -> bool:
    """Tell whether loky or Dask lost the process or the connection that did the work."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"BrokenProcessPool", "KilledWorker", "CancelledError", "CommClosedError"})


def _do_by_processes[Task, Result](
    work: Callable[[Task], Result], tasks: list[Task], workers: int
) -> Generator[Result]:
    """Do tasks in this process or, with several workers, in processes of loky."""
    if workers == 1:
        yield from map(work, tasks)
        return
    # Sums must not depend on how many threads a worker has.
    start = {"initializer": _start_worker, "initargs": (os.getpid(),)}
    with joblib.parallel_config("loky", inner_max_num_threads=1, **start):
        # A few tasks wait for each worker, so that one that died or was stopped has lost few.
        parallel = joblib.Parallel(
            n_jobs=workers,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2*n_jobs",
            max_nbytes=None,
        )
        with _block_interrupts_of_new_processes():
            results = parallel(joblib.delayed(work)(task) for task in tasks)
        try:
            yield from results
        except BaseException:
            # What workers have in hand is lost, and need not be waited for.
            with warnings.catch_warnings(action="ignore"):
                results.close()
            get_reusable_executor().shutdown(wait=False, kill_workers=True)
            raise


def _do_on_cluster[Task, Result](
    work: Callable[[Task], Result], tasks: list[Task], dask: Any, workers: int
) -> Generator[Result]:
    """Do tasks on a Dask cluster, also if it has but one worker."""
    with _connect(dask, workers) if isinstance(dask, str) else nullcontext(dask) as client:
        from distributed import as_completed

        for future in as_completed(client.map(work, tasks, pure=False)):
            yield future.result()
            future.release()


def _start_worker(parent: int) -> None:
    """Have a worker ignore Ctrl-C, and end when the process that it works for was killed.

    That process may be killed before its worker can ask for its number.
    """
    # Ctrl-C reaches workers too; what is to become of them the process decides that they work for.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _connect(address: str, workers: int) -> Any:
    """Connect to a Dask scheduler, or start one on this computer."""
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise InputError("a cluster needs Dask", "pip install 'lehner[cluster]'") from None
    # What it logs is raised, too.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    if address == "local":
        return Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        # A client that fails for its address may hang when it is deleted, so it is not made.
        get_address_host_port(address)
        return Client(address, timeout=20)
    except (OSError, TimeoutError, TypeError, ValueError) as error:
        problem = f"there is no Dask scheduler that can be used at {address!r}: {error}"
        remedy = "start it and give its address, as in tcp://host:8786, or local"
        raise InputError(problem, remedy) from None
