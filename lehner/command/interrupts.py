"""A command that is interrupted ends within seconds, wherever it is.

The exception that Ctrl-C raises is raised late in compiled code, and compilers, destructors and
callbacks may catch it and go on. A thread hears of the signal at once, and ends the process if it
has not ended by itself. Files are written whole or not at all, so nothing is lost but the work in
hand.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

INTERRUPTED = 130
# How long a command may take to end by itself.
SECONDS_TO_LEAVE = 5.0


@contextmanager
def end_when_interrupted() -> Iterator[Callable[[], None]]:
    """End the process soon after a signal that interrupts, even if the exception is lost.

    Yields
    ------
    callable
        Says, once, that the command is stopped.
    """
    receiving, telling = socket.socketpair()
    telling.setblocking(False)
    unsaid = ["lehner: stopped\n"]

    def say() -> None:
        if unsaid:
            print(unsaid.pop(), end="", file=sys.stderr, flush=True)

    def leave_when_told() -> None:
        with receiving:
            while number := receiving.recv(1):
                if number[0] in (signal.SIGINT, signal.SIGTERM):
                    time.sleep(SECONDS_TO_LEAVE)
                    say()
                    os._exit(INTERRUPTED)

    before = signal.set_wakeup_fd(telling.fileno(), warn_on_full_buffer=False)
    with suppress(RuntimeError):  # where no thread can start
        threading.Thread(target=leave_when_told, daemon=True).start()
    try:
        yield say
    finally:
        signal.set_wakeup_fd(before)
        telling.close()
