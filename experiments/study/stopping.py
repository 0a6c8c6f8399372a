"""A study that is told to stop: what it has in hand then is no result.

An interrupt raises `KeyboardInterrupt` wherever the process is, also inside compilers, destructors
and callbacks, where others catch it and go on. So it is noted, too, and looked up before anything
is stored.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what schedulers of clusters send."""


@contextmanager
def note_interrupts() -> Iterator[Callable[[], None]]:
    """Note the signals that interrupt: Ctrl-C, and those that a command treats like it.

    Yields
    ------
    callable
        Raises `KeyboardInterrupt` if there was one, whatever became of it.
    """
    told: list[int] = []

    def note(number: int, frame: Any) -> None:
        told.append(number)
        raise KeyboardInterrupt

    def stop_if_told() -> None:
        if told:
            raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in INTERRUPTS:
            # A signal that is ignored, or has another use, keeps it.
            if signal.getsignal(number) is signal.default_int_handler:
                before[number] = signal.signal(number, note)
    try:
        yield stop_if_told
    except Exception:
        # What fails after an interrupt mostly fails because of it.
        stop_if_told()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Put off interrupts until the end of a block; processes started in it are never interrupted.

    A process that is interrupted while it starts others may not know of them and cannot end them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: held.append(number))
        for number in INTERRUPTS
        # A handler that Python did not install cannot be put back.
        if signal.getsignal(number) is not None
    }
    try:
        with _blocked_in_new_processes():
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for interrupt in held:
            signal.raise_signal(interrupt)


@contextmanager
def _blocked_in_new_processes() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
