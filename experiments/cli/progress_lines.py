"""What a command says while it goes on: a line for each step, with the time since."""

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

STEPS = ("bayes_models", "lehner")


@contextmanager
def progress_lines(steps: Sequence[str] = STEPS) -> Iterator[None]:
    """Show which model is compiled, found on disk or sampled, and how far what takes long is."""
    loggers, handler = [logging.getLogger(name) for name in steps], _Lines()
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


class _Lines(logging.Handler):
    """As `relaxed_k: sampling … (12 s)`."""

    def __init__(self) -> None:
        super().__init__()
        self._start = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        seconds = time.monotonic() - self._start
        text = f"{record.getMessage()} … ({seconds:.0f} s)\n"
        print(text, end="", file=sys.stderr, flush=True)
